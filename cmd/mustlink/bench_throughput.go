package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/bench/methods"
	"github.com/mustlink/mustlink/bench/throughput"
	"github.com/mustlink/mustlink/cmd/internal/bytesize"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// throughputReport is what `mustlink bench throughput` prints.
type throughputReport struct {
	Setup methods.Setup `json:"setup"`
	*throughput.Report
}

// throughputPart is the part of the page about performance that this command fills.
const throughputPart = "bench-throughput"

// throughputFlags are the flags of `mustlink bench throughput`.
type throughputFlags struct {
	throughput.Options
	csv       bytesize.Size
	out, page string
}

// pageFlag defines the flag of a page to fill.
func pageFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "page", "", "the page, a `FILE` .md, whose part about this is written anew, with the picture in "+pictures+" beside it")
}

func newBenchThroughput(a *app) *cobra.Command {
	var t throughputFlags
	cmd := &cobra.Command{
		Use:   "throughput",
		Short: "count fits, embedded rows and bytes of CSV a second",
		Long: `Count what goes through in a second:

  krca    fits of krca without embedding, from links to factor (150 x 4, 50 must-links), by goroutines;
          again with Go's own choice of when to collect garbage (GOGC=100), as in a program that links
          the library and makes no other, and so with the latest 1000 models kept, as a service keeps
          those of its tenants
  kbeta   fits of kbeta (500 x 16), through algorithms/batch, by goroutines
  embed   rows of a .npy file through the embed command (kbeta, 500 landmarks, d = 784), with reading and writing
  single  the same with --precision single and, in turn, without it (extension=nystrom)
  csv     bytes of CSV that are parsed, on one core
  stream  rows of a .npy file through a pipe and the embed command (d = 10), once, with its most memory

The files are in a folder of their own among the temporary ones (TMPDIR): 6.3 kB for each of --rows.`,
		Example: `  mustlink bench throughput
  mustlink bench throughput --case krca --goroutines 1,2
  mustlink bench throughput --case stream --stream-rows 100000000`,
		Args: positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runBenchThroughput(cmd, &t) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&t.Cases, "case", nil, "`CASES` to measure, of "+strings.Join(throughput.Cases(), ", ")+" (default all)")
	f.IntSliceVar(&t.Goroutines, "goroutines", []int{1, 2, 4, 8}, "`NUMBERS` of goroutines that fit, from 1 on")
	f.IntVar(&t.Rounds, "rounds", 5, "how often each takes its turn")
	f.IntVar(&t.Rows, "rows", 60_000, "`NUMBER` of rows of the file that is embedded")
	f.IntVar(&t.StreamRows, "stream-rows", 1_000_000, "`NUMBER` of rows of the stream")
	t.csv = 64_000_000
	f.Var(&t.csv, "csv-size", "about the `SIZE` of the CSV files")
	f.DurationVar(&t.MinTime, "min-time", 0, "the `TIME` of fits in a round (default 1s)")
	f.IntVar(&t.Threads, "threads", 0, "`NUMBER` of threads of embedding; 0: all processors")
	f.StringVarP(&t.out, "output", "o", stream, "the `FILE` to write, .md or .json; of fits also .png, .svg or .pdf")
	pageFlag(f, &t.page)
	completeWith(cmd, "case", throughput.Cases()...)
	return cmd
}

// check finds out what cannot work before anything is measured.
func (t *throughputFlags) check(a *app) error {
	for _, n := range []struct {
		name         string
		value, least int
	}{{"--rounds", t.Rounds, 1}, {"--rows", t.Rows, 1}, {"--stream-rows", t.StreamRows, 1}, {"--csv-size", int(t.csv), 1}, {"--threads", t.Threads, 0}} {
		if n.value < n.least {
			return &fault.ParamError{Param: n.name, Value: n.value, Want: fmt.Sprintf("a number >= %d", n.least)}
		}
	}
	if t.MinTime < 0 {
		return &fault.ParamError{Param: "--min-time", Value: t.MinTime, Want: "a time > 0, such as 1s"}
	}
	if _, err := figure.FormatOf(t.out); err != nil && t.out != stream && !isJSON(t.out) && !isMarkdown(t.out) {
		return &fault.ParamError{Param: "-o, --output", Value: t.out, Want: "a name that ends in .md, .json, ." + strings.Join(figure.Formats(), ", .") + ", or \"-\""}
	}
	if err := a.usePage(t.page, throughputPart); err != nil {
		return err
	}
	return a.checkOutput("-o, --output", t.out)
}

func (a *app) runBenchThroughput(cmd *cobra.Command, t *throughputFlags) error {
	if err := t.check(a); err != nil {
		return err
	}
	eng, err := a.engine()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	bar := a.progress()
	defer bar.done()
	t.CSVBytes, t.Program = int(t.csv), program
	if a.ballast != nil {
		t.Drop = a.ballast.Drop
	}
	t.Open = func(workers int) (*engine.Engine, error) {
		with := *a
		with.workers, with.blasThreads = workers, 1
		return with.engine()
	}
	t.Progress = func(done, total int, name string) {
		bar.report(algorithms.Progress{Stage: name, Done: done, Total: total, Objective: math.NaN(), Residual: math.NaN()})
	}
	found, err := throughput.Run(cmd.Context(), t.Options)
	if err != nil {
		return renameParams(err, "case", "--case", "goroutines", "--goroutines")
	}
	bar.done()
	r := throughputReport{methods.Setup{Machine: machine(), Builds: []methods.Build{buildOf(eng)}, Threads: found.Threads, Rounds: found.Rounds}, found}
	text := r.Setup.Markdown() + found.Markdown()
	var panels []figure.Panel
	if len(found.Fits) > 0 {
		panels = found.Panels()
	}
	const across = 2
	if t.page != "" {
		if err := writePart(t.page, throughputPart, text, across, panels); err != nil {
			return err
		}
	}
	return a.writeBench(t.out, t.page, text, r, across, panels)
}
