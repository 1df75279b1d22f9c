package main

// reductions are the kernels that return one number: four sums of vectors, then
// (s0+s1)+(s2+s3), then the lanes.
func (n *neon) reductions() {
	n.reduction("dot", "n int, x *float64, y *float64", []string{"x", "y"},
		func(f *function, p []general, u int, sum pair) {
			f.multiplyAdd(sum, f.loaded(p[0], u), f.loaded(p[1], u))
		})
	n.reduction("sum", "n int, x *float64", []string{"x"}, func(f *function, p []general, u int, sum pair) {
		f.three("FADD", sum, sum, f.loaded(p[0], u))
	})
	n.reduction("squaredDistance", "n int, x *float64, y *float64", []string{"x", "y"},
		func(f *function, p []general, u int, sum pair) {
			x, y := f.loaded(p[0], u), f.loaded(p[1], u)
			f.three("FSUB", x, x, y)
			f.multiplyAdd(sum, x, x)
		})
}

func (n *neon) reduction(name, parameters string, slices []string,
	term func(f *function, p []general, u int, sum pair)) {
	f := n.function(name, parameters, "float64", name+" reduces n elements, a multiple of the lanes.")
	left, p, sums := f.parameter("n"), f.pointers(slices...), f.zeros(4)
	f.loop(left, p, true, func(u int) { term(f, p, u, sums[u]) })
	f.three("FADD", sums[0], sums[0], sums[1])
	f.three("FADD", sums[2], sums[2], sums[3])
	f.three("FADD", sums[0], sums[0], sums[2])
	f.across(sums[0])
	f.op("FMOVD %s, ret+%d(FP)", sums[0].low(), f.offset("ret"))
	f.ret()
}

// elementwise are the kernels whose elements are independent.
func (n *neon) elementwise() {
	n.axpy()
	n.scale()
	n.sqrt()
	n.power()
	n.squaredDistances()
	n.firstBelow()
	n.narrow()
}

func (n *neon) axpy() {
	f := n.function("axpy", "n int, alpha float64, x *float64, y *float64", "",
		"axpy adds alpha x to y. n is a multiple of the lanes.")
	left, p, alpha := f.parameter("n"), f.pointers("x", "y"), f.everywhere("alpha")
	f.loop(left, p, true, func(u int) {
		x, y := f.loaded(p[0], u), f.loaded(p[1], u)
		f.multiplyAdd(y, x, alpha)
		f.store(y, p[1], u)
	})
	f.ret()
}

func (n *neon) scale() {
	f := n.function("scale", "n int, alpha float64, x *float64", "",
		"scale multiplies x by alpha. n is a multiple of the lanes.")
	left, p, alpha := f.parameter("n"), f.pointers("x"), f.everywhere("alpha")
	f.loop(left, p, true, func(u int) {
		x := f.loaded(p[0], u)
		f.three("FMUL", x, x, alpha)
		f.store(x, p[0], u)
	})
	f.ret()
}

func (n *neon) sqrt() {
	f := n.function("sqrt", "n int, dst *float64, x *float64", "",
		"sqrt writes the square roots of x. n is a multiple of the lanes.")
	left, p := f.parameter("n"), f.pointers("dst", "x")
	f.loop(left, p, true, func(u int) {
		x := f.loaded(p[1], u)
		f.two("FSQRT", x, x)
		f.store(x, p[0], u)
	})
	f.ret()
}

// power squares x and multiplies it into the product where the degree has a bit, the lowest
// first, and once more at the end.
func (n *neon) power() {
	f := n.function("power", "n int, dst *float64, x *float64, degree int", "",
		"power writes x to the power of degree >= 1. n is a multiple of the lanes.")
	left, p, degree, one := f.parameter("n"), f.pointers("dst", "x"), f.parameter("degree"),
		f.constant(bitsOne)
	f.loop(left, p, false, func(u int) {
		x, product, d := f.loaded(p[1], u), f.vector(), f.free()
		f.move(one, product)
		f.op("MOVD %v, %v", degree, d)
		f.label("bit")
		f.op("CMP $1, %v", d)
		f.op("BLE last")
		f.op("TBZ $0, %v, square", d)
		f.three("FMUL", product, product, x)
		f.label("square")
		f.three("FMUL", x, x, x)
		f.op("LSR $1, %v", d)
		f.op("B bit")
		f.label("last")
		f.three("FMUL", product, product, x)
		f.store(product, p[0], u)
	})
	f.ret()
}

