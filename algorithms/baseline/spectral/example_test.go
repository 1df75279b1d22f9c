package spectral_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/baseline/spectral"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Two groups that are far apart have eigenmaps in which each group is a single point.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	line := &points.Dense{N: 8, D: 1, Data: []float64{0, 1, 2, 3, 50, 51, 52, 53}}
	none, err := links.New(8, nil)
	if err != nil {
		log.Fatal(err)
	}
	params := spectral.DefaultParams()
	params.Kind, params.Neighbors, params.Rank = spectral.Diffusion, 2, 2
	params.Time = 10
	model, err := spectral.Learner{Params: params}.Fit(ctx, eng, line, none)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, line, [][2]int{{0, 3}, {3, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a group is nearer to itself:", squared[0] < squared[1])
	// Output: a group is nearer to itself: true
}
