package abi

import (
	"slices"
	"strconv"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

func itoa(n int) string { return strconv.Itoa(n) }

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
		return nil, &fault.ParamError{Param: "features", Value: features, Want: "no such option with a table, whose columns have names"}
	}
	if features != nil {
		if len(features) != d.Points.Dim() {
			return nil, &fault.ShapeError{What: "number of names of features", Got: len(features), Want: itoa(d.Points.Dim())}
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
		return nil, argument("kind of points is %d: want %d (dense), %d (sparse), %d (Gram matrix) or %d (table)", p.Kind, Dense, Sparse, Gram, Table)
	}
	if err := p.check("the points"); err != nil {
		return nil, err
	}
	values := p.values(keep)
	if p.Kind == Dense {
		return dataOf(&points.Dense{N: int(p.Rows), D: int(p.Cols), Data: values}, nil)
	}
	var diagonal []float64
	if p.Diagonal != nil {
		diagonal = append(diagonal, list[float64](p.Diagonal, p.Rows)...)
	}
	return dataOf(points.NewGram(int(p.Rows), int(p.Cols), values, diagonal, p.reference()))
}

// dataOf returns points as data without names.
func dataOf(x points.Points, err error) (*dataset.Data, error) {
	if err != nil {
		return nil, err
	}
	return &dataset.Data{Points: x}, nil
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
