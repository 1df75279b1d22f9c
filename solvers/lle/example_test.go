package lle_test

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
)

// A point lies between two others, closer to the first.
func ExampleWeights() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := points.NewDense(3, 1, []float64{1, 0, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	neighbors := []int32{1, 2}
	w, err := lle.Weights(context.Background(), eng, 1, 2, lle.OfVectors(eng, x, neighbors, 2), 1e-9)
	fmt.Printf("%.4f %v\n", w.Row(0), err)
	// Output: [0.7500 0.2500] <nil>
}
