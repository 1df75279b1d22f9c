package calibration_test

import (
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/calibration"
)

// Must-links are short, cannot-links long, except for one of each.
func Example() {
	c, err := calibration.Fit([]float64{1, 2, 3, 4, 5, 6}, []bool{true, true, false, true, false, false})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Probability(1.5), c.Probability(3), c.Probability(9))
	t, err := c.Threshold(0.7)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Distance, t.Must, t.Cannot, t.Precision.Value, t.Recall.Value)
	// Output:
	// 1 0.5 0
	// 4 3 1 0.75 1
}
