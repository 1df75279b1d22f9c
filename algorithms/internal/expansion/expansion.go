// Package expansion holds what kernel metrics share whose map is an expansion over stored points:
// y = V k(l, x) - c, with everything that a model does with it.
package expansion

import (
	"context"
	"fmt"

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

// Map is y = V k(l, x) - c for m stored points l.
type Map struct {
	method  string
	kernel  kernel.Kernel
	support points.Points
	v       blas.Matrix // dims x m
	turned  blas.Matrix // m x dims: V'
	centre  []float64   // c, nil for 0
}

// New returns the map of the named method over the given points; v, dims x m, is kept.
func New(method string, k kernel.Kernel, support points.Points, v blas.Matrix) *Map {
	m := &Map{method: method, kernel: k, support: stored.Strip(support), v: v}
	m.turn()
	return m
}

// NewCentred is New with a centre, of dims values, that is taken off.
func NewCentred(method string, k kernel.Kernel, support points.Points, v blas.Matrix, centre []float64) *Map {
	m := New(method, k, support, v)
	m.centre = centre
	return m
}

// Changed returns m, without a centre, with change(V) in place of V.
func Changed(m *Map, change func(v blas.Matrix) blas.Matrix) *Map {
	out := &Map{method: m.method, kernel: m.kernel, support: m.support, v: change(m.v)}
	out.turn()
	return out
}

func (m *Map) turn() {
	m.turned = blas.NewMatrix(m.v.Cols, m.v.Rows)
	for i := range m.v.Rows {
		for j, v := range m.v.Row(i) {
			m.turned.Set(j, i, v)
		}
	}
}

// Kernel returns the kernel, without bandwidth rules.
func (m *Map) Kernel() kernel.Kernel { return m.kernel }

// Dim returns the number of columns of Embed.
func (m *Map) Dim() int { return m.v.Rows }

// InputDim returns the number of features (or reference objects) of the points that it takes.
func (m *Map) InputDim() int { return m.support.Dim() }

// Alphabet returns the letters of the sequences that it takes, "" for other points.
func (m *Map) Alphabet() string { return stored.Alphabet(m.support) }

// Support returns the number of stored points.
func (m *Map) Support() int { return m.v.Cols }

// Embed maps n points to n x Dim coordinates: m kernel values and 2 m Dim flops a point.
func (m *Map) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	if err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	if err := eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", x.Len(), m.Dim()), engine.MatrixBytes(x.Len(), m.Dim()), "embed fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	out := eng.NewMatrix(x.Len(), m.Dim())
	if err := m.kernel.MultiplyTo(ctx, eng, out, x, m.support, m.turned); err != nil {
		return blas.Matrix{}, input.Cancelled(ctx, m.method+":", err)
	}
	for i := range out.Rows {
		for c, shift := range m.centre {
			out.Set(i, c, out.At(i, c)-shift)
		}
	}
	return out, places.Finite(out, 0)
}

func (m *Map) check(x points.Points) error {
	if err := stored.Check(x, m.support); err != nil {
		return err
	}
	return input.Points(x)
}

func (m *Map) embed(ctx context.Context, eng *engine.Engine) places.Embed {
	return func(x points.Points) (blas.Matrix, error) { return m.Embed(ctx, eng, x) }
}

// Gram evaluates the learned kernel, the inner products of embedded points. A nil y means x.
func (m *Map) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	if err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	return places.Gram(ctx, eng, x, y, m.Dim(), m.embed(ctx, eng))
}

// Distances returns the squared learned distance of each pair of rows of x. A row out of range is a
// *fault.DataError whose Row is the number of the pair.
func (m *Map) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	if err := m.check(x); err != nil {
		return nil, err
	}
	return places.Distances(eng, x, pairs, m.embed(ctx, eng))
}

// About is what the header has to hold to read the stored points.
type About struct {
	InputDim int    `json:"input_dim"`
	Alphabet string `json:"alphabet,omitempty"`
}

// Encode stores the map in f and returns what the header has to hold.
func (m *Map) Encode(f *model.File) About {
	f.Header.Kernel = m.kernel.String()
	stored.Encode(f, m.support)
	stored.SetMatrix(f, m.method+".expansion", m.v)
	if m.centre != nil {
		f.SetFloat64s(m.method+centre, m.centre)
	}
	return About{m.InputDim(), m.Alphabet()}
}

// centre ends the name of the tensor that holds one.
const centre = ".centre"

// Decode returns the map that [Map.Encode] stored. A tensor or a kernel that cannot be used is a
// *fault.DataError.
func Decode(method string, f *model.File, about About) (*Map, error) {
	m := &Map{method: method}
	var err error
	if m.kernel, err = stored.Kernel(f); err != nil {
		return nil, err
	}
	if m.support, err = stored.Decode(f, about.InputDim, about.Alphabet); err != nil {
		return nil, err
	}
	data, err := stored.Finite(f, method+".expansion", -1, m.support.Len())
	if err != nil {
		return nil, err
	}
	count := m.support.Len()
	if count == 0 || len(data) == 0 {
		return nil, fault.Data("", "an expansion of %d values over %d points: want at least one of each", len(data), count)
	}
	m.v = blas.Matrix{Rows: len(data) / count, Cols: count, Stride: count, Data: data}
	m.turn()
	if _, has := f.Tensors[method+centre]; has {
		m.centre, err = stored.Finite(f, method+centre, m.v.Rows)
	}
	return m, err
}
