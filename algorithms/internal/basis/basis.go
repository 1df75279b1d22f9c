// Package basis computes the orthonormal vectors of spectral kernels: those of a graph Laplacian,
// of locally linear embedding and of Isomap.
package basis

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Kind names the method that the vectors come from.
type Kind string

// The kinds.
const (
	Laplacian Kind = "laplacian" // eigenvectors of a graph's Laplacian, the smoothest first
	LLE       Kind = "lle"       // eigenvectors of (I - W)'(I - W), with the reconstruction weights W
	Isomap    Kind = "isomap"    // eigenvectors of the inner products of shortest paths in a graph
)

// Choice holds the settings of a basis.
type Choice struct {
	Kind
	Normalized bool // the Laplacian I - D^-1/2 S D^-1/2 instead of D - S
	graphkernel.Neighborhood
	Rank         int // number of vectors
	Similarities blas.Matrix
	Seed         uint64
}

// Basis holds orthonormal vectors and their roughness.
type Basis struct {
	Vectors blas.Matrix // r x n, one unit vector per row
	// Values are the eigenvalues, ascending. For Isomap they are log(w_1 / w), with the largest
	// eigenvalue w_1, so that exp(-v) is the weight that Isomap gives a vector.
	Values []float64
	// Degrees are the sums of the weights of each point's edges, and Similarity is the function
	// that weights edges. Degrees is nil unless the graph is knn.
	Degrees    []float64
	Similarity graphkernel.Similarity
	Notices    []string
}

// tolerance is the tolerance of the eigensolver.
const tolerance = 1e-8

// Make computes the basis for the points x. Neighbors are searched in the feature space of k.
//
// Errors: a rank that is not below the number of points; a graph that the kind does not support, or
// that is not connected where it must be; those of the graph and of the eigensolver.
func (c Choice) Make(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) (*Basis, error) {
	if c.Rank >= x.Len() {
		return nil, fault.Param("rank", c.Rank, "a number below %d, the number of points", x.Len())
	}
	switch c.Kind {
	case Laplacian:
		return c.laplacian(ctx, eng, k, x)
	case LLE:
		return c.lle(ctx, eng, k, x)
	case Isomap:
		return c.isomap(ctx, eng, k, x)
	}
	return nil, fault.Unknown("basis", string(c.Kind),
		[]string{string(Laplacian), string(LLE), string(Isomap)})
}

