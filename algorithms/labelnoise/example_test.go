package labelnoise_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/labelnoise"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
)

// A link that joins two classes is found by metrics that are learned without it.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	data, err := dataset.Generate("blobs", dataset.GenerateOptions{N: 90, Noise: 0.3, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := links.SampleByCount(data.Labels, 60, 60, 1)
	if err != nil {
		log.Fatal(err)
	}
	var wrong links.Link
	for j := range data.Labels {
		if data.Labels[j] != data.Labels[0] {
			wrong = links.NewLink(0, j, links.Must)
		}
	}
	one, err := links.New(len(data.Labels), []links.Link{wrong})
	if err != nil {
		log.Fatal(err)
	}
	all, err := links.Union(pairs, one)
	if err != nil {
		log.Fatal(err)
	}
	options, err := labelnoise.DefaultOptions(1)
	if err != nil {
		log.Fatal(err)
	}
	result, err := labelnoise.Rank(ctx, eng, data.Points, all, options)
	if err != nil {
		log.Fatal(err)
	}
	worst := result.Suspects[0].Link
	fmt.Println("the wrong one is the most suspicious:", worst.I == wrong.I && worst.J == wrong.J)
	// Output: the wrong one is the most suspicious: true
}
