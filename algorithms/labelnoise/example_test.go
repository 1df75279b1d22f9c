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

// Metrics learned without a link find that it is wrong: it joins two classes.
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
	first := result.Links[0].Link
	fmt.Println("the wrong link ranks first:", first.I == wrong.I && first.J == wrong.J)
	// Output: the wrong link ranks first: true
}
