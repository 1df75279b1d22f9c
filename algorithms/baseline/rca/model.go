package rca

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Model is y = W (x - mean). It is immutable.
type Model struct {
	params Params
	mean   []float64   // length d
	w      blas.Matrix // Dim x d
	status algorithms.Status
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
)

// Method returns "rca".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Dim returns the number of rows of W.
func (m *Model) Dim() int { return m.w.Rows }

// Transform returns W, Dim x d, and the mean, for use elsewhere: y = W (x - mean).
// The caller must not change them.
func (m *Model) Transform() (w blas.Matrix, mean []float64) { return m.w, m.mean }

// Embed returns W (x - mean) for every row, exactly the learned geometry. 2 n d Dim flops.
func (m *Model) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	dense, err := vectors(x)
	if err != nil {
		return blas.Matrix{}, err
	}
	if dense.D != len(m.mean) {
		return blas.Matrix{}, &fault.ShapeError{What: "number of features", Got: dense.D, Want: fmt.Sprintf("%d, as the model was fitted on", len(m.mean))}
	}
	if err := dense.Validate(); err != nil {
		return blas.Matrix{}, err
	}
	if err := eng.Check("embedding", engine.MatrixBytes(dense.N, m.w.Rows), "embed in parts"); err != nil {
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
		eng.Backend().Gemm(false, true, 1, rows, m.w, 0, out.View(lo, hi, 0, out.Cols))
		return nil
	})
	return out, err
}

// Gram returns the inner products of the embedded rows of x and y; nil y means x.
func (m *Model) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	ex, err := m.Embed(ctx, eng, x)
	if err != nil {
		return blas.Matrix{}, err
	}
	ey := ex
	if y != nil {
		if ey, err = m.Embed(ctx, eng, y); err != nil {
			return blas.Matrix{}, err
		}
	}
	if err := eng.Check(fmt.Sprintf("learned kernel matrix %d x %d", ex.Rows, ey.Rows), engine.MatrixBytes(ex.Rows, ey.Rows), "use fewer points"); err != nil {
		return blas.Matrix{}, err
	}
	out := eng.NewMatrix(ex.Rows, ey.Rows)
	if y != nil {
		eng.Backend().Gemm(false, true, 1, ex, ey, 0, out)
		return out, ctx.Err()
	}
	eng.Backend().Syrk(false, 1, ex, 0, out)
	for i := range out.Rows {
		for j := range i {
			out.Set(j, i, out.At(i, j))
		}
	}
	return out, ctx.Err()
}

// Distances returns |W (x_i - x_j)|^2 for each pair of rows of x.
func (m *Model) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	e, err := m.Embed(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(pairs))
	for p, pair := range pairs {
		a, b := e.Row(pair[0]), e.Row(pair[1])
		for j, v := range a {
			d := v - b[j]
			out[p] += d * d
		}
	}
	return out, nil
}

// Describe returns the figures that `mustlink inspect` shows.
func (m *Model) Describe() []algorithms.Figure {
	return []algorithms.Figure{{Name: "features", Value: len(m.mean)}, {Name: "dimensions", Value: m.w.Rows}}
}

// Encode stores W and the mean in f.
func (m *Model) Encode(f *model.File) error {
	params, err := json.Marshal(m.params)
	if err != nil {
		return err
	}
	status, err := json.Marshal(m.status)
	if err != nil {
		return err
	}
	f.Header.Method, f.Header.Params, f.Header.Status = Method, params, status
	f.SetFloat64s("rca.mean", m.mean)
	f.SetFloat64s("rca.transform", m.w.Data, m.w.Rows, m.w.Cols)
	return nil
}

// Decode reads a model that Encode stored. What does not fit is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	if err := json.Unmarshal(f.Header.Params, &m.params); err != nil {
		return nil, fault.Data("", "parameters of rca: %v", err)
	}
	if len(f.Header.Status) > 0 {
		if err := json.Unmarshal(f.Header.Status, &m.status); err != nil {
			return nil, fault.Data("", "status of rca: %v", err)
		}
	}
	var err error
	if m.mean, err = f.Float64s("rca.mean"); err != nil {
		return nil, err
	}
	d := len(m.mean)
	data, err := f.Float64s("rca.transform", -1, d)
	if err != nil {
		return nil, err
	}
	for _, v := range append(append([]float64(nil), m.mean...), data...) {
		if v-v != 0 {
			return nil, fault.Data("", "tensors of rca hold a value that is not finite")
		}
	}
	rows := 0
	if d > 0 {
		rows = len(data) / d
	}
	m.w = blas.Matrix{Rows: rows, Cols: d, Stride: max(1, d), Data: data}
	return m, nil
}
