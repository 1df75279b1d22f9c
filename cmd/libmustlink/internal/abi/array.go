package abi

import (
	"context"
	"math"
	"unsafe"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
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
		return argument("element type of %s is %d: want %d (float64) or %d (float32)", what, a.Type, Float64, Float32)
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
		return argument("strides of %s, %d x %d, are %d between rows and %d between columns: want numbers >= 1 with which no two elements overlap",
			what, a.Rows, a.Cols, a.RowStride, a.ColStride)
	}
	room := most - 1
	for _, side := range [][2]int64{{a.Rows - 1, a.RowStride}, {a.Cols - 1, a.ColStride}} {
		if side[0] > 0 && side[1] > room/side[0] {
			return argument("%s, %d x %d with strides %d and %d, is larger than memory: want fewer rows or columns", what, a.Rows, a.Cols, a.RowStride, a.ColStride)
		}
		room -= side[0] * side[1]
	}
	if a.Rows > most/a.Cols {
		return argument("%s, %d x %d, is larger than memory: want fewer rows or columns", what, a.Rows, a.Cols)
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
		return &fault.ShapeError{What: "number of rows of the output", Got: int(a.Rows), Want: itoa(rows)}
	}
	if a.Cols != int64(cols) {
		return &fault.ShapeError{What: "number of columns of the output", Got: int(a.Cols), Want: itoa(cols)}
	}
	return nil
}
