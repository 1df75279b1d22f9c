package graphkernel

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Adjacency is the weight matrix of a graph's edges, symmetric and with a diagonal of zeros. It is
// sparse or full.
type Adjacency struct {
	Sparse *sparse.Matrix // nil if Full holds the weights
	Full   blas.Matrix    // both triangles, a diagonal of zeros
}

// Release gives the memory of a full matrix back to the engine: do not read it afterward.
func (a Adjacency) Release(eng *engine.Engine) {
	if a.Sparse == nil {
		eng.PutMatrix(a.Full)
	}
}

// Len returns the number of points.
func (a Adjacency) Len() int {
	if a.Sparse != nil {
		return a.Sparse.Rows
	}
	return a.Full.Rows
}

// Entries returns the number of values that a product with the matrix reads.
func (a Adjacency) Entries() int {
	if a.Sparse != nil {
		return a.Sparse.Count()
	}
	return a.Full.Rows * a.Full.Cols
}

// MultiplyRows writes the rows [lo, hi) of the product of a sparse matrix with V to g, without gaps
// between rows.
func (a Adjacency) MultiplyRows(eng *engine.Engine, lo, hi int, v blas.Matrix, g []float64) {
	s := a.Sparse
	eng.Backend().Kernels().SparseRows(s.Start[lo:hi+1], s.Col, s.Val, v.Data, v.Stride, v.Cols, g, v.Cols)
}

// Each calls f for the neighbors of point i, in ascending order.
func (a Adjacency) Each(i int, f func(j int, w float64)) {
	if a.Sparse != nil {
		col, val := a.Sparse.Row(i)
		for k, j := range col {
			f(int(j), val[k])
		}
		return
	}
	for j, w := range a.Full.Row(i) {
		if j != i && w != 0 {
			f(j, w)
		}
	}
}

// chunk is the number of rows of a full matrix that one task processes.
const chunk = 64

// Degrees returns the sum of the weights of every point's edges.
func (a Adjacency) Degrees(ctx context.Context, eng *engine.Engine) ([]float64, error) {
	if a.Sparse != nil {
		return graph.Degrees(a.Sparse), ctx.Err()
	}
	degrees := make([]float64, a.Full.Rows)
	return degrees, eng.Each(ctx, len(degrees), chunk, func(i int) { degrees[i] = sum(a.Full.Row(i)) })
}

// sum has four accumulators: with one, each addition waits for the one before.
func sum(x []float64) float64 {
	var s [4]float64
	for ; len(x) >= 4; x = x[4:] {
		s[0] += x[0]
		s[1] += x[1]
		s[2] += x[2]
		s[3] += x[3]
	}
	for _, v := range x {
		s[0] += v
	}
	return s[0] + s[1] + (s[2] + s[3])
}

// normalize divides each weight by the square roots of the degrees of its two points.
func (a Adjacency) normalize(ctx context.Context, eng *engine.Engine, degrees []float64) error {
	scale := make([]float64, len(degrees))
	for i, d := range degrees {
		if d > 0 {
			scale[i] = 1 / math.Sqrt(d)
		}
	}
	return eng.Each(ctx, len(scale), chunk, func(i int) { a.scale(i, scale) })
}

// scale multiplies the weight of i and j by factors[i] factors[j], for all j.
func (a Adjacency) scale(i int, factors []float64) {
	s := factors[i]
	if a.Sparse == nil {
		row := a.Full.Row(i)
		for j, other := range factors {
			row[j] *= s * other // exactly symmetric
		}
		return
	}
	col, val := a.Sparse.Row(i)
	for k, j := range col {
		val[k] *= s * factors[j]
	}
}

// components labels each point with the number of its connected component. Components are numbered
// in the order of their first points.
func (a Adjacency) components() (label []int, count int) {
	if a.Sparse != nil {
		return graph.Components(a.Sparse)
	}
	label = make([]int, a.Len())
	for i := range label {
		label[i] = -1
	}
	var open []int
	left := len(label) // points without a label
	number := func(i int) {
		label[i] = count
		open = append(open, i)
		left--
	}
	for first := range label {
		if label[first] >= 0 {
			continue
		}
		for number(first); len(open) > 0 && left > 0; {
			i := open[len(open)-1]
			open = open[:len(open)-1]
			a.Each(i, func(j int, _ float64) {
				if label[j] < 0 {
					number(j)
				}
			})
		}
		open = open[:0]
		count++
	}
	return label, count
}

// ToSparse returns the graph as a sparse matrix: a copy if it is full.
func (a Adjacency) ToSparse() *sparse.Matrix {
	if a.Sparse != nil {
		return a.Sparse
	}
	n := a.Full.Rows
	out := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, 1, n+1)}
	for i := range n {
		a.Each(i, func(j int, w float64) { out.Col, out.Val = append(out.Col, int32(j)), append(out.Val, w) })
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}
