package main

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rows"
)

type classifyFlags struct {
	jobFlags
	training rows.Training
}

func newClassify(a *app) *cobra.Command {
	var c classifyFlags
	cmd := &cobra.Command{
		Use:   "classify [MODEL] --train PATTERN -i PATTERN -o LABELS",
		Short: "classify points by their nearest labelled neighbours",
		Long: `Give every row of -i the label that most of its nearest rows of --train have, as mustlink classify does: with MODEL in
the learned metric, without it in that of the rows. Every process holds all rows of --train. LABELS names the files of
labels that are written, one for each run of rows: labels.csv stands for labels-00000-of-00042.csv and so on.`,
		Example: `  mustlink-beam classify model.mlk --train train.csv -i 'data/part-*.npy' -o labels/part.csv
  mustlink-beam score --truth 'data/*.csv' --predicted 'labels/part-*.csv'`,
		Args: positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runClassify(cmd, args, &c) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.training.Pattern, "train", "", "`PATTERN` of the files of rows with labels, in formats as for -i")
	c.in.add(cmd)
	f.IntVar(&c.training.Neighbors, "neighbors", 4, "number of neighbours that vote")
	f.StringVarP(&c.out, "output", "o", "", "the name `LABELS` of the files to write (.csv, .csv.gz)")
	c.bad.add(cmd)
	return cmd
}

func (a *app) runClassify(cmd *cobra.Command, args []string, c *classifyFlags) error {
	if err := required(cmd, "train", "input", "output"); err != nil {
		return err
	}
	t, err := a.begin(cmd, args, &c.jobFlags)
	if err != nil {
		return err
	}
	t.config.IgnoreLabels = true
	w, err := t.config.Worker()
	if err != nil {
		return err
	}
	known, err := c.training.Load(cmd.Context(), w) // what is wrong with the training rows shows here
	if err != nil {
		return renamed(err, "neighbors", "--neighbors")
	}
	if known.Dim != t.set.Dim {
		return wrongDim(t.set, known.Dim, c.training.Pattern)
	}
	out, err := t.output("csv")
	if err != nil {
		return err
	}
	r, err := t.perElement(cmd.Context(), out, func(s beam.Scope) { rows.Classify(s, t.config, c.training, t.set.Elements, out) })
	if err != nil {
		return err
	}
	return a.print(r, nil)
}
