package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/compare"
	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// compareFlags are the flags of `mustlink bench cross` and `bench curves`.
type compareFlags struct {
	paperFlags
	sets, systems []string
	quick         bool
}

// comparison is a result that can be written in several forms.
type comparison interface {
	Markdown() (string, error)
	Panels() ([]figure.Panel, error)
}

const compareOutput = `With -o the page is written to a file that ends in .md, all figures to one that ends in .json, and the
picture to .png, .svg or .pdf. With --state finished repetitions are kept in a file, and an interrupted run
goes on from there; several runs may share it, so that page, figures and picture are computed once.`

func newBenchCross(a *app) *cobra.Command {
	var p compareFlags
	cmd := &cobra.Command{
		Use:   "cross",
		Short: "set all methods before all data sets, with the same links",
		Long: `Fit every method with its defaults on half of every data set, with the same links, and compare k-means and
nearest neighbours on that half and on the half that no method has seen: means, intervals, ranks and tests.

` + compareOutput,
		Example: `  mustlink bench cross --data DIR --quick
  mustlink bench cross --data DIR --sets wine,iris --methods "krca,krca eps_rel=1e-2,itml"
  mustlink bench cross --data DIR --state cross.jsonl -o cross.md`,
		Args: positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runCompare(cmd, &p, func(eng *engine.Engine, o compare.Options) (comparison, error) {
				return compare.Run(cmd.Context(), eng, o)
			})
		},
	}
	p.add(cmd)
	return cmd
}

func newBenchCurves(a *app) *cobra.Command {
	var p compareFlags
	cmd := &cobra.Command{
		Use:   "curves",
		Short: "how many links methods need, and how many may be wrong",
		Long: `Fit every method with its defaults on half of a data set with 5 to 5000 links, and with as many links as in
'bench cross' of which up to 30 % are wrong, and compare k-means on that half and on the other one.

` + compareOutput,
		Example: `  mustlink bench curves --data DIR --sets usps --quick
  mustlink bench curves --data DIR --state curves.jsonl -o curves.md`,
		Args: positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runCompare(cmd, &p, func(eng *engine.Engine, o compare.Options) (comparison, error) {
				return compare.RunCurves(cmd.Context(), eng, o)
			})
		},
	}
	p.add(cmd)
	return cmd
}

func (p *compareFlags) add(cmd *cobra.Command) {
	var sets []string
	for _, s := range compare.Sets() {
		sets = append(sets, s.Name)
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&p.sets, "sets", nil, "data `SETS` to compare on, of "+strings.Join(sets, ", ")+" (default all that are there)")
	f.StringSliceVar(&p.systems, "methods", nil, "`METHODS` to compare, each with parameters that differ from its defaults: \"gml,gml gamma=3\"; raw points are always among them (default all)")
	f.BoolVar(&p.quick, "quick", false, fmt.Sprintf("%d repetitions only", compare.QuickRepetitions))
	f.IntVar(&p.repetitions, "repetitions", 0, "number of repetitions (default 20, of curves 10)")
	seedFlag(f, &p.seed)
	f.StringVar(&p.data, "data", "", "folder `DIR` of the data sets (default $"+dataVariable+")")
	f.StringVar(&p.state, "state", "", "`FILE` that keeps finished repetitions, to go on after an interrupt")
	f.StringVarP(&p.out, "output", "o", stream, "the `FILE` to write, .md, .json, .png, .svg or .pdf")
}

// options checks the flags.
func (p *compareFlags) options(a *app, cmd *cobra.Command) (compare.Options, error) {
	o := compare.Options{Sets: p.sets, Seed: p.seed, Repetitions: p.repetitions, State: p.state}
	switch {
	case p.quick && cmd.Flags().Changed("repetitions"):
		return o, usagef("--quick and --repetitions are both given: want one of them %s", helpHint(cmd))
	case p.repetitions < 0 || cmd.Flags().Changed("repetitions") && p.repetitions == 0:
		return o, &fault.ParamError{Param: "--repetitions", Value: p.repetitions, Want: "a number >= 1"}
	case p.quick:
		o.Repetitions = compare.QuickRepetitions
	}
	if len(p.systems) > 0 {
		o.Systems = append([]string{compare.Raw}, p.systems...)
	}
	if err := p.findData(a, compare.Sets()[0].Files); err != nil {
		return o, err
	}
	o.Data = p.data
	if err := a.useState(p.state); err != nil {
		return o, err
	}
	if _, err := figure.FormatOf(p.out); err != nil && p.out != stream && !isJSON(p.out) && !isMarkdown(p.out) {
		return o, &fault.ParamError{Param: "-o, --output", Value: p.out, Want: "a name that ends in .md, .json, ." + strings.Join(figure.Formats(), ", .") + ", or \"-\""}
	}
	return o, a.checkOutput("-o, --output", p.out)
}

func (a *app) runCompare(cmd *cobra.Command, p *compareFlags, run func(*engine.Engine, compare.Options) (comparison, error)) error {
	o, err := p.options(a, cmd)
	if err != nil {
		return err
	}
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
	page, err := result.Markdown()
	if err != nil {
		return err
	}
	if p.out == stream {
		return a.print(result, func(w io.Writer) { _, _ = io.WriteString(w, page) }) // print reports the error of w
	}
	err = dataset.Atomic(p.out, func(w io.Writer) error {
		if isJSON(p.out) {
			return encodeJSON(w, result)
		}
		if format, err := figure.FormatOf(p.out); err == nil {
			panels, err := result.Panels()
			if err != nil {
				return err
			}
			const across = 2
			return figure.Write(w, format, figure.Size{Columns: across}, panels...)
		}
		_, err := io.WriteString(w, page)
		return err
	})
	if err != nil {
		return err
	}
	return a.summarise(p.out, result, func(w io.Writer) { fmt.Fprintf(w, "written to %s\n", p.out) })
}
