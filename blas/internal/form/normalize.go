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
	if largest == 0 || largest > 0x1p-100 && largest < 0x1p100 {
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

// Split clears the elements of the subdiagonal e of a normalized tridiagonal matrix that are
// negligible relative to the largest element of its diagonal d and of e. A block that is tiny as a
// whole is then split into its elements: gonum's Dsteqr, which would scale the block, returns
// eigenvalues for it that are hundreds of orders of magnitude too large (v0.17.0).
func Split(d, e []float64) {
	largest := 0.0
	for _, v := range d {
		largest = max(largest, math.Abs(v))
	}
	for _, v := range e {
		largest = max(largest, math.Abs(v))
	}
	const nothing = 0x1p-300
	for i, v := range e {
		if math.Abs(v) < nothing*largest {
			e[i] = 0
		}
	}
}
