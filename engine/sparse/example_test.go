package sparse_test

import (
	"fmt"

	"github.com/mustlink/mustlink/engine/sparse"
)

// A symmetric matrix of three rows, and its product with a vector.
func Example() {
	m := &sparse.Matrix{Rows: 3, Cols: 3, Start: []int{0, 1, 3, 4}, Col: []int32{1, 0, 2, 1}, Val: []float64{1, 1, 2, 2}}
	y := make([]float64, 3)
	m.MultiplyTo(y, []float64{1, 10, 100}, 0, 3)
	fmt.Println(y, m.At(1, 2), m.Count())
	// Output: [10 201 20] 2 4
}
