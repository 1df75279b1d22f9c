// Package sparse (engine room: may change) holds matrices of which few elements are not zero:
// graphs and their Laplacians.
package sparse

import "slices"

// Matrix is a matrix in compressed rows: row i holds Val[Start[i]:Start[i+1]] in the columns
// Col[Start[i]:Start[i+1]], which ascend. It is not changed once it is made, and safe for
// concurrent use.
type Matrix struct {
	Rows, Cols int
	Start      []int
	Col        []int32
	Val        []float64
}

// Row returns the columns and values of row i, views.
func (m *Matrix) Row(i int) ([]int32, []float64) {
	lo, hi := m.Start[i], m.Start[i+1]
	return m.Col[lo:hi], m.Val[lo:hi]
}

// At returns element (i, j). O(log of the row's length).
func (m *Matrix) At(i, j int) float64 {
	col, val := m.Row(i)
	if k, ok := slices.BinarySearch(col, int32(j)); ok {
		return val[k]
	}
	return 0
}

// Count returns the number of stored elements.
func (m *Matrix) Count() int { return len(m.Col) }

// Across calls f for every stored element of a square matrix, row by row, with the one across the
// diagonal, 0 if none is stored. The first error ends it. O(elements) where the pattern is
// symmetric: rows in order visit every column in order, so row j is walked along as its transpose
// comes by.
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
