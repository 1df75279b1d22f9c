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
	between   blas.Matrix // squared distances of training points that are rows of a Gram matrix, which are not stored
}

// reg is added to local Gram matrices, relative to their traces.
const reg = 1e-3

// New returns the extension of the named method: the rows of p are the places of the points x; new points are
// reconstructed from so many of them, in the feature space of k. Cost for rows of a Gram matrix: n^2 values, which it keeps.
func New(ctx context.Context, eng *engine.Engine, method string, k kernel.Kernel, neighbors int, x points.Points, p blas.Matrix) (*Extension, error) {
	e := &Extension{Table: placed.New(method, k, x, p), neighbors: neighbors}
	if _, isGram := x.(*points.Gram); isGram {
		var err error
		if e.between, err = k.SquaredDistances(ctx, eng, x); err != nil {
			return nil, err
		}
	}
	e.prepare()
	return e, nil
}

// Moved returns e with other places of the same points.
func Moved(e *Extension, p blas.Matrix) *Extension {
	out := &Extension{Table: placed.New(e.Method(), e.Kernel(), e.Support(), p), neighbors: e.neighbors, between: e.between}
	out.prepare()
	return out
}

// prepare makes what embedding needs.
func (e *Extension) prepare() {
	e.Begin = func(ctx context.Context, eng *engine.Engine) (placed.Block, error) {
		apart, err := e.apart(ctx, eng)
		rule := Rule{Kernel: e.Kernel(), Neighbors: e.neighbors, Reg: reg, Apart: apart}
		return func(x points.Points, to blas.Matrix) error {
			return rule.Reconstruct(ctx, eng, x, e.Support(), e.Places(), nil, to)
		}, err
	}
}

// apart returns the function of the squared distances of training points.
func (e *Extension) apart(ctx context.Context, eng *engine.Engine) (func(a, b int) float64, error) {
	if e.between.Data != nil {
		return e.between.At, nil
	}
	return e.Kernel().Squared().Values(ctx, eng, e.Support())
}

// About is what the header has to hold to read an extension.
type About struct {
	Neighbors int `json:"extension_neighbors,omitempty"`
	placed.About
}

// between ends the name of the tensor with the distances of training points.
const between = ".between" // [n, n]

// Encode stores the extension in f and returns what the header has to hold.
func (e *Extension) Encode(f *model.File) About {
	if e.between.Data != nil {
		stored.SetMatrix(f, e.Method()+between, e.between)
	}
	return About{e.neighbors, e.Table.Encode(f)}
}

// Decode returns the extension that [Extension.Encode] stored. A tensor or a part of the header that
// cannot be used is a *fault.DataError.
func Decode(method string, f *model.File, about About) (*Extension, error) {
	t, err := placed.Decode(method, f, about.About)
	if err != nil {
		return nil, err
	}
	count := t.Places().Rows
	if about.Neighbors < 1 || about.Neighbors > count {
		return nil, stored.InHeader(fault.Data("", "%d neighbours of %d points: want 1 to %d", about.Neighbors, count, count))
	}
	e := &Extension{Table: t, neighbors: about.Neighbors}
	if _, isGram := t.Support().(*points.Gram); isGram {
		if e.between, err = stored.Matrix(f, method+between, count, count); err != nil {
			return nil, err
		}
	}
	e.prepare()
	return e, nil
}
