//go:build (amd64 || arm64) && !purego && !noasm

package asm

import "math"

// These are portable versions with fused multiply-adds, for depths without assembly.

// tileTo is TileTo for any sizes of tile, with fused multiply-adds like the assembly, for depths
// without assembly.
func tileTo(mr, nr, k int, alpha, beta float64, a, b, c []float64, stride int) {
	for i := range mr {
		for j := range nr {
			t := 0.0
			for l := range k {
				t = math.FMA(a[l*mr+i], b[l*nr+j], t)
			}
			v := alpha * t
			if beta != 0 {
				v = math.FMA(beta, c[i*stride+j], v)
			}
			c[i*stride+j] = v
		}
	}
}

// directFused is Direct for any sizes, fused like the assembly, for depths without assembly.
func directFused(rows, cols, k int, alpha, beta float64, a []float64, aRow, aCol int, b []float64, bRow int,
	c []float64, stride int) {
	for i := range rows {
		for j := range cols {
			t := 0.0
			for l := range k {
				t = math.FMA(a[i*aRow+l*aCol], b[l*bRow+j], t)
			}
			v := alpha * t
			if beta != 0 {
				v = math.FMA(beta, c[i*stride+j], v)
			}
			c[i*stride+j] = v
		}
	}
}
