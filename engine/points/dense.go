package points

import (
	"fmt"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// NewDense returns n vectors of d features over data (row-major, length n*d), which is kept,
// not copied. A wrong length is a *fault.ShapeError, a NaN or Inf a *fault.DataError.
func NewDense(n, d int, data []float64) (*Dense, error) {
	if err := checkLength("values of dense points", len(data), n, d); err != nil {
		return nil, err
	}
	p := &Dense{N: n, D: d, Data: data}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// Len returns the number of vectors.
func (p *Dense) Len() int { return p.N }

// Dim returns the number of features.
func (p *Dense) Dim() int { return p.D }

// Row returns vector i, sharing memory.
func (p *Dense) Row(i int) []float64 { return p.Data[i*p.D : (i+1)*p.D : (i+1)*p.D] }

// Select returns copies of the vectors at rows, in that order. Cost: O(len(rows) d).
func (p *Dense) Select(rows []int) Points {
	return &Dense{N: len(rows), D: p.D, Data: selectRows(p.Data, p.N, p.D, rows)}
}

// Validate reports a length that does not fit the shape, then the first value, by row and column,
// that is NaN or infinite. Both are *fault.DataError. Cost: O(nd).
func (p *Dense) Validate() error {
	if err := checkLength("values of dense points", len(p.Data), p.N, p.D); err != nil {
		return asData(err)
	}
	return finite(p.Data, p.D)
}

// selectRows copies rows of an n x d row-major array. It panics if a row is out of range.
func selectRows(data []float64, n, d int, rows []int) []float64 {
	out := make([]float64, 0, len(rows)*d)
	for _, r := range rows {
		checkRow(r, n)
		out = append(out, data[r*d:(r+1)*d]...)
	}
	return out
}

// checkRow panics unless 0 <= r < n. A slice expression alone would not detect rows beyond n if d
// is 0.
func checkRow(r, n int) {
	if r < 0 || r >= n {
		panic(fmt.Sprintf("points: row %d out of range for %d objects", r, n))
	}
}

// finite returns a DataError for the first NaN or Inf in row-major rows of d values.
func finite(data []float64, d int) error {
	for k, v := range data {
		if v-v != 0 {
			return badValue(k/d, k%d, v)
		}
	}
	return nil
}

func badValue(row, col int, v float64) error {
	return &fault.DataError{Row: row, Column: strconv.Itoa(col), Err: fmt.Errorf("value is %v: want a finite number", v)}
}

// checkLength returns a ShapeError unless n, d >= 0 and got == n*d.
func checkLength(what string, got, n, d int) error {
	if n < 0 || d < 0 {
		return &fault.ShapeError{What: "smaller dimension of points", Got: min(n, d), Want: "0 or more"}
	}
	// The comparison by division avoids an overflow of n*d.
	if fits := n == 0 || d == 0; fits && got != 0 || !fits && (got%d != 0 || got/d != n) {
		return &fault.ShapeError{What: "number of " + what, Got: got, Want: fmt.Sprintf("%d x %d", n, d)}
	}
	return nil
}

// asData wraps a problem of the structure as the documented DataError of Validate.
func asData(err error) error { return &fault.DataError{Row: -1, Err: err} }

// SquaredDistance returns the sum of (x_j - y_j)^2 in a fixed order. len(x) == len(y). The
// conversions prevent fused multiply-add, so the result is bit-identical on all platforms.
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
