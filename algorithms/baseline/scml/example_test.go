package scml_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/baseline/scml"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Two classes differ in the first feature; the second varies more.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 8, D: 2, Data: []float64{
		0, 1, 0.2, 5, -0.1, 9, 0.1, 14,
		1, 0, 1.2, 6, 0.9, 8, 1.1, 15,
	}}
	classes, err := links.FromLabels([]string{"a", "a", "a", "a", "b", "b", "b", "b"})
	if err != nil {
		log.Fatal(err)
	}
	model, err := scml.Learner{Params: scml.DefaultParams()}.Fit(ctx, eng, x, classes)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 3}, {0, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within the class shorter than to the other one:", squared[0]+1 <= squared[1]+1e-6)
	// Output: within the class shorter than to the other one: true
}
