package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// aheadDirect is how far ahead a transposed A is fetched, in bytes: eight tiles of eight rows.
const aheadDirect = 512

// direct is tile on matrices that are not packed, one function for each number of vectors in a row
// of the tile: the broadcasts read A, and the vectors B, in place.
func (v vector) direct() {
	for nv := 1; nv <= v.nv; nv++ {
		v.directOf(nv)
	}
}

func (v vector) directOf(nv int) {
	name := "direct" + strconv.Itoa(nv) + "x"
	v.text(name, "(rows, k int, a *float64, aRow, aCol int, b *float64, bRow int, c *float64, stride int, "+
		"alpha, beta float64)",
		name+" computes tiles, one below the other, of that many vectors a row of alpha A B + beta C; rows "+
			"is a positive multiple of the tile's, steps in elements, k >= 1. beta == 0: C is not read.")
	first, aRow, aCol := Load(Param("a"), GP64()), Load(Param("aRow"), GP64()), Load(Param("aCol"), GP64())
	bRow := Load(Param("bRow"), GP64())
	c, stride := Load(Param("c"), GP64()), Load(Param("stride"), GP64())
	for _, step := range []reg.Register{aRow, aCol, bRow, stride} {
		SHLQ(U8(3), step)
	}
	// Rows 0 to 3 are at a + i aRow, rows 4 to 7 at that of a later base.
	three := GP64()
	LEAQ(Mem{Base: aRow, Index: aRow, Scale: 2}, three)
	rows := Load(Param("rows"), GP64())
	Label("rows")
	a, b, k := GP64(), GP64(), GP64()
	MOVQ(first, a)
	Load(Param("b"), b)
	Load(Param("k"), k)
	bases := []reg.Register{a}
	if v.mr > 4 {
		later := GP64()
		LEAQ(Mem{Base: a, Index: aRow, Scale: 4}, later)
		LEAQ(Mem{Base: later, Index: aRow, Scale: 4}, first)
		bases = append(bases, later)
	} else {
		LEAQ(Mem{Base: a, Index: aRow, Scale: 4}, first)
	}
	row := func(i int) Mem {
		m := Mem{Base: bases[i/4]}
		switch i % 4 {
		case 1, 2:
			m.Index, m.Scale = aRow, uint8(i%4)
		case 3:
			m.Index, m.Scale = three, 1
		}
		return m
	}
	sums := make([][]reg.VecVirtual, v.mr)
	for i := range sums {
		for range nv {
			sums[i] = append(sums[i], v.zero())
		}
	}
	var bs []reg.VecVirtual
	for range nv {
		bs = append(bs, v.new())
	}
	var as []reg.VecVirtual
	for range max(1, 4*(v.lanes/8)) {
		as = append(as, v.new())
	}
	Label("step")
	for j, r := range bs {
		VMOVUPD(Mem{Base: b, Disp: j * v.bytes()}, r)
	}
	for i := range v.mr {
		x := as[i%len(as)]
		VBROADCASTSD(row(i), x)
		for j, r := range bs {
			VFMADD231PD(x, r, sums[i][j])
		}
	}
	// The next tiles of a transposed A are further along its rows. Otherwise this costs nothing.
	PREFETCHT0(Mem{Base: a, Disp: aheadDirect})
	for _, base := range bases {
		ADDQ(aCol, base)
	}
	ADDQ(bRow, b)
	DECQ(k)
	JNZ(LabelRef("step"))
	v.store(sums, c, stride, bs[0], func() {
		SUBQ(U8(v.mr), rows)
		JNZ(LabelRef("rows"))
		done()
	})
}
