package commands

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

func (a *app) runFigure(cmd *cobra.Command, f paper.Figure, p *paperFlags) error {
	check := a.Check(cmd)
	for _, name := range []string{"repetitions", "data", "state"} {
		flag := cmd.Flags().Lookup(name)
		check.Refuse(flag.Changed && !(name == "data" && len(f.Data) > 0),
			"%s is given, but %s is a figure: want it with a table", usage.FlagName(flag), f.Name)
	}
	check.Ending("-o, --output", p.out, append(view.Formats(), "csv", "md", "json")...)
	check.Output("-o, --output", p.out)
	check.Do(func() error { return p.findData(a, f.Data) })
	if check.Err != nil {
		return check.Err
	}
	d, err := working(a, func(eng *engine.Engine, bar *session.Progress) (*paper.Drawing, error) {
		return f.Make(cmd.Context(), eng, paper.Sketch{Seed: p.seed, Data: p.data, Progress: bar.Report})
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
	return product{numbers: d, text: d.Markdown(), panels: drawn(d.Panels), across: d.Across, csv: d.WriteCSV,
		summary: summary}.write(a, p.out)
}
