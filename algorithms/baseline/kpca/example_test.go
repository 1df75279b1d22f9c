package kpca_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/baseline/kpca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Points near a line have only one direction of relevant variance.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x := &points.Dense{N: 4, D: 2, Data: []float64{0, 0, 1, 1, 2, 2, 3, 3}}
	none, err := links.New(4, nil)
	if err != nil {
		log.Fatal(err)
	}
	linear, err := kernel.Parse("linear")
	if err != nil {
		log.Fatal(err)
	}
	model, err := kpca.Learner{Kernel: linear, Params: kpca.DefaultParams()}.Fit(ctx, eng, x, none)
	if err != nil {
		log.Fatal(err)
	}
	variances := model.(*kpca.Model).Spectra()[0].Values
	fmt.Printf("%d direction, variance %.2f", model.Dim(), variances[0])
	// Output: 1 direction, variance 2.50
}
