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
	raw := unseen.Points.(*points.Dense)
	fmt.Printf("raw      %.2f\n", randIndex(ctx, eng, blas.Matrix{Rows: raw.N, Cols: raw.D, Stride: raw.D, Data: raw.Data}, unseen.Labels))
	fmt.Printf("learned  %.2f\n", randIndex(ctx, eng, embedded, unseen.Labels))
	// Output:
	// raw      0.50
	// learned  1.00
}

func randIndex(ctx context.Context, eng *engine.Engine, x blas.Matrix, truth []string) float64 {
	result, err := cluster.KMeans(ctx, eng, x, cluster.Params{K: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	labels := make([]string, len(result.Labels))
	for i, l := range result.Labels {
		labels[i] = fmt.Sprint(l)
	}
	r, err := score.Rand(truth, labels)
	if err != nil {
		log.Fatal(err)
	}
	return r
}
