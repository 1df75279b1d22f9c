package data

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type scoreCommand struct {
	*session.Session
	truth, predicted, embedding string
	label, id                   string // columns of the truth
	format                      string
	groups                      bool
}

func newScore(s *session.Session) *cobra.Command {
	c := &scoreCommand{Session: s}
	cmd := &cobra.Command{
		Use:        "score --truth LABELS (--predicted LABELS | --embedding OUT)",
		SuggestFor: []string{"evaluate", "eval"},
		Short:      "score labels or an embedding against the truth",
		Long: `Score labels or an embedding against true labels, by every score that the files allow.

LABELS is a table with a column "label" (CSV, .parquet, .arrow, .jsonl), or other data with labels
(.svm, an .idx vector, .fasta with the label as the header's second word). --label and --id name other columns of
--truth. A row whose true label is empty counts in no score; the result says how many there are.
If both files have ids, these must agree row by row.

Scores of predicted labels: Rand index, balanced Rand index, adjusted Rand index (ARI), NMI
(arithmetic mean), accuracy under the best matching of clusters to classes and, if the
predicted labels are true labels, plain accuracy (not of 0, 1, 2 and so on, the numbers of
clusters, if another naming of them agrees better). Scores of an embedding (or of raw points):
the ratio J of mean distances between and within classes, the AUC of distance as a test of
"same class", the leave-one-out accuracy of the nearest neighbor, and recall@k.`,
		Example: `  mustlink score --truth data.csv --predicted clusters.csv
  mustlink score --truth data.csv --embedding embedded.npy --json`,
		Args: usage.Positional(0, 0, ""),
		RunE: s.Checked(c.check, c.run),
	}
	f := usage.FlagsOf(cmd)
	f.String(&c.truth, "truth", "",
		"`LABELS`: a CSV with the true labels in the column label, or other data with labels")
	f.String(&c.predicted, "predicted", "",
		"`LABELS`: a CSV with the predicted labels or clusters in the column label")
	f.String(&c.embedding, "embedding", "", "the `FILE` of an embedding, one row a point")
	f.String(&c.label, "label", "", "the `COLUMN` of labels in --truth (default label)")
	f.String(&c.id, "id", "", "the `COLUMN` of ids in --truth (default id, if there)")
	f.Bool(&c.groups, "groups", false, "also pairwise and B-cubed precision, recall and F of --predicted, the "+
		"scores of groups of any size", usage.Needs("predicted"), usage.Excludes("embedding"))
	f.String(&c.format, "format", "",
		"`FORMAT` of an embedding without a known extension, such as csv or npy (default csv)",
		usage.Complete(session.Formats()...))
	f.Required("truth")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (c *scoreCommand) check(check *session.Checks, _ []string) {
	check.Refuse(c.predicted == "" && c.embedding == "",
		"--predicted and --embedding are missing: want one of them, or both %s", usage.HelpHint(check.Cmd))
	check.Input("--truth", c.truth)
	check.Input("--predicted", c.predicted)
	check.Input("--embedding", c.embedding)
}

func (c *scoreCommand) run(ctx context.Context, _ []string) error {
	work := c.inMemory
	if c.embedding == "" {
		work = c.counted
	}
	r, err := work(ctx)
	if err != nil {
		return fault.InFile(err, c.truth)
	}
	if r.Numbered {
		r.OfClusters()
	}
	return c.Print(r, func(w io.Writer) { scoreText(w, r) })
}

// inMemory scores labels or points in memory.
func (c *scoreCommand) inMemory(ctx context.Context) (*score.Report, error) {
	in, err := c.input(ctx)
	if err != nil {
		return nil, err
	}
	return session.Await(ctx, func() (*score.Report, error) { return score.All(in) })
}

// counted counts labels as it reads them: its memory grows with the number of different labels, not
// with the number of rows.
func (c *scoreCommand) counted(ctx context.Context) (*score.Report, error) {
	eng, err := c.Engine()
	if err != nil {
		return nil, err
	}
	truth, err := c.openLabels(ctx, c.truth, c.truthOptions())
	if err != nil {
		return nil, err
	}
	defer truth.Close()
	predicted, err := c.openLabels(ctx, c.predicted, c.options())
	if err != nil {
		return nil, err
	}
	defer predicted.Close()
	const most = 1 << 22 // largest difference of the numbers of labels read before it is an error
	var table score.Table
	for {
		t, err := c.next(ctx, truth)
		if err != nil {
			return nil, err
		}
		p, err := c.next(ctx, predicted)
		if err != nil {
			return nil, err
		}
		n, m := truth.Done(), predicted.Done()
		ended := len(t.Labels) == 0 && len(p.Labels) == 0
		if n != m && (ended || max(n, m)-min(n, m) > most) {
			return nil, c.otherLength(n, m, ended)
		} else if ended {
			break
		}
		if n == m { // otherwise labels are only counted
			if err := c.agree(t, p, n-len(t.Labels)); err != nil {
				return nil, err
			}
			if err := table.Add(t.Labels, p.Labels); err != nil {
				return nil, err
			}
		}
		if err := source.CheckCounts(eng, &table); err != nil {
			return nil, err
		}
	}
	if c.groups {
		return table.Groups()
	}
	return table.Report()
}

// options returns how labels are read.
func (c *scoreCommand) options() dataset.ReadOptions {
	return dataset.ReadOptions{MemoryLimit: int64(c.MemoryLimit), Extensions: session.Extensions()}
}

func (c *scoreCommand) truthOptions() dataset.ReadOptions {
	o := c.options()
	o.Label, o.ID = c.label, c.id
	return o
}

// openLabels opens a file of labels, which is read a block at a time. Standard input is CSV.
func (c *scoreCommand) openLabels(ctx context.Context, path string,
	o dataset.ReadOptions) (*dataset.LabelStream, error) {
	return session.Await(ctx, func() (*dataset.LabelStream, error) {
		return dataset.OpenLabels(c.Input(path), o)
	})
}

// next returns the next labels, none after the last ones.
func (c *scoreCommand) next(ctx context.Context, from *dataset.LabelStream) (dataset.LabelRows, error) {
	rows, err := session.Await(ctx, func() (dataset.LabelRows, error) {
		return from.Next(source.LinesOfBlock(c.Session))
	})
	if err == io.EOF {
		err = nil
	}
	return rows, err
}

// agree refuses rows, from a first one on, with different ids in the two files, and labeled ones
// without a predicted label.
func (c *scoreCommand) agree(truth, predicted dataset.LabelRows, first int) error {
	for i, label := range truth.Labels {
		var e *fault.DataError
		switch {
		case truth.IDs != nil && predicted.IDs != nil && truth.IDs[i] != predicted.IDs[i]:
			e = fault.Data(c.predicted, "the id is %q, but %q in %s: want the same rows in the same order",
				predicted.IDs[i], truth.IDs[i], c.truth)
		case label != "" && predicted.Labels[i] == "":
			e = fault.Data(c.predicted, "the predicted label is empty, but the row has a true one: want a label")
		default:
			continue
		}
		e.Row = first + i
		return e
	}
	return nil
}

// otherLength returns the error for files with different numbers of labels, as far as these are
// known.
func (c *scoreCommand) otherLength(truth, predicted int, ended bool) error {
	more := ""
	if !ended {
		more = " or more"
	}
	has, wants := fault.Count(predicted, "label"), strconv.Itoa(truth)
	if predicted > truth {
		has += more
	} else {
		wants += more
	}
	return fault.Data(c.predicted, "it has %s: want %s, as many as %s", has, wants, c.truth)
}

// input reads the files and compares their lengths, because later functions do not know the names
// of the files.
func (c *scoreCommand) input(ctx context.Context) (in score.Input, err error) {
	truth, err := c.readLabels(ctx, c.truth, c.truthOptions())
	if err != nil {
		return in, err
	}
	in.Truth = truth.Labels
	if c.predicted != "" {
		predicted, err := c.readLabels(ctx, c.predicted, c.options())
		if err != nil {
			return in, err
		}
		if n, m := len(truth.Labels), len(predicted.Labels); n != m {
			return in, c.otherLength(n, m, true)
		}
		if err := c.agree(truth, predicted, 0); err != nil {
			return in, err
		}
		in.Predicted = predicted.Labels
	}
	if c.embedding == "" {
		return in, nil
	}
	of := source.Data{Path: c.embedding, ReadOptions: dataset.ReadOptions{Format: c.format}}
	d, err := of.Read(ctx, c.Session)
	if err != nil {
		return in, err
	}
	eng, err := c.Engine()
	if err != nil {
		return in, err
	}
	x, err := metric.Raw(ctx, eng, d.Name, d.Points)
	if err != nil {
		return in, err
	}
	if x.Rows != len(in.Truth) {
		return in, fault.Data(c.embedding, "it has %s: want %d, as many as %s has labels",
			fault.Count(x.Rows, "row"), len(in.Truth), c.truth)
	}
	in.X, in.N, in.D = x.Data, x.Rows, x.Cols
	return in, nil
}

func scoreText(w io.Writer, r *score.Report) {
	fmt.Fprintf(w, "rows\t%d\n", r.N)
	if r.Unlabeled > 0 {
		fmt.Fprintf(w, "rows without a label, left out\t%d\n", r.Unlabeled)
	}
	fmt.Fprintf(w, "classes\t%d\n", r.Classes)
	if r.Clusters > 0 {
		fmt.Fprintf(w, "clusters\t%d\n", r.Clusters)
	}
	for _, f := range r.Scores() {
		fmt.Fprintf(w, "%s\t%v\n", f.Name, session.Number(f.Value))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
}

// readLabels reads one label for each row, and the ids if there are some.
func (c *scoreCommand) readLabels(ctx context.Context, path string,
	o dataset.ReadOptions) (dataset.LabelRows, error) {
	return session.Await(ctx, func() (dataset.LabelRows, error) {
		return dataset.ReadLabels(c.Input(path), o)
	})
}
