package optimize_test

import (
	"fmt"

	"github.com/mustlink/mustlink/solvers/optimize"
)

// The minimum of a^2/2 - 3a is at 3, outside the box from 0 to 2; the minimum of b^2/2 + b is at
// -1.
func ExampleBoxQP() {
	var s optimize.BoxQP
	a := make([]float64, 2)
	_, ok := s.Solve([]float64{1, 0, 0, 1}, []float64{3, -1}, 2, a)
	fmt.Println(a, ok)
	// Output: [2 0] true
}
