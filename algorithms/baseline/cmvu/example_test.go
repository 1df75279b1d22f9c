package cmvu_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/mustlink/mustlink/algorithms/baseline/cmvu"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Points along a bow are laid out so that its ends are far apart and neighbors stay close.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	bow := &points.Dense{N: 40, D: 2, Data: make([]float64, 80)}
	for i := range bow.N {
		sin, cos := math.Sincos(float64(i) * 5 / 40)
		copy(bow.Row(i), []float64{cos, sin})
	}
	none, err := links.New(40, nil)
	if err != nil {
		log.Fatal(err)
	}
	params := cmvu.DefaultParams()
	params.Neighbors = 4
	model, err := cmvu.Learner{Params: params, Seed: 1}.Fit(ctx, eng, bow, none)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, bow, [][2]int{{0, 39}, {0, 20}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the ends are farther apart than the middle is from an end:", squared[0] > squared[1])
	// Output: the ends are farther apart than the middle is from an end: true
}
