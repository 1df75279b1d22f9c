package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is the number of steps over k in one turn of the tile's loop.
const unroll = 4

// aheadA and aheadB are how far ahead the panels of A and B are fetched, in bytes. The next panel
// of B follows the end of one.
const (
	aheadA = 1024
	aheadB = 4096
)

// tile multiplies packed panels into a tile of C: the sums stay in registers while B comes in
// vectors and A in broadcasts.
func (v vector) tile() {
	v.text("tile", "(k int, a, b, c *float64, stride int, alpha, beta float64)",
		"tile computes a whole tile of alpha A B + beta C; stride in elements. beta == 0: C is not read.")
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	a, b, c := Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("c"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(U8(3), stride)
	sums := make([][]reg.VecVirtual, v.mr)
	for i := range sums {
		for range v.nv {
			sums[i] = append(sums[i], v.zero())
		}
	}
	var bs []reg.VecVirtual
	for range v.nv {
		bs = append(bs, v.new())
	}
	var as []reg.VecVirtual
	for range max(1, 4*(v.lanes/8)) {
		as = append(as, v.new())
	}
	// The tile of C, needed at the end.
	at := GP64()
	MOVQ(c, at)
	for range v.mr {
		for j := 0; j < v.nv*v.bytes(); j += 64 {
			PREFETCHT0(Mem{Base: at, Disp: j})
		}
		ADDQ(stride, at)
	}
	step := func(u int) {
		for j, r := range bs {
			VMOVUPD(Mem{Base: b, Disp: (u*v.nv + j) * v.bytes()}, r)
			if (u*v.nv+j)*v.bytes()%64 == 0 {
				PREFETCHT0(Mem{Base: b, Disp: (u*v.nv+j)*v.bytes() + aheadB})
			}
		}
		// The panel of A ahead: it comes from the second-level cache.
		if u*v.mr*8%64 == 0 {
			PREFETCHT0(Mem{Base: a, Disp: 8*u*v.mr + aheadA})
		}
		for i := range v.mr {
			x := as[i%len(as)]
			VBROADCASTSD(Mem{Base: a, Disp: 8 * (u*v.mr + i)}, x)
			for j, r := range bs {
				VFMADD231PD(x, r, sums[i][j])
			}
		}
	}
	advance := func(steps int) {
		ADDQ(U32(8*steps*v.mr), a)
		ADDQ(U32(steps*v.nv*v.bytes()), b)
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
	v.store(sums, c, stride, bs[0], done)
}

// store scales the sums and adds them to C, which advances behind them, and then ends.
func (v vector) store(sums [][]reg.VecVirtual, c, stride reg.Register, scale reg.VecVirtual, end func()) {
	alpha, err := Param("alpha").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSD(alpha.Addr, scale)
	for _, row := range sums {
		for _, r := range row {
			VMULPD(scale, r, r)
		}
	}
	// Is beta zero, of either sign?
	beta, err := Param("beta").Resolve()
	if err != nil {
		panic(err)
	}
	bits := GP64()
	MOVQ(beta.Addr, bits)
	SHLQ(U8(1), bits)
	JZ(LabelRef("overwrite"))
	VBROADCASTSD(beta.Addr, scale)
	for _, row := range sums {
		for j, r := range row {
			VFMADD231PD(Mem{Base: c, Disp: j * v.bytes()}, scale, r)
			VMOVUPD(r, Mem{Base: c, Disp: j * v.bytes()})
		}
		ADDQ(stride, c)
	}
	end()
	Label("overwrite")
	for _, row := range sums {
		for j, r := range row {
			VMOVUPD(r, Mem{Base: c, Disp: j * v.bytes()})
		}
		ADDQ(stride, c)
	}
	end()
}

// peak keeps the multipliers busy with nothing in their way: independent sums in registers.
func (v vector) peak() {
	v.text("peak", "(n int)", "peak does n rounds of mr x nv independent fused multiply-adds on registers.")
	n := length()
	var sums []reg.VecVirtual
	for range v.mr * v.nv {
		sums = append(sums, v.zero())
	}
	x, y := v.zero(), v.zero()
	Label("round")
	for _, r := range sums {
		VFMADD231PD(x, y, r)
	}
	DECQ(n)
	JNZ(LabelRef("round"))
	done()
}

// transpose turns blocks of lanes x lanes elements.
func (v vector) transpose() {
	v.text("transpose", "(dst *float64, width int, src *float64, stride, n int)",
		"transpose writes dst[l*width+i] = src[i*stride+l] for i < lanes, l < n; n is a multiple of the "+
			"lanes.")
	p := pointers("dst", "src")
	dst, src := p[0], p[1]
	width, stride := Load(Param("width"), GP64()), Load(Param("stride"), GP64())
	n := length()
	SHLQ(U8(3), width)
	SHLQ(U8(3), stride)
	Label("block")
	CMPQ(n, U32(v.lanes))
	JL(LabelRef("end"))
	from := GP64()
	MOVQ(src, from)
	var rows []reg.VecVirtual
	for range v.lanes {
		r := v.new()
		VMOVUPD(Mem{Base: from}, r)
		ADDQ(stride, from)
		rows = append(rows, r)
	}
	for _, r := range v.turn(rows) {
		VMOVUPD(r, Mem{Base: dst})
		ADDQ(width, dst)
	}
	ADDQ(U32(v.bytes()), src)
	SUBQ(U32(v.lanes), n)
	JMP(LabelRef("block"))
	Label("end")
	done()
}

// turn transposes a square of registers: pairs of lanes, then pairs of pairs.
func (v vector) turn(rows []reg.VecVirtual) []reg.VecVirtual {
	pairs := make([]reg.VecVirtual, v.lanes)
	for i := 0; i < v.lanes; i += 2 { // of rows i and i+1: even columns, odd columns
		pairs[i], pairs[i+1] = v.new(), v.new()
		VUNPCKLPD(rows[i+1], rows[i], pairs[i])
		VUNPCKHPD(rows[i+1], rows[i], pairs[i+1])
	}
	out := make([]reg.VecVirtual, v.lanes)
	if v.lanes == 4 {
		for i := range 2 { // halves of pairs i (rows 0, 1) and i+2 (rows 2, 3)
			out[i], out[i+2] = v.new(), v.new()
			VPERM2F128(U8(0x20), pairs[i+2], pairs[i], out[i])
			VPERM2F128(U8(0x31), pairs[i+2], pairs[i], out[i+2])
		}
		return out
	}
	for odd := range 2 {
		// Quarters of column pairs: rows 0-3, then rows 4-7.
		var quads [2][2]reg.VecVirtual // [rows][columns 0,4 | 2,6] (+odd)
		for h := range 2 {
			lo, hi := pairs[4*h+odd], pairs[4*h+2+odd]
			quads[h][0], quads[h][1] = v.new(), v.new()
			VSHUFF64X2(U8(0x88), hi, lo, quads[h][0]) // columns 0 and 4
			VSHUFF64X2(U8(0xdd), hi, lo, quads[h][1]) // columns 2 and 6
		}
		for c := range 2 {
			// quads[h][c] holds (rows a) col c0, col c0+4, (rows b) col c0, col c0+4.
			first, last := v.new(), v.new()
			VSHUFF64X2(U8(0x88), quads[1][c], quads[0][c], first)
			VSHUFF64X2(U8(0xdd), quads[1][c], quads[0][c], last)
			out[2*c+odd], out[2*c+odd+4] = first, last
		}
	}
	return out
}
