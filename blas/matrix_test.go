package blas

import (
	"slices"
	"testing"
)

func TestMatrixViews(t *testing.T) {
	m := NewMatrix(4, 5)
	for i := range m.Data {
		m.Data[i] = float64(i)
	}
	v := m.View(1, 4, 2, 4)
	CheckMatrix(v)
	for i := range 3 {
		for j := range 2 {
			if want := m.At(i+1, j+2); v.At(i, j) != want {
				t.Errorf("view (%d,%d) is %v: want %v", i, j, v.At(i, j), want)
			}
		}
	}
	v.Row(2)[1] = -1
	if m.At(3, 3) != -1 {
		t.Error("a view does not share its matrix's data")
	}
	if row := v.Row(0); len(row) != 2 || cap(row) != 2 {
		t.Errorf("row has length %d, capacity %d: want 2 of both, so that append cannot reach the next row",
			len(row), cap(row))
	}
	if c := v.Clone(); c.Stride != 2 || !slices.Equal(c.Data, []float64{7, 8, 12, 13, 17, -1}) {
		t.Errorf("clone is %+v", c)
	}
}

// TestMatrixEmpty checks that matrices without rows or columns are legal everywhere.
func TestMatrixEmpty(t *testing.T) {
	for _, shape := range [][2]int{{0, 0}, {3, 0}, {0, 3}} {
		m := NewMatrix(shape[0], shape[1])
		CheckMatrix(m)
		c := m.Clone()
		c.CopyFrom(m)
		CheckMatrix(m.View(0, m.Rows, 0, m.Cols))
		for i := range m.Rows {
			if len(m.Row(i)) != 0 {
				t.Errorf("%v: row %d is not empty", shape, i)
			}
		}
	}
	m := NewMatrix(3, 3)
	for _, v := range []Matrix{m.View(3, 3, 0, 3), m.View(0, 3, 3, 3), m.View(1, 1, 1, 1)} {
		CheckMatrix(v)
	}
}

func TestMatrixPanics(t *testing.T) {
	m := NewMatrix(3, 3)
	for name, c := range map[string]struct {
		want string
		f    func()
	}{
		"negative rows":    {errNegativeDimension, func() { NewMatrix(-1, 2) }},
		"negative columns": {errNegativeDimension, func() { NewMatrix(2, -1) }},
		"rows":             {errViewRange, func() { m.View(0, 4, 0, 3) }},
		"columns":          {errViewRange, func() { m.View(0, 3, 2, 1) }},
		"copy":             {errShape, func() { m.CopyFrom(NewMatrix(3, 2)) }},
		"stride": {errStride, func() {
			CheckMatrix(Matrix{Rows: 1, Cols: 2, Stride: 1, Data: m.Data})
		}},
		"zero stride": {errStride, func() { CheckMatrix(Matrix{}) }},
		"short": {errShortData, func() {
			CheckMatrix(Matrix{Rows: 2, Cols: 2, Stride: 2, Data: m.Data[:3]})
		}},
		"not square": {errNotSquare, func() { CheckSquare(NewMatrix(2, 3)) }},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic is %v: want %q", got, c.want)
				}
			}()
			c.f()
		})
	}
}
