package main

import "strconv"

// The tile has 8 rows of 3 vectors: 24 sums, 3 vectors of B and 4 of A in 32 registers.
const (
	rowsNEON    = 8
	vectorsNEON = 3
)

// tile multiplies packed panels into a tile of C: the sums stay in registers, and a lane of A is
// a factor of a vector of B.
func (n *neon) tile() {
	f := n.function("tile",
		"k int, a *float64, b *float64, c *float64, stride int, alpha float64, beta float64", "",
		"tile computes a whole tile of alpha A B + beta C; stride in elements. beta == 0: C is not read.")
	k, a, b, c, stride := f.parameter("k"), f.parameter("a"), f.parameter("b"), f.parameter("c"),
		f.stride("stride")
	sums := f.sums(vectorsNEON)
	bs, as := f.some(vectorsNEON), f.some(rowsNEON/lanesNEON)
	step := func(u int) {
		for j, v := range bs {
			f.load(b, u*len(bs)+j, v)
		}
		for i, v := range as {
			f.load(a, u*len(as)+i, v)
		}
		for i, row := range sums {
			for j, s := range row {
				f.multiplyAddLane(s, bs[j], as[i/lanesNEON], i%lanesNEON)
			}
		}
	}
	turn := func(label string, count general, steps int) {
		f.label(label)
		for u := range steps {
			step(u)
		}
		f.op("ADD $%d, %v", steps*len(as)*bytesNEON, a)
		f.op("ADD $%d, %v", steps*len(bs)*bytesNEON, b)
		f.op("SUB $1, %v", count)
		f.op("CBNZ %v, %s", count, label)
	}
	turns := f.free()
	f.op("LSR $2, %v, %v", k, turns)
	f.op("CBZ %v, few", turns)
	turn("turn", turns, unroll)
	f.label("few")
	f.op("AND $%d, %v", unroll-1, k)
	f.op("CBZ %v, place", k)
	turn("step", k, 1)
	f.label("place")
	f.place(sums, c, stride, bs[0], as[0], f.ret)
}

// sums takes a tile of zeros of that many vectors a row.
func (f *function) sums(vectors int) [][]pair {
	var out [][]pair
	for range rowsNEON {
		out = append(out, f.zeros(vectors))
	}
	return out
}

// place scales the sums, adds them to C, advances C, and ends the function.
func (f *function) place(sums [][]pair, c, stride general, scale, old pair, end func()) {
	f.everywhereTo("alpha", scale)
	for _, row := range sums {
		for _, s := range row {
			f.three("FMUL", s, s, scale)
		}
	}
	// Is beta zero, of either sign?
	bits := f.parameter("beta")
	f.op("LSL $1, %v", bits)
	f.op("CBZ %v, overwrite", bits)
	f.everywhereTo("beta", scale)
	for _, row := range sums {
		for j, s := range row {
			f.load(c, j, old)
			f.multiplyAdd(s, old, scale)
			f.store(s, c, j)
		}
		f.op("ADD %v, %v", stride, c)
	}
	end()
	f.label("overwrite")
	for _, row := range sums {
		for j, s := range row {
			f.store(s, c, j)
		}
		f.op("ADD %v, %v", stride, c)
	}
	end()
}

// direct is tile on matrices that are not packed, one function for each number of vectors in a
// row of the tile: A comes in single elements, and B in vectors, from where they are.
func (n *neon) direct() {
	for vectors := 1; vectors <= vectorsNEON; vectors++ {
		n.directOf(vectors)
	}
}

func (n *neon) directOf(vectors int) {
	name := "direct" + strconv.Itoa(vectors) + "x"
	f := n.function(name,
		"rows int, k int, a *float64, aRow int, aCol int, b *float64, bRow int, c *float64, stride int, "+
			"alpha float64, beta float64", "",
		name+" computes tiles, one below the other, of that many vectors a row of alpha A B + beta C; rows "+
			"is a positive multiple of the tile's, steps in elements, k >= 1. beta == 0: C is not read.")
	rows, c := f.parameter("rows"), f.parameter("c")
	aRow, aCol, bRow, stride := f.stride("aRow"), f.stride("aCol"), f.stride("bRow"), f.stride("stride")
	next, at, b, k := f.parameter("a"), f.free(), f.free(), f.free()
	var row []general
	for range rowsNEON {
		row = append(row, f.free())
	}
	f.label("rows")
	for _, r := range row {
		f.op("MOVD %v, %v", next, r)
		f.op("ADD %v, %v", aRow, next)
	}
	f.op("MOVD $0, %v", at)
	f.parameterTo("b", b)
	f.parameterTo("k", k)
	sums := f.sums(vectors)
	bs, as := f.some(vectors), f.some(4)
	f.label("step")
	for j, v := range bs {
		f.load(b, j, v)
	}
	for i, r := range row {
		x := as[i%len(as)]
		f.op("FMOVD (%v)(%v), %s", r, at, x.low())
		for j, s := range sums[i] {
			f.multiplyAddLane(s, bs[j], x, 0)
		}
	}
	f.op("ADD %v, %v", aCol, at)
	f.op("ADD %v, %v", bRow, b)
	f.op("SUB $1, %v", k)
	f.op("CBNZ %v, step", k)
	f.place(sums, c, stride, bs[0], as[0], func() {
		f.op("SUB $%d, %v", rowsNEON, rows)
		f.op("CBNZ %v, rows", rows)
		f.ret()
	})
}

// peak keeps the multipliers busy with nothing in their way: independent sums in registers.
func (n *neon) peak() {
	f := n.function("peak", "n int", "",
		"peak does n rounds of as many independent fused multiply-adds on registers as the tile has vectors.")
	left, sums, x := f.parameter("n"), f.sums(vectorsNEON), f.zeros(2)
	f.label("round")
	for _, row := range sums {
		for _, s := range row {
			f.multiplyAdd(s, x[0], x[1])
		}
	}
	f.op("SUB $1, %v", left)
	f.op("CBNZ %v, round", left)
	f.ret()
}

// transpose turns blocks of two by two.
func (n *neon) transpose() {
	f := n.function("transpose", "dst *float64, width int, src *float64, stride int, n int", "",
		"transpose writes dst[l*width+i] = src[i*stride+l] for i < lanes, l < n; n is a multiple of the "+
			"lanes.")
	dst, src, width, stride, left := f.parameter("dst"), f.parameter("src"), f.stride("width"),
		f.stride("stride"), f.parameter("n")
	f.op("ADD %v, %v, %[2]v", src, stride) // row 1
	f.loop(left, []general{src, stride}, true, func(u int) {
		x, y, even, odd := f.loaded(src, u), f.loaded(stride, u), f.vector(), f.vector()
		f.op("VZIP1 %v, %v, %v", y, x, even)
		f.op("VZIP2 %v, %v, %v", y, x, odd)
		for _, v := range []pair{even, odd} {
			f.store(v, dst, 0)
			f.op("ADD %v, %v", width, dst)
		}
	})
	f.ret()
}
