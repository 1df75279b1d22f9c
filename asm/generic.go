package asm

import "math"

// The generic kernels. Every product is written float64(x*y) before it is added: the
// conversion forbids the compiler to fuse the two (the language allows it, and arm64 and
// GOAMD64=v3 do it), so the generic table gives the same bits on every architecture.
// Exp is the exception, as math.Exp has assembly of its own on some.

// generic returns a fresh table of the portable kernels.
func generic() *Table {
	return &Table{
		Level:           Generic,
		Dot:             dot,
		Sum:             sum,
		SquaredDistance: squaredDistance,
		Axpy:            axpy,
		Scale:           scale,
		Exp:             exp,
		Tile:            tile2x4,
		MR:              2,
		NR:              4,
		KC:              256,
	}
}

func dot(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 { // the second test spares the bounds checks
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
		dst[i] = math.Exp(v)
	}
}

// tile2x4 keeps 8 sums, 4 elements of b and 1 of a in registers: what 16 scalar registers
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
