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

func (b *benchFlags) check() error {
	for _, n := range []struct {
		name  string
		value int
		least int
	}{{"--rows", b.rows, 1}, {"--features", b.features, 1}, {"--landmarks", b.landmarks, 2}, {"--rounds", b.rounds, 1}} {
		if n.value < n.least {
			return usagef("%s is %d: want a number >= %d", n.name, n.value, n.least)
		}
	}
	return nil
}

// folder makes a folder for the files of a measurement.
func (b *benchFlags) folder() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(b.dir, "mustlink-beam-bench-")
	return dir, func() { os.RemoveAll(dir) }, err
}

// write writes rows of normal numbers, a block at a time.
func (b *benchFlags) write(ctx context.Context, path string, rows int) error {
	const most = 1 << 13
	rng := rand.New(rand.NewPCG(b.seed, 1))
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
	if err := b.check(); err != nil {
		return err
	}
	local, err := exec.LookPath(b.mustlink)
	if err != nil {
		return usagef("--mustlink is %q: want the program mustlink (%v)", b.mustlink, err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, remove, err := b.folder()
	if err != nil {
		return err
	}
	defer remove()
	eng, err := engine.New(engine.Options{Workers: a.workers})
	if err != nil {
		return err
	}
	rows, model := filepath.Join(dir, "x.npy"), filepath.Join(dir, "model.mlk")
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
		}{{local, &figures.Local}, {self, &figures.Beam}} {
			out := filepath.Join(dir, "out")
			if err := os.Mkdir(out, 0o777); err != nil {
				return err
			}
			s, err := timed(ctx, side.program, "embed", model, "-i", rows, "-o", filepath.Join(out, "y.npy"), "--workers", workers, "-q")
			if err != nil {
				return err
			}
			*side.seconds = append(*side.seconds, s)
			if err := os.RemoveAll(out); err != nil {
				return err
			}
		}
	}
	figures.compare()
	return a.printFigures(figures, figures.text)
}

// timed returns the seconds that a program takes.
func timed(ctx context.Context, program string, args ...string) (float64, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s %v: %w\n%s", program, args, err, out)
	}
	return time.Since(begin).Seconds(), nil
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
