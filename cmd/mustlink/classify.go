package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type classifyFlags struct {
	data        dataFlags
	train       string
	trainLabels string
	neighbors   int
	scaling     scalingFlags
	out         string
}

func newClassify(a *app) *cobra.Command {
	var c classifyFlags
	cmd := &cobra.Command{
		Use:   "classify [MODEL] --train DATA -i DATA -o LABELS",
		Short: "classify points by their nearest labelled neighbours",
		Long: `Give every row of -i the label that most of its nearest rows of --train have; of labels
with equally many votes the one whose nearest voter comes first wins.

With MODEL the metric is the learned one, without it that of the raw points. When -i
carries labels too, the summary compares.

The rows of --train are held. Those of -i, in .csv, .npy and .parquet, are read, classified and written
block by block, also from a pipe: their number is bounded by the disk, not by memory.`,
		Example: `  mustlink classify model.mlk --train train.csv -i test.csv -o predicted.csv
  mustlink classify --train train.csv -i test.csv --neighbors 1 --standardize -o baseline.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runClassify(cmd, args, &c) },
	}
	f := cmd.Flags()
	f.StringVar(&c.train, "train", "", "the file of `DATA` with labels, in a format as for -i")
	f.StringVar(&c.trainLabels, "train-labels", "", "`FILE` of labels, as for --labels, when --train carries none")
	f.StringVarP(&c.data.path, "input", "i", "", "the file of `DATA` to classify: "+dataEndings+"; - for standard input")
	c.data.addReading(cmd)
	c.data.addLabels(cmd)
	f.IntVar(&c.neighbors, "neighbors", 4, "number of neighbours that vote")
	c.scaling.add(f, "without MODEL: ", "as those of --train have mean 0 and deviation 1")
	f.StringVarP(&c.out, "output", "o", "", "the file of `LABELS` to write; - for standard output")
	return cmd
}

// classifyReport is what `mustlink classify` prints.
type classifyReport struct {
	Metric    string        `json:"metric"` // the model's method, or "raw"
	Train     int           `json:"train_rows"`
	N         int           `json:"n"`
	Neighbors int           `json:"neighbors"`
	Scores    *score.Report `json:"scores,omitempty"`
	Output    string        `json:"output"`
	Warnings  []string      `json:"warnings"`
}

func (a *app) runClassify(cmd *cobra.Command, args []string, c *classifyFlags) error {
	check := a.Check(cmd)
	check.Required("train", "input", "output")
	check.Least("--neighbors", c.neighbors, 1)
	c.scaling.check(check, len(args) > 0, false)
	check.Models(args)
	check.Input("--train", c.train)
	check.File("--train-labels", c.trainLabels, "")
	c.data.check(check)
	check.Output("-o, --output", c.out)
	if check.Err != nil {
		return check.Err
	}
	m, err := a.metric(cmd.Context(), args...)
	if err != nil {
		return err
	}
	r, err := m.classify(cmd.Context(), c)
	if err != nil {
		return err
	}
	r.Warnings = a.Warnings()
	return a.Summarize(c.out, r, r.text)
}

// training returns the flags that describe --train.
func (c *classifyFlags) training() *dataFlags {
	d := c.data
	d.path, d.labels = c.train, c.trainLabels
	d.headerLabels = c.data.headerLabels && c.trainLabels == ""
	return &d
}

// readTraining reads --train.
func (m *metric) readTraining(ctx context.Context, c *classifyFlags) (*dataset.Data, error) {
	train, err := m.read(ctx, c.training())
	if err != nil {
		return nil, err
	}
	if train.Labels == nil {
		return nil, fault.Data(train.Name, "it has no labels: want a column label, or --train-labels FILE")
	}
	if n := train.Points.Len(); c.neighbors > n {
		return nil, usage.Errorf("--neighbors is %d: want at most %d, the number of rows of %s", c.neighbors, n, train.Name)
	}
	return train, nil
}

// classify labels the rows of -i block by block, beside those of --train, which are held.
func (m *metric) classify(ctx context.Context, c *classifyFlags) (*classifyReport, error) {
	train, err := m.readTraining(ctx, c)
	if err != nil {
		return nil, err
	}
	open, err := m.reopening(ctx, c.data.withFeatures(train.Points.Dim()))
	if err != nil {
		return nil, err
	}
	table, err := c.scaling.apply(m.app, train)
	if err != nil {
		return nil, err
	}
	known, err := m.coordinates(ctx, table.Data())
	if err != nil {
		return nil, err
	}
	m.scale = table.Transform()
	query := &locator{metric: m, stage: "classification", open: func(ctx context.Context) (*pointSource, error) {
		src, err := open(ctx)
		return src.like(train), err
	}}
	r := &classifyReport{Metric: m.name(), Train: known.Rows, Neighbors: c.neighbors, Output: c.out}
	truth := &truth{metric: m}
	err = query.writeLabels(ctx, c.out, func(ctx context.Context, block located) ([]string, error) {
		labels, err := neighbors.Classify(ctx, m.eng, known, train.Labels, block.at, c.neighbors)
		if err != nil {
			return nil, err
		}
		r.N += len(labels)
		return labels, truth.add(block.Labels, labels)
	})
	r.Scores = truth.report()
	return r, err
}

func (r *classifyReport) text(w io.Writer) {
	fmt.Fprintf(w, "classified\t%s by %s among %s, %s metric\n", session.Plural(r.N, "row"), session.Plural(r.Neighbors, "neighbour"), session.Plural(r.Train, "row"), r.Metric)
	if r.Scores != nil && r.Scores.Accuracy != nil {
		fmt.Fprintf(w, "accuracy\t%v\n", session.Number(*r.Scores.Accuracy))
	}
	fmt.Fprintf(w, "labels\t%s\n", r.Output)
}
