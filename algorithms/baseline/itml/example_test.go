package itml_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// The second feature varies within the classes. The metric must ignore it, although it is ten times
// as wide.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14, // one class: near 0 in the first feature, anything in the second
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15, // the other one
	}}
	// all pairs
	pairs, err := links.SampleByCount([]string{"a", "a", "a", "a", "b", "b", "b", "b"}, 12, 16, 1)
	if err != nil {
		log.Fatal(err)
	}
	model, err := itml.Learner{Params: itml.DefaultParams()}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0] < squared[1])
	// Output: within the class shorter than to the other one: true
}
