package tile

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// Pack copies lanes [i0, i1) and depths [l0, l1) of m into panels of width lanes: element
// (i, l) goes to place (l-l0)*width + (i-i0)%width of panel (i-i0)/width. Lanes are rows of m
// and depths its columns if byRow is set, or the reverse. The last panel is filled up with
// zeros. dst has at least (i1-i0 rounded up to width) * (l1-l0) elements.
func Pack(t *asm.Table, dst []float64, width int, m blas.Matrix, byRow bool, i0, i1, l0, l1 int) {
	if l0 == l1 {
		return
	}
	size := width * (l1 - l0)
	for i := i0; i < i1; i += width {
		lanes := min(width, i1-i)
		if byRow {
			t.Interleave(dst[:size], width, l1-l0, m.Data[i*m.Stride+l0:], m.Stride, lanes)
		} else {
			packColumns(dst[:size], width, m.Data[l0*m.Stride+i:], m.Stride, lanes)
		}
		dst = dst[size:]
	}
}

// packColumns packs one panel whose lanes are columns: dst[l*width+i] = src[l*stride+i].
func packColumns(dst []float64, width int, src []float64, stride, lanes int) {
	if lanes < width {
		clear(dst)
	}
	switch {
	case width == 4 && lanes == 4:
		for ; len(dst) >= 4; dst = dst[4:] {
			*(*[4]float64)(dst) = *(*[4]float64)(src)
			src = src[min(stride, len(src)):]
		}
	case width == 8 && lanes == 8:
		for ; len(dst) >= 8; dst = dst[8:] {
			*(*[8]float64)(dst) = *(*[8]float64)(src)
			src = src[min(stride, len(src)):]
		}
	default:
		for ; len(dst) >= width; dst = dst[width:] {
			copy(dst[:lanes], src)
			src = src[min(stride, len(src)):]
		}
	}
}

// Unpack undoes [Pack] for one panel: it copies depths [l0, l1) of lanes [i0, i1), at most
// width, from src to m.
func Unpack(src []float64, width int, m blas.Matrix, byRow bool, i0, i1, l0, l1 int) {
	if byRow {
		for i := i0; i < i1; i++ {
			row := m.Data[i*m.Stride+l0 : i*m.Stride+l1]
			at := i - i0
			for l := range row {
				row[l] = src[at]
				at += width
			}
		}
		return
	}
	for l := l0; l < l1; l++ {
		copy(m.Data[l*m.Stride+i0:l*m.Stride+i1], src[(l-l0)*width:])
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
		Pack(t, panel, width, m, true, i, end, l0, left)
		across(panel[(left-l0)*width:], width, m, i, end, left, right)
		Pack(t, panel[(right-l0)*width:], width, m, false, i, end, right, l1)
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
