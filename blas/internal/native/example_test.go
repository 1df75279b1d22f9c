package native_test

import (
	"fmt"
	"log"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/native"
)

// Eigenvalues of a symmetric matrix, of which the lower triangle is read.
func Example() {
	table, err := asm.Select(asm.Generic)
	if err != nil {
		log.Fatal(err)
	}
	backend := native.New(table, 1)
	a := blas.NewMatrix(2, 2)
	copy(a.Data, []float64{2, 0, 1, 2})
	values := make([]float64, 2)
	if err := backend.SymEig(a, values, false); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f", values)
	// Output: [1.000 3.000]
}
