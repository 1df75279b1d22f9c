package main

import "strconv"

// choleskyOnes solves small systems, one in each lane: see its namesake for AVX2.
func (n *neon) choleskyOnes() {
	f := n.function("choleskyOnes", "k int, gram *float64, w *float64", "",
		"choleskyOnes solves G w = 1 for one symmetric k x k matrix a lane, k >= 1. Element (i,j), j <= i, "+
			"of all lanes is the vector i*k+j of gram, which is overwritten; w has k vectors.")
	k, row, w, one := f.parameter("k"), f.parameter("gram"), f.parameter("w"), f.constant(bitsOne)
	size, i, j := f.free(), f.free(), f.free() // of a row of G in bytes
	at, other, p, q := f.free(), f.free(), f.free(), f.free()
	x, y, d := f.vector(), f.vector(), f.vector()
	step := func(pointers ...general) {
		for _, r := range pointers {
			f.op("ADD $%d, %v", bytesNEON, r)
		}
	}
	f.op("LSL $4, %v, %v", k, size)
	f.op("MOVD $0, %v", i)

	f.label("row") // of G: L[i][j] for j < i, then the pivot and y[i]
	f.parameterTo("gram", other)
	f.op("MOVD %v, %v", row, at)
	f.op("MOVD $0, %v", j)
	f.label("column")
	f.op("CMP %v, %v", i, j)
	f.op("BGE pivot")
	f.load(at, 0, d)
	f.op("MOVD %v, %v", row, p)
	f.op("MOVD %v, %v", other, q)
	f.label("inner")
	f.op("CMP %v, %v", at, p)
	f.op("BGE innerEnd")
	f.load(p, 0, x)
	f.load(q, 0, y)
	f.multiplySubtract(d, x, y)
	step(p, q)
	f.op("B inner")
	f.label("innerEnd")
	f.load(q, 0, x) // the inverse pivot j
	f.three("FMUL", d, d, x)
	f.store(d, at, 0)
	step(at)
	f.op("ADD %v, %v", size, other)
	f.op("ADD $1, %v", j)
	f.op("B column")

	f.label("pivot") // at is the diagonal
	f.load(at, 0, d)
	f.move(one, y)
	f.op("MOVD %v, %v", row, p)
	f.op("MOVD %v, %v", w, q)
	f.label("square")
	f.op("CMP %v, %v", at, p)
	f.op("BGE squareEnd")
	f.load(p, 0, x)
	f.multiplySubtract(d, x, x)
	z := f.loaded(q, 0)
	f.multiplySubtract(y, x, z)
	step(p, q)
	f.op("B square")
	f.label("squareEnd")
	f.two("FSQRT", d, d)
	f.three("FDIV", d, one, d)
	f.store(d, at, 0)
	f.three("FMUL", y, y, d)
	f.store(y, q, 0)
	f.op("ADD %v, %v", size, row)
	f.op("ADD $1, %v", i)
	f.op("CMP %v, %v", k, i)
	f.op("BLT row")

	// Back: w[i] = (y[i] - sum_p>i L[p][i] w[p]) / pivot i. at is the diagonal of row i, q is w[i].
	f.label("back")
	f.load(q, 0, y)
	f.op("MOVD %v, %v", at, p)
	f.op("MOVD %v, %v", q, other)
	f.op("SUB %v, %v, %v", i, k, j) // number of rows below
	f.label("below")
	f.op("CBZ %v, belowEnd", j)
	f.op("ADD %v, %v", size, p)
	step(other)
	f.load(p, 0, x)
	f.load(other, 0, d)
	f.multiplySubtract(y, x, d)
	f.op("SUB $1, %v", j)
	f.op("B below")
	f.label("belowEnd")
	f.load(at, 0, x)
	f.three("FMUL", y, y, x)
	f.store(y, q, 0)
	f.op("SUB %v, %v", size, at)
	f.op("SUB $%d, %v", bytesNEON, at)
	f.op("SUB $%d, %v", bytesNEON, q)
	f.op("SUB $1, %v", i)
	f.op("CBNZ %v, back", i)
	f.ret()
}

