package tile

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// Pack copies lanes [i0, i1) and depths [l0, l1) of m into panels of width lanes: element (i, l)
// goes to index (l-l0)*width + (i-i0)%width of panel (i-i0)/width. Lanes are rows of m and depths
// its columns if byRow is set, or the reverse. The last panel is padded with zeros. Panels are size
// elements apart, at least (l1-l0)*width.
func Pack(t *asm.Table, dst []float64, width, size int, m blas.Matrix, byRow bool, i0, i1, l0, l1 int) {
	if l0 == l1 {
		return
	}
	if !byRow {
		for l := l0; l < l1; l++ {
			packRow(dst[(l-l0)*width:], width, size, m.Data[l*m.Stride+i0:l*m.Stride+i1])
		}
		return
	}
	for i := i0; i < i1; i += width {
		t.Interleave(dst, width, l1-l0, m.Data[i*m.Stride+l0:], m.Stride, min(width, i1-i))
		dst = dst[min(size, len(dst)):]
	}
}

// packRow distributes a row to the panels of its columns, size elements apart: along the row,
// because memory is read fastest in its order.
func packRow(dst []float64, width, size int, row []float64) {
	switch width {
	case 4:
		for len(row) >= 4 {
			*(*[4]float64)(dst) = *(*[4]float64)(row)
			row, dst = row[4:], dst[min(size, len(dst)):]
		}
	case 8:
		for len(row) >= 8 {
			*(*[8]float64)(dst) = *(*[8]float64)(row)
			row, dst = row[8:], dst[min(size, len(dst)):]
		}
	case 12:
		for len(row) >= 12 {
			*(*[12]float64)(dst) = *(*[12]float64)(row)
			row, dst = row[12:], dst[min(size, len(dst)):]
		}
	case 24:
		for len(row) >= 24 {
			*(*[24]float64)(dst) = *(*[24]float64)(row)
			row, dst = row[24:], dst[min(size, len(dst)):]
		}
	default:
		for len(row) >= width {
			copy(dst[:width], row)
			row, dst = row[width:], dst[min(size, len(dst)):]
		}
	}
	if len(row) > 0 {
		clear(dst[copy(dst[:width], row):width])
	}
}

// Unpack reverses [Pack]: it copies lanes [i0, i1) and depths [l0, l1) from panels, size elements
// apart, to m.
func Unpack(src []float64, width, size int, m blas.Matrix, byRow bool, i0, i1, l0, l1 int) {
	if !byRow {
		for l := l0; l < l1; l++ {
			from := src[(l-l0)*width:]
			for row := m.Data[l*m.Stride+i0 : l*m.Stride+i1]; len(row) > 0; {
				n := copy(row, from[:min(width, len(row))])
				row, from = row[n:], from[min(size, len(from)):]
			}
		}
		return
	}
	for i := i0; i < i1; i++ {
		from := src[(i-i0)/width*size+(i-i0)%width:]
		for row := m.Data[i*m.Stride+l0 : i*m.Stride+l1]; len(row) > 0; row = row[1:] {
			row[0] = from[0]
			from = from[min(width, len(from)):]
		}
	}
}

// packSymmetric is Pack for the symmetric matrix whose lower triangle is m's: left of the
// diagonal the lanes are rows of m, right of it columns.
func packSymmetric(t *asm.Table, dst []float64, width int, m blas.Matrix, i0, i1, l0, l1 int) {
	size := width * (l1 - l0)
	for i := i0; i < i1; i += width {
		end := min(i+width, i1)
		left, right := min(max(i, l0), l1), min(max(end, l0), l1)
		panel := dst[:size]
		Pack(t, panel, width, size, m, true, i, end, l0, left)
		across(panel[(left-l0)*width:], width, m, i, end, left, right)
		Pack(t, panel[(right-l0)*width:], width, size, m, false, i, end, right, l1)
		dst = dst[size:]
	}
}

// across is the part of packSymmetric that meets the diagonal, element by element.
func across(dst []float64, width int, m blas.Matrix, i0, i1, l0, l1 int) {
	for l := l0; l < l1; l++ {
		row := dst[(l-l0)*width:][:width]
		clear(row)
		for i := i0; i < i1; i++ {
			row[i-i0] = m.At(max(i, l), min(i, l))
		}
	}
}
