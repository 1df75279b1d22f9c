package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/compare"
	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

func newBenchWrong(a *app) *cobra.Command {
	var p compareFlags
	cmd := &cobra.Command{
		Use:   "wrong",
		Short: "find links with the wrong sign, and learn without them",
		Long: `Give a tenth of the links the other sign, rank all links by suspicion as 'inspect --suspicious' does, and
compare k-means after learning from links that are all right, from those with wrong ones, and without
the most suspicious ones: on the half of every data set that links were drawn from, and on the other one.

With -o the page is written to a file that ends in .md, all figures to one that ends in .json. With --state
finished repetitions are kept in a file, and an interrupted run goes on from there.`,
		Example: `  mustlink bench wrong --data DIR --sets wine,iris --quick
  mustlink bench wrong --data DIR --methods npkl,itml --state wrong.jsonl -o wrong.md`,
		Args: positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runBenchPage(cmd, &p, func(eng *engine.Engine, o compare.Options) (resultPage, error) {
				return compare.RunWrong(cmd.Context(), eng, o)
			})
		},
	}
	p.add(cmd)
	cmd.Flags().Lookup("methods").Usage = "`METHODS` to learn with, each with parameters that differ from its defaults (default npkl,itml,gml)"
	cmd.Flags().Lookup("repetitions").Usage = "number of repetitions (default 3)"
	cmd.Flags().Lookup("output").Usage = "the `FILE` to write, .md or .json"
	return cmd
}

// resultPage is a result that is a page of text.
type resultPage interface{ Markdown() string }

// runBenchPage runs a comparison and writes its page, or its figures.
func (a *app) runBenchPage(cmd *cobra.Command, p *compareFlags, run func(*engine.Engine, compare.Options) (resultPage, error)) error {
	if _, err := figure.FormatOf(p.out); err == nil {
		return &fault.ParamError{Param: "-o, --output", Value: p.out, Want: "a name that ends in .md or .json, or \"-\""}
	}
	o, err := p.options(a, cmd)
	if err != nil {
		return err
	}
	o.Systems = p.systems
	eng, err := a.engine()
	if err != nil {
		return err
	}
	bar := a.progress()
	defer bar.done()
	o.Progress = bar.report
	result, err := run(eng, o)
	if err != nil {
		return err
	}
	bar.done()
	text := func(w io.Writer) error {
		_, err := io.WriteString(w, result.Markdown())
		return err
	}
	if p.out == stream {
		return a.print(result, func(w io.Writer) { _ = text(w) }) // print reports the error of w
	}
	err = dataset.Atomic(p.out, func(w io.Writer) error {
		if isJSON(p.out) {
			return encodeJSON(w, result)
		}
		return text(w)
	})
	if err != nil {
		return err
	}
	return a.summarise(p.out, result, func(w io.Writer) { fmt.Fprintf(w, "written to %s\n", p.out) })
}
