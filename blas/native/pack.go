package native

import "github.com/mustlink/mustlink/blas"

// pack copies lanes [i0, i1) and depths [l0, l1) of a matrix into panels of width lanes:
// element (i, l) goes to place (l-l0)*width + (i-i0)%width of panel (i-i0)/width. Lanes
// are rows of m and depths its columns, or the reverse if trans is set. The last panel is
// filled up with zeros, whose products are never stored.
func pack(dst []float64, width int, m blas.Matrix, trans bool, i0, i1, l0, l1 int) {
	size := width * (l1 - l0)
	for i := i0; i < i1; i += width {
		panel := dst[:size]
		dst = dst[size:]
		lanes := min(width, i1-i)
		if lanes < width {
			clear(panel)
		}
		if trans {
			packCols(panel, width, m, i, lanes, l0, l1)
		} else {
			packRows(panel, width, m, i, lanes, l0, l1)
		}
	}
}

// packRows packs one panel whose lanes are rows of m.
func packRows(panel []float64, width int, m blas.Matrix, i, lanes, l0, l1 int) {
	if width == 4 && lanes == 4 {
		packRows4(panel, m, i, l0, l1)
		return
	}
	for lane := range lanes {
		row := m.Data[(i+lane)*m.Stride+l0 : (i+lane)*m.Stride+l1]
		at := lane
		for _, v := range row {
			panel[at] = v
			at += width
		}
	}
}

// packRows4 is packRows for four lanes, in one pass.
func packRows4(panel []float64, m blas.Matrix, i, l0, l1 int) {
	n := l1 - l0
	r0 := m.Data[i*m.Stride+l0:][:n]
	r1 := m.Data[(i+1)*m.Stride+l0:][:n]
	r2 := m.Data[(i+2)*m.Stride+l0:][:n]
	r3 := m.Data[(i+3)*m.Stride+l0:][:n]
	for l := range r0 {
		*(*[4]float64)(panel[4*l:]) = [4]float64{r0[l], r1[l], r2[l], r3[l]}
	}
}

// packCols packs one panel whose lanes are columns of m.
func packCols(panel []float64, width int, m blas.Matrix, i, lanes, l0, l1 int) {
	for l := l0; l < l1; l++ {
		copy(panel[(l-l0)*width:][:lanes], m.Data[l*m.Stride+i:])
	}
}
