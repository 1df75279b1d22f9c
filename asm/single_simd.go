//go:build (amd64 || arm64) && !purego && !noasm

package asm

import "unsafe"

// singleSIMD is the assembly of one level in single precision, which may lack streamTransposed.
type singleSIMD struct {
	lanes, mr, nr int

	tile             func(k int, a, b, c *float32, stride int)
	distances        func(n int, dst, dot *float32, xx float32, yy *float32, fraction float32) int
	exp              func(n int, dst, x *float32, scale float32)
	sqrt             func(n int, dst, x *float32)
	streamTransposed func(n int, dst *float32, stride int, src *float32, srcStride int)
}

// apply overwrites all kernels in single precision. Stream moves pairs.
func (s *singleSIMD) apply(t *Table) {
	stream := t.Stream
	t.Single = Single{
		Tile: s.Tile, SquaredDistances: s.SquaredDistances, Exp: s.Exp, Sqrt: s.Sqrt,
		StreamTransposed: s.StreamTransposed,
		Stream: func(rows, cols int, dst []float32, stride int, src []float32, srcStride int) {
			if rows == 0 || cols == 0 {
				return
			}
			if cols%2 != 0 || stride%2 != 0 || srcStride%2 != 0 || !even(dst) {
				singleStream(rows, cols, dst, stride, src, srcStride)
				return
			}
			stream(rows, cols/2, pairs(dst[:(rows-1)*stride+cols]), stride/2,
				pairs(src[:(rows-1)*srcStride+cols]), srcStride/2)
		},
		MR: s.mr, NR: s.nr, Lanes: s.lanes,
	}
}

// even reports whether x has the alignment of a float64.
func even(x []float32) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(x)))%8 == 0 }

// pairs returns an even number of elements as half as many float64, which are only moved and never
// computed with.
func pairs(x []float32) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/2)
}

func (s *singleSIMD) Tile(k int, a, b, c []float32, stride int) {
	if k == 0 {
		for i := range s.mr {
			clear(c[i*stride:][:s.nr])
		}
		return
	}
	_, _, _ = a[k*s.mr-1], b[k*s.nr-1], c[(s.mr-1)*stride+s.nr-1]
	s.tile(k, &a[0], &b[0], &c[0], stride)
}

func (s *singleSIMD) SquaredDistances(dst, dot []float32, xx float32, yy []float32,
	fraction float32) (near bool) {
	s.whole(len(dot))
	dst, yy = dst[:len(dot)], yy[:len(dot)]
	for lo := 0; lo < len(dot); lo += longest {
		n := min(longest, len(dot)-lo)
		near = s.distances(n, &dst[lo], &dot[lo], xx, &yy[lo], fraction) != 0 || near
	}
	return near
}

func (s *singleSIMD) Exp(dst, x []float32, scale float32) {
	s.whole(len(x))
	dst = dst[:len(x)]
	for lo := 0; lo < len(x); lo += longest {
		s.exp(min(longest, len(x)-lo), &dst[lo], &x[lo], scale)
	}
}

func (s *singleSIMD) Sqrt(dst, x []float32) {
	s.whole(len(x))
	dst = dst[:len(x)]
	for lo := 0; lo < len(x); lo += longest {
		s.sqrt(min(longest, len(x)-lo), &dst[lo], &x[lo])
	}
}

// whole panics if a length is not a multiple of the lanes.
func (s *singleSIMD) whole(n int) {
	if n%s.lanes != 0 {
		panic("asm: a length in single precision that is no multiple of the lanes")
	}
}

func (s *singleSIMD) StreamTransposed(dst []float32, stride int, src []float32, srcStride, rows, cols int) {
	deep, c := rows&^15, 0
	if s.streamTransposed != nil && stride%16 == 0 && AtLine32(dst) && deep > 0 {
		for ; c+8 <= cols; c += 8 {
			_ = dst[(c+7)*stride+deep-1]
			s.streamTransposed(deep, &dst[c*stride], stride, &src[c], srcStride)
			if deep < rows {
				singleStreamTransposed(dst[c*stride+deep:], stride, src[deep*srcStride+c:], srcStride,
					rows-deep, 8)
			}
		}
	}
	if c < cols && rows > 0 {
		singleStreamTransposed(dst[c*stride:], stride, src[c:], srcStride, rows, cols-c)
	}
}
