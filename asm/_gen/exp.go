package main

import (
	"fmt"
	"math"
	"math/big"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exp: x = n ln 2 + r with |r| <= ln(2)/2, and e^x = 2^n (1 + (r + r^2 q(r))), q a polynomial of
// degree 9. The last sum rounds once, what is below it adds little: the error stays below one
// unit in the last place of a normal result. Scaling rounds a denormal result once more.
func (v vector) exp() {
	v.text("exp", "(n int, dst, x *float64)", "exp writes e^x. n is a multiple of the lanes.")
	n, p := length(), pointers("dst", "x")
	// Beyond these the result is +Inf or 0, and infinities would make NaN of r.
	low, high := v.constant("expLow", -746), v.constant("expHigh", 710)
	log2e := v.constant("expLog2e", math.Log2E)
	// ln 2 in two parts: n times the first, which ends in 21 zero bits, is exact.
	hi := math.Float64frombits(math.Float64bits(math.Ln2) &^ (1<<21 - 1))
	ln2hi, ln2lo := v.constant("expLn2Hi", hi), v.constant("expLn2Lo", ln2Rest(hi))
	one := v.constant("expOne", 1)
	var bias Mem // of an exponent
	if v.lanes == 4 {
		bias = ConstData("expBias"+v.suffix, U64(1023))
	}
	name := func(k int) string { return fmt.Sprintf("expQ%d", k) }
	q := quotient(9)
	var coef []reg.VecVirtual
	if v.lanes == 8 { // registers enough to keep them
		for k, c := range q {
			coef = append(coef, v.constant(name(k), c))
		}
	}
	coefficient := func(k int) Op {
		if coef != nil {
			return coef[k]
		}
		r := v.new()
		VBROADCASTSD(ConstData(name(k)+v.suffix, F64(q[k])), r)
		return r
	}
	v.loop("exp", n, p, v.lanes == 8, func(u int) {
		x, m := v.new(), v.new()
		VMOVUPD(v.at(p[1], u), x)
		VMAXPD(x, low, x) // a NaN stays
		VMINPD(x, high, x)
		VMULPD(log2e, x, m)
		if v.lanes == 8 {
			VRNDSCALEPD(U8(8), m, m)
		} else {
			VROUNDPD(U8(8), m, m)
		}
		r := x
		VFNMADD231PD(ln2hi, m, r)
		VFNMADD231PD(ln2lo, m, r)
		s := v.new()
		top := coefficient(len(q) - 1)
		if v.lanes == 8 {
			VMOVAPD(top, s)
		} else {
			s = top.(reg.VecVirtual)
		}
		for k := len(q) - 2; k >= 0; k-- {
			VFMADD213PD(coefficient(k), r, s) // s = s r + q_k
		}
		VMULPD(r, s, s)
		VFMADD213PD(r, r, s) // r + r (r q)
		VADDPD(one, s, s)
		v.power2(s, m, bias)
		VMOVUPD(s, v.at(p[0], u))
	})
	done()
}

// power2 multiplies s by 2^m, m whole numbers, rounding once where the result is denormal.
func (v vector) power2(s, m reg.VecVirtual, bias Mem) {
	if v.lanes == 8 {
		VSCALEFPD(m, s, s)
		return
	}
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
	ln2, _, err := big.ParseFloat("0.693147180559945309417232121458176568075500134360255254120680", 10, 200, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	rest, _ := new(big.Float).Sub(ln2, big.NewFloat(hi)).Float64()
	return rest
}

// quotient returns the coefficients of the polynomial of that degree that interpolates
// (e^r - 1 - r) / r^2 = sum_k r^k / (k+2)! at the Chebyshev points of |r| <= 0.3466, in exact
// enough arithmetic: within a factor of two of the best one.
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
