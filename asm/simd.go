//go:build (amd64 || arm64) && !purego && !noasm

package asm

import (
	"math"
	"unsafe"
)

// simd is the assembly of one level. It processes whole vectors; the methods below process the
// remaining elements, with the same operations in the same order. A level may lack stream, with
// fence and streamTransposed.
type simd struct {
	lanes, mr, nr, kc int

	direct           []directKernel // by the number of vectors in a row, less one
	tile             func(k int, a, b, c *float64, stride int, alpha, beta float64)
	peak             func(n int)
	transpose        func(dst *float64, width int, src *float64, stride, n int)
	dot              func(n int, x, y *float64) float64
	sum              func(n int, x *float64) float64
	squaredDistance  func(n int, x, y *float64) float64
	axpy             func(n int, alpha float64, x, y *float64)
	scale            func(n int, alpha float64, x *float64)
	power            func(n int, dst, x *float64, degree int)
	sqrt             func(n int, dst, x *float64)
	squaredDistances func(n int, dst, dot *float64, xx float64, yy *float64, fraction float64) int
	gaussian         func(rows, n int, dst *float64, dstStride int, dot *float64, dotStride int, xx,
		yy *float64, scale, fraction float64) int
	firstBelow       func(n int, x, limits *float64, limit float64) int
	stream           func(rows, n int, dst *float64, stride int, src *float64, srcStride int)
	streamTransposed func(n int, dst *float64, stride int, src *float64, srcStride int)
	fence            func()
	narrow           func(n int, dst *float32, src *float64)
	choleskyOnes     func(k int, g, w *float64)
	sweep            func(n int, a *float64, stride int, x, y, alpha, dots *float64)
	// indexed by the number of vectors in a row
	sparse [4]func(rows int, start *int, index *int32, weight, x *float64, stride int, dst *float64,
		dstStride int)
	recur [4]func(rows int, start *int, index *int32, weight, x *float64, stride int, dst *float64,
		dstStride int, own *float64, alpha, beta, gamma float64)
	exp func(n int, dst, x *float64)
	// expRest is Exp of fewer elements than a vector has. It calls the assembly by name: with a
	// call through exp, the vector on its stack would move to the heap.
	expRest func(dst, x []float64)
}

// longest is the number of elements of one call into assembly, which the scheduler cannot
// interrupt: some 10 microseconds of the slowest kernel. It is a multiple of all lanes.
const longest = 8192

// apply overwrites all kernels of a table.
func (s *simd) apply(t *Table) {
	t.Dot, t.Sum, t.SquaredDistance = s.Dot, s.Sum, s.SquaredDistance
	t.Axpy, t.Scale, t.Syr = s.Axpy, s.Scale, s.Syr
	t.Exp, t.Sqrt, t.Power, t.SquaredDistances = s.Exp, s.Sqrt, s.Power, s.SquaredDistances
	t.Gaussian, t.FirstBelow, t.Narrow, t.CholeskyOnes = s.Gaussian, s.FirstBelow, s.Narrow, s.CholeskyOnes
	t.Sweep, t.SparseRows, t.SparseRecur = s.Sweep, s.SparseRows, s.SparseRecur
	t.Tile, t.TileTo, t.Interleave, t.Peak = s.Tile, s.TileTo, s.Interleave, s.Peak
	t.MR, t.NR, t.KC, t.Lanes, t.Direct = s.mr, s.nr, s.kc, s.lanes, s.Direct
	if s.stream != nil {
		t.Stream, t.StreamTransposed, t.Fence = s.Stream, s.StreamTransposed, s.fence
	}
}

// whole returns the part of n that is whole vectors.
func (s *simd) whole(n int) int { return n &^ (s.lanes - 1) }

// parts calls f for consecutive pieces of whole vectors, at most longest elements each, and
// returns where they end.
func (s *simd) parts(n int, f func(lo, hi int)) int {
	end := s.whole(n)
	for lo := 0; lo < end; lo += longest {
		f(lo, min(lo+longest, end))
	}
	return end
}

func (s *simd) Dot(x, y []float64) float64 {
	y = y[:len(x)]
	total := 0.0
	for len(x) > longest {
		total += s.dot(longest, &x[0], &y[0])
		x, y = x[longest:], y[longest:]
	}
	if n := s.whole(len(x)); n > 0 {
		total += s.dot(n, &x[0], &y[0])
		x, y = x[n:], y[n:]
	}
	if len(x) == 0 {
		return total
	}
	return total + dot(x, y)
}

