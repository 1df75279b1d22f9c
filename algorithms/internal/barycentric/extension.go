package barycentric

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Extension is the places of training points, and those that reconstruction gives to new points. It is
// immutable and safe for concurrent use.
type Extension struct {
	method    string
	kernel    kernel.Kernel
	neighbors int
	support   points.Points
	places    blas.Matrix // n x Dim
}

// reg is added to local Gram matrices, relative to their traces.
const reg = 1e-3

// New returns the extension of the named method: the rows of p are the places of the points x; new points are
// reconstructed from so many of them, in the feature space of k.
func New(method string, k kernel.Kernel, neighbors int, x points.Points, p blas.Matrix) *Extension {
	return &Extension{method, k, neighbors, stored.Strip(x), p}
}

// Kernel returns the kernel in whose feature space neighbours are near.
func (e *Extension) Kernel() kernel.Kernel { return e.kernel }

// Dim returns the number of columns of Embed.
func (e *Extension) Dim() int { return e.places.Cols }

// InputDim returns the number of features (or reference objects) of the points that it takes.
func (e *Extension) InputDim() int { return e.support.Dim() }

// Alphabet returns the letters of the sequences that it takes, "" for other points.
func (e *Extension) Alphabet() string { return stored.Alphabet(e.support) }

// Places returns the training points' places, n x Dim. They are shared: do not change them.
func (e *Extension) Places() blas.Matrix { return e.places }

// embedRows is the number of points that are placed at a time.
const embedRows = 16384

// Embed gives training points their places, and new points the combination of their neighbours' places that
// reconstructs them from these. Cost for n training points: n kernel values a point.
func (e *Extension) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	if err := e.check(x); err != nil {
		return blas.Matrix{}, err
	}
	if err := eng.Check("embedding", engine.MatrixBytes(x.Len(), e.Dim()), "embed fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	apart, err := e.kernel.Squared().Values(ctx, eng, e.support)
	if err != nil {
		return blas.Matrix{}, err
	}
	rule := Rule{Kernel: e.kernel, Neighbors: e.neighbors, Reg: reg, Apart: apart}
	out := eng.NewMatrix(x.Len(), e.Dim())
	for lo := 0; lo < x.Len(); lo += embedRows {
		hi := min(lo+embedRows, x.Len())
		if err := rule.Reconstruct(ctx, eng, points.Slice(x, lo, hi), e.support, e.places, nil, out.View(lo, hi, 0, out.Cols)); err != nil {
			return blas.Matrix{}, input.Cancelled(ctx, e.method+":", err)
		}
	}
	return out, nil
}

func (e *Extension) check(x points.Points) error {
	if err := stored.Check(x, e.support); err != nil {
		return err
	}
	return x.Validate()
}

// Gram returns the inner products of places, |x| x |y|. A nil y means x.
func (e *Extension) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := e.check(x); err != nil {
		return blas.Matrix{}, err
	}
	return places.Gram(ctx, eng, x, y, e.Dim(), func(x points.Points) (blas.Matrix, error) { return e.Embed(ctx, eng, x) })
}

// Distances returns the squared distance of the places of each pair of rows of x. A row out of range is
// a *fault.DataError whose Row is the number of the pair.
func (e *Extension) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	if err := e.check(x); err != nil {
		return nil, err
	}
	return places.Distances(eng, x, pairs, func(x points.Points) (blas.Matrix, error) { return e.Embed(ctx, eng, x) })
}

// About is what the header has to hold to read an extension.
type About struct {
	Neighbors int    `json:"extension_neighbors,omitempty"`
	InputDim  int    `json:"input_dim"`
	Alphabet  string `json:"alphabet,omitempty"`
}

// Encode stores the extension in f and returns what the header has to hold.
func (e *Extension) Encode(f *model.File) About {
	f.Header.Kernel = e.kernel.String()
	stored.Encode(f, e.support)
	stored.SetMatrix(f, e.method+".places", e.places)
	return About{e.neighbors, e.InputDim(), e.Alphabet()}
}

// Decode returns the extension that [Extension.Encode] stored. A tensor or a part of the header that
// cannot be used is a *fault.DataError.
func Decode(method string, f *model.File, about About) (*Extension, error) {
	e := &Extension{method: method, neighbors: about.Neighbors}
	var err error
	if e.kernel, err = stored.Kernel(f); err != nil {
		return nil, err
	}
	if e.support, err = stored.Decode(f, about.InputDim, about.Alphabet); err != nil {
		return nil, err
	}
	count := e.support.Len()
	if e.neighbors < 1 || e.neighbors > count {
		return nil, stored.InHeader(fault.Data("", "%d neighbours of %d points: want 1 to %d", e.neighbors, count, count))
	}
	data, err := stored.Finite(f, method+".places", count, -1)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, stored.Empty(method + ".places")
	}
	e.places = blas.Matrix{Rows: count, Cols: len(data) / count, Stride: len(data) / count, Data: data}
	return e, nil
}
