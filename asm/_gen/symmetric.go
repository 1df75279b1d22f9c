package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sweep reads each of four rows once and uses it twice.
func (v vector) sweep() {
	const name, rows = "sweep", 4
	v.text(name, "(n int, a *float64, stride int, x, y, alpha, dots *float64)",
		"sweep adds the multiples alpha of four rows of a to y, and writes their inner products with x to "+
			"dots. n is a multiple of the lanes, stride in elements.")
	n, p := length(), pointers("a", "x", "y")
	stride := Load(Param("stride"), GP64())
	SHLQ(U8(3), stride)
	alpha := Load(Param("alpha"), GP64())
	at := []reg.GPVirtual{p[0], GP64(), GP64(), GP64()}
	var scales, sums []reg.VecVirtual
	for r := range rows {
		if r > 0 {
			MOVQ(at[r-1], at[r])
			ADDQ(stride, at[r])
		}
		s := v.new()
		VBROADCASTSD(Mem{Base: alpha, Disp: 8 * r}, s)
		scales, sums = append(scales, s), append(sums, v.zero())
	}
	v.loop(name, n, append(at, p[1], p[2]), v.lanes == 8, func(u int) {
		x, y := v.new(), v.new()
		VMOVUPD(v.at(p[1], u), x)
		VMOVUPD(v.at(p[2], u), y)
		for r := range rows {
			row := v.new()
			VMOVUPD(v.at(at[r], u), row)
			VFMADD231PD(row, x, sums[r])
			VFMADD231PD(row, scales[r], y)
		}
		VMOVUPD(y, v.at(p[2], u))
	})
	dots := Load(Param("dots"), GP64())
	for r := range rows {
		MOVSD(v.across(sums[r]).(reg.VecVirtual), Mem{Base: dots, Disp: 8 * r})
	}
	done()
}
