package points

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// NewCSR returns n sparse vectors of d features in compressed sparse rows (see [CSR]). The
// slices are kept, not copied. An inconsistent structure, a NaN or an Inf is a
// *fault.DataError with its row.
func NewCSR(n, d int, start []int, col []int32, val []float64) (*CSR, error) {
	p := &CSR{N: n, D: d, Start: start, Col: col, Val: val}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// Len returns the number of vectors.
func (p *CSR) Len() int { return p.N }

// Dim returns the number of features.
func (p *CSR) Dim() int { return p.D }

// Row returns the columns and values of vector i, sharing memory.
func (p *CSR) Row(i int) (col []int32, val []float64) {
	lo, hi := p.Start[i], p.Start[i+1]
	return p.Col[lo:hi:hi], p.Val[lo:hi:hi]
}

// Select returns copies of the vectors at rows, in that order. Cost: O(len(rows) + values copied).
func (p *CSR) Select(rows []int) Points {
	out := &CSR{N: len(rows), D: p.D, Start: make([]int, 1, len(rows)+1)}
	for _, r := range rows {
		checkRow(r, p.N)
		col, val := p.Row(r)
		out.Col = append(out.Col, col...)
		out.Val = append(out.Val, val...)
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

// Validate reports the first inconsistency of the structure, then the first value, by row and
// column, that is NaN or infinite. All errors are *fault.DataError. Cost: O(values).
func (p *CSR) Validate() error {
	if err := p.validateFrame(); err != nil {
		return asData(err)
	}
	for i := range p.N {
		if p.Start[i+1] < p.Start[i] || p.Start[i+1] > len(p.Col) {
			return &fault.DataError{Row: i, Err: fmt.Errorf("row ends at value %d: want a position from %d to %d", p.Start[i+1], p.Start[i], len(p.Col))}
		}
		if err := p.validateRow(i); err != nil {
			return err
		}
	}
	return nil
}

func (p *CSR) validateFrame() error {
	switch {
	case p.N < 0 || p.D < 0:
		return &fault.ShapeError{What: "smaller dimension of points", Got: min(p.N, p.D), Want: "0 or more"}
	case p.D > math.MaxInt32:
		return &fault.ShapeError{What: "number of features of sparse points", Got: p.D, Want: "at most 2147483647"}
	case len(p.Start) != p.N+1:
		return &fault.ShapeError{What: "number of row starts", Got: len(p.Start), Want: fmt.Sprintf("%d, one more than the number of rows", p.N+1)}
	case p.Start[0] != 0:
		return &fault.ShapeError{What: "start of row 0", Got: p.Start[0], Want: "0"}
	case len(p.Col) != len(p.Val):
		return &fault.ShapeError{What: "number of columns of sparse values", Got: len(p.Col), Want: fmt.Sprintf("%d, one for each value", len(p.Val))}
	case p.Start[p.N] != len(p.Col):
		return &fault.ShapeError{What: "end of the last row", Got: p.Start[p.N], Want: fmt.Sprintf("%d, the number of values", len(p.Col))}
	}
	return nil
}

func (p *CSR) validateRow(i int) error {
	col, val := p.Row(i)
	for k, c := range col {
		if c < 0 || int(c) >= p.D {
			return &fault.DataError{Row: i, Column: strconv.Itoa(int(c)), Err: fmt.Errorf("column is out of range: want 0 to %d", p.D-1)}
		}
		if k > 0 && c <= col[k-1] {
			return &fault.DataError{Row: i, Column: strconv.Itoa(int(c)), Err: fmt.Errorf("column follows %d: want strictly ascending columns", col[k-1])}
		}
		if math.IsNaN(val[k]) || math.IsInf(val[k], 0) {
			return badValue(i, int(c), val[k])
		}
	}
	return nil
}
