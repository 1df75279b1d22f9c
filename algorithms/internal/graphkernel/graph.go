package graphkernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Graph names the rule by which points are joined by edges.
type Graph string

// The graphs.
const (
	KNN    Graph = "knn"   // pairs of which one point is among the nearest neighbors of the other
	Dense  Graph = "dense" // all pairs, weighted by exp(-d^2 / (2 sigma^2))
	Within Graph = "eps"   // pairs up to a distance
	Given  Graph = "given" // similarities supplied by the caller
)

// Neighborhood holds the settings of the graph of the points.
type Neighborhood struct {
	Graph Graph `json:"graph" param:"graph" default:"knn" choices:"knn (nearest neighbors),dense (all pairs, Gaussian),eps:R (pairs up to distance R),@FILE (similarities, an .npy or .csv file of n rows and columns)" also:"eps,given" file:"similarities" help:"graph of similar points"`
	// Metric and the Kernel of a Learner together determine the space of the neighbor search. A
	// model stores only the kernel.
	Metric    Space   `json:"-" param:"metric" choices:"euclid,cosine,kernel (that of -k)" zero:"kernel with -k, else euclid" help:"metric of the neighbor search"`
	Neighbors int     `json:"neighbors" param:"neighbors" range:">= 1" zero:"for graph=eps:R and @FILE" help:"nearest neighbors of each point (with graph=dense they set the width, 10 in the paper)"`
	Radius    float64 `json:"radius,omitempty" param:"-"` // the distance, for Within
	Heat      bool    `json:"heat" param:"heat" help:"true weights the edges of knn and eps by their length"`
}

// SetText parses the form eps:R, a graph with its radius.
func (o *Neighborhood) SetText(name, text string) (bool, error) {
	number, is := strings.CutPrefix(text, string(Within)+":")
	if name != "graph" || !is {
		return false, nil
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return false, fault.Param("radius of graph=eps:R", number, "a finite number > 0")
	}
	o.Graph, o.Radius = Within, v
	return true, nil
}

// TakeSimilarities sets the graph to the given similarities of the Learner.
func (o *Neighborhood) TakeSimilarities() { o.Graph = Given }

// Check returns a *fault.ParamError for the first value that is invalid for n points.
func (o Neighborhood) Check(n int) error {
	if err := param.Validate(o); err != nil {
		return err
	}
	switch {
	case o.Graph == Within && (!(o.Radius > 0) || math.IsInf(o.Radius, 0)):
		return fault.Param("radius of the graph", o.Radius, "a finite number > 0")
	case o.Graph != KNN && o.Graph != Dense:
		return nil
	case o.Neighbors < 1:
		return fault.Param("neighbors", o.Neighbors, "an integer >= 1")
	case o.Neighbors >= n:
		return fault.Param("neighbors", o.Neighbors, "a number below %d, the number of points", n)
	}
	return nil
}

// Validate validates the parameters of a method and o, the settings of their graph, for any number
// of points.
func Validate(params any, o Neighborhood) error {
	if err := param.Validate(params); err != nil {
		return err
	}
	return o.Check(math.MaxInt)
}

// ValidateSparse is [Validate] for a method that does not support graph=dense.
func ValidateSparse(params any, o Neighborhood) error {
	if err := param.Validate(params); err != nil {
		return err
	}
	if o.Graph == Dense {
		return fault.Param("graph", string(o.Graph), "knn, eps:R or @FILE")
	}
	return o.Check(math.MaxInt)
}

// Similarity is the function from squared distance to the weight of an edge.
type Similarity struct {
	Sigma float64 `json:"sigma,omitempty"` // width of the Gaussian; 0: all weights are 1
}

// Weight returns the weight of an edge between points at the given squared distance.
func (s Similarity) Weight(squared float64) float64 {
	if s.Sigma == 0 {
		return 1
	}
	return math.Exp(-squared / (2 * s.Sigma * s.Sigma))
}

// Similarities returns the graph of the points in the feature space of k, and the function that
// weights its edges.
func (o Neighborhood) Similarities(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) (Adjacency, Similarity, error) {
	if o.Graph == Within {
		return o.within(ctx, eng, k, x)
	}
	near, err := graph.Nearest(ctx, eng, k, x, o.Neighbors)
	if err != nil {
		return Adjacency{}, Similarity{}, err
	}
	s := Similarity{}
	if o.Heat || o.Graph == Dense {
		if s.Sigma = meanRoot(near.Squared); o.Graph == Dense {
			s.Sigma /= 2
		}
		if !(s.Sigma > 0) {
			return Adjacency{}, s,
				fault.Data("", "the nearest neighbors of all points are at distance 0: want points that "+
					"differ")
		}
	}
	if o.Graph == KNN {
		return Adjacency{Sparse: near.Adjacency(graph.Union, s.Weight)}, s, nil
	}
	full, err := dense(ctx, eng, k, x, s)
	return Adjacency{Full: full}, s, err
}

func meanRoot(squared []float64) float64 {
	mean := 0.0
	for _, d := range squared {
		mean += math.Sqrt(d) / float64(len(squared))
	}
	return mean
}

