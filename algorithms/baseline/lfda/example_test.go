package lfda_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/baseline/lfda"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Class a lies on both sides of class b in the first feature; one direction is enough to separate
// them.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 9, D: 2, Data: []float64{-9, 3, -8, 0, -10, 1, 8, 2, 10, 0, 9, 1, 0, 3, 1, 0, -1, 2}}
	classes, err := links.FromLabels([]string{"a", "a", "a", "a", "a", "a", "b", "b", "b"})
	if err != nil {
		log.Fatal(err)
	}
	params := lfda.DefaultParams()
	params.Dims, params.Neighbors, params.Scaling = 1, 2, lfda.Orthonormalized
	model, err := lfda.Learner{Params: params}.Fit(ctx, eng, x, classes)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 1}, {0, 6}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a neighbor is nearer than the other class:", squared[0] < squared[1]/10)
	// Output: a neighbor is nearer than the other class: true
}
