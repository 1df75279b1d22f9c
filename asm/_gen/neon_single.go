package main

import "math"

// single writes the kernels in single precision: registers of four float32.
func (n *neon) single() {
	n.singleTile()
	n.singleDistances()
	n.singleExp()
	n.singleSqrt()
}

// tile multiplies packed panels, as tile does, and overwrites C.
func (n *neon) singleTile() {
	f := n.function("singleTile", "k int, a *float32, b *float32, c *float32, stride int", "",
		"singleTile computes a whole tile of A B; stride in elements. k >= 1.")
	k, a, b, c, stride := f.parameter("k"), f.parameter("a"), f.parameter("b"), f.parameter("c"),
		f.parameter("stride")
	f.op("LSL $2, %v", stride)
	const lanes = 2 * lanesNEON
	sums := f.sums(vectorsNEON)
	bs, as := f.some(vectorsNEON), f.some(rowsNEON/lanes)
	f.label("step")
	for j, v := range bs {
		f.load(b, j, v)
	}
	for i, v := range as {
		f.load(a, i, v)
	}
	for i, row := range sums {
		for j, s := range row {
			f.singleMultiplyAddLane(s, bs[j], as[i/lanes], i%lanes)
		}
	}
	f.op("ADD $%d, %v", len(as)*bytesNEON, a)
	f.op("ADD $%d, %v", len(bs)*bytesNEON, b)
	f.op("SUB $1, %v", k)
	f.op("CBNZ %v, step", k)
	for _, row := range sums {
		for j, s := range row {
			f.store(s, c, j)
		}
		f.op("ADD %v, %v", stride, c)
	}
	f.ret()
}

func (n *neon) singleDistances() {
	f := n.function("singleDistances",
		"n int, dst *float32, dot *float32, xx float32, yy *float32, fraction float32", "int",
		"singleDistances writes max(0, xx + yy - 2 dot), NaN where that is NaN, and returns whether one of "+
			"them is below fraction (xx + yy): 0 if not. n is a multiple of the lanes.")
	left, p, xx, fraction, near := f.parameter("n"), f.pointers("dst", "dot", "yy"), f.singleEverywhere("xx"),
		f.singleEverywhere("fraction"), f.zeros(2)
	f.singleLoop(left, p, func(u int) {
		d, t := f.loaded(p[1], u), f.loaded(p[2], u)
		f.singleThree("FADD", d, d, d)
		f.singleThree("FADD", t, xx, t)
		f.singleThree("FSUB", d, t, d)
		f.singleThree("FMAX", d, d, near[0]) // a NaN stays
		f.singleThree("FMUL", t, t, fraction)
		f.singleThree("FCMGT", t, t, d)
		f.or(t, near[1])
		f.store(d, p[0], u)
	})
	f.returnBits(near[1])
	f.ret()
}

// singleExp has the operations of its namesake for AVX2.
func (n *neon) singleExp() {
	f := n.function("singleExp", "n int, dst *float32, x *float32, scale float32", "",
		"singleExp writes exp(scale x): 0 below -87.69, where numbers are no longer normal, +Inf above "+
			"88.37; NaN stays. n is a multiple of the lanes.")
	left, p, scale := f.parameter("n"), f.pointers("dst", "x"), f.singleEverywhere("scale")
	number := func(v float32) pair { return f.singleConstant(math.Float32bits(v)) }
	least, most, toBinary := number(-88), number(89), number(float32(math.Log2E))
	high, low, bias := number(singleLog2High), number(singleLog2Low), f.singleConstant(127)
	var terms []pair // 1/7!, ..., 1/0!
	for k := 7; k >= 0; k-- {
		terms = append(terms, number(float32(1/factorial(k))))
	}
	f.singleLoop(left, p, func(u int) {
		x, whole, sum, spare := f.loaded(p[1], u), f.vector(), f.vector(), f.vector()
		f.singleThree("FMUL", x, x, scale)
		f.singleThree("FMAX", x, x, least) // a NaN stays
		f.singleThree("FMIN", x, x, most)
		f.singleThree("FMUL", whole, x, toBinary)
		f.singleTwo("FRINTN", whole, whole)
		f.op("VFMLS %s, %s, %s", high.four(), whole.four(), x.four())
		f.op("VFMLS %s, %s, %s", low.four(), whole.four(), x.four())
		f.move(terms[0], sum)
		for _, t := range terms[1:] {
			f.move(t, spare)
			f.op("VFMLA %s, %s, %s", x.four(), sum.four(), spare.four())
			sum, spare = spare, sum
		}
		f.singleTwo("FCVTNS", whole, whole)
		f.op("VADD %s, %s, %[2]s", bias.four(), whole.four())
		f.op("VSHL $23, %s, %[1]s", whole.four())
		f.singleThree("FMUL", sum, sum, whole)
		f.store(sum, p[0], u)
	})
	f.ret()
}

func (n *neon) singleSqrt() {
	f := n.function("singleSqrt", "n int, dst *float32, x *float32", "",
		"singleSqrt writes the square roots of x. n is a multiple of the lanes.")
	left, p := f.parameter("n"), f.pointers("dst", "x")
	f.singleLoop(left, p, func(u int) {
		x := f.loaded(p[1], u)
		f.singleTwo("FSQRT", x, x)
		f.store(x, p[0], u)
	})
	f.ret()
}

// four is the register as four float32.
func (v pair) four() string { return v.bits()[:len(v.bits())-len("B16")] + "S4" }

// doubles is the bit that says that an instruction is on float64.
const doubles = 1 << 22

func (f *function) singleThree(name string, d, n, m pair) {
	f.word(threes[name]&^doubles|int(m)<<16|int(n)<<5|int(d), "%s V%d.4S, V%d.4S, V%d.4S", name, int(d),
		int(n), int(m))
}

func (f *function) singleTwo(name string, d, n pair) {
	f.word(twos[name]&^doubles|int(n)<<5|int(d), "%s V%d.4S, V%d.4S", name, int(d), int(n))
}

// singleMultiplyAddLane is d += n m[lane].
func (f *function) singleMultiplyAddLane(d, n, m pair, lane int) {
	f.word(0x4f801000|lane&1<<21|lane>>1<<11|int(m)<<16|int(n)<<5|int(d), "FMLA V%d.4S, V%d.4S, V%d.S[%d]",
		int(d), int(n), int(m), lane)
}

// singleEverywhere is a float32 parameter in all lanes, singleConstant a number.
func (f *function) singleEverywhere(name string) pair {
	v := f.vector()
	f.op("FMOVS %s+%d(FP), %s", name, f.offset(name), v.low())
	f.op("VDUP V%d.S[0], %s", int(v), v.four())
	return v
}

func (f *function) singleConstant(bits uint32) pair {
	v, r := f.vector(), f.free()
	f.general = r // free again
	f.op("MOVD $0x%08x, %v", bits, r)
	f.op("VDUP %v, %s", r, v.four())
	return v
}

// singleLoop is loop for n float32, a multiple of four.
func (f *function) singleLoop(n general, pointers []general, body func(u int)) {
	f.op("LSR $1, %v", n) // in units of float64
	f.loop(n, pointers, false, body)
}
