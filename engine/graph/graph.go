// Package graph (internal: may change) computes graphs of nearest neighbors and their
// Laplacians.
//
// [Nearest] finds the k nearest other points of every point, exactly, among dense, sparse or
// precomputed points and in the feature space of any kernel. [Neighbors.Adjacency] makes an
// undirected graph of them, [Laplacian] returns its Laplacian, [Components] its connected
// components.
package graph

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Rule decides which points an edge joins.
type Rule int

const (
	Union  Rule = iota // one point is among the neighbors of the other
	Mutual             // each is among the other's neighbors
)

// Binary is the weight 1 for every edge.
func Binary(float64) float64 { return 1 }

// Adjacency returns the undirected graph that joins neighbors by the rule, with weights
// weight(squared distance): an exactly symmetric n x n matrix with a diagonal of zeros. With Mutual
// a point may have no edge. Edges of weight 0 are kept. Cost: O(n k^2).
func (n *Neighbors) Adjacency(rule Rule, weight func(squared float64) float64) *sparse.Matrix {
	lists := n.lists(rule)
	m := &sparse.Matrix{Rows: n.N, Cols: n.N, Start: make([]int, 1, n.N+1)}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b edge) int { return int(a.to) - int(b.to) })
		for _, e := range list {
			m.Col, m.Val = append(m.Col, e.to), append(m.Val, weight(e.squared))
		}
		m.Start = append(m.Start, len(m.Col))
	}
	return m
}

type edge struct {
	to      int32
	squared float64
}

// lists returns the edges of every point, each once, in any order. It stays on one core: a few
// operations for each edge, where the search for neighbors has the dimension for each pair.
func (n *Neighbors) lists(rule Rule) [][]edge {
	lists := make([][]edge, n.N)
	for i := range n.N {
		index, squared := n.Of(i)
		for a, j := range index {
			back, _ := n.Of(int(j))
			mutual := slices.Contains(back, int32(i))
			if rule == Mutual && !mutual {
				continue
			}
			lists[i] = append(lists[i], edge{j, squared[a]})
			if !mutual {
				lists[j] = append(lists[j], edge{int32(i), squared[a]})
			}
		}
	}
	return lists
}

// Check returns a *fault.DataError that names the first row and column where a is not a weighted
// undirected graph: not symmetric, or with a weight that is negative or not finite. Cost: O(edges).
func Check(a *sparse.Matrix) error {
	if a.Rows != a.Cols {
		return fault.Shape("columns of the adjacency matrix", a.Cols, "%d, the number of rows", a.Rows)
	}
	return a.Across(func(i, j int, v, turned float64) error {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
			return fault.Cell(i, strconv.Itoa(j), "weight %v: want a finite number >= 0", v)
		case v != turned:
			return fault.Cell(i, strconv.Itoa(j),
				"weight %v, but %v in the other direction: want a symmetric matrix", v, turned)
		}
		return nil
	})
}

// Laplacian returns the Laplacian of the graph with the adjacency matrix a: L = D - A, where D is
// the diagonal matrix of degrees (sums of weights), or normalized D^-1/2 L D^-1/2. Loops, on the
// diagonal of a, are ignored. A point without edges has a row of zeros in both forms. Both are
// exactly symmetric and positive semidefinite; the normalized one has eigenvalues up to 2. Errors
// are those of [Check].
func Laplacian(a *sparse.Matrix, normalized bool) (*sparse.Matrix, error) {
	if err := Check(a); err != nil {
		return nil, err
	}
	degrees := Degrees(a)
	scale := make([]float64, a.Rows)
	for i, d := range degrees {
		if scale[i] = 1; normalized {
			scale[i] = 0
			if d > 0 {
				scale[i] = 1 / math.Sqrt(d)
			}
		}
	}
	l := &sparse.Matrix{Rows: a.Rows, Cols: a.Cols, Start: make([]int, 1, a.Rows+1)}
	l.Col, l.Val = make([]int32, 0, a.Count()+a.Rows), make([]float64, 0, a.Count()+a.Rows)
	add := func(j int, v float64) { l.Col, l.Val = append(l.Col, int32(j)), append(l.Val, v) }
	for i := range a.Rows {
		diagonal := degrees[i]
		if normalized && diagonal > 0 {
			diagonal = 1
		}
		done := false
		col, val := a.Row(i)
		for k, j := range col {
			if !done && int(j) >= i {
				add(i, diagonal)
				done = true
			}
			if int(j) != i {
				add(int(j), -val[k]*(scale[i]*scale[j]))
			}
		}
		if !done {
			add(i, diagonal)
		}
		l.Start = append(l.Start, len(l.Col))
	}
	return l, nil
}

// Degrees returns the sum of the edge weights of each of the n points, without loops. Cost:
// O(edges).
func Degrees(a *sparse.Matrix) []float64 {
	degrees := make([]float64, a.Rows)
	for i := range degrees {
		col, val := a.Row(i)
		for k, j := range col {
			if int(j) != i {
				degrees[i] += val[k]
			}
		}
	}
	return degrees
}

// Components numbers the connected components of the graph in the order of their first points:
// label[i] is the component of point i. Edges of weight 0 do not connect. Cost: O(n + edges).
func Components(a *sparse.Matrix) (label []int, count int) {
	label = slices.Repeat([]int{-1}, a.Rows)
	var stack []int
	for first := range label {
		if label[first] >= 0 {
			continue
		}
		label[first] = count
		for stack = append(stack, first); len(stack) > 0; {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			col, val := a.Row(i)
			for k, j := range col {
				if val[k] != 0 && label[j] < 0 {
					label[j] = count
					stack = append(stack, int(j))
				}
			}
		}
		count++
	}
	return label, count
}

// Order returns an order of the points in which neighbors are close to each other: component by
// component, breadth first from a peripheral point. order[i] is the i-th point. On a graph of low
// dimension, a product with a vector in that order reads mostly from the processor's cache. Cost:
// O(n + edges).
func Order(a *sparse.Matrix) []int32 {
	order, seen := make([]int32, 0, a.Rows), make([]bool, a.Rows)
	visit := func(first int, seen []bool, order []int32) []int32 {
		seen[first] = true
		order = append(order, int32(first))
		for next := len(order) - 1; next < len(order); next++ {
			col, _ := a.Row(int(order[next]))
			for _, j := range col {
				if !seen[j] {
					seen[j] = true
					order = append(order, j)
				}
			}
		}
		return order
	}
	ahead := make([]bool, a.Rows)
	for first := range seen {
		if seen[first] {
			continue
		}
		// The last point of a first visit is far from the point where the visit began.
		last := visit(first, ahead, order)[len(order):]
		order = visit(int(last[len(last)-1]), seen, order)
	}
	return order
}

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
	if err := eng.Check(fmt.Sprintf("shortest paths between %d points", n), engine.MatrixBytes(n, n),
		"use fewer points"); err != nil {
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
