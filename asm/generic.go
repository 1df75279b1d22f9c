package asm

import "math"

// These are the generic kernels. Every product is written float64(x*y) before it is added: the
// conversion prevents the compiler from fusing the two (the language allows it, and arm64 and
// GOAMD64=v3 do it), so the generic table is bit-identical on every architecture. Exp is the
// exception, because math.Exp has assembly on some architectures.

// generic returns a fresh table of the portable kernels.
func generic() *Table {
	return &Table{
		Level:           Generic,
		Dot:             dot,
		Sum:             sum,
		SquaredDistance: squaredDistance,
		Axpy:            axpy,
		Scale:           scale,
		Syr:             syr,
		Exp:             exp,
		Sqrt:            sqrt,
		Power:           power,
		Tile:            tile2x4,
		TileTo:          tileTo2x4,
		Direct:          direct2xN,
		Interleave: func(dst []float64, width, k int, src []float64, stride, rows int) {
			interleave(dst, width, 0, k, src, stride, 0, rows)
		},
		Peak: peak,

		SquaredDistances: squaredDistances,
		FirstBelow:       firstBelow,
		Gaussian:         gaussian,
		Stream:           stream,
		StreamTransposed: streamTransposed,
		Fence:            func() {},
		Narrow:           narrow,
		Sweep:            sweep,
		SparseRows:       sparseRows,
		SparseRecur:      sparseRecur,
		CholeskyOnes:     func(k int, g, w []float64) { choleskyOnes(4, k, g, w) },

		MR: 2,
		NR: 4,
		KC: 256,

		Lanes: 4,

		Single: genericSingle(),
	}
}

func dot(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 { // the second test avoids bounds checks
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 += float64(v * y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

func sum(x []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
		x = x[4:]
	}
	for _, v := range x {
		s0 += v
	}
	return (s0 + s1) + (s2 + s3)
}

func squaredDistance(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		d := v - y[i]
		s0 += float64(d * d)
	}
	return (s0 + s1) + (s2 + s3)
}

func axpy(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		y[0] += float64(alpha * x[0])
		y[1] += float64(alpha * x[1])
		y[2] += float64(alpha * x[2])
		y[3] += float64(alpha * x[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		y[i] += float64(alpha * v)
	}
}

func scale(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}

func exp(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = exponential(v)
	}
}

// tile2x4 keeps 8 sums, 4 elements of b and 1 of a in registers: as many as 16 scalar registers
// hold without spilling (4x4 spills, and runs at two thirds of the speed on amd64).
func tile2x4(k int, a, b, c []float64) {
	var c00, c01, c02, c03, c10, c11, c12, c13 float64
	a, b = a[:2*k], b[:4*k]
	for len(a) >= 2 && len(b) >= 4 {
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		v := a[0]
		c00 += float64(v * b0)
		c01 += float64(v * b1)
		c02 += float64(v * b2)
		c03 += float64(v * b3)
		v = a[1]
		c10 += float64(v * b0)
		c11 += float64(v * b1)
		c12 += float64(v * b2)
		c13 += float64(v * b3)
		a, b = a[2:], b[4:]
	}
	*(*[8]float64)(c) = [8]float64{c00, c01, c02, c03, c10, c11, c12, c13}
}

func syr(alpha float64, x, a []float64, stride int) {
	for i, v := range x {
		axpy(alpha*v, x[:i+1], a[i*stride:])
	}
}

func sqrt(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = math.Sqrt(v)
	}
}

func power(dst, x []float64, degree int) {
	dst = dst[:len(x)]
	for i, v := range x {
		p := 1.0
		for d := degree; d > 1; d >>= 1 {
			if d&1 == 1 {
				p *= v
			}
			v *= v
		}
		dst[i] = p * v
	}
}

func squaredDistances(dst, dot []float64, xx float64, yy []float64, fraction float64) bool {
	dst, yy = dst[:len(dot)], yy[:len(dot)]
	near := false
	for j, v := range dot {
		t := xx + yy[j]
		d := t - 2*v
		if d < 0 { // max would be slower, because it handles signed zeros
			d = 0
		}
		dst[j] = d
		near = near || d < fraction*t
	}
	return near
}

func firstBelow(x, limits []float64, limit float64) int {
	limits = limits[:len(x)]
	for i, v := range x {
		if v <= limit || v <= limits[i] {
			return i
		}
	}
	return len(x)
}

func gaussian(rows, cols int, dst []float64, dstStride int, dot []float64, dotStride int, xx, yy []float64,
	scale, fraction float64) bool {
	near := false
	for r := range rows {
		row := dst[r*dstStride:][:cols]
		near = squaredDistances(row, dot[r*dotStride:][:cols], xx[r], yy, fraction) || near
		for i, d := range row {
			row[i] = exponential(scale * d)
		}
	}
	return near
}

