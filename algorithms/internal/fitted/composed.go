package fitted

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/input"
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
		if err := c.then.embed(ctx, eng, &points.Dense{N: z.Rows, D: width, Data: z.Data},
			y.View(lo, hi, 0, y.Cols)); err != nil {
			return fault.InRows(err, lo)
		}
	}
	return ctx.Err()
}

func (c composed) single(_ context.Context, _ *engine.Engine, method string,
	_ *points.Single) (blas.Matrix32, error) {
	return blas.Matrix32{},
		fault.Param("precision", "single",
			"double for a model of method %s in kernel principal coordinates", method)
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
	MapHeader
}

// encode stores the second map as if it were alone.
func (c composed) encode(f *model.File, method string) any {
	own := &model.File{}
	about, err := json.Marshal(firstAbout{c.Kernel().String(), c.first.encode(own, methodFirst).(MapHeader)})
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
	if err := ReadExtra(f, nameFirst, &about); err != nil {
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
		return nil, InHeader(fault.Data("",
			"%d kernel principal coordinates for a map of %d: want the same number", e.Dim(), m.InputDim()))
	}
	Compose(m, e)
	return m, nil
}

// Member is a model made of a map, as all models of this library are.
type Member interface{ Parent() *Map }

// Parent returns the map itself. Models inherit it.
func (m *Map) Parent() *Map { return m }

// turned is the map y = sum_k A_k f_k(x) over the coordinates f_k of its members.
type turned struct {
	members []*Map
	axes    blas.Matrix // one row for each coordinate of each member: A_1', A_2', …
}

// Turned returns the map y = sum_k A_k f_k(x) over the coordinates f_k of the members; axes holds
// the matrices A_1', A_2', … one below the other. Members take the same kind of points. A point
// costs what it costs all members, and 2 Dim flops for each of their coordinates.
func Turned(method string, members []*Map, axes blas.Matrix) *Map {
	return &Map{turned{members, axes}, method}
}

func (t turned) Dim() int              { return t.axes.Cols }
func (t turned) InputDim() int         { return t.members[0].InputDim() }
func (t turned) Alphabet() string      { return t.members[0].Alphabet() }
func (t turned) Kernel() kernel.Kernel { return t.members[0].Kernel() }

func (t turned) check(method string, x points.Points) error {
	for _, m := range t.members {
		if err := m.check(method, x); err != nil {
			return err
		}
	}
	return nil
}

// turnedBytes bounds the memory of the coordinates of a block of rows.
const turnedBytes = 64 << 20

// embed adds the parts of the members to a block of rows, in their order.
func (t turned) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	widest := 0
	for _, m := range t.members {
		widest = max(widest, m.Dim())
	}
	rows := max(1, min(x.Len(), turnedBytes/8/widest))
	memory := eng.GetMatrix(rows, widest)
	defer eng.PutMatrix(memory)
	for lo := 0; lo < x.Len(); lo += rows {
		hi := min(lo+rows, x.Len())
		part, to := points.Slice(x, lo, hi), y.View(lo, hi, 0, y.Cols)
		first, kept := 0, 0.0 // kept: the factor of what is in the block
		for _, m := range t.members {
			d := m.Dim()
			own := blas.MatrixOf(hi-lo, d, memory.Data[:(hi-lo)*d])
			if err := m.embed(ctx, eng, part, own); err != nil {
				return fault.InRows(err, lo)
			}
			eng.Backend().Gemm(false, false, 1, own, t.axes.View(first, first+d, 0, y.Cols), kept, to)
			first, kept = first+d, 1
		}
	}
	return ctx.Err()
}

func (t turned) single(_ context.Context, _ *engine.Engine, method string,
	_ *points.Single) (blas.Matrix32, error) {
	return blas.Matrix32{},
		fault.Param("precision", "single", "double for a model of method %s, which is made of others", method)
}

// tensorAxes is the suffix of the tensor that holds the axes.
const tensorAxes = ".axes"

func (t turned) encode(f *model.File, method string) any {
	SetMatrix(f, method+tensorAxes, t.axes)
	return nil
}

// ReadTurned returns the map of these members whose axes are in the file.
func ReadTurned(method string, f *model.File, members []*Map) (*Map, error) {
	total := 0
	for k, m := range members {
		if k > 0 && (m.InputDim() != members[0].InputDim() || m.Alphabet() != members[0].Alphabet()) {
			return nil, InHeader(fault.Data("",
				"member %d takes other points than member 0: want the same kind and number of features", k))
		}
		total += m.Dim()
	}
	data, err := ReadFinite(f, method+tensorAxes, total, -1)
	if err != nil {
		return nil, err
	}
	if total == 0 || len(data) == 0 {
		return nil, EmptyTensor(method + tensorAxes)
	}
	d := len(data) / total
	return Turned(method, members, blas.MatrixOf(total, d, data)), nil
}

// Function computes the coordinates of dense vectors one by one. It is safe for concurrent use.
type Function interface {
	Dim() int
	InputDim() int
	// Embed overwrites y, of length Dim, with the coordinates of x, of length InputDim.
	Embed(x, y []float64)
	// Encode stores the function in f and returns the members of the header, nil for none.
	Encode(f *model.File) any
}

// function is a map that needs no other points.
type function struct{ Function }

// OfFunction returns the map of a function of the named method.
func OfFunction(method string, f Function) *Map { return &Map{function{f}, method} }

func (function) Alphabet() string                      { return "" }
func (function) Kernel() kernel.Kernel                 { return kernel.Kernel{} }
func (f function) encode(to *model.File, _ string) any { return f.Encode(to) }

func (f function) check(method string, x points.Points) error {
	dense, err := input.Vectors(method, x)
	if err != nil {
		return err
	}
	if dense.D != f.InputDim() {
		return WrongFeatures(dense.D, f.InputDim())
	}
	return input.Points(dense)
}

func (f function) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	dense := x.(*points.Dense)
	return eng.Each(ctx, dense.N, 256, func(i int) { f.Embed(dense.Row(i), y.Row(i)) })
}

func (f function) single(ctx context.Context, eng *engine.Engine, _ string,
	x *points.Single) (blas.Matrix32, error) {
	return rounded(ctx, eng, f, x)
}
