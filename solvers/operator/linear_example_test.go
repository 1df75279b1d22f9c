package operator_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/operator"
)

// A system of two equations.
func ExampleSolve() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	a, err := operator.Dense(blas.MatrixOf(2, 2, []float64{2, -1, -1, 2}))
	if err != nil {
		log.Fatal(err)
	}
	b := blas.MatrixOf(2, 1, []float64{3, 0})
	res, err := operator.Solve(context.Background(), eng, a, b, operator.SolveOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f %.6f\n", res.X.At(0, 0), res.X.At(1, 0))
	// Output:
	// 2.000000 1.000000
}
