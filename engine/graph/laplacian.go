package graph

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Check returns a *fault.DataError that names the first row and column where a is not a weighted
// undirected graph: not symmetric, or with a weight that is negative or not finite. Cost: O(edges).
func Check(a *sparse.Matrix) error {
	if a.Rows != a.Cols {
		return &fault.ShapeError{What: "columns of the adjacency matrix", Got: a.Cols, Want: fmt.Sprintf("%d, the number of rows", a.Rows)}
	}
	return a.Across(func(i, j int, v, turned float64) error {
		bad := func(format string, args ...any) error {
			return &fault.DataError{Row: i, Column: strconv.Itoa(j), Err: fmt.Errorf(format, args...)}
		}
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
			return bad("weight %v: want a finite number >= 0", v)
		case v != turned:
			return bad("weight %v, but %v in the other direction: want a symmetric matrix", v, turned)
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
	label = make([]int, a.Rows)
	for i := range label {
		label[i] = -1
	}
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
