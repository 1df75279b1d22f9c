package operator_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/operator"
)

// A matrix is used as an operator.
func ExampleOperator() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	a := blas.NewMatrix(2, 2)
	copy(a.Data, []float64{1, 2, 2, 5})
	plain, err := operator.Dense(a)
	if err != nil {
		log.Fatal(err)
	}
	x, y := blas.NewMatrix(2, 1), blas.NewMatrix(2, 1)
	copy(x.Data, []float64{1, 1})
	if err := plain.Multiply(ctx, eng, y, x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y.Data)
	// Output: [3 7]
}
