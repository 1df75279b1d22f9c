package lleratio_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
)

// Two concentric rings: k-means finds them in the learned metric only.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	seen, err := dataset.Generate("rings", dataset.GenerateOptions{N: 200, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	heldOut, err := dataset.Generate("rings", dataset.GenerateOptions{N: 200, Seed: 2})
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := links.SampleByCount(seen.Labels, 120, 120, 1)
	if err != nil {
		log.Fatal(err)
	}
	model, err := lleratio.Learner{Params: lleratio.DefaultParams(), Seed: 1}.Fit(ctx, eng, seen.Points,
		pairs)
	if err != nil {
		log.Fatal(err)
	}
	coordinates, err := model.Embed(ctx, eng, heldOut.Points)
	if err != nil {
		log.Fatal(err)
	}
	clusters, err := cluster.KMeans(ctx, eng, coordinates, cluster.Params{K: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	agreement, err := score.Rand(heldOut.Labels, clusters.Labels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("clusters of held-out points are the classes:", agreement > 0.9)
	// Output: clusters of held-out points are the classes: true
}
