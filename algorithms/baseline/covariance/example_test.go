package covariance_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/baseline/covariance"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// A feature in meters and one in millimeters have the same influence.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 4, D: 2, Data: []float64{0, 0, 1, 0, 0, 1000, 1, 1000}}
	none, err := links.New(4, nil)
	if err != nil {
		log.Fatal(err)
	}
	model, err := covariance.Learner{Params: covariance.DefaultParams()}.Fit(ctx, eng, x, none)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, x, [][2]int{{0, 1}, {0, 2}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %.3f\n", squared[0], squared[1])
	// Output: 4.000 4.000
}
