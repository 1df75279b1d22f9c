package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/queries"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

func newSuggest(a *app) *cobra.Command {
	var o queries.Options
	var p paperFlags
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "show how many queries active learning saves compared with random pairs",
		Long: `Answer the queries of 'mustlink suggest' with the labels of small data sets, fit with the answers, and print after
how many queries k-means in the learned metric is as good as with 1.2 random pairs per row.`,
		Example: `  mustlink-bench suggest --data DIR --classes
  mustlink-bench suggest --data DIR --sets wine,iris --method "lleratio dims=2"`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(o.Sets) == 0 {
				o.Sets = queries.Sets()
			}
			if o.Repetitions < 1 {
				return &fault.ParamError{Param: "--repetitions", Value: o.Repetitions, Want: "a number >= 1"}
			}
			for _, name := range o.Sets {
				if name == "" || strings.ContainsAny(name, `/\`) {
					return &fault.ParamError{Param: "--sets", Value: name,
						Want: "names of .csv files in the folder, without their ending"}
				}
			}
			if err := p.findData(a, []string{o.Sets[0] + ".csv"}); err != nil {
				return err
			}
			o.Data = p.data
			return a.runSuggest(cmd, o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Sets, "sets", queries.Sets(), "data `SETS`, the names of .csv files in DIR")
	f.StringVarP(&o.System, "method", "m", "npkl",
		"the `METHOD` to fit, with parameters that differ from its defaults: \"npkl C=10\"")
	f.BoolVar(&o.Classes, "classes", false, "give the number of classes to active learning, as to k-means")
	f.IntVar(&o.Repetitions, "repetitions", 5, "number of repetitions")
	usage.SeedFlag(f, &o.Seed)
	f.StringVar(&p.data, "data", "", "folder `DIR` of the data sets (default $"+dataVariable+")")
	return cmd
}

func (a *app) runSuggest(cmd *cobra.Command, o queries.Options) error {
	r, err := working(a, func(eng *engine.Engine, bar *session.Progress) (*queries.Result, error) {
		o.Progress = bar.Report
		return queries.Run(cmd.Context(), eng, o)
	})
	if err != nil {
		return err
	}
	return product{numbers: r, text: r.Markdown()}.write(a, session.Stream)
}
