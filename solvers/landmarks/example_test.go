package landmarks_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

// Among points on a line, with the first one given, the farthest are chosen.
func ExampleSelect() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := points.NewDense(5, 1, []float64{0, 1, 2, 7, 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	src := landmarks.OfKernel(eng, kernel.Linear(), x)
	chosen, err := landmarks.Select(context.Background(), eng, landmarks.Farthest, src, 3, []int{0}, 1)
	fmt.Println(chosen, err)
	// Output: [0 4 3] <nil>
}
