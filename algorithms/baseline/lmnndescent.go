package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// memory is the number of steps that determine a direction.
const memory = 10

// descent is the state of a minimization.
type descent struct {
	*lmnnProblem
	report    func(algorithms.Progress)
	trace     []float64 // objective at the start and after every iteration
	converged bool

	a, y       blas.Matrix // r x q, and the coordinates Z A', m x r
	gradientA  blas.Matrix // r x q
	half       blas.Matrix // half the gradient with respect to the coordinates
	near       *nearby
	f          float64
	p, d, next blas.Matrix // the direction, Z P', and the next map
}

// minimize returns the matrix of the map, r x q.
func (s *descent) minimize(ctx context.Context) (blas.Matrix, error) {
	if err := s.prepare(ctx); err != nil {
		return blas.Matrix{}, err
	}
	k := s.eng.Backend().Kernels()
	h := optimize.NewHistory(k, memory)
	fresh := true // fresh: the direction does not depend on earlier steps
	last := blas.NewMatrix(s.a.Rows, s.a.Cols)
	for len(s.trace) <= s.params.MaxIter && !s.converged {
		s.report(algorithms.Progress{Stage: "descent", Done: len(s.trace) - 1, Total: s.params.MaxIter,
			Objective: s.f})
		h.Direction(s.p.Data, s.gradientA.Data)
		last.CopyFrom(s.gradientA)
		t, err := s.step(ctx, k.Dot(s.p.Data, s.gradientA.Data))
		if err != nil {
			return blas.Matrix{}, err
		}
		if t == 0 {
			if s.converged = fresh; !fresh { // a kink may have spoiled the direction
				h.Reset()
				fresh = true
			}
			continue
		}
		k.Scale(t, s.p.Data)
		k.Axpy(1, s.p.Data, s.a.Data)
		s.down()
		k.Scale(-1, last.Data)
		k.Axpy(1, s.gradientA.Data, last.Data)
		fresh = !h.Add(s.p.Data, last.Data) && fresh
		s.trace = append(s.trace, s.f)
		const window = 5
		n := len(s.trace)
		s.converged = n > window && s.trace[n-1-window]-s.f <= s.params.Tol*s.f
	}
	return s.a, ctx.Err()
}

// prepare evaluates the initial map.
func (s *descent) prepare(ctx context.Context) (err error) {
	s.a = s.start()
	m, r, q := s.z.Rows, s.a.Rows, s.a.Cols
	for _, x := range []*blas.Matrix{&s.y, &s.half, &s.d, &s.next} {
		*x = blas.NewMatrix(m, r)
	}
	s.gradientA, s.p = blas.NewMatrix(r, q), blas.NewMatrix(r, q)
	s.eng.Backend().Gemm(false, true, 1, s.z, s.a, 0, s.y)
	if s.near, err = s.search(ctx, s.y); err != nil {
		return err
	}
	if s.f, err = s.gradient(ctx, s.near, s.y, s.half); err != nil {
		return err
	}
	s.down()
	s.trace = []float64{s.f}
	return nil
}

// down computes the gradient with respect to the matrix from the gradient with respect to the
// coordinates.
func (s *descent) down() {
	s.eng.Backend().Gemm(true, false, 2, s.half, s.z, 0, s.gradientA)
}

// step moves along the direction to a lower objective, and returns the step length, or 0 if there
// is no lower one. The objective and half its gradient are evaluated with all impostors, also those
// that the lists lack.
func (s *descent) step(ctx context.Context, slope float64) (float64, error) {
	if !(slope < 0) {
		return 0, nil
	}
	s.eng.Backend().Gemm(false, true, 1, s.z, s.p, 0, s.d)
	l, err := s.newLine(ctx, s.near, s.y, s.d)
	if err != nil {
		return 0, err
	}
	k := s.eng.Backend().Kernels()
	limit := math.Inf(1)
	for range 40 {
		t, err := l.search(ctx, s.f, slope, limit)
		if err != nil || t == 0 {
			return 0, err
		}
		s.next.CopyFrom(s.y)
		k.Axpy(t, s.d.Data, s.next.Data)
		covered, err := s.near.covers(ctx, s.lmnnProblem, s.next)
		if err != nil {
			return 0, err
		}
		near := s.near
		if !covered {
			if near, err = s.search(ctx, s.next); err != nil {
				return 0, err
			}
		}
		f, err := s.gradient(ctx, near, s.next, s.half)
		if err != nil {
			return 0, err
		}
		if f < s.f && f <= s.f+sufficient*t*slope {
			s.f, s.near, s.y, s.next = f, near, s.next, s.y
			return t, nil
		}
		limit = t / 2 // the lists lacked new impostors, or only rounding is left
	}
	return 0, nil
}

// These are the Wolfe conditions, in the weak form that also holds at kinks.
const (
	sufficient = 1e-4
	curvature  = 0.5
)

// search returns a step t <= limit at which the objective of the listed pairs is sufficiently lower
// than f and, unless t is the limit, less steep. It returns 0 if 60 trials find none.
func (l *line) search(ctx context.Context, f, slope, limit float64) (float64, error) {
	lo, hi, t := 0.0, math.Inf(1), min(1, limit)
	for range 60 {
		value, steep, err := l.at(ctx, t)
		if err != nil {
			return 0, err
		}
		switch {
		case !(value <= f+sufficient*t*slope):
			hi = t
		case steep < curvature*slope && t < limit:
			lo = t
		default:
			return t, nil
		}
		if math.IsInf(hi, 1) {
			t = min(2*t, limit)
		} else {
			t = (lo + hi) / 2
		}
	}
	return lo, nil
}

// message describes how the descent ended.
func (s *descent) message() string {
	if s.converged {
		return ""
	}
	return fmt.Sprintf("%d iterations did not reach the tolerance %g: raise max_iter or tol",
		s.params.MaxIter, s.params.Tol)
}

// line is the objective along y + t d: every squared distance is a parabola c0 + c1 t + c2 t^2.
type line struct {
	p               *lmnnProblem
	n               *nearby
	targets, nearby []parabola
}

type parabola struct{ c0, c1, c2 float64 }

func (c parabola) at(t float64) float64    { return c.c0 + t*(c.c1+t*c.c2) }
func (c parabola) slope(t float64) float64 { return c.c1 + 2*t*c.c2 }

// newLine evaluates the parabolas of all listed pairs, 6 r flops for each.
func (p *lmnnProblem) newLine(ctx context.Context, n *nearby, y, d blas.Matrix) (*line, error) {
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
func (p *lmnnProblem) gradient(ctx context.Context, n *nearby, y, g blas.Matrix) (float64, error) {
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
	return blas.Sum(fs), p.scatter(ctx, n, y, g, pull, push)
}

// scatter writes sum_e w_e (e_i - e_j)(y_i - y_j)' to g, row by row: each row gathers its own part
// from the edges at both ends.
func (p *lmnnProblem) scatter(ctx context.Context, n *nearby, y, g blas.Matrix, pull, push []float64) error {
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
