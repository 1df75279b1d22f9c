package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine/dataset"
)

func newBench(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "repeat the tables of the papers",
		Long:    `Run measurements: the tables of the papers, with our figures beside the printed ones.`,
		Example: `  mustlink bench paper tsang-1`,
		Args:    cobra.ArbitraryArgs,
		RunE:    unknownCommand,
	}
	cmd.AddCommand(newBenchPaper(a))
	return cmd
}

type paperFlags struct {
	repetitions int
	seed        uint64
	state       string
	out         string
}

func newBenchPaper(a *app) *cobra.Command {
	var p paperFlags
	var names []string
	list := ""
	for _, t := range paper.Tables() {
		names = append(names, cobra.CompletionWithDesc(t.Name, t.Caption))
		list += fmt.Sprintf("\n  %-10s %s of %s\n", t.Name, t.Label, t.Paper)
	}
	cmd := &cobra.Command{
		Use:   "paper TABLE",
		Short: "repeat one table of a paper, ours beside the printed figures",
		Long: `Repeat one table of a paper and print it as Markdown, our figures beside the printed ones,
with the set-up and what differs from the paper. Trials run in parallel; the figures do not
depend on how many at a time. With --state finished trials are kept in a file, and an
interrupted run goes on from there.

Tables:` + list,
		Example: `  mustlink bench paper tsang-1
  mustlink bench paper tsang-1 --repetitions 50 --json`,
		Args:              positional(1, 1, "TABLE"),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.runBenchPaper(cmd, args[0], &p) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&p.repetitions, "repetitions", 0, "number of trials (default the paper's)")
	seedFlag(f, &p.seed)
	f.StringVar(&p.state, "state", "", "`FILE` that keeps finished trials, to go on after an interrupt")
	f.StringVarP(&p.out, "output", "o", stream, "the `FILE` to write")
	return cmd
}

func (a *app) runBenchPaper(cmd *cobra.Command, name string, p *paperFlags) error {
	table, err := paper.Lookup(name)
	if err != nil {
		return err
	}
	if p.repetitions < 0 || cmd.Flags().Changed("repetitions") && p.repetitions == 0 {
		return usagef("--repetitions is %d: want a number >= 1", p.repetitions)
	}
	if p.state != "" {
		a.inputs = append(a.inputs, p.state)
	}
	if err := a.checkOutput("-o, --output", p.out); err != nil {
		return err
	}
	eng, err := a.engine()
	if err != nil {
		return err
	}
	bar := a.progress()
	defer bar.done()
	result, err := paper.Run(cmd.Context(), eng, table, paper.Options{
		Seed: p.seed, State: p.state, Repetitions: p.repetitions, Progress: bar.report,
	})
	if err != nil {
		return err
	}
	bar.done()
	write := func(w io.Writer) error {
		return a.printTo(w, result, func(w io.Writer) {
			// The text is ready for the reader: no tabs for the table writer to align.
			_, _ = io.Copy(w, strings.NewReader(result.Markdown()))
		})
	}
	if p.out == stream {
		return write(a.stdout)
	}
	return dataset.Atomic(p.out, write)
}