// dense returns the similarities of all pairs. Their memory belongs to the engine: the caller may
// release it.
func dense(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	s Similarity) (blas.Matrix, error) {
	n := x.Len()
	if err := eng.Check("similarities of all pairs", engine.MatrixBytes(n, n),
		"use graph=knn, or fewer points"); err != nil {
		return blas.Matrix{}, err
	}
	d := eng.GetMatrix(n, n)
	if err := k.Squared().GramTo(ctx, eng, d, x); err != nil {
		return d, err
	}
	t, scale := eng.Backend().Kernels(), -1/(2*s.Sigma*s.Sigma)
	return d, eng.Each(ctx, n, chunk, func(i int) {
		row := d.Row(i)
		t.Scale(scale, row)
		t.Exp(row, row)
		row[i] = 0
	})
}

// within returns the graph of the pairs at most Radius apart.
func (o Neighborhood) within(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) (Adjacency, Similarity, error) {
	a, err := graph.Within(ctx, eng, k, x, o.Radius)
	if err != nil {
		return Adjacency{}, Similarity{}, err
	}
	s := Similarity{}
	if o.Heat {
		if s.Sigma = meanRoot(a.Val); a.Count() > 0 && !(s.Sigma > 0) {
			return Adjacency{}, s,
				fault.Data("", "all neighbors of all points are at distance 0: want points that differ")
		}
	}
	for e, squared := range a.Val {
		a.Val[e] = s.Weight(squared)
	}
	return Adjacency{Sparse: a}, s, nil
}

// maxSparse is the largest share of pairs with an edge at which a matrix of similarities is stored
// as a sparse one.
const maxSparse = 0.2

// Take returns the graph of the given similarities of n points, without their diagonal. It scales
// similarities whose products might overflow or underflow. A matrix that is not n x n, a value that
// is negative or not finite, and a matrix that is not symmetric up to rounding are *fault.DataError
// values.
func Take(s blas.Matrix, n int) (Adjacency, error) {
	if s.Rows != n || s.Cols != n {
		return Adjacency{}, WrongSize(s, n)
	}
	if err := CheckSimilarities(s); err != nil {
		return Adjacency{}, err
	}
	largest, edges := 0.0, 0
	for i := range n {
		for j, v := range s.Row(i) {
			if largest = max(largest, v); v > 0 && i != j {
				edges++
			}
		}
	}
	s = moderate(s, largest)
	lower := func(i, j int) float64 { return s.At(max(i, j), min(i, j)) }
	if float64(edges) > maxSparse*float64(n)*float64(n) {
		full := s.Clone()
		for i := range n {
			for j := range i {
				full.Set(j, i, full.At(i, j))
			}
			full.Set(i, i, 0)
		}
		return Adjacency{Full: full}, nil
	}
	out := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, n+1)}
	for i := range n {
		for j := range n {
			if v := lower(i, j); v > 0 && i != j {
				out.Col, out.Val = append(out.Col, int32(j)), append(out.Val, v)
			}
		}
		out.Start[i+1] = len(out.Col)
	}
	return Adjacency{Sparse: out}, nil
}

// WrongSize returns the error for similarities of other than n points.
func WrongSize(s blas.Matrix, n int) error {
	return fault.Data("", "%d x %d similarities: want %d x %d, as there are points", s.Rows, s.Cols, n, n)
}

// CheckSimilarities returns a *fault.DataError for the first value of a square matrix that is
// negative or not finite, or that is not symmetric up to rounding.
func CheckSimilarities(s blas.Matrix) error {
	n, largest := s.Rows, 0.0
	for i := range n {
		for j, v := range s.Row(i) {
			if !(v >= 0) || math.IsInf(v, 0) {
				return fault.Cell(i, strconv.Itoa(j), "similarity %v: want a finite number >= 0", v)
			}
			largest = max(largest, v)
		}
	}
	for i := range n {
		for j := range i {
			if a, b := s.At(i, j), s.At(j, i); math.Abs(a-b) > float64(n)*0x1p-52*largest {
				return fault.Cell(i, strconv.Itoa(j),
					"similarity %v, but %v in the transposed place: want a symmetric matrix", a, b)
			}
		}
	}
	return nil
}

// moderate returns the similarities, or if the largest is beyond 1e75 or below 1e-75, a copy
// divided by the power of two that makes it about 1, which leaves all digits as they are.
func moderate(s blas.Matrix, largest float64) blas.Matrix {
	if largest == 0 || largest <= input.Largest && largest >= 1/input.Largest {
		return s
	}
	_, exponent := math.Frexp(largest)
	s = s.Clone()
	for k, v := range s.Data {
		s.Data[k] = math.Ldexp(v, -exponent)
	}
	return s
}

// unreached returns a notice about the components of the graph without a linked point: the links
// have no influence on them.
func unreached(s Adjacency, set *links.Set) []string {
	label, count := s.components()
	linked := make([]bool, count)
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		linked[label[l.I]], linked[label[l.J]] = true, true
	}
	parts, points := 0, 0
	for _, is := range linked {
		if !is {
			parts++
		}
	}
	for _, c := range label {
		if !linked[c] {
			points++
		}
	}
	if parts == 0 {
		return nil
	}
	return []string{fmt.Sprintf(
		"embedded at the origin, as no link is there: %s, in %d of %d components of the graph (want more "+
			"neighbors, or links there)", fault.Count(points, "point"), parts, count)}
}

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
