package maps

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// linear is the map y = W (x - mean).
type linear struct {
	mean   []float64     // length d
	w      blas.Matrix   // Dim x d
	kernel kernel.Kernel // linear if the method also takes kernels, else zero
}

// NewLinear returns the map y = W (x - mean) of the named method, which is exact for any points. It
// keeps mean (length d) and w (Dim x d). Embedding n points costs 2 n d Dim flops.
func NewLinear(method string, mean []float64, w blas.Matrix) *Map {
	return &Map{&linear{mean: mean, w: w}, method}
}

// WithKernel returns the linear map m of a method that also takes kernels: its kernel is linear.
func WithKernel(m *Map) *Map {
	l := *m.form.(*linear)
	l.kernel = kernel.Linear()
	return &Map{&l, m.method}
}

// Transform returns W (Dim x d) and the mean (length d) of a linear map, and no data for another
// map. They are shared: do not change them.
func (m *Map) Transform() (w blas.Matrix, mean []float64) {
	if l, is := m.form.(*linear); is {
		return l.w, l.mean
	}
	return w, nil
}

func (l *linear) Dim() int              { return l.w.Rows }
func (l *linear) InputDim() int         { return len(l.mean) }
func (l *linear) Alphabet() string      { return "" }
func (l *linear) Kernel() kernel.Kernel { return l.kernel }

func (l *linear) check(method string, x points.Points) error {
	dense, err := input.Vectors(method, x)
	if err != nil {
		return err
	}
	if dense.D != len(l.mean) {
		return stored.WrongFeatures(dense.D, len(l.mean))
	}
	return input.Points(dense)
}

func (l *linear) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	dense := x.(*points.Dense)
	return eng.For(ctx, dense.N, 1024, func(lo, hi int) error {
		rows := eng.GetMatrix(hi-lo, dense.D)
		defer eng.PutMatrix(rows)
		for i := lo; i < hi; i++ {
			row := rows.Row(i - lo)
			for j, v := range dense.Row(i) {
				row[j] = v - l.mean[j]
			}
		}
		eng.Backend().Gemm(false, true, 1, rows, l.w, 0, y.View(lo, hi, 0, y.Cols))
		return nil
	})
}

// single computes x - mean in double precision and rounds it once.
func (l *linear) single(ctx context.Context, eng *engine.Engine, method string, x *points.Single) (blas.Matrix32, error) {
	if x.D != len(l.mean) {
		return blas.Matrix32{}, stored.WrongFeatures(x.D, len(l.mean))
	}
	w, err := points.Narrow(&points.Dense{N: l.w.Rows, D: l.w.Cols, Data: l.w.Clone().Data})
	if err != nil {
		return blas.Matrix32{}, fmt.Errorf("%s: the model's transformation in single precision: %w", method, err)
	}
	need := engine.MatrixBytes(x.N, l.w.Rows+x.D) / 2
	if err := eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", x.N, l.w.Rows), need, "embed fewer points at a time"); err != nil {
		return blas.Matrix32{}, err
	}
	centered := &points.Single{N: x.N, D: x.D, Data: make([]float32, x.N*x.D)}
	for i := range x.N {
		row := centered.Row(i)
		for j, v := range x.Row(i) {
			row[j] = float32(float64(v) - l.mean[j])
		}
	}
	y := blas.NewMatrix32(x.N, l.w.Rows)
	if err := kernel.Linear().CrossSingle(ctx, eng, y, centered, w); err != nil {
		return blas.Matrix32{}, input.Failed(ctx, method+":", err)
	}
	return y, finite(0, y.Rows, y.Row, beyondSingle)
}

func (l *linear) encode(f *model.File, method string) any {
	f.SetFloat64s(method+".mean", l.mean)
	stored.SetMatrix(f, method+".transform", l.w)
	if l.kernel.String() == "" {
		return nil
	}
	return About{}
}

// ReadLinear is the [Reader] of linear maps.
func ReadLinear(method string, f *model.File) (*Map, error) {
	mean, err := stored.Finite(f, method+".mean", -1)
	if err != nil {
		return nil, err
	}
	d := len(mean)
	data, err := stored.Finite(f, method+".transform", -1, d)
	if err != nil {
		return nil, err
	}
	if d == 0 || len(data) == 0 {
		return nil, fault.Data("", "a transformation of %d features to %d values: want at least one of each", d, len(data))
	}
	return NewLinear(method, mean, blas.MatrixOf(len(data)/d, d, data)), nil
}
