package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// single writes the kernels in single precision, whose vectors have twice the lanes.
func (v vector) single() {
	v.singleTile()
	v.singleDistances()
	v.singleExp()
	v.singleSqrt()
	v.singleStreamTransposed()
}

// singles is the number of float32 in a vector.
func (v vector) singles() int { return 2 * v.lanes }

// constant32 is a vector with one value in all lanes.
func (v vector) constant32(name string, value float32) reg.VecVirtual {
	r := v.new()
	VBROADCASTSS(ConstData(name+v.suffix, U32(math.Float32bits(value))), r)
	return r
}

// integer32 is the same for whole numbers.
func (v vector) integer32(name string, value int32) reg.VecVirtual {
	r := v.new()
	VBROADCASTSS(ConstData(name+v.suffix, U32(uint32(value))), r)
	return r
}

// param32 is a float32 parameter in all lanes.
func (v vector) param32(name string) reg.VecVirtual {
	r := v.new()
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(p.Addr, r)
	return r
}

// singleTile multiplies packed panels, as tile does, and overwrites C.
func (v vector) singleTile() {
	v.text("singleTile", "(k int, a, b, c *float32, stride int)",
		"singleTile computes a whole tile of A B; stride in elements.")
	mr, nv := v.singleShape()
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	a, b, c := Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("c"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(U8(2), stride)
	sums := make([][]reg.VecVirtual, mr)
	for i := range sums {
		for range nv {
			sums[i] = append(sums[i], v.zero())
		}
	}
	var bs, as []reg.VecVirtual
	for range nv {
		bs = append(bs, v.new())
	}
	for range max(1, 4*(v.lanes/8)) {
		as = append(as, v.new())
	}
	step := func(u int) {
		for j, r := range bs {
			VMOVUPS(Mem{Base: b, Disp: (u*nv + j) * v.bytes()}, r)
		}
		if 64*u < 4*unroll*mr { // the lines of a turn, as in tile
			PREFETCHT0(Mem{Base: a, Disp: 64*u + aheadA})
		}
		for i := range mr {
			x := as[i%len(as)]
			VBROADCASTSS(Mem{Base: a, Disp: 4 * (u*mr + i)}, x)
			for j, r := range bs {
				VFMADD231PS(x, r, sums[i][j])
			}
		}
	}
	advance := func(steps int) {
		ADDQ(U32(4*steps*mr), a)
		ADDQ(U32(steps*nv*v.bytes()), b)
	}
	turns := GP64()
	MOVQ(k, turns)
	SHRQ(U8(2), turns)
	JZ(LabelRef("few"))
	Label("turn")
	for u := range unroll {
		step(u)
	}
	advance(unroll)
	DECQ(turns)
	JNZ(LabelRef("turn"))
	Label("few")
	ANDQ(U8(unroll-1), k)
	JZ(LabelRef("store"))
	Label("step")
	step(0)
	advance(1)
	DECQ(k)
	JNZ(LabelRef("step"))
	Label("store")
	for _, row := range sums {
		for j, r := range row {
			VMOVUPS(r, Mem{Base: c, Disp: j * v.bytes()})
		}
		ADDQ(stride, c)
	}
	done()
}

// singleShape is the shape of the tile. The wider one of 512 bits leaves fewer of the columns that
// pad a matrix, and fetches fewer lines of B.
func (v vector) singleShape() (mr, nv int) {
	if v.lanes == 8 {
		return 12, 2
	}
	return v.mr, v.nv
}

// singleLoop is loop for n float32, a multiple of the lanes of single precision.
func (v vector) singleLoop(name string, n reg.GPVirtual, pointers []reg.GPVirtual, body func(u int)) {
	SHRQ(U8(1), n) // in units of float64, of which as many lanes hold half
	v.loop(name, n, pointers, true, body)
}

// singleDistances is squaredDistances; 2 dot is exact, so that fusing it changes nothing.
func (v vector) singleDistances() {
	const name = "singleDistances"
	v.text(name, "(n int, dst, dot *float32, xx float32, yy *float32, fraction float32) int",
		name+" writes max(0, xx + yy - 2 dot), NaN where that is NaN, and returns whether one of them is "+
			"below fraction (xx + yy): not 0 then. n is a multiple of the lanes.")
	n, p := length(), pointers("dst", "dot", "yy")
	xx, fraction, zero, near := v.param32("xx"), v.param32("fraction"), v.zero(), v.zero()
	v.singleLoop(name, n, p, func(u int) {
		d, t := v.new(), v.new()
		VMOVUPS(v.at(p[1], u), d)
		VADDPS(d, d, d)
		VADDPS(v.at(p[2], u), xx, t)
		VSUBPS(d, t, d)
		VMAXPS(d, zero, d) // a NaN in d stays
		VMOVUPS(d, v.at(p[0], u))
		VMULPS(fraction, t, t)
		VSUBPS(t, d, d) // negative exactly where d < fraction t
		v.or(d, near)
	})
	bits := GP64()
	if v.lanes == 8 {
		k := K()
		VPMOVD2M(near, k)
		KMOVW(k, bits.As32())
	} else {
		VMOVMSKPS(near, bits.As32())
	}
	Store(bits, ReturnIndex(0))
	done()
}

// singleExp is exp(scale x): x scale = n log 2 + r, |r| <= (log 2)/2, and the Taylor polynomial of
// degree 7, whose error is 5e-9. n is added to the exponent by integer arithmetic, where n = -127
// gives 0 and 128 infinity; x scale is first limited to about this range.
func (v vector) singleExp() {
	const name = "singleExp"
	v.text(name, "(n int, dst, x *float32, scale float32)",
		name+" writes exp(scale x): 0 below -87.69, where numbers are no longer normal, +Inf above 88.37; "+
			"NaN stays. n is a multiple of the lanes.")
	n, p := length(), pointers("dst", "x")
	scale := v.param32("scale")
	toBinary := v.constant32("singleToBinary", float32(math.Log2E))
	high, low := v.constant32("singleHigh", singleLog2High), v.constant32("singleLow", singleLog2Low)
	least, most := v.constant32("singleLeast", -88), v.constant32("singleMost", 89)
	bias := v.integer32("singleBias", 127)
	var terms []func() reg.VecVirtual // 1/7!, ..., 1/0!, in registers where there are enough
	for k := 7; k >= 0; k-- {
		data := ConstData("singleTerm"+string(rune('0'+k))+v.suffix,
			U32(math.Float32bits(float32(1/factorial(k)))))
		load := func() reg.VecVirtual {
			r := v.new()
			VBROADCASTSS(data, r)
			return r
		}
		if v.lanes == 8 {
			r := load()
			load = func() reg.VecVirtual { return r }
		}
		terms = append(terms, load)
	}
	v.singleLoop(name, n, p, func(u int) {
		x, whole, sum := v.new(), v.new(), v.new()
		VMULPS(v.at(p[1], u), scale, x)
		VMAXPS(x, least, x) // a NaN stays
		VMINPS(x, most, x)
		VMULPS(toBinary, x, whole)
		const nearest = 0
		if v.lanes == 8 {
			VRNDSCALEPS(U8(nearest), whole, whole)
		} else {
			VROUNDPS(U8(nearest), whole, whole)
		}
		VFNMADD231PS(high, whole, x)
		VFNMADD231PS(low, whole, x)
		VMOVAPS(terms[0](), sum)
		for _, t := range terms[1:] {
			VFMADD213PS(t(), x, sum)
		}
		VCVTPS2DQ(whole, whole)
		VPADDD(bias, whole, whole)
		VPSLLD(U8(23), whole, whole)
		VMULPS(whole, sum, sum)
		VMOVUPS(sum, v.at(p[0], u))
	})
	done()
}

// Log 2 in two parts: the first has 9 bits, so that its multiples up to 128 are exact.
const (
	singleLog2High = 355.0 / 512
	singleLog2Low  = -2.12194440054690583e-4
)

func factorial(k int) float64 {
	f := 1.0
	for i := 2; i <= k; i++ {
		f *= float64(i)
	}
	return f
}

func (v vector) singleSqrt() {
	const name = "singleSqrt"
	v.text(name, "(n int, dst, x *float32)",
		name+" writes the square roots of x. n is a multiple of the lanes.")
	n, p := length(), pointers("dst", "x")
	v.singleLoop(name, n, p, func(u int) {
		x := v.new()
		VSQRTPS(v.at(p[1], u), x)
		VMOVUPS(x, v.at(p[0], u))
	})
	done()
}

// singleStreamTransposed transposes 16 rows of 8 columns at a time, two squares of eight, so that
// lines of the target are written whole: at once if a register holds a line, otherwise the second
// half directly after the first.
func (v vector) singleStreamTransposed() {
	const name = "singleStreamTransposed"
	v.text(name, "(n int, dst *float32, stride int, src *float32, srcStride int)",
		name+" writes dst[l*stride+i] = src[i*srcStride+l] for l < 8, i < n, with stores that bypass the "+
			"caches; dst is aligned to lines of 16 elements, stride and n are multiples of 16. A fence "+
			"must follow.")
	n, p := length(), pointers("dst", "src")
	dst, from := p[0], p[1]
	stride, srcStride := Load(Param("stride"), GP64()), Load(Param("srcStride"), GP64())
	SHLQ(U8(2), stride)
	SHLQ(U8(2), srcStride)
	square := func() []reg.VecVirtual {
		var rows []reg.VecVirtual
		for range 8 {
			r := YMM()
			VMOVUPS(Mem{Base: from}, r)
			ADDQ(srcStride, from)
			rows = append(rows, r)
		}
		return v.turn8(rows)
	}
	var kept Mem
	if v.lanes == 4 {
		kept = AllocLocal(8 * 32)
	}
	Label(name + "rows")
	CMPQ(n, U8(16))
	JL(LabelRef(name + "end"))
	first := square()
	if v.lanes == 4 {
		for c, r := range first {
			VMOVUPS(r, kept.Offset(32*c))
		}
	}
	second := square()
	to := GP64()
	MOVQ(dst, to)
	for c := range 8 {
		if v.lanes == 8 {
			whole := ZMM()
			VINSERTF64X4(U8(1), second[c], first[c].AsZ(), whole)
			VMOVNTPS(whole, Mem{Base: to})
		} else {
			half := YMM()
			VMOVUPS(kept.Offset(32*c), half)
			VMOVNTPS(half, Mem{Base: to})
			VMOVNTPS(second[c], Mem{Base: to, Disp: 32})
		}
		ADDQ(stride, to)
	}
	ADDQ(U8(64), dst)
	SUBQ(U8(16), n)
	JMP(LabelRef(name + "rows"))
	Label(name + "end")
	done()
}

// turn8 transposes a square of eight vectors of eight: pairs of lanes, pairs of pairs, halves.
func (v vector) turn8(rows []reg.VecVirtual) []reg.VecVirtual {
	var quads [2][4]reg.VecVirtual // of rows 0-3 and 4-7: columns c and c+4 in the halves
	for h := range 2 {
		r := rows[4*h:]
		low01, high01, low23, high23 := YMM(), YMM(), YMM(), YMM()
		VUNPCKLPS(r[1], r[0], low01)
		VUNPCKHPS(r[1], r[0], high01)
		VUNPCKLPS(r[3], r[2], low23)
		VUNPCKHPS(r[3], r[2], high23)
		for c := range quads[h] {
			quads[h][c] = YMM()
		}
		VSHUFPS(U8(0x44), low23, low01, quads[h][0])
		VSHUFPS(U8(0xee), low23, low01, quads[h][1])
		VSHUFPS(U8(0x44), high23, high01, quads[h][2])
		VSHUFPS(U8(0xee), high23, high01, quads[h][3])
	}
	out := make([]reg.VecVirtual, 8)
	for c := range 4 {
		out[c], out[c+4] = YMM(), YMM()
		if v.lanes == 8 { // the older instruction knows 16 registers only
			VSHUFF32X4(U8(0), quads[1][c], quads[0][c], out[c])
			VSHUFF32X4(U8(3), quads[1][c], quads[0][c], out[c+4])
			continue
		}
		VPERM2F128(U8(0x20), quads[1][c], quads[0][c], out[c])
		VPERM2F128(U8(0x31), quads[1][c], quads[0][c], out[c+4])
	}
	return out
}
