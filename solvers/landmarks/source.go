package landmarks

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// OfKernel returns the kernel matrix of x as a source.
func OfKernel(eng *engine.Engine, k kernel.Kernel, x points.Points) Source {
	return ofKernel{eng, k, x}
}

type ofKernel struct {
	eng *engine.Engine
	k   kernel.Kernel
	x   points.Points
}

func (s ofKernel) Len() int { return s.x.Len() }

func (s ofKernel) Diagonal(ctx context.Context) ([]float64, error) {
	return s.k.Diagonal(ctx, s.eng, s.x)
}

func (s ofKernel) Columns(ctx context.Context, which []int, lo, hi int, dst blas.Matrix) error {
	return s.k.CrossTo(ctx, s.eng, dst, s.x.Select(which), points.Slice(s.x, lo, hi))
}
