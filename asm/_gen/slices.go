package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reductions are the kernels that return one number: four sums of vectors, then
// (s0+s1)+(s2+s3), then halves of the vector onto each other.
func (v vector) reductions() {
	v.reduction("dot", []string{"x", "y"}, func(p []reg.GPVirtual, u int, sum reg.VecVirtual) {
		x := v.new()
		VMOVUPD(v.at(p[0], u), x)
		VFMADD231PD(v.at(p[1], u), x, sum)
	})
	v.reduction("sum", []string{"x"}, func(p []reg.GPVirtual, u int, sum reg.VecVirtual) {
		VADDPD(v.at(p[0], u), sum, sum)
	})
	v.reduction("squaredDistance", []string{"x", "y"}, func(p []reg.GPVirtual, u int, sum reg.VecVirtual) {
		x := v.new()
		VMOVUPD(v.at(p[0], u), x)
		VSUBPD(v.at(p[1], u), x, x)
		VFMADD231PD(x, x, sum)
	})
}

func (v vector) reduction(name string, names []string,
	term func(p []reg.GPVirtual, u int, sum reg.VecVirtual)) {
	signature := "(n int, "
	for i, s := range names {
		if i > 0 {
			signature += ", "
		}
		signature += s
	}
	v.text(name, signature+" *float64) float64", name+" reduces n elements, a multiple of the lanes.")
	n, p := length(), pointers(names...)
	sums := []reg.VecVirtual{v.zero(), v.zero(), v.zero(), v.zero()}
	v.loop(name, n, p, true, func(u int) { term(p, u, sums[u]) })
	VADDPD(sums[1], sums[0], sums[0])
	VADDPD(sums[3], sums[2], sums[2])
	VADDPD(sums[2], sums[0], sums[0])
	Store(v.across(sums[0]), ReturnIndex(0))
	done()
}

// across adds up the lanes of a vector.
func (v vector) across(s reg.VecVirtual) reg.Register {
	y := YMM()
	if v.lanes == 8 {
		half := YMM()
		VEXTRACTF64X4(U8(1), s, half)
		VADDPD(s.AsY(), half, y)
	} else {
		y = s
	}
	x, high := XMM(), XMM()
	VEXTRACTF128(U8(1), y, high)
	VADDPD(y.AsX(), high, x)
	VPERMILPD(U8(1), x, high)
	VADDSD(high, x, x)
	return x
}

// elementwise are the kernels whose elements are independent.
func (v vector) elementwise() {
	v.map1("axpy", "(n int, alpha float64, x, y *float64)", "axpy adds alpha x to y.", []string{"x", "y"},
		[]string{"alpha"},
		func(p []reg.GPVirtual, c []reg.VecVirtual, u int) {
			y := v.new()
			VMOVUPD(v.at(p[1], u), y)
			VFMADD231PD(v.at(p[0], u), c[0], y)
			VMOVUPD(y, v.at(p[1], u))
		})
	v.map1("scale", "(n int, alpha float64, x *float64)", "scale multiplies x by alpha.", []string{"x"},
		[]string{"alpha"},
		func(p []reg.GPVirtual, c []reg.VecVirtual, u int) {
			x := v.new()
			VMULPD(v.at(p[0], u), c[0], x)
			VMOVUPD(x, v.at(p[0], u))
		})
	v.map1("sqrt", "(n int, dst, x *float64)", "sqrt writes the square roots of x.", []string{"dst", "x"},
		nil,
		func(p []reg.GPVirtual, _ []reg.VecVirtual, u int) {
			x := v.new()
			VSQRTPD(v.at(p[1], u), x)
			VMOVUPD(x, v.at(p[0], u))
		})
	v.squaredDistances()
	v.firstBelow()
	v.stream()
	v.streamTransposed()
	v.narrow()
	v.power()
}

