package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/model"
)

func newBenchFit(a *app) *cobra.Command {
	b := benchFlags{rounds: 1}
	cmd := &cobra.Command{
		Use:   "fit",
		Short: "compare fit on Prism with mustlink fit: the model, and the memory that it takes",
		Long: `Write rows to 16 files, and once more to one file; fit kbeta by fit and by mustlink fit, with the same links and seed. Printed is whether
the models are the same, but for the time that they took and the fingerprint of the rows, and the most memory of both processes. 3 million
rows of 100 features take 4.8 GB of disk, and mustlink fit about 2.5 GB of memory.`,
		Example: "  mustlink-beam bench fit --rows 3000000 --mustlink bin/mustlink",
		Args:    positional(0, 0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runBenchFit(cmd.Context(), &b) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&b.rows, "rows", 3_000_000, "number of rows")
	f.IntVar(&b.features, "features", 100, "number of features")
	f.IntVar(&b.landmarks, "landmarks", 500, "landmarks of the kbeta model")
	f.Uint64Var(&b.seed, "seed", 1, "number that fixes the rows, the links and the landmarks")
	f.StringVar(&b.dir, "dir", "", "the `FOLDER` for rows and results, which are removed at the end (default that of temporary files)")
	f.StringVar(&b.mustlink, "mustlink", "mustlink", "the `PROGRAM` mustlink, of the same build")
	return cmd
}

// fitFigures are what `bench fit` prints.
type fitFigures struct {
	Rows, Features, Landmarks int
	Same                      bool  // models
	Local, Beam               int64 // bytes of the most memory, 0 when the system does not say
	Gathered                  float64
	Seconds                   float64 // of the command
}

func (a *app) runBenchFit(ctx context.Context, b *benchFlags) error {
	g, err := b.begin(true)
	if err != nil {
		return err
	}
	defer g.remove()
	if err := b.writeParts(ctx, g); err != nil {
		return err
	}
	if err := b.write(ctx, g.at("all.npy"), b.rows); err != nil {
		return err
	}
	if err := b.writeLinks(g.at("links.csv"), 200); err != nil {
		return err
	}
	fit := func(program, rows, model string, more ...string) ([]byte, int64, error) {
		return ran(ctx, program, append([]string{"fit", "-m", "kbeta", "-i", rows, "-c", g.at("links.csv"), "-p", fmt.Sprint("landmarks=", b.landmarks),
			"--seed", fmt.Sprint(b.seed), "-o", model, "--workers", fmt.Sprint(a.workers), "--json"}, more...)...)
	}
	f := fitFigures{Rows: b.rows, Features: b.features, Landmarks: b.landmarks}
	out, most, err := fit(g.self, g.at("part-*.npy"), g.at("beam.mlk"))
	if err != nil {
		return err
	}
	var r struct {
		Job     struct{ Seconds float64 }
		Figures struct {
			Gathered float64 `json:"gathered_rows"`
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return err
	}
	f.Beam, f.Gathered, f.Seconds = most, r.Figures.Gathered, r.Job.Seconds
	if _, f.Local, err = fit(g.mustlink, g.at("all.npy"), g.at("local.mlk")); err != nil {
		return err
	}
	if f.Same, err = sameModel(g.at("beam.mlk"), g.at("local.mlk")); err != nil {
		return err
	}
	return a.printFigures(f, f.text)
}

// writeParts writes the rows of write to files.
func (b *benchFlags) writeParts(ctx context.Context, g ground) error {
	rng := rand.New(rand.NewPCG(b.seed, 1))
	for p := range parts {
		if err := b.writeMore(ctx, rng, g.part(p), (p+1)*b.rows/parts-p*b.rows/parts); err != nil {
			return err
		}
	}
	return nil
}

// writeLinks writes must-links between rows of which none comes twice, as far as there are enough.
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

// ran runs a program, and returns what it printed and the most memory that it took, 0 where the system does not say.
func ran(ctx context.Context, program string, args ...string) ([]byte, int64, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s %v: %w\n%s", program, args, err, stderr.Bytes())
	}
	return stdout.Bytes(), mostMemory(cmd.ProcessState), nil
}

// sameModel compares two model files, but for what differs from fit to fit, and from one program to another.
func sameModel(a, b string) (bool, error) {
	var texts [2]bytes.Buffer
	for i, path := range []string{a, b} {
		f, err := model.ReadFile(path)
		if err != nil {
			return false, err
		}
		f.Header.Status, f.Header.Fingerprint, f.Header.LibraryVersion, f.Header.Build = json.RawMessage("{}"), "", "", ""
		if _, err := f.WriteTo(&texts[i]); err != nil {
			return false, err
		}
	}
	return bytes.Equal(texts[0].Bytes(), texts[1].Bytes()), nil
}

func (f fitFigures) text(w io.Writer) {
	same := "the same as mustlink fit's"
	if !f.Same {
		same = "NOT that of mustlink fit"
	}
	fmt.Fprintf(w, "fit\tkbeta on %d x %d rows in %d files, %d landmarks, %.0f rows gathered in %.1f s\n", f.Rows, f.Features, parts, f.Landmarks, f.Gathered, f.Seconds)
	fmt.Fprintf(w, "model\t%s\n", same)
	fmt.Fprintf(w, "most memory\t%.2f GiB; mustlink fit %.2f GiB\n", float64(f.Beam)/(1<<30), float64(f.Local)/(1<<30))
}
