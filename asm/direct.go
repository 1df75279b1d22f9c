package asm

// direct2xN is Direct of the generic table.
func direct2xN(rows, _, k int, alpha, beta float64, a []float64, aRow, aCol int, b []float64, bRow int,
	c []float64, stride int) {
	for i := 0; i < rows; i += 2 {
		direct2x4(k, alpha, beta, a[i*aRow:], aRow, aCol, b, bRow, c[i*stride:], stride)
	}
}

// direct2x4 computes one tile, in the way of tile2x4.
func direct2x4(k int, alpha, beta float64, a []float64, aRow, aCol int, b []float64, bRow int, c []float64,
	stride int) {
	var c00, c01, c02, c03, c10, c11, c12, c13 float64
	for l := range k {
		row := (*[4]float64)(b[l*bRow:])
		b0, b1, b2, b3 := row[0], row[1], row[2], row[3]
		v := a[l*aCol]
		c00 += float64(v * b0)
		c01 += float64(v * b1)
		c02 += float64(v * b2)
		c03 += float64(v * b3)
		v = a[aRow+l*aCol]
		c10 += float64(v * b0)
		c11 += float64(v * b1)
		c12 += float64(v * b2)
		c13 += float64(v * b3)
	}
	placeTile([]float64{c00, c01, c02, c03, c10, c11, c12, c13}, 2, 4, alpha, beta, c, stride)
}
