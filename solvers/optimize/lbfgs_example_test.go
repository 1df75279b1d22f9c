package optimize_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// The example minimizes a quadratic function.
func ExampleHistory() {
	table, err := asm.Select(asm.Generic)
	if err != nil {
		log.Fatal(err)
	}
	bowl := func(x, gradient []float64) (float64, error) {
		a, b := x[0]-1, x[1]+2
		gradient[0], gradient[1] = 2*a, 20*b
		return a*a + 10*b*b, nil
	}
	flat := func(_ int, _ float64, _, gradient []float64) (bool, error) {
		return math.Hypot(gradient[0], gradient[1]) < 1e-6, nil
	}
	x := []float64{5, 5}
	outcome, err := optimize.MinimizeLBFGS(context.Background(), table, bowl, x,
		optimize.LBFGSOptions{MaxIter: 100, Done: flat})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f %.4f %v", x[0], x[1], outcome.Converged)
	// Output: 1.0000 -2.0000 true
}
