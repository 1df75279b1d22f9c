package lmnn

import (
	"context"

	"github.com/mustlink/mustlink/blas"
)

// line is the objective along y + t d: every squared distance is a parabola c0 + c1 t + c2 t^2.
type line struct {
	p               *problem
	n               *nearby
	targets, nearby []parabola
}

type parabola struct{ c0, c1, c2 float64 }

func (c parabola) at(t float64) float64    { return c.c0 + t*(c.c1+t*c.c2) }
func (c parabola) slope(t float64) float64 { return c.c1 + 2*t*c.c2 }

// newLine evaluates the parabolas of all listed pairs, 6 r flops for each.
func (p *problem) newLine(ctx context.Context, n *nearby, y, d blas.Matrix) (*line, error) {
	l := &line{p, n, make([]parabola, len(p.targets.to)), make([]parabola, len(n.to))}
	next := y.Clone()
	k := p.eng.Backend().Kernels()
	err := p.eng.Each(ctx, y.Rows, block, func(i int) { k.Axpy(1, d.Row(i), next.Row(i)) })
	if err != nil {
		return nil, err
	}
	err = p.eng.Each(ctx, y.Rows, block, func(i int) {
		for _, part := range []struct {
			e  *graph
			to []parabola
		}{{&p.targets, l.targets}, {&n.graph, l.nearby}} {
			from, to := part.e.of(i)
			for e := from; e < to; e++ {
				j := int(part.e.to[e])
				c0, c2 := k.SquaredDistance(y.Row(i), y.Row(j)), k.SquaredDistance(d.Row(i), d.Row(j))
				part.to[e] = parabola{c0, k.SquaredDistance(next.Row(i), next.Row(j)) - c0 - c2, c2}
			}
		}
	})
	return l, err
}

// at returns the objective and its slope at t.
func (l *line) at(ctx context.Context, t float64) (f, slope float64, err error) {
	p, m := l.p, l.p.z.Rows
	blocks := (m + block - 1) / block
	fs, slopes := make([]float64, blocks), make([]float64, blocks)
	mu := p.params.Mu
	err = p.eng.For(ctx, m, block, func(lo, hi int) error {
		f, slope := 0.0, 0.0
		for i := lo; i < hi; i++ {
			first, last := p.targets.of(i)
			from, to := l.n.of(i)
			for _, target := range l.targets[first:last] {
				limit, rise := 1+target.at(t), target.slope(t)
				f += (1 - mu) * (limit - 1)
				slope += (1 - mu) * rise
				for _, c := range l.nearby[from:to] {
					if gap := limit - c.at(t); gap > 0 {
						f += mu * gap
						slope += mu * (rise - c.slope(t))
					}
				}
			}
		}
		fs[lo/block], slopes[lo/block] = f, slope
		return nil
	})
	for b := range fs {
		f += fs[b]
		slope += slopes[b]
	}
	return f, slope, err
}

// gradient returns the objective at y, and writes half its gradient with respect to the coordinates
// to g.
func (p *problem) gradient(ctx context.Context, n *nearby, y, g blas.Matrix) (float64, error) {
	blocks := (y.Rows + block - 1) / block
	fs := make([]float64, blocks)
	pull, push := make([]float64, len(p.targets.to)), make([]float64, len(n.to))
	k, mu := p.eng.Backend().Kernels(), p.params.Mu
	err := p.eng.For(ctx, y.Rows, block, func(lo, hi int) error {
		var squared []float64
		for i := lo; i < hi; i++ {
			first, last := p.targets.of(i)
			from, to := n.of(i)
			squared = squared[:0]
			for _, l := range n.to[from:to] {
				squared = append(squared, k.SquaredDistance(y.Row(i), y.Row(int(l))))
			}
			for e := first; e < last; e++ {
				d := k.SquaredDistance(y.Row(i), y.Row(int(p.targets.to[e])))
				fs[lo/block] += (1 - mu) * d
				pull[e] = 1 - mu
				for a, v := range squared {
					if gap := 1 + d - v; gap > 0 {
						fs[lo/block] += mu * gap
						pull[e] += mu
						push[from+a] -= mu
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	f := 0.0
	for _, v := range fs {
		f += v
	}
	return f, p.scatter(ctx, n, y, g, pull, push)
}

// scatter writes sum_e w_e (e_i - e_j)(y_i - y_j)' to g, row by row: each row gathers its own part
// from the edges at both ends.
func (p *problem) scatter(ctx context.Context, n *nearby, y, g blas.Matrix, pull, push []float64) error {
	k := p.eng.Backend().Kernels()
	return p.eng.Each(ctx, y.Rows, block, func(i int) {
		to, total := g.Row(i), 0.0
		clear(to)
		for _, part := range []struct {
			g *graph
			w []float64
		}{{&p.targets, pull}, {&n.graph, push}} {
			add := func(e int, j int32) {
				if w := part.w[e]; w != 0 {
					total += w
					k.Axpy(-w, y.Row(int(j)), to)
				}
			}
			first, last := part.g.of(i)
			for e := first; e < last; e++ {
				add(e, part.g.to[e])
			}
			first, last = part.g.into.of(i)
			for _, e := range part.g.into.to[first:last] {
				add(int(e), part.g.from[e])
			}
		}
		k.Axpy(total, y.Row(i), to)
	})
}
