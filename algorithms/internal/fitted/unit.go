package fitted

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Unit scales vectors, less a center, to unit length. A vector shorter than Least is divided by
// Least instead, so that one of zeros stays as it is, and rounding is not taken for a direction.
type Unit struct {
	Center []float64 // nil for zeros
	Least  float64   // > 0
}

// Apply writes the scaled vector x to y, which may be x.
func (u Unit) Apply(t *asm.Table, x, y []float64) {
	copy(y, x)
	for j, c := range u.Center {
		y[j] -= c
	}
	length := max(math.Sqrt(t.Dot(y, y)), u.Least)
	for j := range y {
		y[j] /= length
	}
}

// directed is the map y = u(W (v(x) - mean)) with units u and v.
type directed struct {
	linear
	before, after Unit
}

// NewDirected returns the linear map m between two units: it maps vectors of unit length, and
// coordinates have unit length. Embedding costs what it costs m.
func NewDirected(before Unit, m *Map, after Unit) *Map {
	return &Map{&directed{*m.form.(*linear), before, after}, m.method}
}

// Directed reports whether coordinates have unit length.
func (m *Map) Directed() bool {
	form := m.Inner().form
	if a, is := form.(*averaged); is {
		form = a.form
	}
	_, is := form.(*directed)
	return is
}

func (d *directed) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	dense, t := x.(*points.Dense), eng.Backend().Kernels()
	return eng.For(ctx, dense.N, 1024, func(lo, hi int) error {
		rows, out := eng.GetMatrix(hi-lo, dense.D), y.View(lo, hi, 0, y.Cols)
		defer eng.PutMatrix(rows)
		for i := range rows.Rows {
			d.begin(t, dense.Row(lo+i), rows.Row(i))
		}
		eng.Backend().Gemm(false, true, 1, rows, d.w, 0, out)
		for i := range out.Rows {
			d.after.Apply(t, out.Row(i), out.Row(i))
		}
		return nil
	})
}

// begin writes v(x) - mean to y.
func (d *directed) begin(t *asm.Table, x, y []float64) {
	d.before.Apply(t, x, y)
	d.center(y)
}

// single multiplies in single precision, and computes lengths in double precision.
func (d *directed) single(ctx context.Context, eng *engine.Engine, method string,
	x *points.Single) (blas.Matrix32, error) {
	t := eng.Backend().Kernels()
	return d.multiplySingle(ctx, eng, method, x, func(row []float64) { d.begin(t, row, row) },
		func(row []float64) { d.after.Apply(t, row, row) })
}

// The suffixes of the tensors of a directed map besides those of the linear one.
const (
	tensorUnitCenter = ".center"   // [d]: of the unit before
	tensorLeast      = ".shortest" // [2]: before and after
)

func (d *directed) encode(f *model.File, method string) any {
	f.SetFloat64s(method+tensorUnitCenter, d.before.Center)
	f.SetFloat64s(method+tensorLeast, []float64{d.before.Least, d.after.Least})
	return d.linear.encode(f, method)
}

// ReadDirected is the [Reader] of linear maps, between units if the file has these.
func ReadDirected(method string, f *model.File) (*Map, error) {
	m, err := ReadLinear(method, f)
	if err != nil || !f.Has(method+tensorUnitCenter) {
		return m, err
	}
	center, err := ReadFinite(f, method+tensorUnitCenter, m.InputDim())
	if err != nil {
		return nil, err
	}
	least, err := ReadFinite(f, method+tensorLeast, 2)
	if err != nil {
		return nil, err
	}
	if !(slices.Min(least) > 0) {
		return nil, fault.Data("", "tensor %s has a length of %g: want lengths above 0", method+tensorLeast,
			slices.Min(least))
	}
	return NewDirected(Unit{center, least[0]}, m, Unit{nil, least[1]}), nil
}

func (d *directed) formula(method string) (formula.Map, error) {
	inner, err := d.linear.formula(method)
	before := &formula.Unit{Size: len(d.mean), Center: d.before.Center, Least: d.before.Least}
	return &formula.Chain{First: &formula.Chain{First: before, Then: inner},
		Then: &formula.Unit{Size: d.w.Rows, Least: d.after.Least}}, err
}
