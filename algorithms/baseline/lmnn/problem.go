package lmnn

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// block is the number of points that a worker processes at a time.
const block = 64

// problem is the objective on m points in principal coordinates, each divided by its standard
// scale. The gradient of the map in these coordinates has a similar size in all directions, however
// different the scales of the features are.
type problem struct {
	eng     *engine.Engine
	params  Params
	z       blas.Matrix // m x q
	scale   []float64   // standard deviations, length q
	classes *classes.Classes
	targets graph // from each point to its target neighbors
}

// newProblem keeps the principal coordinates z and divides them by their standard deviations.
func newProblem(ctx context.Context, eng *engine.Engine, p Params, z blas.Matrix, scale []float64, c *classes.Classes) (*problem, error) {
	pr := &problem{eng: eng, params: p, z: z, classes: c, scale: scale}
	lists := make([][]int32, z.Rows)
	t := eng.Backend().Kernels()
	err := eng.For(ctx, z.Rows, block, func(lo, hi int) error {
		type neighbor struct {
			squared float64
			place   int32
		}
		var near []neighbor
		for i := lo; i < hi; i++ {
			near = near[:0]
			for _, j := range c.Members[c.Of[i]] {
				if j != i {
					near = append(near, neighbor{t.SquaredDistance(z.Row(i), z.Row(j)), int32(j)})
				}
			}
			slices.SortFunc(near, func(a, b neighbor) int {
				return cmp.Or(cmp.Compare(a.squared, b.squared), cmp.Compare(a.place, b.place))
			})
			for _, n := range near[:min(p.Neighbors, len(near))] {
				lists[i] = append(lists[i], n.place)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	pr.targets = newGraph(lists)
	linear.DivideColumns(z, scale)
	return pr, nil
}

// start returns the matrix to start from, r x q: the multiple of the leading directions for which
// the mean squared distance to a target is 1.
func (p *problem) start() blas.Matrix {
	q := p.z.Cols
	r := q
	if p.params.Dims > 0 {
		r = p.params.Dims
	}
	sum := 0.0
	for e, j := range p.targets.to {
		from, to := p.z.Row(int(p.targets.from[e])), p.z.Row(int(j))
		for k, s := range p.scale[:r] {
			d := s * (from[k] - to[k])
			sum += d * d
		}
	}
	scale := 1.0
	if sum > 0 {
		scale = math.Sqrt(float64(len(p.targets.to)) / sum)
	}
	a := blas.NewMatrix(r, q)
	for i := range r {
		a.Set(i, i, scale*p.scale[i])
	}
	return a
}

// undivided returns the matrix that has the same effect on principal coordinates as a has on the
// divided ones.
func (p *problem) undivided(a blas.Matrix) blas.Matrix {
	out := a.Clone()
	linear.DivideColumns(out, p.scale)
	return out
}

// edges are lists of numbers: list i is to[start[i]:start[i+1]].
type edges struct {
	start []int
	to    []int32
}

func (e *edges) of(i int) (lo, hi int) { return e.start[i], e.start[i+1] }

// graph is directed edges between points, listed by the points at both ends.
type graph struct {
	edges         // list i has the points that edges lead to from i
	from  []int32 // from[e] is the point whose list has edge e
	into  edges   // list j has the numbers of the edges that lead to j, ascending
}

func newGraph(lists [][]int32) graph {
	m := len(lists)
	g := graph{edges: edges{make([]int, m+1), slices.Concat(lists...)}}
	g.from, g.into = make([]int32, len(g.to)), edges{make([]int, m+1), make([]int32, len(g.to))}
	for i, list := range lists {
		g.start[i+1] = g.start[i] + len(list)
		for _, j := range list {
			g.into.start[j+1]++
		}
	}
	for i := range m {
		g.into.start[i+1] += g.into.start[i]
	}
	next := slices.Clone(g.into.start)
	for i, list := range lists {
		for k, j := range list {
			e := g.start[i] + k
			g.from[e] = int32(i)
			g.into.to[next[j]] = int32(e)
			next[j]++
		}
	}
	return g
}
