package asm

import (
	"math"
	"unsafe"
)

// Single has a level's kernels in single precision. The rules of [Table] apply; n and cols are
// multiples of Lanes, so callers pad their rows.
type Single struct {
	// Tile multiplies packed panels into one MR x NR register tile:
	//	for i := range MR { for j := range NR {
	//		t := 0.0
	//		for l := range k { t += a[l*MR+i] * b[l*NR+j] }
	//		c[i*stride+j] = t
	//	} }
	// Each element is summed in the order of l. c is disjoint from a and b.
	Tile func(k int, a, b, c []float32, stride int)
	// SquaredDistances is [Table.SquaredDistances].
	SquaredDistances func(dst, dot []float32, xx float32, yy []float32, fraction float32) (near bool)
	// Exp writes the exponential function of multiples:
	//	for i, v := range x { dst[i] = exp(scale * v) }
	// Error at most 2 ulp (relative 2.4e-7) relative to the exact value for the rounded product.
	// Below -87.69, where results are no longer normal numbers, the result is 0; below -87.33 it
	// may be less precise or 0; above 88.37 it may be +Inf, and above 88.73 it is. Exp(0) = 1
	// exactly; NaN stays. dst and x are disjoint or the same.
	Exp func(dst, x []float32, scale float32)
	// Sqrt writes the square roots, correctly rounded. dst and x are disjoint or the same.
	Sqrt func(dst, x []float32)
	// Stream is [Table.Stream].
	Stream func(rows, cols int, dst []float32, stride int, src []float32, srcStride int)
	// StreamTransposed is [Table.StreamTransposed]; it is fast if dst begins a cache line of 64
	// bytes, and stride and rows are multiples of 16.
	StreamTransposed func(dst []float32, stride int, src []float32, srcStride, rows, cols int)
	// MR, NR are the tile's sizes, Lanes the number of elements of a vector, a divisor of NR.
	MR, NR, Lanes int
}

// genericSingle returns the kernels of the level Generic.
func genericSingle() Single {
	return Single{
		Tile:             singleTile,
		SquaredDistances: singleDistances,
		Exp:              singleExp,
		Sqrt:             singleSqrt,
		Stream:           singleStream,
		StreamTransposed: singleStreamTransposed,
		MR:               2, NR: 4, Lanes: 4,
	}
}

func singleTile(k int, a, b, c []float32, stride int) {
	for i := range 2 {
		var s [4]float32
		for l := range k {
			x, row := a[2*l+i], b[4*l:4*l+4]
			for j, y := range row {
				s[j] += float32(x * y)
			}
		}
		copy(c[i*stride:], s[:])
	}
}

func singleDistances(dst, dot []float32, xx float32, yy []float32, fraction float32) (near bool) {
	dst, yy = dst[:len(dot)], yy[:len(dot)]
	for j, v := range dot {
		sum := xx + yy[j]
		d := max(0, sum-2*v)
		dst[j] = d
		near = near || d < fraction*sum
	}
	return near
}

func singleExp(dst, x []float32, scale float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		y := math.Exp(float64(scale * v))
		if y < 0x1p-126 {
			y = 0
		}
		dst[i] = float32(y)
	}
}

func singleSqrt(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = float32(math.Sqrt(float64(v)))
	}
}

func singleStream(rows, cols int, dst []float32, stride int, src []float32, srcStride int) {
	for r := range rows {
		copy(dst[r*stride:][:cols], src[r*srcStride:])
	}
}

func singleStreamTransposed(dst []float32, stride int, src []float32, srcStride, rows, cols int) {
	for r := range rows {
		for c, v := range src[r*srcStride:][:cols] {
			dst[c*stride+r] = v
		}
	}
}

// AtLine32 is [AtLine] for single precision.
func AtLine32(x []float32) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(x)))%64 == 0 }
