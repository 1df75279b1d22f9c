package dataset

import "strconv"

// parseFloat is strconv.ParseFloat with a short way for the plain decimals that fill most
// files: up to 15 digits with a point somewhere, or 16 without. With a point the digits
// make an integer below 2^53 and the power of ten to divide by is at most 10^22; both are
// exact in float64, so that the one division is correctly rounded (Clinger 1990) and the
// result is ParseFloat's to the bit. Without one the conversion is all there is to round.
func parseFloat(s string) (float64, error) {
	digits := s
	if digits != "" && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) < 1 || len(digits) > 16 {
		return strconv.ParseFloat(s, 64)
	}
	var mantissa uint64
	point := -1
	for i := 0; i < len(digits); i++ {
		switch c := digits[i] - '0'; {
		case c <= 9:
			mantissa = 10*mantissa + uint64(c)
		case digits[i] == '.' && point < 0:
			point = i
		default:
			return strconv.ParseFloat(s, 64)
		}
	}
	if len(digits) == 1 && point == 0 {
		return strconv.ParseFloat(s, 64)
	}
	v := float64(mantissa)
	if point >= 0 {
		v /= powersOfTen[len(digits)-1-point]
	}
	if len(digits) < len(s) {
		v = -v // keeps the sign of -0
	}
	return v, nil
}

var powersOfTen = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
