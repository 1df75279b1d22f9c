package lmnn

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// block is the number of points that a worker takes at a time.
const block = 64

// problem is the objective on m points in principal coordinates.
type problem struct {
	eng     *engine.Engine
	params  Params
	z       blas.Matrix // m x q
	classes *classes
	targets graph // from each point to its target neighbours
}

func newProblem(ctx context.Context, eng *engine.Engine, p Params, z blas.Matrix, c *classes) (*problem, error) {
	pr := &problem{eng: eng, params: p, z: z, classes: c}
	lists := make([][]int32, z.Rows)
	t := eng.Backend().Kernels()
	err := eng.For(ctx, z.Rows, block, func(lo, hi int) error {
		type neighbour struct {
			squared float64
			place   int32
		}
		var near []neighbour
		for i := lo; i < hi; i++ {
			near = near[:0]
			for _, j := range c.members[c.of[i]] {
				if j != i {
					near = append(near, neighbour{t.SquaredDistance(z.Row(i), z.Row(j)), int32(j)})
				}
			}
			slices.SortFunc(near, func(a, b neighbour) int {
				return cmp.Or(cmp.Compare(a.squared, b.squared), cmp.Compare(a.place, b.place))
			})
			for _, n := range near[:min(p.Neighbors, len(near))] {
				lists[i] = append(lists[i], n.place)
			}
		}
		return nil
	})
	pr.targets = newGraph(lists)
	return pr, err
}

// start returns the matrix to start from: the multiple of the leading directions, r x q, for which
// the mean squared distance to a target is 1.
func (p *problem) start() blas.Matrix {
	q := p.z.Cols
	r := q
	if p.params.Dims > 0 {
		r = p.params.Dims
	}
	t, sum := p.eng.Backend().Kernels(), 0.0
	for i := range p.z.Rows {
		lo, hi := p.targets.of(i)
		for _, j := range p.targets.to[lo:hi] {
			sum += t.SquaredDistance(p.z.Row(i)[:r], p.z.Row(int(j))[:r])
		}
	}
	scale := 1.0
	if sum > 0 {
		scale = math.Sqrt(float64(len(p.targets.to)) / sum)
	}
	a := blas.NewMatrix(r, q)
	for i := range r {
		a.Set(i, i, scale)
	}
	return a
}
