package optimize_test

import (
	"fmt"
	"log"

	"github.com/mustlink/mustlink/solvers/optimize"
)

// The middle values increase but must not; they are replaced by their mean.
func ExampleRising() {
	x, err := optimize.Falling([]float64{5, 2, 4, 1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output: [5 3 3 1]
}
