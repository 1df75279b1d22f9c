package lsml_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/baseline/lsml"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// The comparison states that the first two rows are more alike than the first and the last: the
// second feature matters less.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 4, D: 2, Data: []float64{0, 0, 0.1, 3, 1, 3, 1, 0}}
	none, err := links.New(4, nil)
	if err != nil {
		log.Fatal(err)
	}
	learner := lsml.Learner{Params: lsml.DefaultParams(), Quadruplets: []links.Quadruplet{{I: 0, J: 1, K: 0, L: 3}}}
	model, err := learner.Fit(ctx, eng, x, none)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 1}, {0, 3}, {2, 3}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("nearly as asked for:", squared[0] < 1.1*squared[1])
	fmt.Println("and so of other pairs:", squared[2] < 1.1*squared[1])
	// Output:
	// nearly as asked for: true
	// and so of other pairs: true
}
