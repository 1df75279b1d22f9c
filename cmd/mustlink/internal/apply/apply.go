// Package apply provides the commands that apply metrics to points.
package apply

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/export"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// Commands returns embed, gram, distance, cluster, classify, neighbors, pairs, entities and export.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newEmbed(s), newGram(s), newDistance(s), newCluster(s), newClassify(s),
		newNeighbors(s), newPairs(s), newEntities(s), newExport(s)}
}

// matrixReport is the result of commands that write a matrix.
type matrixReport struct {
	Method   string   `json:"method"`
	Rows     int      `json:"rows"`
	Cols     int      `json:"cols"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r matrixReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %d x %d (%s)\n", r.Output, r.Rows, r.Cols, r.Method)
}

// writeLabels writes the labels that label returns for each block of rows, one block while label
// works on the next, and scores them against the labels of the data. With named these are names of
// classes, also where no row is of the class.
func writeLabels(ctx context.Context, m *metric.Metric, rows *mustlink.Rows, path string, named bool,
	label func(context.Context, mustlink.Block) ([]string, error)) (*score.Report, error) {
	table, compared := score.Table{Named: named}, true // with the labels of the data
	next, stop, err := mustlink.EachBlock(ctx, rows,
		func(ctx context.Context, block mustlink.Block) (out dataset.LabelRows, err error) {
			if out.Labels, err = label(ctx, block); err != nil {
				return out, err
			}
			out.IDs = block.Data.IDs
			if compared = compared && block.Data.Labels != nil; !compared {
				return out, nil
			}
			if err := table.Add(block.Data.Labels, out.Labels); err != nil {
				return out, err
			}
			if err := source.CheckCounts(m.Eng, &table); err != nil {
				m.Warnf("the rows are not compared with their labels: %v", err)
				table, compared = score.Table{}, false
			}
			return out, nil
		})
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := dataset.WriteLabelRows(path, next, m.WritingText()); err != nil || !compared {
		return nil, err
	}
	r, err := table.Report()
	if err != nil { // labels that cannot be scored, such as a single one, do not make the command fail
		return nil, nil
	}
	return r, nil
}

type gramCommand struct {
	*session.Session
	data  source.Data
	other string
	out   string
}

func newGram(s *session.Session) *cobra.Command {
	g := &gramCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "gram MODEL -i DATA [-j DATA2] -o OUT",
		Short: "write the learned kernel matrix",
		Long: `Write the learned kernel between the rows of DATA, n x n, or between the rows of DATA and
those of DATA2. The rows need not be training rows. The kernel is that of the learned metric itself,
of which the coordinates of mustlink embed may hold only a share. The extension of OUT selects its format (` + session.Endings(", ") + `, each also .gz); all but
.npy keep the column id.`,
		Example: `  mustlink gram model.mlk -i data.csv -o kernel.npy
  mustlink gram model.mlk -i test.csv -j train.csv -o cross.npy`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: metric.Checked(s, g.check, g.run),
	}
	f := usage.FlagsOf(cmd)
	g.data.Flags(cmd)
	f.String(&g.other, "input2,j", "",
		"the file of `DATA2`, for the columns of the matrix (default: DATA)")
	f.String(&g.out, "output,o", "", "the file `OUT` to write; - for standard output")
	f.Required("input", "output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (g *gramCommand) check(check *session.Checks, args []string) {
	check.Refuse(g.other != "" && g.data.Gram,
		"-j and --gram are given together: want vectors for a kernel between two files")
	check.Models(args)
	g.data.Check(check)
	g.data.LabelOptional = true
	check.Input("-j, --input2", g.other)
	check.Matrix("-o, --output", g.out, g.data.Format)
}

func (g *gramCommand) run(ctx context.Context, m *metric.Metric, _ []string) error {
	x, err := m.Read(ctx, &g.data)
	if err != nil {
		return err
	}
	var y *mustlink.Table // nil means x
	if g.other != "" {
		other := g.data
		other.Path = g.other
		d, err := m.Read(ctx, &other)
		if err != nil {
			return err
		}
		y = mustlink.FromData(d)
	}
	k, err := m.Model.Gram(ctx, mustlink.FromData(x), y)
	if err != nil {
		return err
	}
	raw := k.RawMatrix()
	if err := g.WriteMatrix(ctx, g.out, g.data.Format,
		blas.Matrix{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data}, x.IDs); err != nil {
		return err
	}
	r := matrixReport{Method: m.Name(), Rows: raw.Rows, Cols: raw.Cols, Output: g.out, Warnings: g.Warnings()}
	return g.Summarize(g.out, r, r.text)
}

type exportCommand struct {
	*session.Session
	precision source.Precision
	format    string
	dialect   string
	out       string
}

func newExport(s *session.Session) *cobra.Command {
	e := &exportCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "export MODEL -o OUT",
		Short: "write a model for programs without mustlink: ONNX, JSON or SQL",
		Long: `Write what a model computes for programs without mustlink. The extension of OUT selects the
format:

  .onnx  a graph for ONNX's runtimes, from rows as the model takes them to coordinates. Its input
         x has the columns of numbers, texts those of texts; filling, scaling and one-hot columns
         are in the graph. The number of rows is free.
  .json  a linear map: the features and how they are made of columns, the matrix, and the
         Mahalanobis matrix.
  .sql   a linear map as a statement with an expression for each coordinate.

Coordinates are those of embed, within 1e-12 of the largest in double precision, and 1e-5 in single
precision. Single precision takes float32 and halves the file; where it could lose more than 1e-5,
as in linear maps, the graph computes in double precision inside.

Exported are blend, krca, npkl, lleratio, kbeta with extension=nystrom, gml except with the spectral
prior, itml, kpca, llma, parts and all linear methods, with vectors as points; blend and npkl in
double precision. Refused are models that search for neighbors of new rows (klein, spectral, cmvu
and others) or send them through trees (forest), and those of sequences, Gram matrices, dates and
texts. JSON and SQL are for linear maps alone.`,
		Example: `  mustlink export model.mlk -o model.onnx
  mustlink export linear.mlk -o model.sql --sql postgres`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: metric.Checked(s, e.check, e.run),
	}
	f := usage.FlagsOf(cmd)
	e.precision.Flag(f, "an ONNX graph")
	f.String(&e.dialect, "sql", "",
		"the `DIALECT` of .sql: "+strings.Join(export.Dialects(), ", ")+" (default "+export.Dialects()[0]+")",
		usage.OneOf(export.Dialects()...))
	f.String(&e.format, "format", "", "the `FORMAT`, onnx, json or sql, instead of the extension of OUT",
		usage.OneOf(export.Formats()...))
	f.String(&e.out, "output,o", "", "the file `OUT` to write; - for standard output")
	f.Required("output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (e *exportCommand) check(check *session.Checks, args []string) {
	check.Models(args)
	if !check.Cmd.Flags().Changed("format") {
		check.Refuse(e.out == session.Stream,
			"-o is \"-\", which has no extension: want --format onnx, json or sql")
		check.Ending("-o, --output", e.out, export.Formats()...)
		e.format = strings.ToLower(strings.TrimPrefix(filepath.Ext(e.out), "."))
	}
	check.Refuse(e.format != "onnx" && check.Cmd.Flags().Changed("precision"),
		"--precision is given for %s: want it for onnx", e.format)
	check.Refuse(e.format != "sql" && e.dialect != "", "--sql is given for %s: want it for sql", e.format)
	if e.format == "onnx" {
		check.Binary("-o, --output", e.out, "a graph")
	}
	check.Output("-o, --output", e.out)
}

// exportReport is the result of `mustlink export`.
type exportReport struct {
	Method   string   `json:"method"`
	Format   string   `json:"format"`
	Dim      int      `json:"dim"`
	Bytes    int      `json:"bytes"`
	Computed string   `json:"computed_in,omitempty"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r exportReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %d coordinates, %s (%s)\n", r.Output, r.Format, r.Dim,
		fault.FormatBytes(int64(r.Bytes)), r.Method)
}

