package graph

import (
	"container/heap"
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Geodesics returns the n x n matrix of the lengths of the shortest paths between all points along
// the edges of a graph, where the values of a are the lengths of the edges. Points of different
// components are +Inf apart.
//
// Errors: those of [Check]; n x n values above the memory limit; ctx.Err(). Cost: n (edges + n) log
// n, by Dijkstra's algorithm from every point. The result is the same for any number of workers.
func Geodesics(ctx context.Context, eng *engine.Engine, a *sparse.Matrix) (blas.Matrix, error) {
	n := a.Rows
	if err := Check(a); err != nil {
		return blas.Matrix{}, err
	}
	if err := eng.Check(fmt.Sprintf("shortest paths between %d points", n), engine.MatrixBytes(n, n), "use fewer points"); err != nil {
		return blas.Matrix{}, err
	}
	d := eng.NewMatrix(n, n)
	err := eng.For(ctx, n, 16, func(lo, hi int) error {
		f := &frontier{place: make([]int, n)}
		for i := lo; i < hi; i++ {
			f.walk(a, i, d.Row(i))
		}
		return nil
	})
	if err != nil {
		return blas.Matrix{}, err
	}
	for i := range n { // a path has the same length both ways except for the order of its sum
		for j := range i {
			v := min(d.At(i, j), d.At(j, i))
			d.Set(i, j, v)
			d.Set(j, i, v)
		}
	}
	return d, nil
}

// frontier is a heap of the points that are reached but not expanded yet, the nearest first, ties
// by index.
type frontier struct {
	points []int
	place  []int // position in the heap, for points in it
	reach  []float64
}

func (f *frontier) Len() int { return len(f.points) }

func (f *frontier) Less(a, b int) bool {
	i, j := f.points[a], f.points[b]
	return f.reach[i] < f.reach[j] || f.reach[i] == f.reach[j] && i < j
}

func (f *frontier) Swap(a, b int) {
	f.points[a], f.points[b] = f.points[b], f.points[a]
	f.place[f.points[a]], f.place[f.points[b]] = a, b
}

func (f *frontier) Push(i any) {
	f.place[i.(int)] = len(f.points)
	f.points = append(f.points, i.(int))
}

func (f *frontier) Pop() any {
	last := f.points[len(f.points)-1]
	f.points = f.points[:len(f.points)-1]
	return last
}

// walk writes the path lengths from a point to reach.
func (f *frontier) walk(a *sparse.Matrix, from int, reach []float64) {
	for i := range reach {
		reach[i] = math.Inf(1)
	}
	reach[from] = 0
	f.reach = reach
	heap.Push(f, from)
	for len(f.points) > 0 {
		i := heap.Pop(f).(int)
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			j, v := int(a.Col[e]), reach[i]+a.Val[e]
			switch {
			case !(v < reach[j]):
			case math.IsInf(reach[j], 1):
				reach[j] = v
				heap.Push(f, j)
			default:
				reach[j] = v
				heap.Fix(f, f.place[j])
			}
		}
	}
}
