package points

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// Single is N vectors of D features in single precision, row-major. It is not a [Points], so that
// no function computes in single precision by accident.
type Single struct {
	N, D int
	Data []float32 // N*D
}

// NewSingle returns n vectors of d features over data (row-major, length n*d), which is kept, not
// copied. A wrong length is a *fault.ShapeError, a NaN or Inf a *fault.DataError.
func NewSingle(n, d int, data []float32) (*Single, error) {
	if err := checkLength("values of points in single precision", len(data), n, d); err != nil {
		return nil, err
	}
	for k, v := range data {
		if v-v != 0 {
			return nil, badValue(k/d, k%d, float64(v))
		}
	}
	return &Single{N: n, D: d, Data: data}, nil
}

// Narrow returns dense points rounded to single precision, with relative errors up to 2^-24. A
// value beyond the range of float32 is a *fault.DataError.
func Narrow(x *Dense) (*Single, error) {
	out := &Single{N: x.N, D: x.D, Data: make([]float32, len(x.Data))}
	for k, v := range x.Data {
		w := float32(v)
		if w-w != 0 {
			return nil, &fault.DataError{Row: k / x.D, Column: strconv.Itoa(k % x.D), Err: fmt.Errorf("value is %g, beyond single precision: want at most %.2g; standardize the data", v, math.MaxFloat32)}
		}
		out.Data[k] = w
	}
	return out, nil
}

// Row returns vector i, sharing memory.
func (p *Single) Row(i int) []float32 { return p.Data[i*p.D : (i+1)*p.D : (i+1)*p.D] }

// Widened returns the points in double precision, exactly.
func (p *Single) Widened() *Dense {
	out := &Dense{N: p.N, D: p.D, Data: make([]float64, len(p.Data))}
	for k, v := range p.Data {
		out.Data[k] = float64(v)
	}
	return out
}

// SquaredDistance returns the squared distance of vector i from vector j of y, as the sum of
// squared differences in double precision. Cost: O(d).
func (p *Single) SquaredDistance(i int, y *Single, j int) float64 {
	sum, b := 0.0, y.Row(j)
	for l, v := range p.Row(i) {
		d := float64(v) - float64(b[l])
		sum += d * d
	}
	return sum
}
