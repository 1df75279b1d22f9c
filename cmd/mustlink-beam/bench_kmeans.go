package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/kmeans"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/usage"
)

func newBenchKMeans(a *app) *cobra.Command {
	b, clusters, iterations, tol := benchFlags{landmarks: 2, rounds: 1}, 0, 0, 0.0
	cmd := &cobra.Command{
		Use:   "kmeans",
		Short: "compare the inertia of kmeans on Prism with the best of five starts of the library",
		Long: `Write rows of three overlapping blobs for each cluster to 16 files. Cluster them by kmeans and, in memory, by the library's k-means++
with five starts. Print both inertias and their ratio. 2 million rows of 20 features take 0.7 GB of memory.`,
		Example: "  mustlink-beam bench kmeans --rows 2000000 --features 20 --clusters 20",
		Args:    usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.measure(a.Check(cmd), func(ctx context.Context) error {
				return a.benchKMeans(ctx, &b, clusters, "--iterations", fmt.Sprint(iterations), "--tol",
					fmt.Sprint(tol))
			})
		},
	}
	b.addRows(cmd, 2_000_000, 20)
	f := cmd.Flags()
	f.IntVar(&clusters, "clusters", 20, "number of clusters")
	f.IntVar(&iterations, "iterations", kmeans.DefaultIterations, "--iterations of kmeans")
	f.Float64Var(&tol, "tol", kmeans.DefaultTol, "--tol of kmeans")
	b.addSeed(cmd, "the rows and the starts")
	return cmd
}

// kmeansResults is the output of `bench kmeans`.
type kmeansResults struct {
	Rows, Features, Clusters int
	Local, Beam              float64 // inertia
	Ratio                    float64 // inertia of mustlink-beam, divided by that of the library
	Iterations               float64
	Seconds                  float64 // of the command
}

func (a *app) benchKMeans(ctx context.Context, b *benchFlags, clusters int, more ...string) error {
	if clusters < 1 || clusters > b.rows {
		return usage.Errorf("--clusters is %d: want a number from 1 to %d, the number of rows", clusters,
			b.rows)
	}
	x := b.blobs(clusters)
	for p := range parts {
		lo, hi := p*x.Rows/parts, (p+1)*x.Rows/parts
		if err := dataset.WriteMatrix(b.part(p), hi-lo, x.Cols, x.Data[lo*x.Cols:], x.Cols, nil,
			dataset.WriteOptions{}); err != nil {
			return err
		}
	}
	var r struct {
		Job     struct{ Seconds float64 }
		Figures struct{ Inertia, Iterations float64 }
	}
	args := append([]string{"kmeans", "-i", b.at("part-*.npy"), "-n", fmt.Sprint(clusters), "--seed",
		fmt.Sprint(b.seed),
		"-o", b.at("centers.npy"), "--workers", fmt.Sprint(a.Workers)}, more...)
	if _, err := runJSON(ctx, &r, b.self, args...); err != nil {
		return err
	}
	eng, err := engine.New(engine.Options{Workers: a.Workers})
	if err != nil {
		return err
	}
	best, err := cluster.KMeans(ctx, eng, x, cluster.Params{K: clusters, Restarts: 5, Seed: b.seed})
	if err != nil {
		return err
	}
	f := kmeansResults{Rows: b.rows, Features: b.features, Clusters: clusters, Local: best.Inertia,
		Beam:  r.Figures.Inertia,
		Ratio: r.Figures.Inertia / best.Inertia, Iterations: r.Figures.Iterations, Seconds: r.Job.Seconds}
	return a.Print(f, f.text)
}

// blobs returns rows of three overlapping blobs for each cluster.
func (b *benchFlags) blobs(clusters int) blas.Matrix {
	rng := rand.New(rand.NewPCG(b.seed, 3))
	centers := normal(rng, 3*clusters*b.features)
	x := blas.NewMatrix(b.rows, b.features)
	for i := range x.Rows {
		center := centers[rng.IntN(3*clusters)*b.features:]
		for j := range x.Cols {
			x.Set(i, j, 2*center[j]+rng.NormFloat64())
		}
	}
	return x
}

func (f kmeansResults) text(w io.Writer) {
	fmt.Fprintf(w, "kmeans\t%d x %d rows, %d clusters, %.0f iterations in %.1f s\n", f.Rows, f.Features,
		f.Clusters, f.Iterations, f.Seconds)
	fmt.Fprintf(w, "inertia\t%.8g; of the library's best of five starts %.8g\n", f.Beam, f.Local)
	fmt.Fprintf(w, "ratio\t%.5f\n", f.Ratio)
}
