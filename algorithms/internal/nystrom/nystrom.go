// Package nystrom gives new points the places that the eigenvectors of a graph's Laplacian take at them when they are
// joined to their nearest training points.
package nystrom

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/placed"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Map is what places are made of: row i of them is that of the eigenvectors, V, times Turn.
type Map struct {
	Vectors    blas.Matrix // r x n, the eigenvectors as rows
	Values     []float64   // their eigenvalues
	Turn       blas.Matrix // r x dim
	Degrees    []float64   // of the training points
	Neighbors  int
	Similarity graphkernel.Similarity
	Normalized bool
}

// Extension is the places of training points, and those of new points by the formula of Nystrom (Bengio et al. 2004): an
// eigenvector of D - S takes at a new point of edges s to its nearest training points and degree d the value
//
//	v(x) = sum_j s_j v_j / (d - mu)
//
// and one of I - D^-1/2 S D^-1/2 the value sum_j s_j v_j / sqrt(d d_j) / (1 - mu). Where the divisor is less than a tenth
// of d (of 1), which makes more of noise than of the eigenvector, it is a tenth. It is immutable and safe for
// concurrent use. Cost of embedding for n training points: n kernel values a point.
type Extension struct {
	*placed.Table
	m Map
}

// least is the divisor, relative to the degree, below which none goes.
const least = 0.1

// New returns the extension of the named method for the points x, near each other in the feature space of k.
func New(eng *engine.Engine, method string, k kernel.Kernel, x points.Points, m Map) *Extension {
	p := eng.NewMatrix(m.Vectors.Cols, m.Turn.Cols)
	eng.Backend().Gemm(true, false, 1, m.Vectors, m.Turn, 0, p)
	return extend(placed.New(method, k, x, p), m)
}

// Map returns what the places are made of, which is shared: do not change it.
func (e *Extension) Map() Map { return e.m }

func extend(t *placed.Table, m Map) *Extension {
	e := &Extension{t, m}
	t.Begin = func(ctx context.Context, eng *engine.Engine) (placed.Block, error) {
		return func(x points.Points, to blas.Matrix) error { return e.place(ctx, eng, x, to) }, nil
	}
	return e
}

// place writes the places of new points; one in the place of a training point has its.
func (e *Extension) place(ctx context.Context, eng *engine.Engine, x points.Points, to blas.Matrix) error {
	near, err := graph.NearestBetween(ctx, eng, e.Kernel(), x, e.Support(), e.m.Neighbors)
	if err != nil {
		return err
	}
	return eng.For(ctx, x.Len(), 256, func(lo, hi int) error {
		values := make([]float64, len(e.m.Values))
		for i := lo; i < hi; i++ {
			index, squared := near.Of(i)
			if squared[0] == 0 {
				copy(to.Row(i), e.Places().Row(int(index[0])))
				continue
			}
			e.at(values, index, squared)
			clear(to.Row(i))
			for c, v := range values {
				eng.Backend().Kernels().Axpy(v, e.m.Turn.Row(c), to.Row(i))
			}
		}
		return nil
	})
}

// at writes what the eigenvectors are at a point of these neighbours.
func (e *Extension) at(values []float64, index []int32, squared []float64) {
	clear(values)
	degree := 0.0
	for a := range index {
		degree += e.m.Similarity.Weight(squared[a])
	}
	if degree == 0 { // so far away that all edges vanish
		return
	}
	for a, j := range index {
		s := e.m.Similarity.Weight(squared[a]) / degree
		if d := e.m.Degrees[j]; e.m.Normalized && d > 0 {
			s *= math.Sqrt(degree / d)
		}
		for c := range values {
			values[c] += s * e.m.Vectors.At(c, int(j))
		}
	}
	for c, mu := range e.m.Values {
		if !e.m.Normalized {
			mu /= degree
		}
		values[c] /= max(least, 1-mu)
	}
}

// About is what the header has to hold to read an extension.
type About struct {
	Neighbors  int                     `json:"nystrom_neighbors,omitempty"`
	Normalized bool                    `json:"nystrom_normalized,omitempty"`
	Similarity *graphkernel.Similarity `json:"nystrom_similarity,omitempty"`
	placed.About
}

// Encode stores the extension in f and returns what the header has to hold.
func (e *Extension) Encode(f *model.File) About {
	stored.SetMatrix(f, e.Method()+".vectors", e.m.Vectors)
	stored.SetMatrix(f, e.Method()+".turn", e.m.Turn)
	f.SetFloat64s(e.Method()+".values", e.m.Values)
	f.SetFloat64s(e.Method()+".degrees", e.m.Degrees)
	return About{e.m.Neighbors, e.m.Normalized, &e.m.Similarity, e.Table.Encode(f)}
}

// Decode returns the extension that [Extension.Encode] stored. A tensor or a part of the header that cannot be used
// is a *fault.DataError.
func Decode(method string, f *model.File, about About) (*Extension, error) {
	t, err := placed.Decode(method, f, about.About)
	if err != nil {
		return nil, err
	}
	n, m := t.Places().Rows, Map{Neighbors: about.Neighbors, Normalized: about.Normalized}
	if about.Neighbors < 1 || about.Neighbors > n || about.Similarity == nil {
		return nil, stored.InHeader(fault.Data("", "%d neighbours of %d points: want 1 to %d, and how they are weighted", about.Neighbors, n, n))
	}
	m.Similarity = *about.Similarity
	if m.Values, err = stored.Finite(f, method+".values", -1); err != nil {
		return nil, err
	}
	r := len(m.Values)
	if m.Degrees, err = stored.Finite(f, method+".degrees", n); err != nil {
		return nil, err
	}
	if m.Vectors, err = stored.Matrix(f, method+".vectors", r, n); err != nil {
		return nil, err
	}
	m.Turn, err = stored.Matrix(f, method+".turn", r, t.Dim())
	return extend(t, m), err
}
