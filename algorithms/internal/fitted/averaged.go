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

// averaged is a map with its average over the nearest of some stored coordinates.
type averaged struct {
	form
	support blas.Matrix // numbers of single precision
	squares []float64   // the squared lengths of its rows
	near    int
	same    float64 // the squared distance up to which a stored row counts as the row itself
	unit    bool    // coordinates have unit length
}

// Averaged returns the local average of the map m. With the coordinates z of a point, and the
// near + 1 nearest rows z_r of support at squared distances g_r, of which the last is g,
//
//	average = sum w_r z_r,   w_r proportional to 1 - g_r/g
//
// Rows that equal z, up to a thousandth of the usual length, are not among the nearest. The map is
// (z + average)/2 or, if coordinates have unit length, z and u(average) side by side, divided by
// the root of 2. It rounds support to single precision. Embedding n points costs 2 n |support| Dim
// flops more than m.
func Averaged(m *Map, support blas.Matrix, near int) *Map {
	a := &averaged{form: m.form, support: support, near: near, squares: make([]float64, support.Rows)}
	_, a.unit = m.form.(*directed)
	for i := range support.Rows {
		row := support.Row(i)
		for j, v := range row {
			row[j] = float64(float32(v))
			a.squares[i] += row[j] * row[j]
		}
		a.same += 1e-6 * a.squares[i] / float64(support.Rows)
	}
	return &Map{a, m.method}
}

func (a *averaged) Dim() int {
	if a.unit {
		return 2 * a.support.Cols
	}
	return a.support.Cols
}

// averagedRows is the number of rows whose products with the support are made at a time.
const averagedRows = 512

func (a *averaged) embed(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	rows, d := min(x.Len(), averagedRows), a.support.Cols
	memory, products := eng.GetMatrix(rows, d), eng.GetMatrix(rows, a.support.Rows)
	defer eng.PutMatrix(memory)
	defer eng.PutMatrix(products)
	never := slices.Repeat([]float64{math.Inf(-1)}, a.support.Rows)
	for lo := 0; lo < x.Len(); lo += rows {
		count := min(rows, x.Len()-lo)
		z, p := memory.View(0, count, 0, d), products.View(0, count, 0, a.support.Rows)
		if err := a.form.embed(ctx, eng, points.Slice(x, lo, lo+count), z); err != nil {
			return fault.InRows(err, lo)
		}
		eng.Backend().Gemm(false, true, 1, z, a.support, 0, p)
		if err := eng.For(ctx, count, 16, func(from, to int) error {
			list := make([]neighbor, 0, a.near+1)
			for i := from; i < to; i++ {
				a.average(eng.Backend().Kernels(), z.Row(i), p.Row(i), never, list, y.Row(lo+i))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// neighbor is a row of the support and its squared distance.
type neighbor struct {
	row     int
	squared float64
}

// average writes the coordinates of a point to y. squares are the products of z with the support,
// which become squared distances; never are bounds below all of these, and list has room for the
// neighbors.
func (a *averaged) average(t *asm.Table, z, squares, never []float64, list []neighbor, y []float64) {
	t.SquaredDistances(squares, squares, t.Dot(z, z), a.squares, 0)
	limit := math.Inf(1)
	for r := 0; r < len(squares); r++ {
		r += t.FirstBelow(squares[r:], never[r:], limit)
		if r == len(squares) || squares[r] < a.same || len(list) == cap(list) && squares[r] >= limit {
			continue // or as far as the last, but later
		}
		if len(list) < cap(list) {
			list = append(list, neighbor{})
		}
		at := len(list) - 1
		for ; at > 0 && list[at-1].squared > squares[r]; at-- {
			list[at] = list[at-1]
		}
		list[at] = neighbor{r, squares[r]}
		if len(list) == cap(list) {
			limit = list[len(list)-1].squared
		}
	}
	mean, sum := y[len(y)-len(z):], 0.0
	clear(mean)
	for k := range list {
		list[k].squared = t.SquaredDistance(z, a.support.Row(list[k].row)) // without cancellation
	}
	for _, n := range list {
		if w := 1 - n.squared/list[len(list)-1].squared; w > 0 {
			t.Axpy(w, a.support.Row(n.row), mean)
			sum += w
		}
	}
	if sum > 0 {
		t.Scale(1/sum, mean)
	} else {
		copy(mean, z)
	}
	if !a.unit {
		for j, v := range z {
			y[j] = (v + mean[j]) / 2
		}
		return
	}
	Unit{Least: 1e-12}.Apply(t, mean, mean)
	copy(y, z)
	t.Scale(math.Sqrt(.5), y)
}

func (a *averaged) single(ctx context.Context, eng *engine.Engine, _ string,
	x *points.Single) (blas.Matrix32, error) {
	return rounded(ctx, eng, a, x)
}

// The suffixes of the tensors of an average.
const (
	tensorStored = ".support" // [p, Dim]
	tensorNear   = ".near"    // [1]
)

func (a *averaged) encode(f *model.File, method string) any {
	SetMatrix(f, method+tensorStored, a.support)
	f.SetInt64s(method+tensorNear, []int64{int64(a.near)})
	return a.form.encode(f, method)
}

// ReadAveraged is the [Reader] of the maps of [ReadDirected], and of their averages.
func ReadAveraged(method string, f *model.File) (*Map, error) {
	m, err := ReadDirected(method, f)
	if err != nil || !f.Has(method+tensorStored) {
		return m, err
	}
	data, err := ReadFinite(f, method+tensorStored, -1, m.Dim())
	if err != nil {
		return nil, err
	}
	near, err := ReadIndices(f, method+tensorNear, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || len(near) != 1 || near[0] < 1 {
		return nil, fault.Data("", "tensors %s and %s: want rows, and one number above 0",
			method+tensorStored, method+tensorNear)
	}
	support := blas.MatrixOf(len(data)/m.Dim(), m.Dim(), data)
	return Averaged(m, support, min(near[0], support.Rows)), nil
}

func (a *averaged) formula(method string) (formula.Map, error) {
	return nil, NoFormula(method, "with smooth=0, as it averages training rows near them")
}
