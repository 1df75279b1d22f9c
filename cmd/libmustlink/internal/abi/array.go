package abi

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Element types, with the numbers of mustlink_type.
const (
	Float64 int32 = 1
	Float32 int32 = 2
)

// Array is a matrix in the caller's memory. Strides count elements.
type Array struct {
	Type                 int32
	Rows, Cols           int64
	Data                 unsafe.Pointer
	RowStride, ColStride int64
}

// check returns an error unless this is a matrix of separate elements. what is its name in
// messages.
func (a *Array) check(what string) error {
	size := int64(8)
	switch a.Type {
	case Float64:
	case Float32:
		size = 4
	default:
		return argument("element type of %s is %d: want %d (float64) or %d (float32)", what, a.Type, Float64,
			Float32)
	}
	if a.Rows < 0 || a.Cols < 0 {
		return argument("%s has %d rows and %d columns: want numbers >= 0", what, a.Rows, a.Cols)
	}
	if a.Rows == 0 || a.Cols == 0 {
		return nil
	}
	if a.Data == nil {
		return argument("the data of %s are NULL: want a pointer", what)
	}
	if uintptr(a.Data)%uintptr(size) != 0 {
		return argument("the data of %s are not aligned: want a multiple of %d bytes", what, size)
	}
	return a.checkStrides(what, math.MaxInt/size)
}

// checkStrides requires that rows, or columns, follow one another without overlap.
func (a *Array) checkStrides(what string, most int64) error {
	byRows := a.ColStride >= 1 && (a.Rows == 1 || fits(a.Cols-1, a.ColStride, a.RowStride))
	byColumns := a.RowStride >= 1 && (a.Cols == 1 || fits(a.Rows-1, a.RowStride, a.ColStride))
	if !byRows && !byColumns {
		return argument("strides of %s, %d x %d, are %d between rows and %d between columns: want numbers "+
			">= 1 with which no two elements overlap",
			what, a.Rows, a.Cols, a.RowStride, a.ColStride)
	}
	room := most - 1
	for _, side := range [][2]int64{{a.Rows - 1, a.RowStride}, {a.Cols - 1, a.ColStride}} {
		if side[0] > 0 && side[1] > room/side[0] {
			return argument("%s, %d x %d with strides %d and %d, is larger than memory: want fewer rows or "+
				"columns", what, a.Rows, a.Cols, a.RowStride, a.ColStride)
		}
		room -= side[0] * side[1]
	}
	if a.Rows > most/a.Cols {
		return argument("%s, %d x %d, is larger than memory: want fewer rows or columns", what, a.Rows,
			a.Cols)
	}
	return nil
}

// fits reports whether count steps of stride end before next.
func fits(count, stride, next int64) bool {
	return next >= 1 && (count == 0 || stride <= (next-1)/count)
}

// extent returns the number of elements from the first to the last.
func (a *Array) extent() int {
	if a.Rows == 0 || a.Cols == 0 {
		return 0
	}
	return int((a.Rows-1)*a.RowStride + (a.Cols-1)*a.ColStride + 1)
}

// inPlace reports whether the elements are doubles in rows without gaps.
func (a *Array) inPlace() bool {
	return a.Type == Float64 && (a.ColStride == 1 || a.Cols <= 1) && (a.RowStride == a.Cols || a.Rows <= 1)
}

// values returns the elements row by row. It returns the caller's own memory when the layout allows
// and keep is false.
func (a *Array) values(keep bool) []float64 {
	n := int(a.Rows * a.Cols)
	if n == 0 {
		return nil
	}
	if a.inPlace() && !keep {
		return unsafe.Slice((*float64)(a.Data), n)
	}
	out := make([]float64, n)
	if a.inPlace() {
		copy(out, unsafe.Slice((*float64)(a.Data), n))
		return out
	}
	if a.Type == Float32 {
		gather(out, unsafe.Slice((*float32)(a.Data), a.extent()), a)
	} else {
		gather(out, unsafe.Slice((*float64)(a.Data), a.extent()), a)
	}
	return out
}

// copied is the approximate number of values that one worker copies at a time. Copying to new
// memory, where the system must provide every page, takes as long as computing.
const copied = 1 << 16

// write stores the rows of m, beginning at row lo.
func (a *Array) write(ctx context.Context, e *engine.Engine, lo int, m blas.Matrix) error {
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	return e.For(ctx, m.Rows, copied/m.Cols+1, func(from, to int) error {
		part := *a
		part.Rows = int64(to - from)
		place := (lo + from) * int(a.RowStride)
		if a.Type == Float32 {
			scatter(unsafe.Slice((*float32)(a.Data), a.extent())[place:], m.View(from, to, 0, m.Cols), &part)
		} else {
			scatter(unsafe.Slice((*float64)(a.Data), a.extent())[place:], m.View(from, to, 0, m.Cols), &part)
		}
		return nil
	})
}

// side is the edge of the squares by which a matrix is transposed, so that both sides of the copy
// stay in the cache.
const side = 32

// gather copies a matrix with strides to contiguous rows.
func gather[T float32 | float64](out []float64, from []T, a *Array) {
	rows, cols, rs, cs := int(a.Rows), int(a.Cols), int(a.RowStride), int(a.ColStride)
	squares(rows, cols, func(i, lo, hi int) {
		for j := lo; j < hi; j++ {
			out[i*cols+j] = float64(from[i*rs+j*cs])
		}
	})
}

// scatter copies contiguous rows to a matrix with strides.
func scatter[T float32 | float64](to []T, from blas.Matrix, a *Array) {
	rs, cs := int(a.RowStride), int(a.ColStride)
	if same, ok := any(to).([]float64); ok && cs == 1 {
		for i := range from.Rows {
			copy(same[i*rs:i*rs+from.Cols], from.Row(i))
		}
		return
	}
	squares(from.Rows, from.Cols, func(i, lo, hi int) {
		for j := lo; j < hi; j++ {
			to[i*rs+j*cs] = T(from.Data[i*from.Stride+j])
		}
	})
}

