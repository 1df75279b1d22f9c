package blas_test

import (
	"fmt"

	"github.com/mustlink/mustlink/blas"
)

// Matrices are row-major; a view shares the elements.
func Example() {
	m := blas.NewMatrix(3, 3)
	for i := range 3 {
		m.Set(i, i, float64(i+1))
	}
	corner := m.View(1, 3, 1, 3)
	corner.Set(0, 1, 7)
	fmt.Println(m.Row(1), corner.Rows, corner.Stride)
	// Output: [0 2 7] 2 3
}
