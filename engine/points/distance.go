package points

// SquaredDistance returns the sum of (x_j - y_j)^2 in a fixed order of its own. len(x) ==
// len(y). The conversions forbid fused multiply-add: all platforms give the same bits.
func SquaredDistance(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	j := 0
	for ; j+4 <= len(x); j += 4 {
		a, b, c, d := x[j]-y[j], x[j+1]-y[j+1], x[j+2]-y[j+2], x[j+3]-y[j+3]
		s0 += float64(a * a)
		s1 += float64(b * b)
		s2 += float64(c * c)
		s3 += float64(d * d)
	}
	for ; j < len(x); j++ {
		a := x[j] - y[j]
		s0 += float64(a * a)
	}
	return (s0 + s1) + (s2 + s3)
}
