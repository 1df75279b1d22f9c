package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/usage"
)

func newBenchEmbed(a *app) *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:   "embed",
		Short: "compare embed on Prism with mustlink embed, which streams one file",
		Long: `Write rows, fit a kbeta model, and run mustlink embed and mustlink-beam embed on them in turn, each as a process of its own. Print the
rows per second of both, from the start of the process to its end, and the ratio: of the medians, and its range over the rounds.
The coordinates take 8 bytes each, at most twice at a time: 5 million rows of 100 features and 500 coordinates need 24 GB.`,
		Example: "  mustlink-beam bench embed --rows 5000000 --mustlink bin/mustlink",
		Args:    usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.measure(a.Check(cmd), func(ctx context.Context) error { return a.benchEmbed(ctx, &b) })
		},
	}
	b.addRounds(cmd, 5_000_000)
	b.addMustlink(cmd)
	return cmd
}

// embedResults is the output of `bench embed`.
type embedResults struct {
	Rows, Features, Dim, Landmarks int
	Local, Beam                    []float64 // seconds of each round
	Ratio                          float64   // rows per second of mustlink-beam, divided by those of mustlink
	Least, Most                    float64   // minimum and maximum ratio of the rounds
}

func (a *app) benchEmbed(ctx context.Context, b *benchFlags) error {
	eng, err := engine.New(engine.Options{Workers: a.Workers})
	if err != nil {
		return err
	}
	rows, model := b.at("x.npy"), b.at("model.mlk")
	fitted, err := b.fit(ctx, eng, model)
	if err != nil {
		return err
	}
	if err := b.write(ctx, rows, b.rows); err != nil {
		return err
	}
	figures := embedResults{Rows: b.rows, Features: b.features, Dim: fitted.Dim(), Landmarks: b.landmarks}
	workers := fmt.Sprint(a.Workers)
	for range b.rounds {
		for _, side := range []struct {
			program string
			seconds *[]float64
		}{{b.mustlink, &figures.Local}, {b.self, &figures.Beam}} {
			out := b.at("out")
			if err := os.Mkdir(out, 0o777); err != nil {
				return err
			}
			begin := time.Now()
			_, _, err := runProgram(ctx, side.program, "embed", model, "-i", rows, "-o",
				filepath.Join(out, "y.npy"), "--workers", workers, "-q")
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
	return a.Print(figures, figures.text)
}

// compare computes the ratios.
func (f *embedResults) compare() {
	f.Ratio = median(f.Local) / median(f.Beam)
	ratios := make([]float64, len(f.Beam))
	for i := range ratios {
		ratios[i] = f.Local[i] / f.Beam[i]
	}
	f.Least, f.Most = slices.Min(ratios), slices.Max(ratios)
}

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (f embedResults) text(w io.Writer) {
	fmt.Fprintf(w, "embed\t%d x %d rows, %d coordinates of %d landmarks\n", f.Rows, f.Features, f.Dim,
		f.Landmarks)
	fmt.Fprintf(w, "mustlink\t%.0f rows per second\n", float64(f.Rows)/median(f.Local))
	fmt.Fprintf(w, "mustlink-beam\t%.0f rows per second\n", float64(f.Rows)/median(f.Beam))
	fmt.Fprintf(w, "ratio\t%.3f (%.3f to %.3f in %d rounds)\n", f.Ratio, f.Least, f.Most, len(f.Beam))
}