func (s *simd) Sum(x []float64) float64 {
	total := 0.0
	for len(x) > longest {
		total += s.sum(longest, &x[0])
		x = x[longest:]
	}
	if n := s.whole(len(x)); n > 0 {
		total += s.sum(n, &x[0])
		x = x[n:]
	}
	if len(x) == 0 {
		return total
	}
	return total + sum(x)
}

func (s *simd) SquaredDistance(x, y []float64) float64 {
	y = y[:len(x)]
	total := 0.0
	for len(x) > longest {
		total += s.squaredDistance(longest, &x[0], &y[0])
		x, y = x[longest:], y[longest:]
	}
	if n := s.whole(len(x)); n > 0 {
		total += s.squaredDistance(n, &x[0], &y[0])
		x, y = x[n:], y[n:]
	}
	if len(x) == 0 {
		return total
	}
	return total + squaredDistance(x, y)
}

// rest is the longest vector: it has the remaining elements, and its other lanes are zero.
type rest [8]float64

// load returns the elements of x.
func load(x []float64) (r rest) {
	copy(r[:], x)
	return r
}

func (s *simd) Axpy(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for len(x) > longest {
		s.axpy(longest, alpha, &x[0], &y[0])
		x, y = x[longest:], y[longest:]
	}
	if n := s.whole(len(x)); n > 0 {
		s.axpy(n, alpha, &x[0], &y[0])
		x, y = x[n:], y[n:]
	}
	for i, v := range x { // a vector on the stack would move to the heap, and cost more
		y[i] = math.FMA(alpha, v, y[i])
	}
}

func (s *simd) Scale(alpha float64, x []float64) {
	end := s.parts(len(x), func(lo, hi int) { s.scale(hi-lo, alpha, &x[lo]) })
	scale(alpha, x[end:])
}

func (s *simd) Syr(alpha float64, x, a []float64, stride int) {
	for i, v := range x {
		s.Axpy(alpha*v, x[:i+1], a[i*stride:])
	}
}

func (s *simd) Exp(dst, x []float64) {
	dst = dst[:len(x)]
	for len(x) > longest {
		s.exp(longest, &dst[0], &x[0])
		dst, x = dst[longest:], x[longest:]
	}
	if n := s.whole(len(x)); n > 0 {
		s.exp(n, &dst[0], &x[0])
		dst, x = dst[n:], x[n:]
	}
	if len(x) > 0 {
		s.expRest(dst, x)
	}
}

func (s *simd) Sqrt(dst, x []float64) {
	end := s.parts(len(x), func(lo, hi int) { s.sqrt(hi-lo, &dst[lo], &x[lo]) })
	sqrt(dst[end:], x[end:])
}

func (s *simd) Power(dst, x []float64, degree int) {
	end := s.parts(len(x), func(lo, hi int) { s.power(hi-lo, &dst[lo], &x[lo], degree) })
	power(dst[end:], x[end:], degree)
}

func (s *simd) SquaredDistances(dst, dot []float64, xx float64, yy []float64, fraction float64) bool {
	n := len(dot)
	dst, yy = dst[:n], yy[:n]
	near, end := 0, s.whole(n)
	for lo := 0; lo < end; lo += longest {
		near |= s.squaredDistances(min(longest, end-lo), &dst[lo], &dot[lo], xx, &yy[lo], fraction)
	}
	if end == n {
		return near != 0
	}
	return squaredDistances(dst[end:], dot[end:], xx, yy[end:], fraction) || near != 0
}