// sweep reads each of four rows once and uses it twice.
func (n *neon) sweep() {
	const rows = 4
	f := n.function("sweep",
		"n int, a *float64, stride int, x *float64, y *float64, alpha *float64, dots *float64", "",
		"sweep adds the multiples alpha of four rows of a to y, and writes their inner products with x to "+
			"dots. n is a multiple of the lanes, stride in elements.")
	left, p, stride, alpha := f.parameter("n"), f.pointers("a", "x", "y"), f.stride("stride"),
		f.parameter("alpha")
	at, scales, sums := []general{p[0]}, f.some(rows), f.zeros(rows)
	for r, v := range scales {
		if r > 0 {
			at = append(at, f.free())
			f.op("ADD %v, %v, %v", stride, at[r-1], at[r])
		}
		f.op("FMOVD %d(%v), %s", 8*r, alpha, v.low())
		f.op("VDUP V%d.D[0], %v", int(v), v)
	}
	f.loop(left, append(at, p[1], p[2]), true, func(u int) {
		x, y := f.loaded(p[1], u), f.loaded(p[2], u)
		for r := range rows {
			row := f.loaded(at[r], u)
			f.multiplyAdd(sums[r], row, x)
			f.multiplyAdd(y, row, scales[r])
		}
		f.store(y, p[2], u)
	})
	dots := f.parameter("dots")
	for r, s := range sums {
		f.across(s)
		f.op("FMOVD %s, %d(%v)", s.low(), 8*r, dots)
	}
	f.ret()
}

// sparse is the product of sparse rows with a dense matrix, one function for each number of
// vectors in its rows.
func (n *neon) sparse() {
	for vectors := 1; vectors <= sparseVectors; vectors++ {
		n.sparseOf(vectors, false)
		n.sparseOf(vectors, true)
	}
}

// sparseOf stores the products or, to recur, adds multiples of them and of other rows to multiples
// of dst.
func (n *neon) sparseOf(vectors int, recur bool) {
	name := "sparse" + strconv.Itoa(vectors) + "x"
	parameters := "rows int, start *int, index *int32, weight *float64, x *float64, stride int, dst " +
		"*float64, dstStride int"
	does := " computes rows of that many vectors: the sums of the rows index[k] of x times weight[k], for " +
		"k from start[r] to start[r+1]"
	if recur {
		name, parameters = "recur"+strconv.Itoa(vectors)+"x",
			parameters+", own *float64, alpha float64, beta float64, gamma float64"
		does += ", times alpha, plus beta times row r of own, which has the stride of x, plus gamma times " +
			"what is there"
	}
	f := n.function(name, parameters, "", name+does+". rows >= 1, strides in elements.")
	p := f.pointers("start", "index", "weight", "x", "dst")
	start, index, weight, x, dst := p[0], p[1], p[2], p[3], p[4]
	rows, stride, dstStride := f.parameter("rows"), f.stride("stride"), f.stride("dstStride")
	k, end, from := f.free(), f.free(), f.free()
	sums, w, v := f.some(vectors), f.vector(), f.vector()
	var own general
	var alpha, beta, gamma pair
	if recur {
		own, alpha, beta, gamma = f.parameter("own"), f.everywhere("alpha"), f.everywhere("beta"),
			f.everywhere("gamma")
	}
	f.op("MOVD.P 8(%v), %v", start, k)
	f.label("row")
	for _, s := range sums {
		f.clear(s)
	}
	f.op("MOVD.P 8(%v), %v", start, end)
	f.op("CMP %v, %v", end, k)
	f.op("BGE place")
	f.label("step")
	f.op("MOVW (%v)(%v<<2), %v", index, k, from)
	f.op("MADD %v, %v, %v, %v", stride, x, from, from) // x + stride from
	f.op("FMOVD (%v)(%v<<3), %s", weight, k, w.low())
	for u, s := range sums {
		f.load(from, u, v)
		f.multiplyAddLane(s, v, w, 0)
	}
	f.op("ADD $1, %v", k)
	f.op("CMP %v, %v", end, k)
	f.op("BLT step")
	f.label("place")
	for u, s := range sums {
		if recur {
			f.three("FMUL", s, s, alpha)
			f.load(own, u, v)
			f.multiplyAdd(s, v, beta)
			f.load(dst, u, v)
			f.multiplyAdd(s, v, gamma)
		}
		f.store(s, dst, u)
	}
	if recur {
		f.op("ADD %v, %v", stride, own)
	}
	f.op("ADD %v, %v", dstStride, dst)
	f.op("SUB $1, %v", rows)
	f.op("CBNZ %v, row", rows)
	f.ret()
}
