package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// runBenchFigure computes a figure of a paper and writes it as a picture, its numbers, or a
// page about it, by the extension of the output.
func (a *app) runBenchFigure(cmd *cobra.Command, f paper.Figure, p *paperFlags) error {
	for _, name := range []string{"repetitions", "data", "state"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && !(name == "data" && len(f.Data) > 0) {
			return usagef("%s is given, but %s is a figure, which has none", flagName(flag), f.Name)
		}
	}
	kind := strings.ToLower(strings.TrimPrefix(filepath.Ext(p.out), "."))
	if kinds := append(figure.Formats(), "csv", "md", "json"); p.out != stream && !slices.Contains(kinds, kind) {
		return &fault.ParamError{Param: "-o, --output", Value: p.out, Want: "a name that ends in ." + strings.Join(kinds, ", .") + ", or \"-\""}
	}
	if err := a.checkOutput("-o, --output", p.out); err != nil {
		return err
	}
	if err := p.findData(a, f.Data); err != nil {
		return err
	}
	eng, err := a.engine()
	if err != nil {
		return err
	}
	bar := a.progress()
	defer bar.done()
	d, err := f.Make(cmd.Context(), eng, paper.Sketch{Seed: p.seed, Data: p.data, Progress: bar.report})
	if err != nil {
		return err
	}
	bar.done()
	page := func(w io.Writer) error {
		_, err := io.WriteString(w, d.Markdown())
		return err
	}
	if p.out == stream {
		return a.print(d, func(w io.Writer) { _ = page(w) }) // print reports the error of w
	}
	err = dataset.Atomic(p.out, func(w io.Writer) error {
		switch kind {
		case "md":
			return page(w)
		case "json":
			return encodeJSON(w, d)
		case "csv":
			return d.WriteCSV(w)
		}
		return figure.Write(w, kind, figure.Size{Columns: d.Across}, d.Panels...)
	})
	if err != nil {
		return err
	}
	return a.summarise(p.out, d, func(w io.Writer) {
		for _, note := range d.Notes {
			fmt.Fprintln(w, note)
		}
		fmt.Fprintf(w, "%s written to %s\n", f.Label, p.out)
	})
}
