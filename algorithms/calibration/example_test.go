package calibration_test

import (
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/calibration"
)

// Must-links are short, cannot-links long. Twenty of each do not show that no pair at a short
// distance is one that does not match.
func Example() {
	var distances []float64
	var must []bool
	for k := range 20 {
		distances, must = append(distances, 1+float64(k)/20, 3+float64(k)/20), append(must, true, false)
	}
	c, err := calibration.Fit(distances, must)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f %.2f\n", c.Probability(1.5), c.Interval(1.5).Low)
	t, err := c.Threshold(0.7)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Distance, t.Must, t.Cannot)
	_, err = c.Threshold(0.99)
	fmt.Println(err)
	// Output:
	// 0.95 0.81
	// 1.95 20 0
	// precision is 0.99: want at most 0.798, the lower bound up to distance 1.95: 20 must-links and 0 cannot-links support no more
}
