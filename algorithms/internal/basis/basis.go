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
	"github.com/mustlink/mustlink/solvers/eigen"
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
	// Degrees are the sums of the weights of each point's edges, and Similarity is the function that
	// weights edges. Degrees is nil unless the graph is knn.
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
func (c Choice) Make(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (*Basis, error) {
	if c.Rank >= x.Len() {
		return nil, &fault.ParamError{Param: "rank", Value: c.Rank, Want: fmt.Sprintf("a number below %d, the number of points", x.Len())}
	}
	switch c.Kind {
	case Laplacian:
		return c.laplacian(ctx, eng, k, x)
	case LLE:
		return c.lle(ctx, eng, k, x)
	case Isomap:
		return c.isomap(ctx, eng, k, x)
	}
	return nil, fault.Unknown("basis", string(c.Kind), []string{string(Laplacian), string(LLE), string(Isomap)})
}

// laplacian returns the smoothest eigenvectors of the graph.
func (c Choice) laplacian(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (*Basis, error) {
	a, s, err := c.Neighborhood.Make(ctx, eng, k, x, c.Similarities)
	if err != nil {
		return nil, err
	}
	adjacency := a.ToSparse()
	b := &Basis{}
	if _, parts := graph.Components(adjacency); parts > 1 {
		b.Notices = []string{fmt.Sprintf("the graph has %d parts: the first %[1]d eigenvalues are 0, and their eigenvectors are constant on each part; use more neighbors to connect them", parts)}
	}
	found, err := eigen.Laplacian(ctx, eng, adjacency, c.Normalized, c.Rank, eigen.Options{Tolerance: tolerance, Seed: c.Seed})
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
func (c Choice) neighbors(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (*graph.Neighbors, error) {
	if c.Graph != graphkernel.KNN {
		return nil, &fault.ParamError{Param: "graph", Value: string(c.Graph), Want: "knn for basis=" + string(c.Kind)}
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
func Given(eng *engine.Engine, given *eigen.Result, n, r int) (*Basis, error) {
	vectors, values := given.Vectors, given.Values
	if r > vectors.Rows {
		return nil, &fault.ParamError{Param: "rank", Value: r, Want: fmt.Sprintf("a number up to %d, the number of given vectors", vectors.Rows)}
	}
	if r > 0 {
		vectors, values = vectors.View(0, r, 0, vectors.Cols), values[:min(r, len(values))]
	}
	r = vectors.Rows
	if vectors.Cols != n || r < 1 || r >= n || len(values) != r {
		return nil, fault.Data("", "a basis of %d x %d values and %d weights: want 1 to %d vectors of %d elements, and a weight for each", r, vectors.Cols, len(values), n-1, n)
	}
	for i, v := range values {
		if v-v != 0 || i > 0 && v < values[i-1] {
			return nil, &fault.DataError{Row: i, Err: fmt.Errorf("value %v of the basis after %v: want finite values in ascending order, so that the weights exp(-t value) do not rise", v, values[:i])}
		}
	}
	for i := range r {
		for j, v := range vectors.Row(i) {
			if v-v != 0 {
				return nil, &fault.DataError{Row: i, Column: strconv.Itoa(j), Err: fmt.Errorf("element %v of the basis: want a finite number", v)}
			}
		}
	}
	g := blas.NewMatrix(r, r)
	eng.Backend().Gemm(false, true, 1, vectors, vectors, 0, g)
	for i := range r {
		g.Set(i, i, g.At(i, i)-1)
		for j, v := range g.Row(i) {
			if math.Abs(v) > 1e-6 {
				return nil, &fault.DataError{Row: i, Column: strconv.Itoa(j), Err: fmt.Errorf("the inner product of vectors %d and %d of the basis is off by %.2g: want orthonormal vectors", i, j, v)}
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
