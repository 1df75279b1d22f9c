// Package sparse (internal: may change) stores matrices with few nonzero elements: graphs and
// their Laplacians.
package sparse

import "slices"

// Matrix is a matrix in compressed rows: row i holds Val[Start[i]:Start[i+1]] in the columns
// Col[Start[i]:Start[i+1]], which ascend. It is immutable and safe for concurrent use.
type Matrix struct {
	Rows, Cols int
	Start      []int
	Col        []int32
	Val        []float64
}

// Row returns views of the columns and values of row i.
func (m *Matrix) Row(i int) ([]int32, []float64) {
	lo, hi := m.Start[i], m.Start[i+1]
	return m.Col[lo:hi], m.Val[lo:hi]
}

// At returns element (i, j). Cost: O(log(length of the row)).
func (m *Matrix) At(i, j int) float64 {
	col, val := m.Row(i)
	if k, ok := slices.BinarySearch(col, int32(j)); ok {
		return val[k]
	}
	return 0
}

// Begins turns the lengths of rows, that of row i in start[i+1], into the places at which the rows
// begin in one list. It returns a copy without the end, to count up while rows are filled.
func Begins(start []int) (next []int) {
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	return slices.Clone(start[:max(0, len(start)-1)])
}

// Count returns the number of stored elements.
func (m *Matrix) Count() int { return len(m.Col) }

// Across calls f for every stored element of a square matrix, row by row, together with its mirror
// image across the diagonal, 0 if none is stored. It ends at the first error. Cost: O(elements) if
// the pattern is symmetric: rows in order visit every column in order, so the position in row j
// only moves forward. That order keeps it on one core.
func (m *Matrix) Across(f func(i, j int, v, turned float64) error) error {
	next := slices.Clone(m.Start[:m.Rows])
	for i := range m.Rows {
		col, val := m.Row(i)
		for k, c := range col {
			j, turned := int(c), 0.0
			if at := next[j]; at < m.Start[j+1] && int(m.Col[at]) == i {
				turned = m.Val[at]
				next[j]++
			} else {
				turned = m.At(j, i)
			}
			if err := f(i, j, val[k], turned); err != nil {
				return err
			}
		}
	}
	return nil
}

// Permute returns the square matrix m with rows and columns in another order: row i of the result
// is row order[i] of m; order is a permutation. Cost: O(elements log(length of a row)), on one
// core: once for many products, each as large.
func (m *Matrix) Permute(order []int32) *Matrix {
	place := make([]int32, m.Rows)
	for i, from := range order {
		place[from] = int32(i)
	}
	p := &Matrix{Rows: m.Rows, Cols: m.Cols, Start: make([]int, m.Rows+1), Col: make([]int32, m.Count()),
		Val: make([]float64, m.Count())}
	type element struct {
		col int32
		val float64
	}
	var row []element
	for i, from := range order {
		col, val := m.Row(int(from))
		row = row[:0]
		for k, j := range col {
			row = append(row, element{place[j], val[k]})
		}
		slices.SortFunc(row, func(a, b element) int { return int(a.col) - int(b.col) })
		at := p.Start[i]
		for k, e := range row {
			p.Col[at+k], p.Val[at+k] = e.col, e.val
		}
		p.Start[i+1] = at + len(row)
	}
	return p
}
