//go:build amd64 && !purego && !noasm

package asm

// directKernel is the assembly of Direct for one number of vectors in a row.
type directKernel func(k int, a *float64, aRow, aCol int, b *float64, bRow int, c *float64, stride int, alpha, beta float64)

func (s *simd) Direct(k, cols int, alpha, beta float64, a []float64, aRow, aCol int, b []float64, bRow int, c []float64, stride int) {
	if k <= 0 || k > deepest {
		directFused(s.mr, k, cols, alpha, beta, a, aRow, aCol, b, bRow, c, stride)
		return
	}
	s.direct[cols/s.lanes-1](k, &a[0], aRow, aCol, &b[0], bRow, &c[0], stride, alpha, beta)
}