// laplacian returns the smoothest eigenvectors of the graph.
func (c Choice) laplacian(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) (*Basis, error) {
	a, s, err := c.Neighborhood.Make(ctx, eng, k, x, c.Similarities)
	if err != nil {
		return nil, err
	}
	adjacency := a.ToSparse()
	b := &Basis{}
	if _, parts := graph.Components(adjacency); parts > 1 {
		b.Notices = []string{fmt.Sprintf(
			"the graph has %d parts: the first %[1]d eigenvalues are 0, and their eigenvectors are "+
				"constant on each part; use more neighbors to connect them", parts)}
	}
	found, err := operator.LaplacianEigenpairs(ctx, eng, adjacency, c.Normalized, c.Rank,
		operator.EigenOptions{Tolerance: tolerance, Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	b.Vectors, b.Values = found.Vectors, found.Values
	if c.Graph == graphkernel.KNN {
		b.Degrees, b.Similarity = graph.Degrees(adjacency), s
	}
	return b, nil
}

// neighbors returns the nearest neighbors, or an error if the graph is not knn.
func (c Choice) neighbors(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) (*graph.Neighbors, error) {
	if c.Graph != graphkernel.KNN {
		return nil, fault.Param("graph", string(c.Graph), "knn for basis=%s", string(c.Kind))
	}
	if err := c.Check(x.Len()); err != nil {
		return nil, err
	}
	return graph.Nearest(ctx, eng, k, x, c.Neighbors)
}

// Given checks vectors that the caller supplies for n points and returns the first r of them, all
// for
// 0. Vectors that are not orthonormal, and values that descend or are not finite, are a
// *fault.DataError.
func Given(eng *engine.Engine, given *operator.Eigenpairs, n, r int) (*Basis, error) {
	vectors, values := given.Vectors, given.Values
	if r > vectors.Rows {
		return nil, fault.Param("rank", r, "a number up to %d, the number of given vectors", vectors.Rows)
	}
	if r > 0 {
		vectors, values = vectors.View(0, r, 0, vectors.Cols), values[:min(r, len(values))]
	}
	r = vectors.Rows
	if vectors.Cols != n || r < 1 || r >= n || len(values) != r {
		return nil, fault.Data("",
			"a basis of %d x %d values and %d weights: want 1 to %d vectors of %d elements, and a weight "+
				"for each", r, vectors.Cols, len(values), n-1, n)
	}
	for i, v := range values {
		if v-v != 0 || i > 0 && v < values[i-1] {
			return nil, fault.Row(i, "value %v of the basis after %v: want finite values in ascending "+
				"order, so that the weights exp(-t value) do not rise", v, values[:i])
		}
	}
	for i := range r {
		for j, v := range vectors.Row(i) {
			if v-v != 0 {
				return nil, fault.Cell(i, strconv.Itoa(j), "element %v of the basis: want a finite number", v)
			}
		}
	}
	g := blas.NewMatrix(r, r)
	eng.Backend().Gemm(false, true, 1, vectors, vectors, 0, g)
	for i := range r {
		g.Set(i, i, g.At(i, i)-1)
		for j, v := range g.Row(i) {
			if math.Abs(v) > 1e-6 {
				return nil, fault.Cell(i, strconv.Itoa(j), "the inner product of vectors %d and %d of the "+
					"basis is off by %.2g: want orthonormal vectors", i, j, v)
			}
		}
	}
	return &Basis{Vectors: vectors, Values: slices.Clone(values)}, nil
}

// Constant returns the number of leading vectors with value 0. A Laplacian has one for each
// component of the graph, which is constant on that component.
func (b *Basis) Constant() int {
	count := 0
	for count < len(b.Values) && b.Values[count] <= zero {
		count++
	}
	return count
}

// zero is the largest value that counts as 0.
const zero = 1e-10

// shift times the mean of the diagonal is added to the diagonal of (I - W)'(I - W), whose smallest
// eigenvalues cluster at 0.
const shift = 1e-6

// lle returns the eigenvectors of E = (I - W)'(I - W) with the smallest eigenvalues, including the
// constant one (Roweis & Saul 2000). It computes them as the leading eigenvectors of (E + s I)^-1,
// whose eigenvalues are well separated where those of E cluster. Cost: n^3 / 3 flops.
func (c Choice) lle(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) (*Basis, error) {
	n := x.Len()
	near, err := c.neighbors(ctx, eng, k, x)
	if err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("reconstruction errors of %d points", n), 2*engine.MatrixBytes(n, n),
		"use fewer points, or basis=laplacian"); err != nil {
		return nil, err
	}
	w, err := c.weights(ctx, eng, k, x, near)
	if err != nil {
		return nil, err
	}
	e := errors(eng, near, w)
	mean := 0.0
	for i := range n {
		mean += e.At(i, i) / float64(n)
	}
	e.Shift(shift * mean)
	if err := eng.Cholesky(ctx, e); err != nil {
		return nil, err
	}
	found, err := operator.TopEigenpairs(ctx, eng, operator.Inverse(e), c.Rank,
		operator.EigenOptions{Tolerance: tolerance, Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	b := &Basis{Vectors: found.Vectors, Values: make([]float64, c.Rank)}
	for i := range c.Rank {
		b.Values[i] = residue(near, w, b.Vectors.Row(i))
		if i > 0 { // equal values may descend by rounding
			b.Values[i] = max(b.Values[i], b.Values[i-1])
		}
	}
	return b, nil
}

// weights returns the weights that reconstruct every point from its neighbors in the feature space
// of k.
func (c Choice) weights(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	near *graph.Neighbors) (blas.Matrix, error) {
	value, err := k.Values(ctx, eng, x)
	if err != nil {
		return blas.Matrix{}, err
	}
	return lle.Weights(ctx, eng, near.N, near.K, lle.OfKernel(value, near.Index, near.K),
		lle.DefaultRegularization)
}

// errors returns (I - W)'(I - W).
func errors(eng *engine.Engine, near *graph.Neighbors, w blas.Matrix) blas.Matrix {
	e := eng.NewMatrix(near.N, near.N)
	for i := range near.N {
		index, _ := near.Of(i)
		row := w.Row(i)
		e.Set(i, i, e.At(i, i)+1)
		for a, ja := range index {
			p := int(ja)
			e.Set(i, p, e.At(i, p)-row[a])
			e.Set(p, i, e.At(p, i)-row[a])
			for b, jb := range index {
				q := int(jb)
				e.Set(p, q, e.At(p, q)+row[a]*row[b])
			}
		}
	}
	return e
}

// residue returns |(I - W) v|^2.
func residue(near *graph.Neighbors, w blas.Matrix, v []float64) float64 {
	sum := 0.0
	for i := range near.N {
		index, _ := near.Of(i)
		d := v[i]
		for a, j := range index {
			d -= w.At(i, a) * v[j]
		}
		sum += d * d
	}
	return math.Max(0, sum)
}

// isomap returns the leading eigenvectors of -H D H / 2, where D holds the squared lengths of
// shortest paths in the neighbor graph (Tenenbaum, de Silva & Langford 2000). Cost: n (n k) log n
// for the paths.
func (c Choice) isomap(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) (*Basis, error) {
	near, err := c.neighbors(ctx, eng, k, x)
	if err != nil {
		return nil, err
	}
	edges := near.Adjacency(graph.Union, math.Sqrt)
	if _, parts := graph.Components(near.Adjacency(graph.Union, graph.Binary)); parts > 1 {
		return nil, fault.Data("",
			"the graph of %d neighbors has %d parts without paths between them: want more neighbors for "+
				"basis=isomap", c.Neighbors, parts)
	}
	d, err := graph.Geodesics(ctx, eng, edges)
	if err != nil {
		return nil, err
	}
	found, err := Scaled(ctx, eng, d, c.Rank, operator.EigenOptions{Tolerance: tolerance, Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	b := &Basis{Vectors: found.Vectors, Values: make([]float64, c.Rank)}
	for i, w := range found.Values {
		if !(w > zero*found.Values[0]) {
			return nil, fault.Param("rank", c.Rank,
				"a number up to %d, the number of positive eigenvalues of the paths", i)
		}
		b.Values[i] = math.Log(found.Values[0] / w)
	}
	return b, nil
}

// Scaled returns the dims leading eigenpairs of the inner products -H D^2 H / 2 of the distances D:
// classical scaling (Torgerson 1952). Eigenvalues may be negative if the distances are not
// Euclidean. It overwrites d.
func Scaled(ctx context.Context, eng *engine.Engine, d blas.Matrix, dims int,
	o operator.EigenOptions) (*operator.Eigenpairs, error) {
	center(d)
	gram, err := operator.Dense(d)
	if err != nil {
		return nil, err
	}
	return operator.TopEigenpairs(ctx, eng, gram, dims, o)
}

// center replaces distances by the inner products -H D^2 H / 2.
func center(d blas.Matrix) {
	n := d.Rows
	means, mean := make([]float64, n), 0.0
	for i := range n {
		row := d.Row(i)
		for j, v := range row {
			row[j] = v * v
			means[i] += row[j] / float64(n)
		}
		mean += means[i] / float64(n)
	}
	for i := range n {
		row := d.Row(i)
		for j, v := range row {
			row[j] = -0.5 * (v - (means[i] + means[j]) + mean)
		}
	}
}
