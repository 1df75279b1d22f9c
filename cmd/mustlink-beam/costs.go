package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rows"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/usage"
)

func newBenchCosts(a *app) *cobra.Command {
	var b benchFlags
	cmd := &cobra.Command{
		Use:   "costs",
		Short: "measure the costs of a job's parts, and estimate those of larger jobs",
		Long: `Measure the bytes per second of reading and writing .npy, the multiply-adds per second of a kernel model, and the fixed cost of an
element. From these print, as Markdown, what the formulas of docs/results/scale-out.md give for more rows and machines.
The result is arithmetic: it ignores a network that machines share.`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.measure(a.Check(cmd), func(ctx context.Context) error { return a.benchCosts(ctx, &b) })
		},
	}
	b.addRounds(cmd, 1_000_000)
	return cmd
}

// machine holds the measurements of one machine.
type machine struct {
	Read    float64 `json:"read_bytes_per_second"`
	Write   float64 `json:"written_bytes_per_second"`
	Flops   float64 `json:"flops_per_second"`
	Element float64 `json:"element_seconds"`
}

// shape is the size of the rows and the model.
type shape struct{ Features, Dim, Landmarks int }

// cost is the estimated cost of a job.
type cost struct {
	Rows     float64 `json:"rows"`
	Machines float64 `json:"machines"`
	Elements float64 `json:"elements"`
	Shuffled float64 `json:"shuffled_bytes"`
	Seconds  float64 `json:"seconds"`
}

// shuffledBytes is the approximate number of bytes that an element and its tally take on their way
// through the runner.
const shuffledBytes = 200

// embed estimates the cost of embedding. Reading, computing and writing overlap, so the slowest of
// them counts. The fixed cost of elements is added, which one process pays.
func (m machine) embed(s shape, n, machines float64) cost {
	c := cost{Rows: n, Machines: machines, Elements: n / shard.DefaultRows}
	c.Shuffled = shuffledBytes * c.Elements
	read := 8 * n * float64(s.Features) / m.Read
	write := 8 * n * float64(s.Dim) / m.Write
	compute := embedFlops(s, n) / m.Flops
	c.Seconds = max(read, write, compute)/machines + c.Elements*m.Element
	return c
}

// embedFlops returns the operations of a kernel model: a kernel value for each landmark, and a
// product with these values.
func embedFlops(s shape, n float64) float64 {
	return 2 * n * float64(s.Landmarks) * float64(s.Features+s.Dim)
}

// costResults is the output of `bench costs`.
type costResults struct {
	Machine machine `json:"machine"`
	Shape   shape   `json:"shape"`
	Embed   []cost  `json:"embed"`
}

func (a *app) benchCosts(ctx context.Context, b *benchFlags) error {
	eng, err := engine.New(engine.Options{Workers: a.Workers})
	if err != nil {
		return err
	}
	var f costResults
	model := b.at("model.mlk")
	fitted, err := b.fit(ctx, eng, model)
	if err != nil {
		return err
	}
	f.Shape = shape{b.features, fitted.Dim(), b.landmarks}
	if f.Machine.Write, f.Machine.Read, err = b.disk(ctx, b.at("x.npy")); err != nil {
		return err
	}
	const block = 1 << 14
	x := &points.Dense{N: block, D: b.features,
		Data: normal(rand.New(rand.NewPCG(b.seed, 3)), block*b.features)}
	seconds, err := fastest(b.rounds+1, func() error {
		_, err := fitted.Record().Model.Embed(ctx, eng, x)
		return err
	})
	if err != nil {
		return err
	}
	f.Machine.Flops = embedFlops(f.Shape, block) / seconds
	if f.Machine.Element, err = a.elementSeconds(ctx, b, model); err != nil {
		return err
	}
	for _, n := range []float64{1e8, 1e9, 1e10} {
		for _, machines := range []float64{1, 10, 100, 1000} {
			f.Embed = append(f.Embed, f.Machine.embed(f.Shape, n, machines))
		}
	}
	return a.Print(f, f.text)
}

