package maps

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// composed is the map of the coordinates that another map gives: y = then(first(x)).
type composed struct {
	first *expansion
	then  form
}

// Compose changes m, which no model may share yet: m now maps points by way of their coordinates
// under first, an expansion. A point costs what it costs both maps.
func Compose(m, first *Map) { m.form = composed{first.form.(*expansion), m.form} }

// Inner returns the map of the coordinates if m is composed, else m.
func (m *Map) Inner() *Map {
	if c, is := m.form.(composed); is {
		return &Map{c.then, m.method}
	}
	return m
}

// First returns the number of points and of coordinates of the first map if m is composed, else 0.
func (m *Map) First() (count, width int) {
	if c, is := m.form.(composed); is {
		return c.first.count(), c.first.Dim()
	}
	return 0, 0
}

func (c composed) Dim() int              { return c.then.Dim() }
func (c composed) InputDim() int         { return c.first.InputDim() }
func (c composed) Alphabet() string      { return c.first.Alphabet() }
func (c composed) Kernel() kernel.Kernel { return c.first.Kernel() }

func (c composed) check(method string, x points.Points) error { return c.first.check(method, x) }

func (c composed) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	width := c.first.Dim()
	rows := max(1, min(x.Len(), turnedBytes/8/width))
	memory := eng.GetMatrix(rows, width)
	defer eng.PutMatrix(memory)
	for lo := 0; lo < x.Len(); lo += rows {
		hi := min(lo+rows, x.Len())
		z := blas.MatrixOf(hi-lo, width, memory.Data[:(hi-lo)*width])
		if err := c.first.embed(ctx, eng, points.Slice(x, lo, hi), z); err != nil {
			return fault.InRows(err, lo)
		}
		if err := c.then.embed(ctx, eng, &points.Dense{N: z.Rows, D: width, Data: z.Data}, y.View(lo, hi, 0, y.Cols)); err != nil {
			return fault.InRows(err, lo)
		}
	}
	return ctx.Err()
}

func (c composed) single(_ context.Context, _ *engine.Engine, method string, _ *points.Single) (blas.Matrix32, error) {
	return blas.Matrix32{}, &fault.ParamError{Param: "precision", Value: "single", Want: "double for a model of method " + method + " in kernel principal coordinates"}
}

// The first map of a composed one is stored as a file of its own, of this method: its tensors have
// this prefix, and the header has an entry of this name.
const (
	methodFirst = "principal"
	prefixFirst = "coordinates."
	nameFirst   = "coordinates"
)

type firstAbout struct {
	Kernel string `json:"kernel"`
	About
}

// encode stores the second map as if it were alone.
func (c composed) encode(f *model.File, method string) any {
	own := &model.File{}
	about, err := json.Marshal(firstAbout{c.Kernel().String(), c.first.encode(own, methodFirst).(About)})
	if err != nil {
		panic("maps: " + err.Error()) // strings and a number
	}
	then := c.then.encode(f, method)
	if f.Header.Extra == nil {
		f.Header.Extra = map[string]json.RawMessage{}
	}
	f.Header.Extra[nameFirst] = about
	if f.Tensors == nil { // the second map has none
		f.Tensors = map[string]model.Tensor{}
	}
	for name, t := range own.Tensors {
		f.Tensors[prefixFirst+name] = t
	}
	return then
}

// ReadComposed returns m, which was read from f, or the map that it is a part of.
func ReadComposed(f *model.File, m *Map) (*Map, error) {
	if _, is := f.Header.Extra[nameFirst]; !is {
		return m, nil
	}
	var about firstAbout
	if err := stored.Extra(f, nameFirst, &about); err != nil {
		return nil, err
	}
	own := &model.File{Tensors: map[string]model.Tensor{}}
	own.Header.Kernel, own.Header.Precision = about.Kernel, f.Header.Precision
	own.Header.Extra = map[string]json.RawMessage{methodFirst: f.Header.Extra[nameFirst]}
	for name, t := range f.Tensors {
		if rest, is := strings.CutPrefix(name, prefixFirst); is {
			own.Tensors[rest] = t
		}
	}
	e, err := ReadCentered(methodFirst, own)
	if err != nil {
		return nil, err
	}
	if e.Dim() != m.InputDim() || m.Alphabet() != "" {
		return nil, stored.InHeader(fault.Data("", "%d kernel principal coordinates for a map of %d: want the same number", e.Dim(), m.InputDim()))
	}
	Compose(m, e)
	return m, nil
}
