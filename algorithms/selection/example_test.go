package selection_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
)

// Candidates are scored by held-out links. A linear metric cannot separate two rings.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	data, err := dataset.Generate("rings", dataset.GenerateOptions{N: 200, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := links.SampleByCount(data.Labels, 150, 150, 1)
	if err != nil {
		log.Fatal(err)
	}
	options := selection.DefaultOptions()
	options.Candidates = []selection.Candidate{{Method: "itml"}, {Method: "krca", Kernel: "rbf:sigma=msq"}}
	result, err := selection.Select(ctx, eng, data.Points, pairs, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Trials[0].Candidate.Method)
	// Output: krca
}
