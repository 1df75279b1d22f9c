package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

func newBench(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure what jobs take on this machine",
		Args:  cobra.ArbitraryArgs,
		RunE:  unknownCommand,
	}
	cmd.AddCommand(newBenchEmbed(a), newBenchKMeans(a), newBenchFit(a), newBenchCosts(a))
	return cmd
}

// benchFlags describe the problem that is measured.
type benchFlags struct {
	rows, features, landmarks, rounds int
	seed                              uint64
	dir, mustlink                     string
}

func (b *benchFlags) add(cmd *cobra.Command, rows int) {
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&b.rows, "rows", rows, "number of rows")
	f.IntVar(&b.features, "features", 100, "number of features")
	f.IntVar(&b.landmarks, "landmarks", 500, "landmarks of the kbeta model")
	f.IntVar(&b.rounds, "rounds", 3, "how often each takes its turn")
	f.Uint64Var(&b.seed, "seed", 1, "number that fixes the rows")
	f.StringVar(&b.dir, "dir", "", "the `FOLDER` for rows and results, which are removed at the end (default that of temporary files)")
}

// begin checks the flags, finds the programs that are measured, this one and perhaps mustlink, and makes a folder for files.
func (b *benchFlags) begin(withMustlink bool) (g ground, err error) {
	err = checkBounds(bound{"--rows", b.rows, 1}, bound{"--features", b.features, 1}, bound{"--landmarks", b.landmarks, 2}, bound{"--rounds", b.rounds, 1})
	if err != nil {
		return g, err
	}
	if withMustlink {
		if g.mustlink, err = exec.LookPath(b.mustlink); err != nil {
			return g, usagef("--mustlink is %q: want the program mustlink (%v)", b.mustlink, err)
		}
	}
	if g.self, err = os.Executable(); err != nil {
		return g, err
	}
	g.dir, err = os.MkdirTemp(b.dir, "mustlink-beam-bench-")
	return g, err
}

// ground is what a measurement works with.
type ground struct{ dir, self, mustlink string }

// at returns the path of a file of the measurement.
func (g ground) at(name string) string { return filepath.Join(g.dir, name) }

// remove removes all files of the measurement.
func (g ground) remove() { os.RemoveAll(g.dir) }

// write writes rows of normal numbers.
func (b *benchFlags) write(ctx context.Context, path string, rows int) error {
	return b.writeMore(ctx, rand.New(rand.NewPCG(b.seed, 1)), path, rows)
}

// writeMore writes rows of the next normal numbers, a block at a time.
func (b *benchFlags) writeMore(ctx context.Context, rng *rand.Rand, path string, rows int) error {
	const most = 1 << 13
	left := rows
	next := func() (dataset.Rows, error) {
		if left == 0 {
			return dataset.Rows{}, io.EOF
		}
		n := min(most, left)
		left -= n
		return dataset.Rows{Data: normal(rng, n*b.features)}, ctx.Err()
	}
	return dataset.WriteRows(path, rows, b.features, next, dataset.WriteOptions{})
}

func normal(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// fit writes a model of kbeta on some such rows, whose classes the sign of the first feature says.
func (b *benchFlags) fit(ctx context.Context, eng *engine.Engine, path string) (*mustlink.Model, error) {
	n := 4 * b.landmarks
	x := &points.Dense{N: n, D: b.features, Data: normal(rand.New(rand.NewPCG(b.seed, 2)), n*b.features)}
	labels := make([]string, n)
	for i := range labels {
		labels[i] = fmt.Sprint(x.Data[i*x.D] > 0)
	}
	set, err := links.SampleByCount(labels, 200, 0, b.seed)
	if err != nil {
		return nil, err
	}
	m, err := mustlink.Fit(ctx, mustlink.FromData(&dataset.Data{Points: x}), set, mustlink.Method("kbeta"), mustlink.Param("landmarks", fmt.Sprint(b.landmarks)),
		mustlink.Seed(b.seed), mustlink.Engine(eng))
	if err != nil {
		return nil, err
	}
	return m, m.Save(path)
}

func newBenchEmbed(a *app) *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:   "embed",
		Short: "compare embed on Prism with mustlink embed, which streams one file",
		Long: `Write rows, fit a model of kbeta and let mustlink embed and mustlink-beam embed map them, in turn and each as a process of its own.
Printed are the rows a second of both, from the start of the process to its end, and their ratio: of the medians, and of every round. The coordinates take
8 bytes each, twice at most at a time: 5 million rows of 100 features and 500 coordinates need 24 GB.`,
		Example: "  mustlink-beam bench embed --rows 5000000 --mustlink bin/mustlink",
		Args:    positional(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runBenchEmbed(cmd.Context(), &b) },
	}
	b.add(cmd, 5_000_000)
	cmd.Flags().StringVar(&b.mustlink, "mustlink", "mustlink", "the `PROGRAM` mustlink, of the same build")
	return cmd
}

// embedFigures are what `bench embed` prints.
type embedFigures struct {
	Rows, Features, Dim, Landmarks int
	Local, Beam                    []float64 // seconds of each round
	Ratio                          float64   // of the rows a second: Beam's over those of mustlink
	Least, Most                    float64   // of the rounds
}

func (a *app) runBenchEmbed(ctx context.Context, b *benchFlags) error {
	g, err := b.begin(true)
	if err != nil {
		return err
	}
	defer g.remove()
	eng, err := engine.New(engine.Options{Workers: a.workers})
	if err != nil {
		return err
	}
	rows, model := g.at("x.npy"), g.at("model.mlk")
	fitted, err := b.fit(ctx, eng, model)
	if err != nil {
		return err
	}
	if err := b.write(ctx, rows, b.rows); err != nil {
		return err
	}
	figures := embedFigures{Rows: b.rows, Features: b.features, Dim: fitted.Dim(), Landmarks: b.landmarks}
	workers := fmt.Sprint(a.workers)
	for range b.rounds {
		for _, side := range []struct {
			program string
			seconds *[]float64
		}{{g.mustlink, &figures.Local}, {g.self, &figures.Beam}} {
			out := g.at("out")
			if err := os.Mkdir(out, 0o777); err != nil {
				return err
			}
			begin := time.Now()
			_, _, err := ran(ctx, side.program, "embed", model, "-i", rows, "-o", filepath.Join(out, "y.npy"), "--workers", workers, "-q")
			if err != nil {
				return err
			}
			*side.seconds = append(*side.seconds, time.Since(begin).Seconds())
			if err := os.RemoveAll(out); err != nil {
				return err
			}
		}
	}
	figures.compare()
	return a.printFigures(figures, figures.text)
}

// compare fills in the ratios.
func (f *embedFigures) compare() {
	f.Ratio = median(f.Local) / median(f.Beam)
	for i := range f.Local {
		r := f.Local[i] / f.Beam[i]
		if i == 0 {
			f.Least, f.Most = r, r
		}
		f.Least, f.Most = min(f.Least, r), max(f.Most, r)
	}
}

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (f embedFigures) text(w io.Writer) {
	fmt.Fprintf(w, "embed\t%d x %d rows, %d coordinates of %d landmarks\n", f.Rows, f.Features, f.Dim, f.Landmarks)
	fmt.Fprintf(w, "mustlink\t%.0f rows a second\n", float64(f.Rows)/median(f.Local))
	fmt.Fprintf(w, "mustlink-beam\t%.0f rows a second\n", float64(f.Rows)/median(f.Beam))
	fmt.Fprintf(w, "ratio\t%.3f (%.3f to %.3f in %d rounds)\n", f.Ratio, f.Least, f.Most, len(f.Beam))
}
