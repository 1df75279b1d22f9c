package abi

import (
	"slices"
	"strconv"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Kinds of points, with the numbers of mustlink_kind.
const (
	Dense  int32 = 1
	Sparse int32 = 2
	Gram   int32 = 3
)

// Points are the points of a mustlink_points.
type Points struct {
	Kind int32
	Array
	RowStart unsafe.Pointer // int64
	Column   unsafe.Pointer // int32
	Diagonal unsafe.Pointer // float64
}

// table returns the points as a table, whose features have the given names or none. With keep it
// shares no memory with the caller.
func (p *Points) table(keep bool, features []string) (*mustlink.Table, error) {
	x, err := p.unchecked(keep)
	if dense, ok := x.(*points.Dense); ok && err == nil {
		err = dense.Validate()
	}
	if err != nil {
		return nil, err
	}
	return mustlink.FromData(&dataset.Data{Points: x, Features: features}), nil
}

// unchecked returns the points without validating the values of dense ones, which may be NaN or
// infinite.
func (p *Points) unchecked(keep bool) (points.Points, error) {
	if p == nil {
		return nil, argument("the points are NULL: want a pointer")
	}
	if p.Kind == Sparse {
		return p.sparse(keep)
	}
	if p.Kind != Dense && p.Kind != Gram {
		return nil, argument("kind of points is %d: want %d (dense), %d (sparse) or %d (Gram matrix)", p.Kind, Dense, Sparse, Gram)
	}
	if err := p.check("the points"); err != nil {
		return nil, err
	}
	values := p.values(keep)
	if p.Kind == Dense {
		return &points.Dense{N: int(p.Rows), D: int(p.Cols), Data: values}, nil
	}
	var diagonal []float64
	if p.Diagonal != nil {
		diagonal = append(diagonal, list[float64](p.Diagonal, p.Rows)...)
	}
	return points.NewGram(int(p.Rows), int(p.Cols), values, diagonal, p.reference())
}

// reference returns the rows of a Gram matrix that are training points: all rows of a square matrix
// without a diagonal.
func (p *Points) reference() []int {
	if p.Diagonal == nil {
		return nil
	}
	return slices.Repeat([]int{-1}, int(p.Rows))
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
			return nil, argument("row_start of sparse points is %d at row %d: want 0 first and no number below the one before", at, i)
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