func stream(rows, cols int, dst []float64, stride int, src []float64, srcStride int) {
	for r := range rows {
		copy(dst[r*stride:][:cols], src[r*srcStride:][:cols])
	}
}

// streamTransposed processes the rows of eight columns at a time: one line of each row of src feeds
// eight rows of dst.
func streamTransposed(dst []float64, stride int, src []float64, srcStride, rows, cols int) {
	for c0 := 0; c0 < cols; c0 += 8 {
		for r := range rows {
			for c, v := range src[r*srcStride+c0:][:min(8, cols-c0)] {
				dst[(c0+c)*stride+r] = v
			}
		}
	}
}

func sweep(n int, a []float64, stride int, x, y []float64, alpha, dots *[4]float64) {
	for r := range 4 {
		row := a[r*stride:][:n]
		dots[r] = dot(row, x)
		axpy(alpha[r], row, y)
	}
}

func sparseRows(start []int, index []int32, weight, x []float64, stride, cols int, dst []float64,
	dstStride int) {
	for r := range len(start) - 1 {
		row := dst[r*dstStride:][:cols]
		clear(row)
		for k := start[r]; k < start[r+1]; k++ {
			axpy(weight[k], x[int(index[k])*stride:][:cols], row)
		}
	}
}

func sparseRecur(start []int, index []int32, weight, x []float64, stride, cols int, alpha, beta float64,
	own []float64, gamma float64, dst []float64, dstStride int) {
	for r := range len(start) - 1 {
		row, mine := dst[r*dstStride:][:cols], own[r*stride:][:cols]
		for c := range row {
			t := 0.0
			for k := start[r]; k < start[r+1]; k++ {
				t += float64(weight[k] * x[int(index[k])*stride+c])
			}
			row[c] = float64(alpha*t) + float64(beta*mine[c]) + float64(gamma*row[c])
		}
	}
}

func narrow(dst []float32, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = float32(v)
	}
}

// choleskyOnes goes through the lanes one by one.
func choleskyOnes(lanes, k int, g, w []float64) {
	for l := range lanes {
		for i := range k {
			row := g[i*k*lanes+l:]
			y, d := 1.0, row[i*lanes]
			for j := range i {
				other := g[j*k*lanes+l:]
				s := row[j*lanes]
				for p := range j {
					s -= float64(row[p*lanes] * other[p*lanes])
				}
				s *= other[j*lanes]
				row[j*lanes] = s
				d -= float64(s * s)
				y -= float64(s * w[j*lanes+l])
			}
			d = 1 / math.Sqrt(d)
			row[i*lanes] = d
			w[i*lanes+l] = y * d
		}
		for i := k - 1; i >= 0; i-- {
			y := w[i*lanes+l]
			for p := i + 1; p < k; p++ {
				y -= float64(g[(p*k+i)*lanes+l] * w[p*lanes+l])
			}
			w[i*lanes+l] = y * g[(i*k+i)*lanes+l]
		}
	}
}

func tileTo2x4(k int, alpha, beta float64, a, b, c []float64, stride int) {
	var t [8]float64
	tile2x4(k, a, b, t[:])
	placeTile(t[:], 2, 4, alpha, beta, c, stride)
}

// placeTile writes alpha t + beta c over c.
func placeTile(t []float64, mr, nr int, alpha, beta float64, c []float64, stride int) {
	for i := range mr {
		row := c[i*stride:][:nr]
		for j, v := range t[i*nr:][:nr] {
			v *= alpha
			if beta != 0 {
				v += float64(beta * row[j])
			}
			row[j] = v
		}
	}
}

// interleave is Interleave for depths [l0, l1) and lanes from i0 on; lanes from rows on are
// filled with zeros.
func interleave(dst []float64, width, l0, l1 int, src []float64, stride, i0, rows int) {
	if l0 >= l1 {
		return
	}
	for i := i0; i < rows; i++ {
		to := dst[l0*width+i:]
		for l, v := range src[i*stride+l0 : i*stride+l1] {
			to[l*width] = v
		}
	}
	if rows < width {
		for l := l0; l < l1; l++ {
			clear(dst[l*width+rows:][:width-rows])
		}
	}
}

// peak has eight sums, as many as the tile.
func peak(n int) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	x := 0.0
	for range n {
		s0 += float64(x * x)
		s1 += float64(x * x)
		s2 += float64(x * x)
		s3 += float64(x * x)
		s4 += float64(x * x)
		s5 += float64(x * x)
		s6 += float64(x * x)
		s7 += float64(x * x)
		x = s0
	}
	if s0+s1+s2+s3+s4+s5+s6+s7 != 0 {
		panic("asm: sums of zeros")
	}
	return 16 * float64(n)
}
