//go:build (amd64 || arm64) && !purego && !noasm

package asm

// directKernel is the assembly of Direct for one number of vectors in a row.
type directKernel func(rows, k int, a *float64, aRow, aCol int, b *float64, bRow int, c *float64, stride int,
	alpha, beta float64)

// longestDirect is the number of multiply-adds of one vector in each row, over all rows, in one
// call into assembly: some 20 microseconds.
const longestDirect = 1 << 16

func (s *simd) Direct(rows, cols, k int, alpha, beta float64, a []float64, aRow, aCol int, b []float64,
	bRow int, c []float64, stride int) {
	if k <= 0 || k > deepest {
		directFused(rows, cols, k, alpha, beta, a, aRow, aCol, b, bRow, c, stride)
		return
	}
	kernel, part := s.direct[cols/s.lanes-1], max(1, longestDirect/k/s.mr)*s.mr
	for i := 0; i < rows; i += part {
		kernel(min(part, rows-i), k, &a[i*aRow], aRow, aCol, &b[0], bRow, &c[i*stride], stride, alpha, beta)
	}
}
