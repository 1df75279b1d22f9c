// Package linear holds what linear metrics share: the map y = W (x - mean) with everything that a
// model does with it, and principal coordinates to learn it in.
package linear

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Map is y = W (x - mean). Models of linear methods embed it.
type Map struct {
	method string
	mean   []float64   // length d
	w      blas.Matrix // Dim x d
}

// New returns the map of the named method; it keeps mean (length d) and w (Dim x d).
func New(method string, mean []float64, w blas.Matrix) Map { return Map{method, mean, w} }

// Vectors returns x as dense vectors, an error if it is something else.
func Vectors(method string, x points.Points) (*points.Dense, error) {
	dense, ok := x.(*points.Dense)
	if !ok {
		return nil, &fault.ParamError{Param: "points", Value: "not dense vectors", Want: "dense vectors for " + method + " (krca with a linear kernel takes sparse rows and Gram matrices)"}
	}
	return dense, nil
}

// Checked returns the points of a fit as dense vectors. Errors are those of the parameters, of [Vectors] and of input.Check.
func Checked(method string, p Parameters, x points.Points, set *links.Set) (*points.Dense, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	dense, err := Vectors(method, x)
	if err != nil {
		return nil, err
	}
	return dense, input.Check(x, set)
}

// Method returns the name of the method that made it.
func (m *Map) Method() string { return m.method }

// Dim returns the number of columns of Embed.
func (m *Map) Dim() int { return m.w.Rows }

// InputDim returns the number of features of the points that it takes.
func (m *Map) InputDim() int { return len(m.mean) }

// Transform returns W (Dim x d) and the mean (length d). They are shared: do not change them.
func (m *Map) Transform() (w blas.Matrix, mean []float64) { return m.w, m.mean }

// Embed maps n points to n x Dim coordinates, exactly: squared Euclidean distance is the learned
// one. Cost 2 n d Dim flops.
func (m *Map) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	dense, err := m.check(x)
	if err != nil {
		return blas.Matrix{}, err
	}
	if err := eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", dense.N, m.w.Rows), engine.MatrixBytes(dense.N, m.w.Rows), "embed fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	out := eng.NewMatrix(dense.N, m.w.Rows)
	const block = 1024
	err = eng.For(ctx, dense.N, block, func(lo, hi int) error {
		rows := eng.GetMatrix(hi-lo, dense.D)
		defer eng.PutMatrix(rows)
		for i := lo; i < hi; i++ {
			row := rows.Row(i - lo)
			for j, v := range dense.Row(i) {
				row[j] = v - m.mean[j]
			}
		}
		block := out.View(lo, hi, 0, out.Cols)
		eng.Backend().Gemm(false, true, 1, rows, m.w, 0, block)
		return places.Finite(block, lo)
	})
	return out, err
}

// check returns x as the vectors that the map takes.
func (m *Map) check(x points.Points) (*points.Dense, error) {
	dense, err := Vectors(m.method, x)
	if err != nil {
		return nil, err
	}
	if dense.D != len(m.mean) {
		return nil, stored.WrongFeatures(dense.D, len(m.mean))
	}
	return dense, input.Points(dense)
}

// Gram evaluates the learned kernel, the inner products of embedded points. A nil y means x.
func (m *Map) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if _, err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	return places.Gram(ctx, eng, x, y, m.Dim(), m.embed(ctx, eng))
}

func (m *Map) embed(ctx context.Context, eng *engine.Engine) places.Embed {
	return func(x points.Points) (blas.Matrix, error) { return m.Embed(ctx, eng, x) }
}

// Distances returns the squared learned distance of each pair of rows of x. A row out of range is a
// *fault.DataError whose Row is the number of the pair.
func (m *Map) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	if _, err := m.check(x); err != nil {
		return nil, err
	}
	return places.Distances(eng, x, pairs, m.embed(ctx, eng))
}

// Encode stores the map in f, in tensors named after the method.
func (m *Map) Encode(f *model.File) {
	f.SetFloat64s(m.method+".mean", m.mean)
	stored.SetMatrix(f, m.method+".transform", m.w)
}

// Decode returns the map that [Map.Encode] stored. A tensor that is missing, misshapen or not
// finite is a *fault.DataError.
func Decode(method string, f *model.File) (Map, error) {
	m := Map{method: method}
	var err error
	if m.mean, err = stored.Finite(f, method+".mean", -1); err != nil {
		return m, err
	}
	d := len(m.mean)
	data, err := stored.Finite(f, method+".transform", -1, d)
	if err != nil {
		return m, err
	}
	if d == 0 || len(data) == 0 {
		return m, fault.Data("", "a transformation of %d features to %d values: want at least one of each", d, len(data))
	}
	m.w = blas.Matrix{Rows: len(data) / d, Cols: d, Stride: d, Data: data}
	return m, nil
}
