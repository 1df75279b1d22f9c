package main

import "math"

// bitsOne is 1.
const bitsOne = 0x3ff0000000000000

// exponentials are exp and gaussian: the operations on an element are those of AVX2.
func (n *neon) exponentials() {
	f := n.function("exp", "n int, dst *float64, x *float64", "",
		"exp writes e^x. n is a multiple of the lanes.")
	left, p, e := f.parameter("n"), f.pointers("dst", "x"), f.newExponential()
	f.loop(left, p, false, func(u int) {
		f.store(e.of(f.loaded(p[1], u)), p[0], u)
	})
	f.ret()
	n.gaussian()
}

// gaussian is squaredDistances, scaled, then exp: the same operations on each element.
func (n *neon) gaussian() {
	f := n.function("gaussian",
		"rows int, n int, dst *float64, dstStride int, dot *float64, dotStride int, xx *float64, yy "+
			"*float64, scale float64, fraction float64", "int",
		"gaussian writes e^(scale d), d = max(0, xx + yy - 2 dot), to rows >= 1 rows, and returns whether "+
			"a d is below fraction (xx + yy): 0 if not. Strides in elements; n is a multiple of the lanes.")
	rows, xs, dstStride, dotStride := f.parameter("rows"), f.parameter("xx"), f.stride("dstStride"),
		f.stride("dotStride")
	dstRow, dotRow := f.parameter("dst"), f.parameter("dot")
	left, dst, dot, yy := f.free(), f.free(), f.free(), f.free()
	e, scale, fraction, near, xx := f.newExponential(), f.everywhere("scale"), f.everywhere("fraction"),
		f.zeros(2), f.vector()
	f.label("row")
	f.op("FMOVD.P 8(%v), %s", xs, xx.low())
	f.op("VDUP V%d.D[0], %v", int(xx), xx)
	f.op("MOVD %v, %v", dstRow, dst)
	f.op("MOVD %v, %v", dotRow, dot)
	f.parameterTo("yy", yy)
	f.parameterTo("n", left)
	f.loop(left, []general{dst, dot, yy}, false, func(u int) {
		d := f.distances(dot, yy, u, xx, fraction, near[0], near[1])
		f.three("FMUL", d, d, scale)
		f.store(e.of(d), dst, u)
	})
	f.op("ADD %v, %v", dstStride, dstRow)
	f.op("ADD %v, %v", dotStride, dotRow)
	f.op("SUB $1, %v", rows)
	f.op("CBNZ %v, row", rows)
	f.returnBits(near[1])
	f.ret()
}

// exponentialNEON has the constants of e^x in registers.
type exponentialNEON struct {
	f                                    *function
	low, high, log2e, hi, lo, unit, bias pair
	q                                    []pair
}

func (f *function) newExponential() *exponentialNEON {
	number := func(v float64) pair { return f.constant(math.Float64bits(v)) }
	hi := math.Float64frombits(math.Float64bits(math.Ln2) &^ (1<<21 - 1)) // n times it is exact
	e := &exponentialNEON{
		f: f, low: number(-745.14), high: number(710), log2e: number(math.Log2E),
		hi: number(hi), lo: number(ln2Rest(hi)), unit: number(1), bias: f.constant(1023),
	}
	for _, c := range quotient(9) {
		e.q = append(e.q, number(c))
	}
	return e
}

// of returns e^x, and overwrites x, like its namesake for AVX2.
func (e *exponentialNEON) of(x pair) pair {
	f := e.f
	below, m, s, spare := f.vector(), f.vector(), f.vector(), f.vector()
	f.three("FCMGT", below, e.low, x) // false for NaN
	f.three("FMIN", x, x, e.high)
	f.without(x, x, below)
	f.three("FMUL", m, x, e.log2e)
	f.two("FRINTN", m, m)
	f.multiplySubtract(x, m, e.hi)
	f.multiplySubtract(x, m, e.lo)
	top := len(e.q) - 1
	f.move(e.q[top], s)
	for k := top - 1; k >= 0; k-- { // s = s r + q_k
		f.move(e.q[k], spare)
		f.multiplyAdd(spare, s, x)
		s, spare = spare, s
	}
	f.three("FMUL", s, s, x)
	f.move(x, spare)
	f.multiplyAdd(spare, s, x) // r + r (r q)
	f.three("FADD", s, spare, e.unit)
	// 2^m = 2^h 2^(m-h), h = m/2 rounded down: both are normal numbers.
	f.two("FCVTNS", m, m)
	f.halve(spare, m)
	f.op("VSUB %v, %v, %v", spare, m, m)
	for _, part := range []pair{spare, m} {
		f.op("VADD %v, %v, %v", e.bias, part, part)
		f.op("VSHL $52, %v, %v", part, part)
		f.three("FMUL", s, s, part)
	}
	f.without(s, s, below)
	return s
}