// disk returns the bytes per second of writing rows and of reading them.
func (b *benchFlags) disk(ctx context.Context, path string) (write, read float64, err error) {
	x := normal(rand.New(rand.NewPCG(b.seed, 4)), b.rows*b.features)
	seconds, err := fastest(b.rounds, func() error {
		return dataset.WriteMatrix(path, b.rows, b.features, x, b.features, nil, dataset.WriteOptions{})
	})
	if err != nil {
		return 0, 0, err
	}
	bytes := 8 * float64(len(x))
	write = bytes / seconds
	seconds, err = fastest(b.rounds, func() error { return readAll(ctx, path) })
	return write, bytes / seconds, err
}

// readAll reads the rows of a file in blocks.
func readAll(ctx context.Context, path string) error {
	s, err := dataset.OpenStream(path, dataset.ReadOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	for err == nil {
		if _, err = s.Next(1 << 14); err == nil {
			err = ctx.Err()
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// fastest returns the seconds of the fastest of several rounds.
func fastest(rounds int, f func() error) (float64, error) {
	best := 0.0
	for i := range rounds {
		begin := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if s := time.Since(begin).Seconds(); i == 0 || s < best {
			best = s
		}
	}
	return best, nil
}

// elementSeconds returns the fixed cost of an element: the time of a job whose elements have one
// row each, divided by their number.
func (a *app) elementSeconds(ctx context.Context, b *benchFlags, model string) (float64, error) {
	const elements = 500
	path := b.at("few.npy")
	if err := b.write(ctx, path, elements); err != nil {
		return 0, err
	}
	set, err := shard.Plan(ctx, path, shard.Options{Rows: 1})
	if err != nil {
		return 0, err
	}
	c := a.config()
	c.Rows = set.Rows
	c.Model = model
	out := b.at("few")
	if err := os.Mkdir(out, 0o777); err != nil {
		return 0, err
	}
	done, err := job.Run(ctx, a.runner, infallible(func(s beam.Scope) {
		rows.Embed(s, c, set.Elements, shard.Output{Path: filepath.Join(out, "y.npy")})
	}))
	if err != nil {
		return 0, err
	}
	return done.Seconds / elements, nil
}

func (f costResults) text(w io.Writer) {
	m := f.Machine
	fmt.Fprintf(w, "One machine reads %.2f GB and writes %.2f GB of .npy a second, does %.1f GF/s in a "+
		"kernel model's map, and has a fixed cost of %.1f ms an element.\n\n",
		m.Read/1e9, m.Write/1e9, m.Flops/1e9, 1e3*m.Element)
	fmt.Fprintf(w, "`embed` of %d features to %d coordinates by a model of %d landmarks:\n\n",
		f.Shape.Features, f.Shape.Dim, f.Shape.Landmarks)
	fmt.Fprintln(w, "| rows | machines | elements | read | written | shuffled | time |\n| ---: | ---: | "+
		"---: | ---: | ---: | ---: | ---: |")
	for _, c := range f.Embed {
		fmt.Fprintf(w, "| %.0e | %.0f | %.0f | %s | %s | %s | %s |\n", c.Rows, c.Machines, c.Elements,
			inUnits(8*c.Rows*float64(f.Shape.Features)), inUnits(8*c.Rows*float64(f.Shape.Dim)),
			inUnits(c.Shuffled), inTime(c.Seconds))
	}
}

// inUnits formats a number of bytes with three digits.
func inUnits(bytes float64) string {
	unit := 0
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	for ; bytes >= 1000 && unit < len(units)-1; unit++ {
		bytes /= 1000
	}
	return fmt.Sprintf("%.3g %s", bytes, units[unit])
}

func inTime(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%.3g min", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("%.3g h", seconds/3600)
	}
	return fmt.Sprintf("%.3g d", seconds/86400)
}
