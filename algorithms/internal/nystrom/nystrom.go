// Package nystrom gives new points the places that the eigenvectors of a graph's Laplacian take at
// them when they are joined to their nearest training points.
package nystrom

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Rule is what coordinates are made of: row i of them is that of the eigenvectors, V, times Turn.
type Rule struct {
	Vectors    blas.Matrix // r x n, the eigenvectors as rows
	Values     []float64   // their eigenvalues
	Turn       blas.Matrix // r x dim
	Degrees    []float64   // of the training points
	Neighbors  int
	Similarity graphkernel.Similarity
	Normalized bool
}

// Extension is the places of training points, and those of new points by the formula of Nystrom
// (Bengio et al. 2004): an eigenvector of D - S takes at a new point of edges s to its nearest
// training points and degree d the value
//
//	v(x) = sum_j s_j v_j / (d - mu)
//
// and one of I - D^-1/2 S D^-1/2 the value sum_j s_j v_j / sqrt(d d_j) / (1 - mu). Where the
// divisor is less than a tenth of d (of 1), which makes more of noise than of the eigenvector, it
// is a tenth. It is immutable and safe for concurrent use. Cost of embedding for n training points:
// n kernel values a point.
type Extension struct {
	maps.Table
	Rule
}

// least is the divisor, relative to the degree, below which none goes.
const least = 0.1

// New returns the map of the named method for the points x, near each other in the feature space of
// k.
func New(eng *engine.Engine, method string, k kernel.Kernel, x points.Points, r Rule) *maps.Map {
	p := eng.NewMatrix(r.Vectors.Cols, r.Turn.Cols)
	eng.Backend().Gemm(true, false, 1, r.Vectors, r.Turn, 0, p)
	t := maps.NewTable(k, x, p)
	return maps.Extended(method, t, &Extension{t, r})
}

// Begin returns what writes the coordinates of points.
func (e *Extension) Begin(ctx context.Context, eng *engine.Engine) (maps.Block, error) {
	return func(x points.Points, to blas.Matrix) error { return e.place(ctx, eng, x, to) }, nil
}

// place writes the places of new points; one in the place of a training point has its.
func (e *Extension) place(ctx context.Context, eng *engine.Engine, x points.Points, to blas.Matrix) error {
	near, err := graph.NearestBetween(ctx, eng, e.Kernel, x, e.Support, e.Neighbors)
	if err != nil {
		return err
	}
	return eng.For(ctx, x.Len(), 256, func(lo, hi int) error {
		values := make([]float64, len(e.Values))
		for i := lo; i < hi; i++ {
			index, squared := near.Of(i)
			if squared[0] == 0 {
				copy(to.Row(i), e.Coordinates.Row(int(index[0])))
				continue
			}
			e.at(values, index, squared)
			clear(to.Row(i))
			for c, v := range values {
				eng.Backend().Kernels().Axpy(v, e.Turn.Row(c), to.Row(i))
			}
		}
		return nil
	})
}

// at writes what the eigenvectors are at a point of these neighbors.
func (e *Extension) at(values []float64, index []int32, squared []float64) {
	clear(values)
	degree := 0.0
	for a := range index {
		degree += e.Similarity.Weight(squared[a])
	}
	if degree == 0 { // so far away that all edges vanish
		return
	}
	for a, j := range index {
		s := e.Similarity.Weight(squared[a]) / degree
		if d := e.Degrees[j]; e.Normalized && d > 0 {
			s *= math.Sqrt(degree / d)
		}
		for c := range values {
			values[c] += s * e.Vectors.At(c, int(j))
		}
	}
	for c, mu := range e.Values {
		if !e.Normalized {
			mu /= degree
		}
		values[c] /= max(least, 1-mu)
	}
}

// about is the members of the header.
type about struct {
	Neighbors  int                     `json:"nystrom_neighbors,omitempty"`
	Normalized bool                    `json:"nystrom_normalized,omitempty"`
	Similarity *graphkernel.Similarity `json:"nystrom_similarity,omitempty"`
	maps.About
}

// header has them in an entry of their own, and those of the table on both levels, as readers of
// earlier versions look for them.
type header struct {
	maps.About
	Nystrom *about `json:"nystrom,omitempty"`
}

// Encode stores the rule.
func (e *Extension) Encode(f *model.File, method string, table maps.About) any {
	stored.SetMatrix(f, method+".vectors", e.Vectors)
	stored.SetMatrix(f, method+".turn", e.Turn)
	f.SetFloat64s(method+".values", e.Values)
	f.SetFloat64s(method+".degrees", e.Degrees)
	return header{Nystrom: &about{e.Neighbors, e.Normalized, &e.Similarity, table}}
}

// Read is the [maps.Reader] of maps that [New] returns, nil for a file with another one.
func Read(method string, f *model.File) (*maps.Map, error) {
	var head header
	if err := stored.Extra(f, method, &head); err != nil || head.Nystrom == nil {
		return nil, err
	}
	about := *head.Nystrom
	t, err := maps.ReadTable(method, f, about.About)
	if err != nil {
		return nil, err
	}
	n, r := t.Coordinates.Rows, Rule{Neighbors: about.Neighbors, Normalized: about.Normalized}
	if about.Neighbors < 1 || about.Neighbors > n || about.Similarity == nil {
		return nil, stored.InHeader(fault.Data("", "%d neighbors of %d points: want 1 to %d, and how they are weighted", about.Neighbors, n, n))
	}
	r.Similarity = *about.Similarity
	if r.Values, err = stored.Finite(f, method+".values", -1); err != nil {
		return nil, err
	}
	rank := len(r.Values)
	if r.Degrees, err = stored.Finite(f, method+".degrees", n); err != nil {
		return nil, err
	}
	if r.Vectors, err = stored.Matrix(f, method+".vectors", rank, n); err != nil {
		return nil, err
	}
	r.Turn, err = stored.Matrix(f, method+".turn", rank, t.Dim)
	return maps.Extended(method, t, &Extension{t, r}), err
}
