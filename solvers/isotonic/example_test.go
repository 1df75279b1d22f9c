package isotonic_test

import (
	"fmt"
	"log"

	"github.com/mustlink/mustlink/solvers/isotonic"
)

// The middle values increase but must not; they are replaced by their mean.
func Example() {
	x, err := isotonic.Falling([]float64{5, 2, 4, 1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output: [5 3 3 1]
}
