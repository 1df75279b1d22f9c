package mustlink_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// Learn a metric from must-links on the XOR problem, then cluster points that the fit has
// never seen.
func Example() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	seen, err := dataset.Generate("xor", dataset.GenerateOptions{N: 200, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	unseen, err := dataset.Generate("xor", dataset.GenerateOptions{N: 200, Seed: 2})
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := links.SampleByCount(seen.Labels, 120, 0, 1)
	if err != nil {
		log.Fatal(err)
	}
	spec, err := kernel.Parse("rbf:sigma=msq")
	if err != nil {
		log.Fatal(err)
	}
	learner := &krca.Learner{Kernel: spec, Params: krca.DefaultParams(), Seed: 1}
	model, err := learner.Fit(ctx, eng, seen.Points, pairs)
	if err != nil {
		log.Fatal(err)
	}
	embedded, err := model.Embed(ctx, eng, unseen.Points)
	if err != nil {
		log.Fatal(err)
	}
	result, err := cluster.KMeans(ctx, eng, embedded, cluster.Params{K: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	learned, err := score.Rand(unseen.Labels, result.Labels)
	if err != nil {
		log.Fatal(err)
	}

	dense := unseen.Points.(*points.Dense)
	matrix := blas.Matrix{Rows: dense.N, Cols: dense.D, Stride: dense.D, Data: dense.Data}
	result, err = cluster.KMeans(ctx, eng, matrix, cluster.Params{K: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	raw, err := score.Rand(unseen.Labels, result.Labels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("raw      %.2f\nlearned  %.2f\n", raw, learned)
	// Output:
	// raw      0.50
	// learned  1.00
}
