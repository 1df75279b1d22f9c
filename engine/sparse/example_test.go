package sparse_test

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/sparse"
)

// A symmetric matrix of three rows.
func Example() {
	m := &sparse.Matrix{Rows: 3, Cols: 3, Start: []int{0, 1, 3, 4}, Col: []int32{1, 0, 2, 1},
		Val: []float64{1, 1, 2, 2}}
	columns, values := m.Row(1)
	fmt.Println(columns, values, m.At(1, 2), m.Count())
	// Output: [0 2] [1 2] 2 4
}
