package lmnn

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/kernel"
)

// slack is how much farther away the listed points may be than an impostor, relative to its
// distance.
const slack = 0.3

// nearby lists, for each point, all points of other classes that are nearer than its radius, with
// some slack for later movement.
type nearby struct {
	graph
	coordinates blas.Matrix // of the points when the lists were made
	radius      []float64
}

// reach returns, for each point, the distance below which another point is an impostor: the square
// root of 1 plus the largest squared distance to a target; 0 without targets.
func (p *problem) reach(ctx context.Context, y blas.Matrix) ([]float64, error) {
	out := make([]float64, y.Rows)
	t := p.eng.Backend().Kernels()
	err := p.eng.Each(ctx, y.Rows, block, func(i int) {
		from, to := p.targets.of(i)
		for _, j := range p.targets.to[from:to] {
			out[i] = max(out[i], math.Sqrt(1+t.SquaredDistance(y.Row(i), y.Row(int(j)))))
		}
	})
	return out, err
}

// search compares all pairs of points.
func (p *problem) search(ctx context.Context, y blas.Matrix) (*nearby, error) {
	radius, err := p.reach(ctx, y)
	if err != nil {
		return nil, err
	}
	mean := 0.0
	for _, r := range radius {
		mean += r / float64(len(radius))
	}
	for i, r := range radius {
		if r > 0 {
			radius[i] = r + slack*mean
		}
	}
	lists := make([][]int32, y.Rows)
	x := kernel.Rows(y)
	err = kernel.Linear().Squared().CrossRows(ctx, p.eng, x, x, block, func(b kernel.Block) error {
		var list []int32
		for k := range b.Matrix.Rows {
			i := b.Row + k
			limit := radius[i]*radius[i] + b.Error
			if radius[i] == 0 {
				continue
			}
			list = list[:0]
			for l, d := range b.Matrix.Row(k) {
				if d <= limit && p.classes.Apart(i, l) {
					list = append(list, int32(l))
				}
			}
			lists[i] = slices.Clone(list)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	total := 0
	for _, list := range lists {
		total += len(list)
	}
	const each = 4*2 + 8*6 // bytes of an edge, including its evaluation
	if err := p.eng.Check("lmnn: pairs of nearby points", int64(total)*each, "use fewer points, or standardize the data"); err != nil {
		return nil, err
	}
	return &nearby{newGraph(lists), y.Clone(), radius}, nil
}

// covers reports whether the lists still contain every impostor for the coordinates y. A pair that
// is not listed was farther apart than the radius R of its first point. With y = s y0 + e, where s
// is the best common factor, the pair is now at least s R - |e_i| - |e_l| apart.
func (n *nearby) covers(ctx context.Context, p *problem, y blas.Matrix) (bool, error) {
	t := p.eng.Backend().Kernels()
	inner, square := 0.0, 0.0
	for i := range y.Rows {
		inner += t.Dot(y.Row(i), n.coordinates.Row(i))
		square += t.Dot(n.coordinates.Row(i), n.coordinates.Row(i))
	}
	if !(square > 0) || !(inner > 0) {
		return false, nil
	}
	s, moved := inner/square, make([]float64, y.Rows)
	err := p.eng.For(ctx, y.Rows, block, func(lo, hi int) error {
		e := make([]float64, y.Cols)
		for i := lo; i < hi; i++ {
			copy(e, y.Row(i))
			t.Axpy(-s, n.coordinates.Row(i), e)
			moved[i] = math.Sqrt(t.Dot(e, e))
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	reach, err := p.reach(ctx, y)
	if err != nil {
		return false, err
	}
	most := slices.Max(moved)
	for i, r := range reach {
		if r > 0 && !(r+moved[i]+most < s*n.radius[i]*(1-1e-12)) {
			return false, nil
		}
	}
	return true, nil
}
