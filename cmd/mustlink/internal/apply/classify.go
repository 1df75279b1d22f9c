package apply

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type classifyCommand struct {
	*session.Session
	data        source.Data
	train       string
	trainLabels string
	neighbors   int
	preparing   source.Preparing
	out         string
}

func newClassify(s *session.Session) *cobra.Command {
	c := &classifyCommand{Session: s}
	cmd := &cobra.Command{
		Use:        "classify [MODEL] --train DATA -i DATA -o LABELS",
		SuggestFor: []string{"predict"},
		Short:      "classify points by their nearest labeled neighbors",
		Long: `Give each row of -i the most frequent label among its nearest rows of --train that have one. If
labels have equally many votes, the label of the nearest voter wins.

With MODEL the metric is the learned one, without it that of the raw points. If the rows of -i
have labels too, the summary compares them with the predicted ones. --label names the column in
--train; -i need not have it.

The rows of --train are kept in memory. Rows of -i in ` + session.Endings(" and ") + ` are read, classified and
written block by block, also from a pipe: their number is bounded by the disk, not by memory.`,
		Example: `  mustlink classify model.mlk --train train.csv -i test.csv -o predicted.csv
  mustlink classify --train train.csv -i test.csv --neighbors 1 --standardize -o baseline.csv`,
		Args: usage.Positional(0, 1, "at most one MODEL"),
		RunE: s.Checked(c.check, c.run),
	}
	f := usage.FlagsOf(cmd)
	f.String(&c.train, "train", "", "the file of `DATA` with labels, in a format as for -i")
	f.String(&c.trainLabels, "train-labels", "", "`FILE` of labels, as for --labels, if --train has none")
	f.String(&c.data.Path, "input,i", "",
		"the file of `DATA` to classify: "+session.InputEndings()+"; - for standard input")
	c.data.ReadingFlags(cmd)
	c.data.LabelFlags(cmd)
	f.Int(&c.neighbors, "neighbors", 4, "number of nearest neighbors that vote", usage.Range(">= 1"))
	c.preparing.Flags(cmd, "without MODEL: ")
	f.String(&c.out, "output,o", "", "the file of `LABELS` to write; - for standard output")
	f.Required("train", "input", "output")
	return cmd
}

// classifyReport is the result of `mustlink classify`.
type classifyReport struct {
	Metric    string        `json:"metric"`     // the model's method, or "raw"
	Train     int           `json:"train_rows"` // that have a label
	Unlabeled int           `json:"train_rows_without_label,omitempty"`
	N         int           `json:"n"`
	Neighbors int           `json:"neighbors"`
	Scores    *score.Report `json:"scores,omitempty"`
	Output    string        `json:"output"`
	Warnings  []string      `json:"warnings"`
}

// check finds mistakes that do not require reading anything.
func (c *classifyCommand) check(check *session.Checks, args []string) {
	c.preparing.Check(check, len(args) > 0, &c.data)
	check.Models(args)
	check.Input("--train", c.train)
	check.File("--train-labels", c.trainLabels, "")
	c.data.Check(check)
	c.data.LabelOptional = true // --label is that of --train
	check.Output("-o, --output", c.out)
}

func (c *classifyCommand) run(ctx context.Context, args []string) error {
	m, err := metric.Open(ctx, c.Session, args...)
	if err != nil {
		return err
	}
	r, err := c.classify(ctx, m)
	if err != nil {
		return err
	}
	r.Warnings = c.Warnings()
	return c.Summarize(c.out, r, r.text)
}

// training returns the flags that describe --train.
func (c *classifyCommand) training() *source.Data {
	d := c.data
	d.Path, d.Labels = c.train, c.trainLabels
	d.HeaderLabels = c.data.HeaderLabels && c.trainLabels == ""
	d.LabelOptional = false
	return &d
}

// readTraining reads --train.
func (c *classifyCommand) readTraining(ctx context.Context, m *metric.Metric) (*dataset.Data, error) {
	train, err := m.Read(ctx, c.training())
	if err != nil {
		return nil, err
	}
	if err := train.NeedLabels("a column label, --label COLUMN, or --train-labels FILE"); err != nil {
		return nil, err
	}
	source.WarnOfLabels(c.Session, train)
	if n := train.Labeled(); c.neighbors > n {
		return nil, usage.Errorf("--neighbors is %d: want at most %d, the number of rows of %s with a label",
			c.neighbors, n, train.Name)
	}
	return train, nil
}

// classify labels the rows of -i block by block. The rows of --train stay in memory.
func (c *classifyCommand) classify(ctx context.Context, m *metric.Metric) (*classifyReport, error) {
	train, err := c.readTraining(ctx, m)
	if err != nil {
		return nil, err
	}
	table, err := c.preparing.Apply(ctx, c.Session, train)
	if err != nil {
		return nil, err
	}
	known, err := m.Coordinates(ctx, table.Data())
	if err != nil {
		return nil, err
	}
	known, labels, err := neighbors.Labeled(known, train.Labels)
	if err != nil {
		return nil, err
	}
	m.Preparing(train.Features, table.Transform())
	open, err := m.Flags(c.data.WithFeatures(train.Points.Dim())).Reopen(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	rows := m.Rows(open, "classification")
	r := &classifyReport{Metric: m.Name(), Train: known.Rows,
		Unlabeled: train.Points.Len() - known.Rows, Neighbors: c.neighbors, Output: c.out}
	r.Scores, err = writeLabels(ctx, m, rows, c.out, true,
		func(ctx context.Context, block mustlink.Block) ([]string,
			error) {
			r.N += block.Coordinates.Rows
			return neighbors.Classify(ctx, m.Eng, known, labels, block.Coordinates, c.neighbors)
		})
	return r, err
}

func (r *classifyReport) text(w io.Writer) {
	among := fault.Count(r.Train, "row")
	if r.Unlabeled > 0 {
		among = fmt.Sprintf("%d of %d rows, the others have no label", r.Train, r.Train+r.Unlabeled)
	}
	fmt.Fprintf(w, "classified\t%s by %s among %s, %s metric\n", fault.Count(r.N, "row"),
		fault.Count(r.Neighbors, "neighbor"), among, r.Metric)
	if r.Scores != nil && r.Scores.Accuracy != nil {
		of := ""
		if r.Scores.Unlabeled > 0 {
			of = fmt.Sprintf(" of the %s with a label", fault.Count(r.Scores.N, "row"))
		}
		fmt.Fprintf(w, "accuracy\t%v%s\n", session.Number(*r.Scores.Accuracy), of)
	}
	fmt.Fprintf(w, "labels\t%s\n", r.Output)
}
