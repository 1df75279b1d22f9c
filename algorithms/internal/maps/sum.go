package maps

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// sum is a linear map and an expansion that bends it.
type sum struct {
	*expansion
	flat *linear
}

// Sum returns the sum of a linear map and an expansion of as many directions of as many features.
func Sum(flat, bent *Map) *Map {
	return &Map{&sum{bent.form.(*expansion), flat.form.(*linear)}, flat.method}
}

func (s *sum) check(method string, x points.Points) error { return s.flat.check(method, x) }

func (s *sum) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if err := s.flat.embed(ctx, eng, x, y); err != nil {
		return err
	}
	z := eng.NewMatrix(y.Rows, y.Cols)
	if err := s.expansion.embed(ctx, eng, x, z); err != nil {
		return err
	}
	eng.Backend().Kernels().Axpy(1, z.Data, y.Data)
	return nil
}

func (s *sum) single(ctx context.Context, eng *engine.Engine, method string, x *points.Single) (blas.Matrix32, error) {
	y, err := s.flat.single(ctx, eng, method, x)
	if err != nil {
		return y, err
	}
	z, err := s.expansion.single(ctx, eng, method, x)
	for i, v := range z.Data {
		y.Data[i] += v
	}
	return y, err
}

func (s *sum) encode(f *model.File, method string) any {
	s.flat.encode(f, method)
	return s.expansion.encode(f, method)
}

// ReadSum is the [Reader] of sums.
func ReadSum(method string, f *model.File) (*Map, error) {
	flat, err := ReadLinear(method, f)
	if err != nil {
		return nil, err
	}
	bent, err := ReadExpansion(method, f)
	if err != nil {
		return nil, err
	}
	if a, b := flat.Dim(), bent.Dim(); a != b || flat.InputDim() != bent.InputDim() {
		return nil, fault.Data("", "the linear part has %d directions of %d features, the windows %d of %d", a, flat.InputDim(), b, bent.InputDim())
	}
	return Sum(flat, bent), nil
}
