package maps

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Function computes the coordinates of dense vectors one by one. It is safe for concurrent use.
type Function interface {
	Dim() int
	InputDim() int
	// Embed overwrites y, of length Dim, with the coordinates of x, of length InputDim.
	Embed(x, y []float64)
	// Encode stores the function in f and returns the members of the header, nil for none.
	Encode(f *model.File) any
}

// function is a map that needs no other points.
type function struct{ Function }

// Of returns the map of a function of the named method.
func Of(method string, f Function) *Map { return &Map{function{f}, method} }

func (function) Alphabet() string                      { return "" }
func (function) Kernel() kernel.Kernel                 { return kernel.Kernel{} }
func (f function) encode(to *model.File, _ string) any { return f.Encode(to) }

func (f function) check(method string, x points.Points) error {
	dense, err := input.Vectors(method, x)
	if err != nil {
		return err
	}
	if dense.D != f.InputDim() {
		return stored.WrongFeatures(dense.D, f.InputDim())
	}
	return input.Points(dense)
}

func (f function) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	dense := x.(*points.Dense)
	return eng.Each(ctx, dense.N, 256, func(i int) { f.Embed(dense.Row(i), y.Row(i)) })
}

// single computes in double precision and rounds the coordinates.
func (f function) single(ctx context.Context, eng *engine.Engine, _ string, x *points.Single) (blas.Matrix32, error) {
	if x.D != f.InputDim() {
		return blas.Matrix32{}, stored.WrongFeatures(x.D, f.InputDim())
	}
	if err := checkMemory(eng, x.N, f.Dim(), 2); err != nil {
		return blas.Matrix32{}, err
	}
	y := blas.NewMatrix32(x.N, f.Dim())
	err := eng.For(ctx, x.N, 256, func(lo, hi int) error {
		from, to := make([]float64, x.D), make([]float64, f.Dim())
		for i := lo; i < hi; i++ {
			for j, v := range x.Row(i) {
				from[j] = float64(v)
			}
			f.Embed(from, to)
			eng.Backend().Kernels().Narrow(y.Row(i), to)
		}
		return nil
	})
	if err != nil {
		return y, err
	}
	return y, finite(0, y.Rows, y.Row, beyondSingle)
}
