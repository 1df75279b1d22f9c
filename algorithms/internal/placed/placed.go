// Package placed holds what models share that know the places of their training points, and find those of new
// points among them.
package placed

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Table is the places of training points, with everything that a model does with them. It is immutable once
// Begin is set, and safe for concurrent use.
type Table struct {
	// Begin prepares an embedding and returns what writes the places of a block of points.
	Begin func(ctx context.Context, eng *engine.Engine) (Block, error)

	method  string
	kernel  kernel.Kernel
	support points.Points
	places  blas.Matrix // n x Dim
}

// Block writes the places of the points x, one a row.
type Block func(x points.Points, to blas.Matrix) error

// New returns the table of the named method, without Begin: the rows of p are the places of the points x, which
// are near each other in the feature space of k.
func New(method string, k kernel.Kernel, x points.Points, p blas.Matrix) *Table {
	return &Table{method: method, kernel: k, support: stored.Strip(x), places: p}
}

// Method returns the name of the method.
func (t *Table) Method() string { return t.method }

// Kernel returns the kernel in whose feature space neighbours are near, without bandwidth rules.
func (t *Table) Kernel() kernel.Kernel { return t.kernel }

// Dim returns the number of columns of Embed.
func (t *Table) Dim() int { return t.places.Cols }

// InputDim returns the number of features (or reference objects) of the points that it takes.
func (t *Table) InputDim() int { return t.support.Dim() }

// Alphabet returns the letters of the sequences that it takes, "" for other points.
func (t *Table) Alphabet() string { return stored.Alphabet(t.support) }

// Support returns the training points.
func (t *Table) Support() points.Points { return t.support }

// Places returns the training points' places, n x Dim: the kernel matrix is their inner products. They
// are shared: do not change them.
func (t *Table) Places() blas.Matrix { return t.places }

// rows is the number of points that are placed at a time.
const rows = 16384

// Embed returns the places of points, n x Dim.
func (t *Table) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	if err := t.check(x); err != nil {
		return blas.Matrix{}, err
	}
	if err := eng.Check("embedding", engine.MatrixBytes(x.Len(), t.Dim()), "embed fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	block, err := t.Begin(ctx, eng)
	if err != nil {
		return blas.Matrix{}, input.Cancelled(ctx, t.method+":", err)
	}
	out := eng.NewMatrix(x.Len(), t.Dim())
	for lo := 0; lo < x.Len(); lo += rows {
		hi := min(lo+rows, x.Len())
		to := out.View(lo, hi, 0, out.Cols)
		if err := block(points.Slice(x, lo, hi), to); err != nil {
			return blas.Matrix{}, input.Cancelled(ctx, t.method+":", err)
		}
		if err := places.Finite(to, lo); err != nil {
			return blas.Matrix{}, err
		}
	}
	return out, nil
}

func (t *Table) check(x points.Points) error {
	if err := stored.Check(x, t.support); err != nil {
		return err
	}
	return input.Points(x)
}

func (t *Table) embed(ctx context.Context, eng *engine.Engine) places.Embed {
	return func(x points.Points) (blas.Matrix, error) { return t.Embed(ctx, eng, x) }
}

// Gram returns the inner products of places, |x| x |y|. A nil y means x.
func (t *Table) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := t.check(x); err != nil {
		return blas.Matrix{}, err
	}
	return places.Gram(ctx, eng, x, y, t.Dim(), t.embed(ctx, eng))
}

// Distances returns the squared distance of the places of each pair of rows of x. A row out of range is
// a *fault.DataError whose Row is the number of the pair.
func (t *Table) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	if err := t.check(x); err != nil {
		return nil, err
	}
	return places.Distances(eng, x, pairs, t.embed(ctx, eng))
}

// About is what the header has to hold to read the training points.
type About struct {
	InputDim int    `json:"input_dim"`
	Alphabet string `json:"alphabet,omitempty"`
}

// Encode stores the table in f, in tensors named after the method, and returns what the header has to hold.
func (t *Table) Encode(f *model.File) About {
	f.Header.Kernel = t.kernel.String()
	stored.Encode(f, t.support)
	stored.SetMatrix(f, t.method+".places", t.places)
	return About{t.InputDim(), t.Alphabet()}
}

// Decode returns the table that [Table.Encode] stored, without Begin. A tensor or a kernel that cannot be used is
// a *fault.DataError.
func Decode(method string, f *model.File, about About) (*Table, error) {
	t := &Table{method: method}
	var err error
	if t.kernel, err = stored.Kernel(f); err != nil {
		return nil, err
	}
	if t.support, err = stored.Decode(f, about.InputDim, about.Alphabet); err != nil {
		return nil, err
	}
	count := t.support.Len()
	data, err := stored.Finite(f, method+".places", count, -1)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, stored.Empty(method + ".places")
	}
	dim := len(data) / count
	t.places = blas.Matrix{Rows: count, Cols: dim, Stride: dim, Data: data}
	return t, nil
}
