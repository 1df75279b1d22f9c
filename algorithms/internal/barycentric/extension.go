package barycentric

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/placed"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Extension is the places of training points, and those that reconstruction gives to new points: the
// combination of their neighbours' places that reconstructs them from these. It is immutable and safe for
// concurrent use. Cost of embedding for n training points: n kernel values a point.
type Extension struct {
	*placed.Table
	neighbors int
}

// reg is added to local Gram matrices, relative to their traces.
const reg = 1e-3

// New returns the extension of the named method: the rows of p are the places of the points x; new points are
// reconstructed from so many of them, in the feature space of k.
func New(method string, k kernel.Kernel, neighbors int, x points.Points, p blas.Matrix) *Extension {
	return extend(placed.New(method, k, x, p), neighbors)
}

func extend(t *placed.Table, neighbors int) *Extension {
	t.Begin = func(ctx context.Context, eng *engine.Engine) (placed.Block, error) {
		apart, err := t.Kernel().Squared().Values(ctx, eng, t.Support())
		rule := Rule{Kernel: t.Kernel(), Neighbors: neighbors, Reg: reg, Apart: apart}
		return func(x points.Points, to blas.Matrix) error {
			return rule.Reconstruct(ctx, eng, x, t.Support(), t.Places(), nil, to)
		}, err
	}
	return &Extension{t, neighbors}
}

// About is what the header has to hold to read an extension.
type About struct {
	Neighbors int `json:"extension_neighbors,omitempty"`
	placed.About
}

// Encode stores the extension in f and returns what the header has to hold.
func (e *Extension) Encode(f *model.File) About { return About{e.neighbors, e.Table.Encode(f)} }

// Decode returns the extension that [Extension.Encode] stored. A tensor or a part of the header that
// cannot be used is a *fault.DataError.
func Decode(method string, f *model.File, about About) (*Extension, error) {
	t, err := placed.Decode(method, f, about.About)
	if err != nil {
		return nil, err
	}
	if count := t.Places().Rows; about.Neighbors < 1 || about.Neighbors > count {
		return nil, stored.InHeader(fault.Data("", "%d neighbours of %d points: want 1 to %d", about.Neighbors, count, count))
	}
	return extend(t, about.Neighbors), nil
}
