package sparse

import "slices"

// Permute returns the square matrix m with rows and columns in another order: row i of the result
// is row order[i] of m; order is a permutation. Cost: O(elements log(length of a row)), on one
// core: once for many products, each as large.
func (m *Matrix) Permute(order []int32) *Matrix {
	place := make([]int32, m.Rows)
	for i, from := range order {
		place[from] = int32(i)
	}
	p := &Matrix{Rows: m.Rows, Cols: m.Cols, Start: make([]int, m.Rows+1), Col: make([]int32, m.Count()), Val: make([]float64, m.Count())}
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
