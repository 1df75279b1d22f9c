package npkl_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// There are two groups on a line. One must-link and one cannot-link name four points; the graph
// carries them over to all others.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	line := &points.Dense{N: 8, D: 1, Data: []float64{0, 1, 2, 3, 5, 6, 7, 8}}
	pairs, err := links.New(8,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(3, 4, links.Cannot)})
	if err != nil {
		log.Fatal(err)
	}
	params := npkl.DefaultParams()
	params.Neighbors = 2
	model, err := npkl.Learner{Params: params}.Fit(ctx, eng, line, pairs)
	if err != nil {
		log.Fatal(err)
	}
	k, err := model.Gram(ctx, eng, line, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("points 0 and 3 on one side:", k.At(0, 3) > 0)
	fmt.Println("points 0 and 7 on one side:", k.At(0, 7) > 0)
	// Output:
	// points 0 and 3 on one side: true
	// points 0 and 7 on one side: false
}
