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

// truth compares predicted labels with the labels of the data, block by block.
type truth struct {
	*metric.Metric
	table score.Table
	none  bool // no labels to compare with, or too many different ones
}

// writeLabels writes the labels that label returns for each block of rows, one block while label
// works on the next, and scores them against the labels of the data. With named these are names of classes, also where no row is of the class.
func writeLabels(ctx context.Context, m *metric.Metric, rows *mustlink.Rows, path string, named bool,
	label func(context.Context, mustlink.Block) ([]string, error)) (*score.Report, error) {
	t := &truth{Metric: m, table: score.Table{Named: named}}
	next, stop, err := mustlink.EachBlock(ctx, rows,
		func(ctx context.Context, block mustlink.Block) (out dataset.LabelRows, err error) {
			if out.Labels, err = label(ctx, block); err != nil {
				return out, err
			}
			out.IDs = block.Data.IDs
			return out, t.add(block.Data.Labels, out.Labels)
		})
	if err != nil {
		return nil, err
	}
	defer stop()
	err = dataset.WriteLabelRows(path, next, m.WritingText())
	return t.report(), err
}

// add compares the labels of a block; labels is nil for data without labels.
func (t *truth) add(labels, predicted []string) error {
	if t.none = t.none || labels == nil; t.none {
		return nil
	}
	if err := t.table.Add(labels, predicted); err != nil {
		return err
	}
	if err := source.CheckCounts(t.Eng, &t.table); err != nil {
		t.Warnf("the rows are not compared with their labels: %v", err)
		t.table, t.none = score.Table{}, true
	}
	return nil
}

// report returns the scores, or nil. Labels that cannot be scored, such as a single one, do not
// make the command fail.
func (t *truth) report() *score.Report {
	if t.none {
		return nil
	}
	r, err := t.table.Report()
	if err != nil {
		return nil
	}
	return r
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
	if err := e.WriteText(e.out, content.String()); err != nil {
		return err
	}
	r := exportReport{Method: m.Name(), Format: e.format, Dim: m.Dim(), Bytes: content.Len(),
		Computed: string(inside), Output: e.out, Warnings: e.Warnings()}
	return e.Summarize(e.out, r, r.text)
}
