package asm

import "math"

// exponential is math.Exp, except at the ends of its range. From 709.44 on, where the result is
// above 2^1023.5, the standard library's assembly for amd64 returns +Inf; below -744.79, where it
// rounds to the smallest number, the assembly for arm64 returns 0.
func exponential(x float64) float64 {
	switch {
	case x > 709.43 && x < 709.79:
		return lastOctave(x)
	case x < -744.5 && x > -745.1332191019411: // 0.94 and 0.5 times the smallest number
		return math.SmallestNonzeroFloat64
	}
	return math.Exp(x)
}

// lastOctave returns e^x = 2^1024 e^r, -0.36 < r < 0.01, for x before 1024 ln 2. With t = r^2 and
// the polynomial p in t of fdlibm, e^r = 1 + r + r c/(2 - c), c = r - t p(t).
func lastOctave(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01 // 1024 times this and the difference from x are exact
		ln2Lo = 1.90821492927058770002e-10
		p1    = 1.66666666666666657415e-01
		p2    = -2.77777777770155933842e-03
		p3    = 6.61375632143793436117e-05
		p4    = -1.65339022054652515390e-06
		p5    = 4.13813679705723846039e-08
	)
	hi, lo := x-1024*ln2Hi, 1024*ln2Lo
	r := hi - lo
	t := r * r
	c := r - float64(t*(p1+float64(t*(p2+float64(t*(p3+float64(t*(p4+float64(t*p5)))))))))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return math.Ldexp(y, 1024)
}
