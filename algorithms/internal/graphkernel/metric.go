package graphkernel

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Metric says in which space neighbors are near.
type Metric string

// The metrics; "" is that of the kernel if there is one, else Euclid.
const (
	Euclid     Metric = "euclid"
	Cosine     Metric = "cosine"
	FromKernel Metric = "kernel" // of the feature space of the Learner's kernel
)

// CheckKernel refuses a kernel that contradicts Metric; the zero Spec is none.
func (o Neighbourhood) CheckKernel(asked kernel.Spec) error {
	given := asked != (kernel.Spec{})
	switch {
	case o.Metric == FromKernel && !given:
		return &fault.ParamError{Param: "metric", Value: string(o.Metric), Want: "euclid or cosine, or a kernel as well"}
	case (o.Metric == Euclid || o.Metric == Cosine) && given:
		return &fault.ParamError{Param: "metric", Value: string(o.Metric), Want: "kernel, as one is given, or no kernel"}
	}
	return nil
}

// In returns the kernel in whose feature space neighbors are near: the one that is asked for, or that of Metric, or else
// fallback, by the kind of points as [input.Kernel] says.
func (o Neighbourhood) In(ctx context.Context, eng *engine.Engine, asked kernel.Spec, x points.Points, fallback string) (kernel.Kernel, error) {
	if err := o.CheckKernel(asked); err != nil {
		return kernel.Kernel{}, err
	}
	if o.Metric == Cosine {
		var err error
		if asked, err = kernel.Parse(string(Cosine)); err != nil {
			return kernel.Kernel{}, err
		}
	}
	return input.Kernel(ctx, eng, asked, x, fallback)
}
