package sdml_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/baseline/sdml"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Classes differ in the first feature; the second appears in no product, and has a smaller weight.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 6, D: 2, Data: []float64{0, 1, 0.2, 0, -0.1, 2, 1, 0, 1.2, 2, 0.9, 1}}
	pairs, err := links.FromLabels([]string{"a", "a", "a", "b", "b", "b"})
	if err != nil {
		log.Fatal(err)
	}
	params := sdml.DefaultParams()
	params.Sparsity = 0.1
	model, err := sdml.Learner{Params: params}.Fit(ctx, eng, x, pairs)
	if err != nil {
		log.Fatal(err)
	}
	w, _ := model.(*sdml.Model).Transform()
	fmt.Printf("%.2f %.2f\n", w.Row(0), w.Row(1))
	// Output: [1.03 0.00] [0.00 0.72]
}
