package batch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/batch"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
)

// A model for each of a thousand tenants: here three, with different links.
func ExampleFit() {
	cache, err := engine.NewCache(64 << 20)
	if err != nil {
		log.Fatal(err)
	}
	eng, err := engine.New(engine.Options{Cache: cache})
	if err != nil {
		log.Fatal(err)
	}
	data, err := dataset.Generate("rings", dataset.GenerateOptions{N: 100, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	jobs := func(yield func(batch.Job) bool) {
		for tenant := range 3 {
			set, err := links.SampleByCount(data.Labels, 20*tenant, 0, 1)
			if err != nil {
				log.Fatal(err)
			}
			if !yield(batch.Job{Learner: krca.Learner{Params: krca.DefaultParams()}, Points: data.Points,
				Links: set}) {
				return
			}
		}
	}
	results, err := batch.Fit(context.Background(), eng, jobs, batch.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for r := range results {
		if r.Err != nil {
			fmt.Println(r.Index, r.Err)
			continue
		}
		fmt.Println(r.Index, r.Model.Dim())
	}
	// Output:
	// 0 krca learns from must-links: want at least one must-link or chunklet of two points, got none (0 cannot-links, 0 chunklets of size 1)
	// 1 20
	// 2 20
}
