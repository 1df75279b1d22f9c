package graph

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Within returns the squared distances of all pairs of points that are at most radius from each
// other, in the feature space of k: an exactly symmetric n x n matrix with an empty diagonal.
// Distances are as exact as those of [Nearest]. Pairs at distance 0 are stored, with the value 0.
//
// Errors: a *fault.ParamError for a radius that is not positive and finite; those of
// [kernel.Kernel.Gram], where memory is needed for the pairs found. Cost: n^2 d flops. The result
// is the same for any number of workers.
func Within(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, radius float64) (*sparse.Matrix, error) {
	if !(radius > 0) || math.IsInf(radius, 0) {
		return nil, &fault.ParamError{Param: "radius of the graph", Value: radius, Want: "a finite number > 0"}
	}
	limit := radius * radius
	before := make([][]edge, x.Len()) // for every point, its earlier neighbors
	var count atomic.Int64
	err := k.Squared().GramBlocks(ctx, eng, x, func(b kernel.Block) error {
		found := 0
		for r := range b.Matrix.Rows {
			i := b.Row + r
			row := b.Matrix.Row(r)
			for c, d := range row[:min(len(row), i-b.Col)] {
				if d > limit+b.Error {
					continue
				}
				if b.Error > 0 {
					if d = kernel.SquaredDistance(x, x, i, b.Col+c); d > limit {
						continue
					}
				}
				before[i] = append(before[i], edge{int32(b.Col + c), d})
				found++
			}
		}
		pairs := count.Add(int64(found))
		return eng.Check(fmt.Sprintf("graph of the pairs within %g, %d so far", radius, pairs), 40*pairs, "use a smaller radius, nearest neighbors, or fewer points")
	})
	if err != nil {
		return nil, err
	}
	return symmetric(before), nil
}

// symmetric returns the matrix whose lower triangle is before.
func symmetric(before [][]edge) *sparse.Matrix {
	n := len(before)
	m := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, n+1)}
	for i, list := range before {
		m.Start[i+1] += len(list)
		for _, e := range list {
			m.Start[e.to+1]++
		}
	}
	for i := range n {
		m.Start[i+1] += m.Start[i]
	}
	m.Col, m.Val = make([]int32, m.Start[n]), make([]float64, m.Start[n])
	next := append([]int(nil), m.Start...)
	put := func(i, j int32, v float64) {
		m.Col[next[i]], m.Val[next[i]] = j, v
		next[i]++
	}
	for i, list := range before { // first the earlier neighbors of i, then, row by row, the later ones
		for _, e := range list {
			put(int32(i), e.to, e.squared)
		}
	}
	for i, list := range before {
		for _, e := range list {
			put(e.to, int32(i), e.squared)
		}
	}
	return m
}
