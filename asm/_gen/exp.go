package main

import (
	"fmt"
	"math"
	"math/big"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exp reduces x = n ln 2 + r with |r| <= ln(2)/2, and computes e^x = 2^n (1 + (r + r^2 q(r))),
// where q is a polynomial of degree 9. The last sum rounds once, and earlier rounding adds little:
// the error stays below one unit in the last place of a normal result. Scaling rounds a denormal
// result once more.
func (v vector) exp() {
	v.text("exp", "(n int, dst, x *float64)", "exp writes e^x. n is a multiple of the lanes.")
	n, p := length(), pointers("dst", "x")
	e := v.newExponential("exp", v.lanes == 4)
	v.loop("exp", n, p, v.lanes == 8, func(u int) {
		x := v.new()
		VMOVUPD(v.at(p[1], u), x)
		VMOVUPD(e.of(x), v.at(p[0], u))
	})
	done()
}

// gaussian is squaredDistances, scaled, then exp: the same operations on each element.
func (v vector) gaussian() {
	const name = "gaussian"
	v.text(name, "(rows, n int, dst *float64, dstStride int, dot *float64, dotStride int, xx, yy *float64, "+
		"scale, fraction float64) int",
		"gaussian writes e^(scale d), d = max(0, xx + yy - 2 dot), to rows >= 1 rows, and returns whether "+
			"a d is below fraction (xx + yy): the lanes where, as bits. Strides in elements; n is a "+
			"multiple of the "+
			"lanes.")
	rows, xs := Load(Param("rows"), GP64()), Load(Param("xx"), GP64())
	dstStride, dotStride := Load(Param("dstStride"), GP64()), Load(Param("dotStride"), GP64())
	SHLQ(U8(3), dstStride)
	SHLQ(U8(3), dotStride)
	dstRow, dotRow := Load(Param("dst"), GP64()), Load(Param("dot"), GP64())
	scale, fraction, zero, near := v.param("scale"), v.param("fraction"), v.zero(), v.zero()
	e := v.newExponential(name, false)
	xx := v.new()
	Label(name + "row")
	VBROADCASTSD(Mem{Base: xs}, xx)
	p := []reg.GPVirtual{GP64(), GP64(), Load(Param("yy"), GP64()).(reg.GPVirtual)}
	MOVQ(dstRow, p[0])
	MOVQ(dotRow, p[1])
	n := length()
	v.loop(name, n, p, v.lanes == 8, func(u int) {
		d, t := v.new(), v.new()
		VMOVUPD(v.at(p[1], u), d)
		VADDPD(d, d, d)
		VADDPD(v.at(p[2], u), xx, t)
		VSUBPD(d, t, d)
		VMAXPD(d, zero, d) // keeps a NaN in d
		VMULPD(fraction, t, t)
		VSUBPD(t, d, t) // negative exactly where d < fraction t
		v.or(t, near)
		VMULPD(scale, d, d)
		VMOVUPD(e.of(d), v.at(p[0], u))
	})
	ADDQ(dstStride, dstRow)
	ADDQ(dotStride, dotRow)
	ADDQ(U8(8), xs)
	DECQ(rows)
	JNZ(LabelRef(name + "row"))
	Store(v.signs(near), ReturnIndex(0))
	done()
}

// exponential has the constants of e^x, in registers as far as there are enough, otherwise in
// memory.
type exponential struct {
	v                              vector
	name                           string
	low, high, log2e, hi, lo, unit func() reg.VecVirtual
	q                              []func() reg.VecVirtual
	bias                           Mem // of an exponent
}

// newExponential loads the constants; for AVX2 it loads those of the polynomial only if some is
// false.
func (v vector) newExponential(name string, some bool) *exponential {
	// ln 2 in two parts: n times the first, which ends in 21 zero bits, is exact.
	hi := math.Float64frombits(math.Float64bits(math.Ln2) &^ (1<<21 - 1))
	e := &exponential{v: v, name: name}
	keep := v.lanes == 8 || some
	// Beyond low and high the result is 0 or +Inf, and infinities would turn r into NaN.
	e.low, e.high = e.constant("Low", -745.14, keep), e.constant("High", 710, keep)
	e.log2e = e.constant("Log2e", math.Log2E, keep)
	e.hi, e.lo = e.constant("Ln2Hi", hi, keep), e.constant("Ln2Lo", ln2Rest(hi), keep)
	e.unit = e.constant("One", 1, keep)
	for k, c := range quotient(9) {
		e.q = append(e.q, e.constant(fmt.Sprintf("Q%d", k), c, v.lanes == 8))
	}
	if v.lanes == 4 {
		e.bias = ConstData(name+"Bias"+v.suffix, U64(1023))
	}
	return e
}

// constant returns the place of a constant: the register that keeps it, or memory, from which each
// use loads it.
func (e *exponential) constant(name string, value float64, keep bool) func() reg.VecVirtual {
	data := ConstData(e.name+name+e.v.suffix, F64(value))
	load := func() reg.VecVirtual {
		r := e.v.new()
		VBROADCASTSD(data, r)
		return r
	}
	if keep {
		r := load()
		return func() reg.VecVirtual { return r }
	}
	return load
}

// of returns e^x, and overwrites x. Elements below the low end are multiplied by 2^0 and then
// replaced by 0: scaling to results that are not normal numbers takes processors dozens of times as
// long.
func (e *exponential) of(x reg.VecVirtual) reg.VecVirtual {
	v, m := e.v, e.v.new()
	mask := v.notLess(x, e.low())
	VMINPD(x, e.high(), x)
	if v.lanes == 8 {
		VMULPD_Z(e.log2e(), x, mask.(reg.OpmaskVirtual), m)
		VRNDSCALEPD(U8(8), m, m)
	} else {
		VANDPD(mask.(reg.VecVirtual), x, x)
		VMULPD(e.log2e(), x, m)
		VROUNDPD(U8(8), m, m)
	}
	r := x
	VFNMADD231PD(e.hi(), m, r)
	VFNMADD231PD(e.lo(), m, r)
	s, top := v.new(), len(e.q)-1
	if v.lanes == 8 {
		VMOVAPD(e.q[top](), s)
	} else {
		s = e.q[top]()
	}
	for k := top - 1; k >= 0; k-- {
		VFMADD213PD(e.q[k](), r, s) // s = s r + q_k
	}
	VMULPD(r, s, s)
	VFMADD213PD(r, r, s) // r + r (r q)
	VADDPD(e.unit(), s, s)
	if v.lanes == 8 {
		VSCALEFPD_Z(m, s, mask.(reg.OpmaskVirtual), s)
	} else {
		v.power2(s, m, e.bias)
		VANDPD(mask.(reg.VecVirtual), s, s)
	}
	return s
}

// notLess returns a mask of the elements that are not less than limit; a NaN is not.
func (v vector) notLess(x, limit reg.VecVirtual) any {
	const notLess = 5
	if v.lanes == 8 {
		k := K()
		VCMPPD(U8(notLess), limit, x, k)
		return k
	}
	mask := v.new()
	VCMPPD(U8(notLess), limit, x, mask)
	return mask
}

// power2 multiplies s by 2^m, where m has whole numbers, and rounds once if the result is denormal.
// AVX2 has no instruction for this.
func (v vector) power2(s, m reg.VecVirtual, bias Mem) {
	// 2^m = 2^h 2^(m-h), h = m/2 rounded down: both are normal numbers.
	whole, h := XMM(), XMM()
	VCVTPD2DQY(m, whole)
	VPSRAD(U8(1), whole, h)
	VPSUBD(h, whole, whole)
	for _, part := range []reg.VecVirtual{h, whole} {
		e := YMM()
		VPMOVSXDQ(part, e)
		b := YMM()
		VPBROADCASTQ(bias, b)
		VPADDQ(b, e, e)
		VPSLLQ(U8(52), e, e)
		VMULPD(e, s, s)
	}
}

// ln2Rest returns ln 2 minus hi.
func ln2Rest(hi float64) float64 {
	// ln 2 to 60 digits.
	ln2, _, err := big.ParseFloat("0.693147180559945309417232121458176568075500134360255254120680", 10, 200,
		big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	rest, _ := new(big.Float).Sub(ln2, big.NewFloat(hi)).Float64()
	return rest
}

// quotient returns the coefficients of the polynomial of the given degree that interpolates (e^r -
// 1 - r) / r^2 = sum_k r^k / (k+2)! at the Chebyshev points of |r| <= 0.3466, in sufficiently exact
// arithmetic: within a factor of two of the best one.
func quotient(degree int) []float64 {
	const prec = 400
	n := degree + 1
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	points, values := make([]*big.Float, n), make([]*big.Float, n)
	for i := range points {
		points[i] = num(0.34661 * math.Cos(math.Pi*(float64(i)+0.5)/float64(n)))
		sum, term := num(0), num(0.5)
		for k := range 60 {
			sum.Add(sum, term)
			term.Mul(term, points[i])
			term.Quo(term, num(float64(k+3)))
		}
		values[i] = sum
	}
	// Divided differences, then the Newton form multiplied out.
	for step := 1; step < n; step++ {
		for i := n - 1; i >= step; i-- {
			d := new(big.Float).SetPrec(prec).Sub(values[i], values[i-1])
			values[i] = d.Quo(d, new(big.Float).SetPrec(prec).Sub(points[i], points[i-step]))
		}
	}
	c := make([]*big.Float, n)
	for i := range c {
		c[i] = num(0)
	}
	for i := n - 1; i >= 0; i-- { // c = c (r - points[i]) + values[i]
		for k := n - 1; k >= 0; k-- {
			t := new(big.Float).SetPrec(prec).Mul(c[k], points[i])
			c[k].Neg(t)
			if k > 0 {
				c[k].Add(c[k], c[k-1])
			}
		}
		c[0].Add(c[0], values[i])
	}
	out := make([]float64, n)
	for k := range c {
		out[k], _ = c[k].Float64()
	}
	return out
}
