// Package basis finds the orthonormal vectors that spectral kernels weigh: those of a graph's
// Laplacian, of locally linear embedding and of Isomap.
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

// Kind says whose vectors.
type Kind string

// The kinds.
const (
	Laplacian Kind = "laplacian" // eigenvectors of a graph's Laplacian, the smoothest first
	LLE       Kind = "lle"       // of (I - W)'(I - W), W the weights of reconstruction from neighbors
	Isomap    Kind = "isomap"    // of the inner products that shortest paths in a graph come to
)

// Choice says which vectors.
type Choice struct {
	Kind
	Normalized bool // the Laplacian I - D^-1/2 S D^-1/2 in place of D - S
	graphkernel.Neighborhood
	Rank         int // how many
	Similarities blas.Matrix
	Seed         uint64
}

// Basis is orthonormal vectors and how rough they are.
type Basis struct {
	Vectors blas.Matrix // r x n, a unit vector a row
	// Values rise: eigenvalues, and for Isomap the logarithms of the largest one over each, so that
	// exp(-v) weighs the vectors as Isomap does.
	Values []float64
	// Degrees are the sums of the weights of the points' edges, and Similarity says how edges are
	// weighted; nil but for graphs of neighbors.
	Degrees    []float64
	Similarity graphkernel.Similarity
	Notices    []string
}

// tolerance is that of eigenvectors.
const tolerance = 1e-8

// Make finds the vectors for the points x, near each other in the feature space of k.
//
// Errors: a rank that is not below the number of points, a graph that the kind does not take or
// that falls into parts where all must be joined; those of the graph and of the search for
// eigenvectors.
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
		b.Notices = []string{fmt.Sprintf("the graph has %d parts: as many eigenvalues are 0, and their eigenvectors are the parts'; more neighbors join them", parts)}
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

// neighbors checks that the graph is one of nearest neighbors and finds them.
func (c Choice) neighbors(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (*graph.Neighbors, error) {
	if c.Graph != graphkernel.KNN {
		return nil, &fault.ParamError{Param: "graph", Value: string(c.Graph), Want: "knn for basis=" + string(c.Kind)}
	}
	if err := c.Check(x.Len()); err != nil {
		return nil, err
	}
	return graph.Nearest(ctx, eng, k, x, c.Neighbors)
}

// Given checks vectors that are given for n points and returns the first r of them, 0 for all.
// Vectors that are not orthonormal and values that fall or are not finite are a *fault.DataError.
func Given(eng *engine.Engine, given *eigen.Result, n, r int) (*Basis, error) {
	vectors, values := given.Vectors, given.Values
	if r > vectors.Rows {
		return nil, &fault.ParamError{Param: "rank", Value: r, Want: fmt.Sprintf("a number up to %d, the number of vectors that are given", vectors.Rows)}
	}
	if r > 0 {
		vectors, values = vectors.View(0, r, 0, vectors.Cols), values[:min(r, len(values))]
	}
	r = vectors.Rows
	if vectors.Cols != n || r < 1 || r >= n || len(values) != r {
		return nil, fault.Data("", "a basis of %d x %d values and %d weights: want 1 to %d vectors of %d elements, and a weight of each", r, vectors.Cols, len(values), n-1, n)
	}
	for i, v := range values {
		if v-v != 0 || i > 0 && v < values[i-1] {
			return nil, &fault.DataError{Row: i, Err: fmt.Errorf("value %v of the basis after %v: want finite ones that rise, so that the first weights exp(-t value) do not rise", v, values[:i])}
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
				return nil, &fault.DataError{Row: i, Column: strconv.Itoa(j), Err: fmt.Errorf("the product of vectors %d and %d of the basis is off by %.2g: want orthonormal ones", i, j, v)}
			}
		}
	}
	return &Basis{Vectors: vectors, Values: slices.Clone(values)}, nil
}

// Constant is the number of leading vectors of value 0, of a Laplacian one for each part of the
// graph: they are constant on it.
func (b *Basis) Constant() int {
	count := 0
	for count < len(b.Values) && b.Values[count] <= zero {
		count++
	}
	return count
}

// zero is the value up to which one is 0.
const zero = 1e-10