// squares calls f for every piece of a row, square by square.
func squares(rows, cols int, f func(i, lo, hi int)) {
	for top := 0; top < rows; top += side {
		for left := 0; left < cols; left += side {
			for i := top; i < min(top+side, rows); i++ {
				f(i, left, min(left+side, cols))
			}
		}
	}
}

// checkShape returns an error unless an output matrix has the given numbers of rows and columns.
func (a *Array) checkShape(rows, cols int) error {
	if err := a.check("the output"); err != nil {
		return err
	}
	if a.Rows != int64(rows) {
		return fault.Shape("number of rows of the output", int(a.Rows), "%d", rows)
	}
	if a.Cols != int64(cols) {
		return fault.Shape("number of columns of the output", int(a.Cols), "%d", cols)
	}
	return nil
}

// Kinds of points, with the numbers of mustlink_kind.
const (
	Dense  int32 = 1
	Sparse int32 = 2
	Gram   int32 = 3
	Table  int32 = 4
)

// Points are the points of a mustlink_points. For a table, Data are its columns.
type Points struct {
	Kind int32
	Array
	RowStart unsafe.Pointer // int64
	Column   unsafe.Pointer // int32
	Diagonal unsafe.Pointer // float64
}

// table returns the points as a table, whose features have the given names or none; a table has
// its own. With keep it shares no memory with the caller. With gaps, NaN among dense points is a
// missing number.
func (p *Points) table(keep, gaps bool, features []string) (*mustlink.Table, error) {
	d, err := p.unchecked(keep)
	if err != nil {
		return nil, err
	}
	if features != nil && d.Features != nil {
		return nil, fault.Param("features", features, "no such option with a table, whose columns have names")
	}
	if features != nil {
		if len(features) != d.Points.Dim() {
			return nil, fault.Shape("number of names of features", len(features), "%d", d.Points.Dim())
		}
		d.Features = features
	}
	if x, ok := d.Points.(*points.Dense); ok && p.Kind == Dense {
		if d.Points, err = checked(x, x.Validate(), gaps, d.Features); err != nil {
			return nil, err
		}
	}
	return mustlink.FromData(d), nil
}

// checked returns dense points whose validation gave an error or nil. With gaps, points with NaN
// become a table.
func checked(x *points.Dense, err error, gaps bool, names []string) (points.Points, error) {
	if err == nil || !gaps {
		return x, err
	}
	return withGaps(x, names)
}

// fills reports whether a model fills missing numbers.
func fills(m *mustlink.Model) bool {
	return prepare.ByColumn(m.Record().Scaling) != nil
}

// unchecked returns the points without validating the values of dense ones, which may be NaN or
// infinite.
func (p *Points) unchecked(keep bool) (*dataset.Data, error) {
	if p == nil {
		return nil, argument("the points are NULL: want a pointer")
	}
	switch p.Kind {
	case Table:
		return p.columns(keep)
	case Sparse:
		return dataOf(p.sparse(keep))
	case Dense, Gram:
	default:
		return nil, argument(
			"kind of points is %d: want %d (dense), %d (sparse), %d (Gram matrix) or %d (table)", p.Kind,
			Dense, Sparse, Gram, Table)
	}
	if err := p.check("the points"); err != nil {
		return nil, err
	}
	values := p.values(keep)
	if p.Kind == Dense {
		return dataOf(&points.Dense{N: int(p.Rows), D: int(p.Cols), Data: values}, nil)
	}
	var diagonal []float64
	var reference []int // all rows of a square matrix without a diagonal are training points
	if p.Diagonal != nil {
		diagonal = append(diagonal, list[float64](p.Diagonal, p.Rows)...)
		reference = slices.Repeat([]int{-1}, int(p.Rows))
	}
	return dataOf(points.NewGram(int(p.Rows), int(p.Cols), values, diagonal, reference))
}

// dataOf returns points as data without names.
func dataOf(x points.Points, err error) (*dataset.Data, error) {
	if err != nil {
		return nil, err
	}
	return &dataset.Data{Points: x}, nil
}

// sparse reads compressed rows.
func (p *Points) sparse(keep bool) (points.Points, error) {
	if p.Rows < 0 || p.Cols < 0 {
		return nil, argument("the points have %d rows and %d columns: want numbers >= 0", p.Rows, p.Cols)
	}
	if p.RowStart == nil {
		return nil, argument("row_start of sparse points is NULL: want a pointer")
	}
	start := make([]int, p.Rows+1)
	for i, at := range list[int64](p.RowStart, p.Rows+1) {
		if start[i] = int(at); i > 0 && start[i] < start[i-1] || start[0] != 0 {
			return nil, argument(
				"row_start of sparse points is %d at row %d: want 0 first and no number below the one before",
				at, i)
		}
	}
	count := int64(start[p.Rows])
	flat := Array{Type: p.Type, Rows: 1, Cols: count, Data: p.Data, RowStride: count, ColStride: 1}
	if err := flat.check("the values of sparse points"); err != nil {
		return nil, err
	}
	if p.Column == nil && count > 0 {
		return nil, argument("column of sparse points is NULL: want a pointer")
	}
	column := list[int32](p.Column, count)
	if keep {
		column = append([]int32(nil), column...)
	}
	return points.NewCSR(int(p.Rows), int(p.Cols), start, column, flat.values(keep))
}

// list returns n elements of the caller's memory.
func list[T any](at unsafe.Pointer, n int64) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(at), n)
}