func (s *simd) Gaussian(rows, cols int, dst []float64, dstStride int, dot []float64, dotStride int, xx,
	yy []float64, scale, fraction float64) bool {
	near, rest, whole := 0, false, s.whole(cols)
	for r := 0; r < rows && cols > 0; {
		// Some rows at a time, or parts of one row.
		some := max(1, min(rows-r, longest/2/max(1, whole)))
		for c := 0; c < whole; c += longest / 2 {
			near |= s.gaussian(some, min(longest/2, whole-c), &dst[r*dstStride+c], dstStride,
				&dot[r*dotStride+c], dotStride, &xx[r], &yy[c], scale, fraction)
		}
		for end := r + some; r < end; r++ {
			if whole < cols {
				to := dst[r*dstStride+whole:][:cols-whole]
				rest = squaredDistances(to, dot[r*dotStride+whole:][:cols-whole], xx[r], yy[whole:],
					fraction) || rest
				for i := range to {
					to[i] *= scale
				}
				s.expRest(to, to)
			}
		}
	}
	return near != 0 || rest
}

func (s *simd) FirstBelow(x, limits []float64, limit float64) int {
	n := len(x)
	limits = limits[:n]
	end := s.whole(n)
	for lo := 0; lo < end; lo += longest {
		part := min(longest, end-lo)
		if i := s.firstBelow(part, &x[lo], &limits[lo], limit); i < part {
			return lo + i
		}
	}
	return end + firstBelow(x[end:], limits[end:], limit)
}

func (s *simd) Sweep(n int, a []float64, stride int, x, y []float64, alpha, dots *[4]float64) {
	*dots = [4]float64{}
	end := s.whole(n)
	for lo := 0; lo < end; lo += longest / 4 {
		before := *dots
		s.sweep(min(longest/4, end-lo), &a[lo], stride, &x[lo], &y[lo], &alpha[0], &dots[0])
		for r, v := range before {
			dots[r] += v
		}
	}
	for r := range 4 {
		row := a[r*stride:][:n]
		for j := end; j < n; j++ {
			dots[r] = math.FMA(row[j], x[j], dots[r])
			y[j] = math.FMA(alpha[r], row[j], y[j])
		}
	}
}

// longestSparse is the number of stored elements of one call into assembly, each of which may
// wait for memory; a single longer row is one call.
const longestSparse = 2048

func (s *simd) SparseRows(start []int, index []int32, weight, x []float64, stride, cols int, dst []float64,
	dstStride int) {
	whole := s.whole(cols)
	sparseParts(start, func(lo, hi int) {
		if start[hi] == start[lo] { // there may be no first element to point at
			for ; lo < hi; lo++ {
				clear(dst[lo*dstStride:][:cols])
			}
			return
		}
		for c := 0; c < whole; {
			vectors := min((whole-c)/s.lanes, len(s.sparse))
			s.sparse[vectors-1](hi-lo, &start[lo], &index[0], &weight[0], &x[c], stride, &dst[lo*dstStride+c],
				dstStride)
			c += vectors * s.lanes
		}
		for r := lo; r < hi; r++ {
			for c := whole; c < cols; c++ {
				dst[r*dstStride+c] = sparseElement(start[r], start[r+1], index, weight, x[c:], stride)
			}
		}
	})
}

func (s *simd) SparseRecur(start []int, index []int32, weight, x []float64, stride, cols int, alpha,
	beta float64, own []float64, gamma float64, dst []float64, dstStride int) {
	whole := s.whole(cols)
	sparseParts(start, func(lo, hi int) {
		from := 0
		if start[hi] > start[lo] {
			for from < whole {
				vectors := min((whole-from)/s.lanes, len(s.recur))
				s.recur[vectors-1](hi-lo, &start[lo], &index[0], &weight[0], &x[from], stride,
					&dst[lo*dstStride+from], dstStride, &own[lo*stride+from], alpha, beta, gamma)
				from += vectors * s.lanes
			}
		}
		for r := lo; r < hi; r++ {
			for c := from; c < cols; c++ {
				t := alpha * sparseElement(start[r], start[r+1], index, weight, x[c:], stride)
				at := r*dstStride + c
				dst[at] = math.FMA(gamma, dst[at], math.FMA(beta, own[r*stride+c], t))
			}
		}
	})
}

// sparseParts calls f for consecutive rows of some longestSparse elements.
func sparseParts(start []int, f func(lo, hi int)) {
	for lo, rows := 0, len(start)-1; lo < rows; {
		hi := lo + 1
		for hi < rows && start[hi+1]-start[lo] <= longestSparse {
			hi++
		}
		f(lo, hi)
		lo = hi
	}
}