// power squares x and multiplies it into the product where the degree has a bit, the lowest
// first, and once more at the end.
func (v vector) power() {
	const name = "power"
	v.text(name, "(n int, dst, x *float64, degree int)",
		"power writes x to the power of degree >= 1. n is a multiple of the lanes.")
	n, p := length(), pointers("dst", "x")
	degree := Load(Param("degree"), GP64())
	one := v.constant("powerOne", 1)
	v.loop(name, n, p, false, func(u int) {
		x, product, d := v.new(), v.new(), GP64()
		VMOVUPD(v.at(p[1], u), x)
		VMOVAPD(one, product)
		MOVQ(degree, d)
		Label("bit")
		CMPQ(d, U8(1))
		JLE(LabelRef("last"))
		BTQ(U8(0), d)
		JCC(LabelRef("square"))
		VMULPD(x, product, product)
		Label("square")
		VMULPD(x, x, x)
		SHRQ(U8(1), d)
		JMP(LabelRef("bit"))
		Label("last")
		VMULPD(x, product, product)
		VMOVUPD(product, v.at(p[0], u))
	})
	done()
}

// map1 writes a kernel that goes over n elements of some slices with some constants.
func (v vector) map1(name, signature, doc string, slices, constants []string,
	body func(p []reg.GPVirtual, c []reg.VecVirtual, u int)) {
	v.text(name, signature, doc+" n is a multiple of the lanes.")
	n, p := length(), pointers(slices...)
	var c []reg.VecVirtual
	for _, s := range constants {
		c = append(c, v.param(s))
	}
	v.loop(name, n, p, true, func(u int) { body(p, c, u) })
	done()
}

func (v vector) squaredDistances() {
	const name = "squaredDistances"
	v.text(name, "(n int, dst, dot *float64, xx float64, yy *float64, fraction float64) int",
		"squaredDistances writes max(0, xx + yy - 2 dot), NaN where that is NaN, and returns whether one "+
			"of them is below fraction (xx + yy): the lanes where, as bits. n is a multiple of the lanes.")
	n, p := length(), pointers("dst", "dot", "yy")
	xx, fraction, zero, near := v.param("xx"), v.param("fraction"), v.zero(), v.zero()
	v.loop(name, n, p, true, func(u int) {
		d, t := v.new(), v.new()
		VMOVUPD(v.at(p[1], u), d)
		VADDPD(d, d, d)
		VADDPD(v.at(p[2], u), xx, t)
		VSUBPD(d, t, d)
		VMAXPD(d, zero, d) // a NaN in d stays
		VMOVUPD(d, v.at(p[0], u))
		VMULPD(fraction, t, t)
		VSUBPD(t, d, d) // negative exactly where d < fraction t
		v.or(d, near)
	})
	Store(v.signs(near), ReturnIndex(0))
	done()
}

// or adds the bits of x to those of to.
func (v vector) or(x, to reg.VecVirtual) {
	if v.lanes == 8 {
		VPORQ(x, to, to)
	} else {
		VORPD(x, to, to)
	}
}

// signs returns the sign bits of the lanes.
func (v vector) signs(x reg.VecVirtual) reg.GPVirtual {
	bits := GP64()
	if v.lanes == 8 {
		k := K()
		VPMOVQ2M(x, k)
		KMOVB(k, bits.As32())
	} else {
		VMOVMSKPD(x, bits.As32())
	}
	return bits
}

// firstBelow looks at one vector at a time and stops at the first that has such an element.
func (v vector) firstBelow() {
	v.text("firstBelow", "(n int, x, limits *float64, limit float64) int",
		"firstBelow returns the first i with x[i] <= max(limit, limits[i]), or n, a multiple of the lanes.")
	n, p := length(), pointers("x", "limits")
	limit, at := v.param("limit"), GP64()
	XORQ(at, at)
	Label("vector")
	CMPQ(at, n)
	JGE(LabelRef("end"))
	x, bound, bits := v.new(), v.new(), GP64()
	VMOVUPD(v.at(p[0], 0), x)
	VMAXPD(v.at(p[1], 0), limit, bound)
	const lessOrEqual = 18 // false for NaN, silent
	if v.lanes == 8 {
		k := K()
		VCMPPD(U8(lessOrEqual), bound, x, k)
		KMOVB(k, bits.As32())
	} else {
		VCMPPD(U8(lessOrEqual), bound, x, x)
		VMOVMSKPD(x, bits.As32())
	}
	TESTL(bits.As32(), bits.As32())
	JNZ(LabelRef("found"))
	for _, r := range p {
		ADDQ(U32(v.bytes()), r)
	}
	ADDQ(U8(v.lanes), at)
	JMP(LabelRef("vector"))
	Label("found")
	TZCNTL(bits.As32(), bits.As32())
	ADDQ(bits, at)
	Label("end")
	Store(at, ReturnIndex(0))
	done()
}