func (n *neon) squaredDistances() {
	f := n.function("squaredDistances",
		"n int, dst *float64, dot *float64, xx float64, yy *float64, fraction float64", "int",
		"squaredDistances writes max(0, xx + yy - 2 dot), NaN where that is NaN, and returns whether one "+
			"of them is below fraction (xx + yy): 0 if not. n is a multiple of the lanes.")
	left, p, xx, fraction, near := f.parameter("n"), f.pointers("dst", "dot", "yy"), f.everywhere("xx"),
		f.everywhere("fraction"), f.zeros(2)
	f.loop(left, p, true, func(u int) {
		f.store(f.distances(p[1], p[2], u, xx, fraction, near[0], near[1]), p[0], u)
	})
	f.returnBits(near[1])
	f.ret()
}

// distances returns squared distances from inner products and squared lengths, and sets near
// where they are.
func (f *function) distances(dot, yy general, u int, xx, fraction, zero, near pair) pair {
	d, t := f.loaded(dot, u), f.loaded(yy, u)
	f.three("FADD", d, d, d)
	f.three("FADD", t, xx, t)
	f.three("FSUB", d, t, d)
	f.three("FMAX", d, d, zero) // a NaN stays
	f.three("FMUL", t, t, fraction)
	f.three("FCMGT", t, t, d)
	f.or(t, near)
	return d
}

// firstBelow looks at four vectors at a time, and at each of them where one has such an element.
func (n *neon) firstBelow() {
	f := n.function("firstBelow", "n int, x *float64, limits *float64, limit float64", "int",
		"firstBelow returns the first i with x[i] <= max(limit, limits[i]), or n, a multiple of the lanes.")
	left, p, limit := f.parameter("n"), f.pointers("x", "limits"), f.everywhere("limit")
	bits, at := f.free(), f.free()
	f.op("MOVD $0, %v", at)
	below := func(u int) pair {
		x, bound := f.loaded(p[0], u), f.loaded(p[1], u)
		f.three("FMAX", bound, bound, limit)
		f.three("FCMGE", x, bound, x)
		return x
	}
	lane := func(v pair, i int, label string) {
		f.op("VMOV V%d.D[%d], %v", int(v), i, bits)
		f.op("CBNZ %v, %s", bits, label)
	}
	advance := func(vectors int) {
		for _, r := range p {
			f.op("ADD $%d, %v", vectors*bytesNEON, r)
		}
		f.op("ADD $%d, %v", vectors*lanesNEON, at)
		f.op("SUB $%d, %v", vectors*lanesNEON, left)
	}
	f.label("four")
	f.op("CMP $%d, %v", 4*lanesNEON, left)
	f.op("BLT one")
	found := below(0)
	for u := 1; u < 4; u++ {
		f.or(below(u), found)
	}
	lane(found, 0, "one")
	lane(found, 1, "one")
	advance(4)
	f.op("B four")
	f.label("one")
	f.op("CBZ %v, end", left)
	found = below(0)
	lane(found, 0, "end")
	lane(found, 1, "second")
	advance(1)
	f.op("B one")
	f.label("second")
	f.op("ADD $1, %v", at)
	f.label("end")
	f.op("MOVD %v, ret+%d(FP)", at, f.offset("ret"))
	f.ret()
}

func (n *neon) narrow() {
	f := n.function("narrow", "n int, dst *float32, src *float64", "",
		"narrow rounds src to single precision. n is a multiple of the lanes.")
	left, dst, src := f.parameter("n"), f.parameter("dst"), f.parameter("src")
	f.loop(left, []general{src}, false, func(u int) {
		x := f.loaded(src, u)
		f.narrow(x, x)
		f.op("FMOVD.P %s, %d(%v)", x.low(), bytesNEON/2, dst)
	})
	f.ret()
}