// sparseElement is one element of SparseRows, fused like the assembly.
func sparseElement(from, to int, index []int32, weight, x []float64, stride int) float64 {
	t := 0.0
	for k := from; k < to; k++ {
		t = math.FMA(weight[k], x[int(index[k])*stride], t)
	}
	return t
}

func (s *simd) Stream(rows, cols int, dst []float64, stride int, src []float64, srcStride int) {
	whole := s.whole(cols)
	if rows > 0 && 0 < whole && whole == cols && cols <= longest && stride%s.lanes == 0 &&
		lineOffset(dst)%s.lanes == 0 {
		for r := 0; r < rows; {
			some := min(rows-r, longest/cols)
			s.stream(some, cols, &dst[r*stride], stride, &src[r*srcStride], srcStride)
			r += some
		}
		return
	}
	for r := range rows {
		s.streamRow(dst[r*stride:][:cols], src[r*srcStride:][:cols])
	}
}

// streamRow copies the elements before and after the whole vectors of dst in the usual way.
func (s *simd) streamRow(dst, x []float64) {
	head := 0
	for off := lineOffset(dst) % s.lanes; off > 0 && off < s.lanes && head < len(x); off++ {
		dst[head] = x[head]
		head++
	}
	dst, x = dst[head:], x[head:]
	end := s.whole(len(x))
	for lo := 0; lo < end; lo += longest {
		s.stream(1, min(longest, end-lo), &dst[lo], 0, &x[lo], 0)
	}
	for i := end; i < len(x); i++ {
		dst[i] = x[i]
	}
}

// lineOffset returns the index of x in its cache line of eight elements.
func lineOffset(x []float64) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(x))) / 8 % 8) }

func (s *simd) StreamTransposed(dst []float64, stride int, src []float64, srcStride, rows, cols int) {
	deep, c := rows&^7, 0
	if stride%8 == 0 && lineOffset(dst) == 0 && deep > 0 {
		for ; c+s.lanes <= cols; c += s.lanes {
			for r := 0; r < deep; r += longest / 8 {
				s.streamTransposed(min(longest/8, deep-r), &dst[c*stride+r], stride, &src[r*srcStride+c],
					srcStride)
			}
			if deep < rows {
				streamTransposed(dst[c*stride+deep:], stride, src[deep*srcStride+c:], srcStride, rows-deep,
					s.lanes)
			}
		}
	}
	if c < cols && rows > 0 {
		streamTransposed(dst[c*stride:], stride, src[c:], srcStride, rows, cols-c)
	}
}

func (s *simd) Narrow(dst []float32, x []float64) {
	dst = dst[:len(x)]
	end := s.parts(len(x), func(lo, hi int) { s.narrow(hi-lo, &dst[lo], &x[lo]) })
	narrow(dst[end:], x[end:])
}

// largestBatch bounds the order of the systems that one call into assembly solves: k^3/3
// multiply-adds of vectors, some 10 microseconds.
const largestBatch = 64

func (s *simd) CholeskyOnes(k int, g, w []float64) {
	if k > largestBatch {
		choleskyOnes(s.lanes, k, g, w)
		return
	}
	s.choleskyOnes(k, &g[0], &w[0])
}

func (s *simd) Tile(k int, a, b, c []float64) { s.TileTo(k, 1, 0, a, b, c, s.nr) }

// deepest is the number of steps over k of one call into assembly.
const deepest = 4096

func (s *simd) TileTo(k int, alpha, beta float64, a, b, c []float64, stride int) {
	if k <= 0 || k > deepest {
		tileTo(s.mr, s.nr, k, alpha, beta, a, b, c, stride)
		return
	}
	s.tile(k, &a[0], &b[0], &c[0], stride, alpha, beta)
}

func (s *simd) Interleave(dst []float64, width, k int, src []float64, stride, rows int) {
	deep := s.whole(k)
	i := 0
	for ; deep > 0 && i+s.lanes <= rows; i += s.lanes {
		s.transpose(&dst[i], width, &src[i*stride], stride, deep)
	}
	interleave(dst, width, 0, deep, src, stride, i, rows)
	interleave(dst, width, deep, k, src, stride, 0, rows)
}

func (s *simd) Peak(n int) float64 {
	for left := n; left > 0; left -= longest {
		s.peak(min(left, longest))
	}
	return 2 * float64(n) * float64(s.mr*s.nr)
}