func (e *exportCommand) run(ctx context.Context, m *metric.Metric, args []string) error {
	var content bytes.Buffer
	inside, err := export.Write(ctx, &content, m.Model, e.format, export.Options{
		ONNXOptions: export.ONNXOptions{Precision: export.Precision(e.precision),
			Limits: export.Limits{Memory: m.Eng.MemoryLimit()}},
		Dialect: export.Dialect(e.dialect),
	})
	if err != nil {
		return fault.InFile(err, args[0])
	}
	if inside != "" && inside != export.Precision(e.precision) {
		e.Warnf("the graph takes and gives single precision, and computes in double: single precision " +
			"could lose more than 1e-5 of the coordinates")
	}
	if d, is := m.Record().Model.(interface{ Digested() bool }); is && d.Digested() {
		e.Warnf("%s embeds the rows of the fit as new ones: of these this large model has digests only", e.out)
	}
	if err := e.WriteText(e.out, content.String()); err != nil {
		return err
	}
	r := exportReport{Method: m.Name(), Format: e.format, Dim: m.Dim(), Bytes: content.Len(),
		Computed: string(inside), Output: e.out, Warnings: e.Warnings()}
	return e.Summarize(e.out, r, r.text)
}

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
		RunE: metric.Checked(s, c.check, c.run),
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

// readTraining reads --train.
func (c *classifyCommand) readTraining(ctx context.Context, m *metric.Metric) (*dataset.Data, error) {
	d := c.data
	d.Path, d.Labels = c.train, c.trainLabels
	d.HeaderLabels = c.data.HeaderLabels && c.trainLabels == ""
	d.LabelOptional = false
	train, err := m.Read(ctx, &d)
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

// run labels the rows of -i block by block. The rows of --train stay in memory.
func (c *classifyCommand) run(ctx context.Context, m *metric.Metric, _ []string) error {
	train, err := c.readTraining(ctx, m)
	if err != nil {
		return err
	}
	table, err := c.preparing.Apply(ctx, c.Session, train)
	if err != nil {
		return err
	}
	known, err := m.Coordinates(ctx, table.Data())
	if err != nil {
		return err
	}
	known, labels, err := neighbors.Labeled(known, train.Labels)
	if err != nil {
		return err
	}
	m.Preparing(train.Features, table.Transform())
	open, err := m.Flags(c.data.WithFeatures(train.Points.Dim())).Reopen(ctx, c.Session)
	if err != nil {
		return err
	}
	rows := m.Rows(open, "classification")
	r := &classifyReport{Metric: m.Name(), Train: known.Rows,
		Unlabeled: train.Points.Len() - known.Rows, Neighbors: c.neighbors, Output: c.out}
	r.Scores, err = writeLabels(ctx, m, rows, c.out, true,
		func(ctx context.Context, block mustlink.Block) ([]string, error) {
			r.N += block.Coordinates.Rows
			return neighbors.Classify(ctx, m.Eng, known, labels, block.Coordinates, c.neighbors)
		})
	if err != nil {
		return err
	}
	if r.Scores != nil && c.train == c.data.Path {
		c.Warnf("the rows of -i are those of --train, and each votes for itself: want other rows to judge by")
	}
	r.Warnings = c.Warnings()
	return c.Summarize(c.out, r, r.text)
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
