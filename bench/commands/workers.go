package commands

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/fittimes"
	"github.com/mustlink/mustlink/bench/workers"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// workersReport is the output of workers.
type workersReport struct {
	Machine string           `json:"machine"`
	Fits    []workers.Result `json:"fits"`
}

func newWorkers(a *app) *cobra.Command {
	var o workers.Options
	var stages bool
	cmd := &cobra.Command{
		Use:   "workers",
		Short: "time fits with more and more workers, and show what runs on one processor",
		Long: `Fit methods with their defaults to rows of ten Gaussians, with several numbers of workers in turn. Print the
median time, the processor time, how many times as fast the fit is as with the first number of workers, and
the share of the time in which hardly more than one processor is at work ("alone").

With --predict, fit also with the tasks of other numbers of workers, one after another on one processor,
and print what their time would be if a task took as long on each of them: what forks leave to one processor,
and how long workers wait for the last task, without what they cost each other in memory.

With --stages, print also in which functions that time passes, the innermost first.`,
		Example: `  mustlink-bench workers
  mustlink-bench workers --methods lleratio,gml --rows 4000 --numbers 1,4,16 --stages`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			check := a.Check(cmd)
			check.AtLeast("--rows", o.Rows, 10)
			check.AtLeast("--features", o.Features, 1)
			check.AtLeast("--links", o.Links, 2)
			check.AtLeast("--rounds", o.Rounds, 1)
			check.Refuse(len(o.Workers) == 0, "--numbers is empty: want numbers of workers, such as 1,2")
			for _, n := range slices.Concat(o.Workers, o.Predict) {
				check.AtLeast("--numbers, --predict", n, 1)
			}
			if check.Err != nil {
				return check.Err
			}
			report := workersReport{Machine: machine(), Fits: []workers.Result{}}
			if !a.JSON {
				fmt.Fprintf(a.Stdout, "%s; %d rows, %d features, %d links\n", report.Machine, o.Rows,
					o.Features, o.Links)
			}
			err := workers.Run(cmd.Context(), o, func(r workers.Result) {
				report.Fits = append(report.Fits, r)
				if a.JSON {
					return
				}
				if p := r.Predicted; p != nil {
					fmt.Fprintf(a.Stdout,
						"%-12s %3d workers  %8.3f s predicted, %6.2f times as fast; serial %.3f, waiting %.3f, %d forks\n",
						r.Method, r.Workers, p.Seconds, r.Times, p.Serial, p.Waiting, p.Forks)
				} else {
					fmt.Fprintf(a.Stdout,
						"%-12s %3d workers  %8.3f s (processors %8.3f s)  %6.2f times as fast, alone %.3f\n",
						r.Method, r.Workers, r.Seconds, r.CPU, r.Times, r.Alone)
				}
				list := r.Stages
				if r.Predicted != nil {
					list = r.Predicted.Waits
				}
				for _, s := range list {
					if stages {
						fmt.Fprintf(a.Stdout, "  %.3f  %s\n", s.Share, s.Function)
					}
				}
			})
			if err != nil || !a.JSON {
				return usage.RenameParams(err, "system", "--methods", "method", "--methods")
			}
			return session.EncodeJSON(a.Stdout, report)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Methods, "methods", []string{"krca", "kbeta", "npkl", "lleratio", "gml", "itml"},
		"`METHODS` to fit, each with parameters that differ from its defaults")
	f.IntSliceVar(&o.Workers, "numbers", []int{1, 2}, "`NUMBERS` of workers to compare with the first")
	f.IntSliceVar(&o.Predict, "predict", nil, "`NUMBERS` of workers whose time to predict")
	f.IntVar(&o.Rows, "rows", 8000, "number of rows")
	f.IntVar(&o.Features, "features", 20, "number of features")
	f.IntVar(&o.Links, "links", 8000, "number of links, half of them must-links")
	f.IntVar(&o.Rounds, "rounds", 3, "number of rounds")
	f.BoolVar(&stages, "stages", false, "print the functions in which one processor works alone")
	usage.SeedFlag(f, &o.Seed)
	usage.CompleteWith(cmd, "methods", fittimes.Methods()...)
	return cmd
}
