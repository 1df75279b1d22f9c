package boxqp_test

import (
	"fmt"

	"github.com/mustlink/mustlink/solvers/boxqp"
)

// The minimum of a^2/2 - 3a is at 3, outside the box from 0 to 2; the minimum of b^2/2 + b is at
// -1.
func Example() {
	var s boxqp.Solver
	a := make([]float64, 2)
	_, ok := s.Solve([]float64{1, 0, 0, 1}, []float64{3, -1}, 2, a)
	fmt.Println(a, ok)
	// Output: [2 0] true
}