// stream copies past the caches. A fence has to follow before others may read.
func (v vector) stream() {
	v.text("stream", "(rows, n int, dst *float64, stride int, src *float64, srcStride int)",
		"stream copies rows >= 1 rows with stores that bypass the caches; those of dst are aligned to "+
			"whole vectors. Strides in elements; n is a multiple of the lanes. A fence must follow.")
	rows := Load(Param("rows"), GP64())
	stride, srcStride := Load(Param("stride"), GP64()), Load(Param("srcStride"), GP64())
	SHLQ(U8(3), stride)
	SHLQ(U8(3), srcStride)
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	Label("streamrow")
	p := []reg.GPVirtual{GP64(), GP64()}
	MOVQ(dst, p[0])
	MOVQ(src, p[1])
	n := length()
	v.loop("stream", n, p, true, func(u int) {
		x := v.new()
		VMOVUPD(v.at(p[1], u), x)
		VMOVNTPD(x, v.at(p[0], u))
	})
	ADDQ(stride, dst)
	ADDQ(srcStride, src)
	DECQ(rows)
	JNZ(LabelRef("streamrow"))
	done()
	v.text("fence", "()", "fence makes all streamed stores visible before later ones.")
	SFENCE()
	RET()
}

// streamTransposed turns eight rows at a time, so that every line of the target is written at
// once, and goes down the rows, so that the lines that follow each other are.
func (v vector) streamTransposed() {
	const name = "streamTransposed"
	v.text(name, "(n int, dst *float64, stride int, src *float64, srcStride int)",
		"streamTransposed writes dst[l*stride+i] = src[i*srcStride+l] for l below the lanes, i < n, with "+
			"stores that bypass the caches; dst is aligned to lines of 8 elements, stride and n are "+
			"multiples of 8. A "+
			"fence must follow.")
	n, p := length(), pointers("dst", "src")
	dst, from := p[0], p[1]
	stride, srcStride := Load(Param("stride"), GP64()), Load(Param("srcStride"), GP64())
	SHLQ(U8(3), stride)
	SHLQ(U8(3), srcStride)
	Label(name + "rows")
	CMPQ(n, U8(8))
	JL(LabelRef(name + "end"))
	var parts [][]reg.VecVirtual // of eight rows, in vectors
	for range 8 / v.lanes {
		var rows []reg.VecVirtual
		for range v.lanes {
			r := v.new()
			VMOVUPD(Mem{Base: from}, r)
			ADDQ(srcStride, from)
			rows = append(rows, r)
		}
		parts = append(parts, v.turn(rows))
	}
	to := GP64()
	MOVQ(dst, to)
	for l := range v.lanes {
		for i, part := range parts {
			VMOVNTPD(part[l], v.at(to, i))
		}
		ADDQ(stride, to)
	}
	ADDQ(U8(64), dst)
	SUBQ(U8(8), n)
	JMP(LabelRef(name + "rows"))
	Label(name + "end")
	done()
}

// narrow rounds to float32.
func (v vector) narrow() {
	v.text("narrow", "(n int, dst *float32, src *float64)",
		"narrow rounds src to single precision. n is a multiple of the lanes.")
	n, p := length(), pointers("dst", "src")
	v.loop("narrow", n, p[1:], false, func(u int) {
		x := v.new()
		VMOVUPD(v.at(p[1], u), x)
		if v.lanes == 8 {
			y := YMM()
			VCVTPD2PS(x, y)
			VMOVUPS(y, Mem{Base: p[0]})
		} else {
			y := XMM()
			VCVTPD2PSY(x, y)
			VMOVUPS(y, Mem{Base: p[0]})
		}
		ADDQ(U8(v.bytes()/2), p[0])
	})
	done()
}
