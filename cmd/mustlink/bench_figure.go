package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
)

func (a *app) runBenchFigure(cmd *cobra.Command, f paper.Figure, p *paperFlags) error {
	check := a.check(cmd)
	for _, name := range []string{"repetitions", "data", "state"} {
		flag := cmd.Flags().Lookup(name)
		check.refuse(flag.Changed && !(name == "data" && len(f.Data) > 0), "%s is given, but %s is a figure, which has none", flagName(flag), f.Name)
	}
	check.ending("-o, --output", p.out, append(figure.Formats(), "csv", "md", "json")...)
	check.output("-o, --output", p.out)
	check.do(func() error { return p.findData(a, f.Data) })
	if check.err != nil {
		return check.err
	}
	d, err := working(a, func(eng *engine.Engine, bar *progress) (*paper.Drawing, error) {
		return f.Make(cmd.Context(), eng, paper.Sketch{Seed: p.seed, Data: p.data, Progress: bar.report})
	})
	if err != nil {
		return err
	}
	summary := func(w io.Writer) {
		for _, note := range d.Notes {
			fmt.Fprintln(w, note)
		}
		fmt.Fprintf(w, "%s written to %s\n", f.Label, p.out)
	}
	return product{numbers: d, text: d.Markdown(), panels: drawn(d.Panels), across: d.Across, csv: d.WriteCSV, summary: summary}.write(a, p.out)
}
