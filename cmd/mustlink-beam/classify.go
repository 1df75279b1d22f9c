package main

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rows"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/usage"
)

type classifyFlags struct {
	jobFlags
	training rows.Training
}

func newClassify(a *app) *cobra.Command {
	var c classifyFlags
	cmd := &cobra.Command{
		Use:   "classify [MODEL] --train PATTERN -i PATTERN -o LABELS",
		Short: "classify points by their nearest labeled neighbors",
		Long: `Give every row of -i the label that most of its nearest rows of --train have, as mustlink classify does. Distances are those of MODEL,
or of the rows themselves without a model. Every process keeps all rows of --train in memory. LABELS names the output files, one for
each run of rows: labels.csv becomes labels-00000-of-00042.csv and so on.`,
		Example: `  mustlink-beam classify model.mlk --train train.csv -i 'data/part-*.npy' -o labels/part.csv
  mustlink-beam score --truth 'data/*.csv' --predicted 'labels/part-*.csv'`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runClassify(cmd, args, &c) },
	}
	f := cmd.Flags()
	f.StringVar(&c.training.Pattern, "train", "",
		"`PATTERN` of the files of labeled rows, in the formats of -i")
	c.addInput(cmd)
	f.IntVar(&c.training.Neighbors, "neighbors", 4, "number of neighbors that vote on a label")
	c.addOutput(cmd, "the name `LABELS` of the output files (.csv, .csv.gz)")
	return cmd
}

func (a *app) runClassify(cmd *cobra.Command, args []string, c *classifyFlags) error {
	check := a.Check(cmd)
	check.Required("train", "input", "output")
	t, err := a.begin(check, args, &c.jobFlags)
	if err != nil {
		return err
	}
	t.config.IgnoreLabels = true
	w, err := t.config.Worker()
	if err != nil {
		return err
	}
	training, err := c.training.Load(cmd.Context(), w) // report bad training rows before the job begins
	if err != nil {
		return usage.RenameParams(err, "neighbors", "--neighbors")
	}
	byName := w.Model != nil && w.Model.Record().Features != nil // the model finds its columns in both
	if !byName && training.Dim != t.set.Dim {
		return &fault.ShapeError{What: "number of features of " + t.set.Files[0], Got: t.set.Dim,
			Want: fmt.Sprintf("%d, as %s has", training.Dim, c.training.Pattern)}
	}
	return t.perElement(nil, func(s beam.Scope, out shard.Output) {
		rows.Classify(s, t.config, c.training, t.set.Elements, out)
	}, "csv")
}
