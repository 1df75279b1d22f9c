package points

import (
	"fmt"
	"math"
	"slices"
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
	return CheckFinite(p.Data, p.D, 0)
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

// FirstNotFinite returns the index of the first value that is NaN or infinite, -1 for none.
func FirstNotFinite(values []float64) int {
	for k, v := range values {
		if v-v != 0 {
			return k
		}
	}
	return -1
}

// CheckFinite returns a *fault.DataError with row and column of the first value of row-major rows
// of d values that is NaN or infinite, the rows numbered from first.
func CheckFinite(data []float64, d, first int) error {
	if k := FirstNotFinite(data); k >= 0 {
		return badValue(first+k/d, k%d, data[k])
	}
	return nil
}

func badValue(row, col int, v float64) error {
	return fault.Cell(row, strconv.Itoa(col), "value is %v: want a finite number", v)
}

// checkLength returns a ShapeError unless n, d >= 0 and got == n*d.
func checkLength(what string, got, n, d int) error {
	if n < 0 || d < 0 {
		return fault.Shape("smaller dimension of points", min(n, d), "0 or more")
	}
	// The comparison by division avoids an overflow of n*d.
	if fits := n == 0 || d == 0; fits && got != 0 || !fits && (got%d != 0 || got/d != n) {
		return fault.Shape("number of "+what, got, "%d x %d", n, d)
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

// Compact returns the same vectors over the features that occur in them alone, in the same order,
// and the numbers of these features, ascending. Features count as occurring if a value is stored,
// even 0. Rows and values are shared. Time and memory do not grow with the number of features:
// O(values log values), and O(values) where a quarter of the features may occur.
func (p *CSR) Compact() (compact *CSR, columns []int32) {
	if columns = p.occurring(); len(columns) == p.D {
		return p, columns
	}
	out := *p
	out.D, out.Col = len(columns), make([]int32, len(p.Col))
	position := positions(columns, p.D, len(p.Col))
	for k, c := range p.Col {
		out.Col[k] = int32(position(c))
	}
	return &out, columns
}

// Restrict returns the values of the given features, ascending, numbered by their positions in
// columns. Values of other features are left out. Cost: that of [CSR.Compact].
func (p *CSR) Restrict(columns []int32) *CSR {
	out := &CSR{N: p.N, D: len(columns), Start: make([]int, 1, p.N+1)}
	position := positions(columns, p.D, len(p.Col))
	for i := range p.N {
		col, val := p.Row(i)
		for k, c := range col {
			if j := position(c); j >= 0 {
				out.Col, out.Val = append(out.Col, int32(j)), append(out.Val, val[k])
			}
		}
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

// tabled reports whether a table of d features costs no more than so many values do.
func tabled(d, values int) bool { return d/4 <= values }

// occurring returns the features that occur, ascending.
func (p *CSR) occurring() []int32 {
	if !tabled(p.D, len(p.Col)) {
		columns := append(make([]int32, 0, len(p.Col)), p.Col...)
		slices.Sort(columns)
		return slices.Clip(slices.Compact(columns))
	}
	occurs, count := make([]bool, p.D), 0
	for _, c := range p.Col {
		if !occurs[c] {
			occurs[c] = true
			count++
		}
	}
	columns := make([]int32, 0, count)
	for c, yes := range occurs {
		if yes {
			columns = append(columns, int32(c))
		}
	}
	return columns
}

// positions returns a function that finds the position of a feature, out of d, in columns, -1 for
// none, so many times.
func positions(columns []int32, d, times int) func(c int32) int {
	if !tabled(d, times) {
		return func(c int32) int {
			j, found := slices.BinarySearch(columns, c)
			if !found {
				return -1
			}
			return j
		}
	}
	table := make([]int32, d)
	for j, c := range columns {
		table[c] = int32(j) + 1
	}
	return func(c int32) int { return int(table[c]) - 1 }
}

// Single is N vectors of D features in single precision, row-major. It is not a [Points], so that
// no function computes in single precision by accident.
type Single struct {
	N, D int
	Data []float32 // N*D
}

// Narrow returns dense points rounded to single precision, with relative errors up to 2^-24. A
// value beyond the range of float32 is a *fault.DataError.
func Narrow(x *Dense) (*Single, error) {
	out := &Single{N: x.N, D: x.D, Data: make([]float32, len(x.Data))}
	for k, v := range x.Data {
		w := float32(v)
		if w-w != 0 {
			return nil, fault.Cell(k/x.D, strconv.Itoa(k%x.D), "value is %g, beyond single precision: "+
				"want at most %.2g; standardize the data", v, math.MaxFloat32)
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
