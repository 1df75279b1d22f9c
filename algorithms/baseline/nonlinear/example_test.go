package nonlinear_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// One ring lies around another; shortest paths stay within a ring.
func ExampleKlein() {
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
	model, err := nonlinear.KleinLearner{Params: param.Default[nonlinear.Klein](), Seed: 1}.Fit(ctx, eng,
		seen.Points, pairs)
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

// The classes are the diagonals of four blobs. A map with Gaussian windows brings the blobs of a
// class together.
func ExampleLLMA() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	seen, err := dataset.Generate("xor", dataset.GenerateOptions{N: 200, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	heldOut, err := dataset.Generate("xor", dataset.GenerateOptions{N: 200, Seed: 2})
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := links.SampleByCount(seen.Labels, 120, 120, 1)
	if err != nil {
		log.Fatal(err)
	}
	model, err := nonlinear.LLMALearner{Params: param.Default[nonlinear.LLMA](), Seed: 1}.Fit(ctx, eng,
		seen.Points, pairs)
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

// Two groups that are far apart have eigenmaps in which each group is a single point.
func ExampleSpectral() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	line := &points.Dense{N: 8, D: 1, Data: []float64{0, 1, 2, 3, 50, 51, 52, 53}}
	none, err := links.New(8, nil)
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[nonlinear.Spectral]()
	params.Kind, params.Neighbors, params.Rank = nonlinear.SpectralDiffusion, 2, 2
	params.Time = 10
	model, err := nonlinear.SpectralLearner{Params: params}.Fit(ctx, eng, line, none)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, line, [][2]int{{0, 3}, {3, 4}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a group is nearer to itself:", squared[0] < squared[1])
	// Output: a group is nearer to itself: true
}

// Points near a line have only one direction of relevant variance.
func ExampleKPCA() {
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
	model, err := nonlinear.KPCALearner{Kernel: linear, Params: param.Default[nonlinear.KPCA]()}.Fit(ctx, eng,
		x, none)
	if err != nil {
		log.Fatal(err)
	}
	variances := model.(*nonlinear.KPCAModel).Spectra()[0].Values
	fmt.Printf("%d direction, variance %.2f", model.Dim(), variances[0])
	// Output: 1 direction, variance 2.50
}

// Points along a bow are laid out so that its ends are far apart and neighbors stay close.
func ExampleCMVU() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	bow := &points.Dense{N: 40, D: 2, Data: make([]float64, 80)}
	for i := range bow.N {
		sin, cos := math.Sincos(float64(i) * 5 / 40)
		copy(bow.Row(i), []float64{cos, sin})
	}
	none, err := links.New(40, nil)
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[nonlinear.CMVU]()
	params.Neighbors = 4
	model, err := nonlinear.CMVULearner{Params: params, Seed: 1}.Fit(ctx, eng, bow, none)
	if err != nil {
		log.Fatal(err)
	}
	squared, err := model.Distances(ctx, eng, bow, [][2]int{{0, 39}, {0, 20}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the ends are farther apart than the middle is from an end:", squared[0] > squared[1])
	// Output: the ends are farther apart than the middle is from an end: true
}

// Two groups on a line, of which one must-link and one cannot-link name four points: the graph
// carries them to all others.
func ExampleNPK() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	line := &points.Dense{N: 8, D: 1, Data: []float64{0, 1, 2, 3, 5, 6, 7, 8}}
	pairs, err := links.New(8,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(3, 4, links.Cannot)})
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[nonlinear.NPK]()
	params.Neighbors = 2
	model, err := nonlinear.NPKLearner{Params: params}.Fit(ctx, eng, line, pairs)
	if err != nil {
		log.Fatal(err)
	}
	k, err := model.Gram(ctx, eng, line, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("points 0 and 3 on one side:", k.At(0, 3) > 0)
	fmt.Println("points 0 and 7 on one side:", k.At(0, 7) > 0)
	// Output:
	// points 0 and 3 on one side: true
	// points 0 and 7 on one side: false
}

// Two groups on a line, of which one must-link and one cannot-link name four points: the graph
// carries them to all others.
func ExampleSimpleNPKL() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	line := &points.Dense{N: 8, D: 1, Data: []float64{0, 1, 2, 3, 5, 6, 7, 8}}
	pairs, err := links.New(8,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(3, 4, links.Cannot)})
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[nonlinear.SimpleNPKL]()
	params.Neighbors = 2
	model, err := nonlinear.SimpleNPKLLearner{Params: params}.Fit(ctx, eng, line, pairs)
	if err != nil {
		log.Fatal(err)
	}
	k, err := model.Gram(ctx, eng, line, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("points 0 and 3 on one side:", k.At(0, 3) > 0)
	fmt.Println("points 0 and 7 on one side:", k.At(0, 7) > 0)
	// Output:
	// points 0 and 3 on one side: true
	// points 0 and 7 on one side: false
}

// Two groups on a line, of which one must-link and one cannot-link name four points: the graph
// carries them to all others.
func ExampleSDPLR() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	line := &points.Dense{N: 8, D: 1, Data: []float64{0, 1, 2, 3, 5, 6, 7, 8}}
	pairs, err := links.New(8,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(3, 4, links.Cannot)})
	if err != nil {
		log.Fatal(err)
	}
	params := param.Default[nonlinear.SDPLR]()
	params.Neighbors = 2
	model, err := nonlinear.SDPLRLearner{Params: params}.Fit(ctx, eng, line, pairs)
	if err != nil {
		log.Fatal(err)
	}
	k, err := model.Gram(ctx, eng, line, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("points 0 and 3 on one side:", k.At(0, 3) > 0)
	fmt.Println("points 0 and 7 on one side:", k.At(0, 7) > 0)
	// Output:
	// points 0 and 3 on one side: true
	// points 0 and 7 on one side: false
}
