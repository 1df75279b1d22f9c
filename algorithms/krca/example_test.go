package krca_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Six points in the plane. The must-links say that the first feature does not matter:
// (0,0) belongs with (4,0), and (0,1) with (4,1). The learned squared distance of two other
// points, 4 apart along the first feature, is 3.2 instead of 16; distances along the second
// stay as they are.
func ExampleLearner_Fit() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x, err := points.NewDense(6, 2, []float64{0, 0, 4, 0, 0, 1, 4, 1, 9, 5, 5, 5})
	if err != nil {
		log.Fatal(err)
	}
	set, err := links.New(6, []links.Link{
		links.NewLink(0, 1, links.Must),
		links.NewLink(2, 3, links.Must),
	})
	if err != nil {
		log.Fatal(err)
	}
	linear, err := kernel.Parse("linear")
	if err != nil {
		log.Fatal(err)
	}
	m, err := krca.Learner{Kernel: linear, Params: krca.Params{Eps: 1, Dims: 2}}.Fit(ctx, eng, x, set)
	if err != nil {
		log.Fatal(err)
	}
	d, err := m.Distances(ctx, eng, x, [][2]int{{4, 5}, {0, 2}})
	if err != nil {
		log.Fatal(err)
	}
	// C = diag(4, 0), so that (eps I + C)^-1 = diag(1/5, 1).
	fmt.Printf("4 apart along the first feature: %.2f\n", d[0])
	fmt.Printf("1 apart along the second:        %.2f\n", d[1])
	// Output:
	// 4 apart along the first feature: 3.20
	// 1 apart along the second:        1.00
}
