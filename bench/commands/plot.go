package commands

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/compare"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// plotFlags are the flags of `mustlink-bench plot`.
type plotFlags struct {
	out, format string
	dpi         int
}

func newPlot(a *app) *cobra.Command {
	var p plotFlags
	cmd := &cobra.Command{
		Use:   "plot RESULTS.json -o PICTURE",
		Short: "draw results again: box plots and curves of the papers, ranks, learning curves",
		Long: `Draw the .json output of another command as PNG, SVG or PDF: box plots and curves of the papers' tables,
ranks of a cross table, learning curves.`,
		Example: `  mustlink-bench curves --data DIR -o curves.json
  mustlink-bench plot curves.json -o curves.svg`,
		Args: usage.Positional(1, 1, "one file of RESULTS"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.plot(cmd, args[0], &p) },
	}
	f := cmd.Flags()
	f.StringVarP(&p.out, "output", "o", "",
		"the `PICTURE` to write, .png, .svg or .pdf; - for standard output")
	f.StringVar(&p.format, "format", "png", "`FORMAT` of a picture on standard output: png, svg or pdf")
	f.IntVar(&p.dpi, "dpi", 150, "dots per inch of a PNG")
	usage.CompleteWith(cmd, "format", view.Formats()...)
	return cmd
}

// plotReport is the output of `mustlink-bench plot`.
type plotReport struct {
	Output   string   `json:"output"`
	Panels   int      `json:"panels"`
	Warnings []string `json:"warnings"`
}

// check finds every mistake that can be found before the results are read.
func (p *plotFlags) check(check *session.Checks, path string) error {
	check.Required("output")
	if p.out == session.Stream {
		check.OneOf("--format", p.format, view.Formats())
		if p.format != "svg" {
			check.Binary("-o, --output", p.out, p.format)
		}
	} else {
		check.Do(func() (err error) {
			p.format, err = view.FormatOf(p.out)
			return usage.RenameParams(err, "picture", "-o, --output")
		})
	}
	check.Do(func() error { return usage.RenameParams(view.Size{DPI: p.dpi}.Check(), "dpi", "--dpi") })
	check.Input("RESULTS", path)
	check.Output("-o, --output", p.out)
	return check.Err
}

func (a *app) plot(cmd *cobra.Command, path string, p *plotFlags) error {
	if err := p.check(a.Check(cmd), path); err != nil {
		return err
	}
	text, err := session.Await(cmd.Context(), func() ([]byte, error) { return os.ReadFile(path) })
	if err != nil {
		return fault.Data(path, "%w", err)
	}
	panels, across, err := resultPanels(text)
	if err != nil {
		return fault.InFile(err, path)
	}
	size := view.Size{Columns: across, DPI: p.dpi}
	if err := a.WriteFile(p.out, func(w io.Writer) error {
		return view.Write(w, p.format, size, panels...)
	}); err != nil {
		return err
	}
	r := plotReport{p.out, len(panels), a.Warnings()}
	return a.Summarize(p.out, r, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s\n", r.Output, fault.Count(r.Panels, "panel"))
	})
}

// resultPanels returns the picture of results, with the number of panels side by side.
func resultPanels(text []byte) (panels []view.Panel, across int, err error) {
	if c, err := compare.Decode(text); err == nil {
		panels, err := c.Panels()
		return panels, 2, err
	}
	r, err := paper.Decode(text)
	if err != nil {
		return nil, 0, err
	}
	if !r.Table.Drawn() {
		return nil, 0, fault.Data("",
			"table %s has no picture: want a table of box plots or curves, or results of cross or curves",
			r.Table.Name)
	}
	return r.Panels(), 4, nil
}
