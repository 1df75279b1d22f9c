package itml

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/mapped"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// kernel learns a kernel.
func (f *fit) kernel(ctx context.Context) (*Model, error) {
	if f.Params.Prior != Identity {
		return nil, &fault.ParamError{Param: "prior", Value: string(f.Params.Prior), Want: "identity, with a kernel"}
	}
	k, err := input.Kernel(ctx, f.eng, f.Kernel, f.x, "linear")
	if err != nil {
		return nil, err
	}
	if err := f.findBounds(ctx, k, f.x); err != nil {
		return nil, err
	}
	linked := f.wishes.Linked()
	if err := f.eng.Check("kernel matrix of linked points", 4*engine.MatrixBytes(len(linked), len(linked)), "use fewer links"); err != nil {
		return nil, err
	}
	block, err := k.Gram(ctx, f.eng, f.x.Select(linked))
	if err != nil {
		return nil, err
	}
	k0, constraints := block.Clone(), f.bounds.Constraints(f.wishes, logdetmetric.Places(linked))
	if f.result, err = logdet.Kernel(ctx, f.eng, block, constraints, f.options()); err != nil {
		return nil, err
	}
	check, err := f.result.CheckKernel(ctx, f.eng, k0, constraints, f.Params.Gamma)
	if err != nil {
		return nil, err
	}
	var learned *expansion.Map
	if f.before != nil && f.Params.Dims == 0 {
		if learned, err = f.before.Turned(ctx, f.eng, f.from, f.x, f.wishes, linked, constraints, f.result); err != nil {
			return nil, err
		}
	}
	if learned == nil {
		b := logdetmetric.Change(f.eng, f.result, constraints)
		if learned, err = logdetmetric.Learned(ctx, f.eng, Method, k, 1, f.x, linked, b, f.Params.Dims, f.Seed); err != nil {
			return nil, err
		}
	}
	return &Model{Metric: mapped.Metric{Map: learned}, about: f.about(check)}, nil
}
