package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// choleskyOnes solves small systems, one in each lane, by the row-wise Cholesky decomposition: the
// inverse of a pivot replaces the pivot.
func (v vector) choleskyOnes() {
	v.text("choleskyOnes", "(k int, gram, w *float64)",
		"choleskyOnes solves G w = 1 for one symmetric k x k matrix a lane, k >= 1. Element (i,j), j <= i, "+
			"of all lanes is the vector i*k+j of gram, which is overwritten; w has k vectors.")
	k := Load(Param("k"), GP64())
	g, w := Load(Param("gram"), GP64()), Load(Param("w"), GP64())
	one := v.constant("batchOne", 1)
	bytes, row := GP64(), GP64() // of a vector times k; of the row i of G
	MOVQ(k, bytes)
	SHLQ(U8(bits.Len(uint(v.bytes()))-1), bytes)
	MOVQ(g, row)
	i := GP64()
	XORQ(i, i)

	Label("row") // of G: L[i][j] for j < i, then the pivot and y[i]
	other, at, j := GP64(), GP64(), GP64()
	MOVQ(g, other)
	MOVQ(row, at)
	XORQ(j, j)
	Label("column")
	CMPQ(j, i)
	JGE(LabelRef("pivot"))
	s := v.new()
	VMOVUPD(Mem{Base: at}, s)
	p, q := GP64(), GP64()
	MOVQ(row, p)
	MOVQ(other, q)
	Label("inner")
	CMPQ(p, at)
	JGE(LabelRef("innerEnd"))
	x := v.new()
	VMOVUPD(Mem{Base: p}, x)
	VFNMADD231PD(Mem{Base: q}, x, s)
	ADDQ(U32(v.bytes()), p)
	ADDQ(U32(v.bytes()), q)
	JMP(LabelRef("inner"))
	Label("innerEnd")
	VMULPD(Mem{Base: q}, s, s) // q has come to the inverse pivot j
	VMOVUPD(s, Mem{Base: at})
	ADDQ(U32(v.bytes()), at)
	ADDQ(bytes, other)
	INCQ(j)
	JMP(LabelRef("column"))

	Label("pivot") // at is the diagonal
	d, y := v.new(), v.new()
	VMOVUPD(Mem{Base: at}, d)
	VMOVAPD(one, y)
	MOVQ(row, p)
	MOVQ(w, q)
	Label("square")
	CMPQ(p, at)
	JGE(LabelRef("squareEnd"))
	VMOVUPD(Mem{Base: p}, x)
	VFNMADD231PD(x, x, d)
	VFNMADD231PD(Mem{Base: q}, x, y)
	ADDQ(U32(v.bytes()), p)
	ADDQ(U32(v.bytes()), q)
	JMP(LabelRef("square"))
	Label("squareEnd")
	VSQRTPD(d, d)
	VDIVPD(d, one, d)
	VMOVUPD(d, Mem{Base: at})
	VMULPD(d, y, y)
	VMOVUPD(y, Mem{Base: q})
	ADDQ(bytes, row)
	INCQ(i)
	CMPQ(i, k)
	JL(LabelRef("row"))

	// Back: w[i] = (y[i] - sum_p>i L[p][i] w[p]) / pivot i. at is the diagonal of row i, q is w[i].
	Label("back")
	VMOVUPD(Mem{Base: q}, y)
	MOVQ(at, p)
	r := GP64()
	MOVQ(q, r)
	MOVQ(k, j)
	SUBQ(i, j) // number of rows below
	Label("below")
	TESTQ(j, j)
	JZ(LabelRef("belowEnd"))
	ADDQ(bytes, p)
	ADDQ(U32(v.bytes()), r)
	VMOVUPD(Mem{Base: p}, x)
	VFNMADD231PD(Mem{Base: r}, x, y)
	DECQ(j)
	JMP(LabelRef("below"))
	Label("belowEnd")
	VMULPD(Mem{Base: at}, y, y)
	VMOVUPD(y, Mem{Base: q})
	SUBQ(bytes, at)
	SUBQ(U32(v.bytes()), at)
	SUBQ(U32(v.bytes()), q)
	DECQ(i)
	JNZ(LabelRef("back"))
	done()
}
