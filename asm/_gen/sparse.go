package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sparseVectors is the maximum number of vectors of a row of the dense factor that one pass through
// a sparse row processes.
const sparseVectors = 4

// sparse is the product of sparse rows with a dense matrix, one function for each number of
// vectors in its rows.
func (v vector) sparse() {
	for nv := 1; nv <= sparseVectors; nv++ {
		v.sparseOf(nv, false)
		v.sparseOf(nv, true)
	}
}

// sparseOf stores the products or, to recur, adds multiples of them and of other rows to multiples
// of what is there.
func (v vector) sparseOf(nv int, recur bool) {
	name := "sparse" + strconv.Itoa(nv) + "x"
	parameters := "(rows int, start *int, index *int32, weight, x *float64, stride int, dst *float64, " +
		"dstStride int"
	does := " computes rows of that many vectors: the sums of the rows index[k] of x times weight[k], for " +
		"k from start[r] to start[r+1]"
	if recur {
		name, parameters = "recur"+strconv.Itoa(nv)+"x",
			parameters+", own *float64, alpha, beta, gamma float64"
		does += ", times alpha, plus beta times row r of own, which has the stride of x, plus gamma times " +
			"what is there"
	}
	v.text(name, parameters+")", name+does+". rows >= 1, strides in elements.")
	p := pointers("start", "index", "weight", "x", "dst")
	start, index, weight, x, dst := p[0], p[1], p[2], p[3], p[4]
	rows, stride, dstStride := Load(Param("rows"), GP64()), Load(Param("stride"), GP64()),
		Load(Param("dstStride"), GP64())
	SHLQ(U8(3), stride)
	SHLQ(U8(3), dstStride)
	k, end, j := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: start}, k)
	var sums []reg.VecVirtual
	for range nv {
		sums = append(sums, v.new())
	}
	var own reg.GPVirtual
	var alpha, beta, gamma reg.VecVirtual
	if recur {
		own, alpha, beta, gamma = pointers("own")[0], v.param("alpha"), v.param("beta"), v.param("gamma")
	}
	Label("row")
	for _, s := range sums {
		v.clear(s)
	}
	MOVQ(Mem{Base: start, Disp: 8}, end)
	CMPQ(k, end)
	JGE(LabelRef("store"))
	Label("step")
	MOVLQSX(Mem{Base: index, Index: k, Scale: 4}, j)
	IMULQ(stride, j)
	w := v.new()
	VBROADCASTSD(Mem{Base: weight, Index: k, Scale: 8}, w)
	for u, s := range sums {
		VFMADD231PD(Mem{Base: x, Index: j, Scale: 1, Disp: u * v.bytes()}, w, s)
	}
	INCQ(k)
	CMPQ(k, end)
	JLT(LabelRef("step"))
	Label("store")
	for u, s := range sums {
		if recur {
			VMULPD(alpha, s, s)
			VFMADD231PD(v.at(own, u), beta, s)
			VFMADD231PD(v.at(dst, u), gamma, s)
		}
		VMOVUPD(s, v.at(dst, u))
	}
	if recur {
		ADDQ(stride, own)
	}
	ADDQ(dstStride, dst)
	ADDQ(U8(8), start)
	DECQ(rows)
	JNZ(LabelRef("row"))
	done()
}
