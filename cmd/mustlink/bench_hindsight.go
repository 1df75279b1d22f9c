package main

import (
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/compare"
	"github.com/mustlink/mustlink/engine"
)

func newBenchHindsight(a *app) *cobra.Command {
	var p compareFlags
	cmd := &cobra.Command{
		Use:   "hindsight",
		Short: "how near choices by held-out links are to the best one",
		Long: `Let rules choose among candidates by held-out links, as 'mustlink select' does, and compare k-means of what
they have chosen with that of every candidate, on the half of every data set that neither has seen.

With -o the page is written to a file that ends in .md, all figures to one that ends in .json. With --state
finished repetitions are kept in a file, and an interrupted run goes on from there.`,
		Example: `  mustlink bench hindsight --data DIR --sets wine,iris --quick
  mustlink bench hindsight --data DIR --methods "select criterion=agreement incumbent=krca,krca" -o hindsight.md`,
		Args: positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runBenchPage(cmd, &p, func(eng *engine.Engine, o compare.Options) (resultPage, error) {
				return compare.RunHindsight(cmd.Context(), eng, o)
			})
		},
	}
	p.add(cmd)
	cmd.Flags().Lookup("methods").Usage = "`METHODS` to judge: select with criterion=, methods=a+b and incumbent=, or a method with its parameters"
	cmd.Flags().Lookup("repetitions").Usage = "number of repetitions (default 3)"
	cmd.Flags().Lookup("output").Usage = "the `FILE` to write, .md or .json"
	return cmd
}
