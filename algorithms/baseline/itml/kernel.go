package itml

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// kernel learns a kernel.
func (f *fit) kernel(ctx context.Context) (m *maps.Map, check logdet.KKT, err error) {
	if f.Params.Prior != Identity {
		return nil, check, &fault.ParamError{Param: "prior", Value: string(f.Params.Prior), Want: "identity, with a kernel"}
	}
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, f.X, "linear")
	if err != nil {
		return nil, check, err
	}
	if err := f.findBounds(ctx, k, f.X); err != nil {
		return nil, check, err
	}
	linked := f.wishes.Linked()
	if err := f.Eng.Check("kernel matrix of linked points", 4*engine.MatrixBytes(len(linked), len(linked)), "use fewer links"); err != nil {
		return nil, check, err
	}
	block, err := k.Gram(ctx, f.Eng, f.X.Select(linked))
	if err != nil {
		return nil, check, err
	}
	k0, constraints := block.Clone(), f.bounds.Constraints(f.wishes, logdetmetric.Places(linked))
	if f.result, err = logdet.Kernel(ctx, f.Eng, block, constraints, f.options()); err != nil {
		return nil, check, err
	}
	if check, err = f.result.CheckKernel(ctx, f.Eng, k0, constraints, f.Params.Gamma); err != nil {
		return nil, check, err
	}
	if f.before != nil && f.Params.Dims == 0 {
		if m, err = f.before.Turned(ctx, f.Eng, f.from, f.X, f.wishes, linked, constraints, f.result); err != nil {
			return nil, check, err
		}
	}
	if m == nil {
		b := logdetmetric.Change(f.Eng, f.result, constraints)
		if m, err = logdetmetric.Learned(ctx, f.Eng, Method, k, 1, f.X, linked, b, f.Params.Dims, f.Seed); err != nil {
			return nil, check, err
		}
	}
	return m, check, nil
}
