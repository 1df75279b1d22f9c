package form

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// Normalize multiplies the lower triangle by 2^-exponent, exactly, so that the squares of
// its elements neither overflow nor vanish. The exponent is 0 for ordinary matrices.
func Normalize(a blas.Matrix) (exponent int) {
	var largest float64
	for i := range a.Rows {
		for _, v := range a.Row(i)[:i+1] {
			largest = max(largest, math.Abs(v))
		}
	}
	if largest == 0 || largest > 0x1p-400 && largest < 0x1p400 {
		return 0
	}
	_, exponent = math.Frexp(largest)
	for i := range a.Rows {
		row := a.Row(i)[:i+1]
		for j, v := range row {
			row[j] = math.Ldexp(v, -exponent)
		}
	}
	return exponent
}
