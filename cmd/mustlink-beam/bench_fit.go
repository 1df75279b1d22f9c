package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/internal/usage"
)

func newBenchFit(a *app) *cobra.Command {
	b := benchFlags{rounds: 1}
	cmd := &cobra.Command{
		Use:   "fit",
		Short: "compare the model and peak memory of fit on Prism with those of mustlink fit",
		Long: `Write rows to 16 files, and again to one file. Fit kbeta by fit and by mustlink fit, with the same links and seed. Print whether the
models are the same, except for the fitting time and the fingerprint of the rows, and the peak memory of both processes. 3 million
rows of 100 features take 4.8 GB of disk, and mustlink fit about 2.5 GB of memory.`,
		Example: "  mustlink-beam bench fit --rows 3000000 --mustlink bin/mustlink",
		Args:    usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.measure(a.Check(cmd), func(ctx context.Context) error { return a.benchFit(ctx, &b) })
		},
	}
	b.addRows(cmd, 3_000_000, 100)
	b.addModel(cmd)
	b.addSeed(cmd, "the rows, the links and the landmarks")
	b.addMustlink(cmd)
	return cmd
}

// fitResults is the output of `bench fit`.
type fitResults struct {
	Rows, Features, Landmarks int
	Same                      bool  // the two models are the same
	Local, Beam               int64 // peak memory in bytes, 0 when the system does not report it
	Gathered                  float64
	Seconds                   float64 // of the command
}

func (a *app) benchFit(ctx context.Context, b *benchFlags) error {
	if err := b.writeParts(ctx); err != nil {
		return err
	}
	if err := b.write(ctx, b.at("all.npy"), b.rows); err != nil {
		return err
	}
	if err := b.writeLinks(b.at("links.csv"), 200); err != nil {
		return err
	}
	var r struct {
		Job     struct{ Seconds float64 }
		Figures struct {
			Gathered float64 `json:"gathered_rows"`
		}
	}
	fit := func(report any, program, rows, model string, more ...string) (memory int64, err error) {
		return runJSON(ctx, report, program,
			append([]string{"fit", "-m", "kbeta", "-i", rows, "-c", b.at("links.csv"), "-p",
				fmt.Sprint("landmarks=", b.landmarks),
				"--seed", fmt.Sprint(b.seed), "-o", model, "--workers", fmt.Sprint(a.Workers)}, more...)...)
	}
	f := fitResults{Rows: b.rows, Features: b.features, Landmarks: b.landmarks}
	var err error
	if f.Beam, err = fit(&r, b.self, b.at("part-*.npy"), b.at("beam.mlk")); err != nil {
		return err
	}
	f.Gathered, f.Seconds = r.Figures.Gathered, r.Job.Seconds
	if f.Local, err = fit(new(any), b.mustlink, b.at("all.npy"), b.at("local.mlk"), "--prepare",
		"none"); err != nil {
		return err
	}
	if f.Same, err = sameModel(b.at("beam.mlk"), b.at("local.mlk")); err != nil {
		return err
	}
	return a.Print(f, f.text)
}

// writeParts writes the same rows as write, to several files.
func (b *benchFlags) writeParts(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(b.seed, 1))
	for p := range parts {
		if err := b.writeMore(ctx, rng, b.part(p), (p+1)*b.rows/parts-p*b.rows/parts); err != nil {
			return err
		}
	}
	return nil
}

// writeLinks writes must-links between different rows, as many as there are rows for.
func (b *benchFlags) writeLinks(path string, count int) error {
	return dataset.Atomic(path, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		fmt.Fprintln(out, "i,j,link")
		rows := rand.New(rand.NewPCG(b.seed, 4)).Perm(b.rows)
		for p := range min(count, b.rows/2) {
			fmt.Fprintf(out, "%d,%d,must\n", rows[2*p], rows[2*p+1])
		}
		return out.Flush()
	})
}

// sameModel compares two model files, except for what differs between fits and between programs.
func sameModel(a, b string) (bool, error) {
	var texts [2]bytes.Buffer
	for i, path := range []string{a, b} {
		f, err := model.ReadFile(path)
		if err != nil {
			return false, err
		}
		f.Header.Status, f.Header.Fingerprint, f.Header.LibraryVersion,
			f.Header.Build = json.RawMessage("{}"), "", "", ""
		if _, err := f.WriteTo(&texts[i]); err != nil {
			return false, err
		}
	}
	return bytes.Equal(texts[0].Bytes(), texts[1].Bytes()), nil
}

func (f fitResults) text(w io.Writer) {
	same := "the same as mustlink fit's"
	if !f.Same {
		same = "NOT that of mustlink fit"
	}
	fmt.Fprintf(w, "fit\tkbeta on %d x %d rows in %d files, %d landmarks, %.0f rows gathered in %.1f s\n",
		f.Rows, f.Features, parts, f.Landmarks, f.Gathered, f.Seconds)
	fmt.Fprintf(w, "model\t%s\n", same)
	fmt.Fprintf(w, "peak memory\t%.2f GiB; mustlink fit %.2f GiB\n", float64(f.Beam)/(1<<30),
		float64(f.Local)/(1<<30))
}
