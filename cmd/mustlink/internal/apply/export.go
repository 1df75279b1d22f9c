package apply

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/export"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

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
		RunE: s.Checked(e.check, e.run),
	}
	f := cmd.Flags()
	e.precision.Flag(f, "an ONNX graph")
	f.StringVar(&e.dialect, "sql", "", "the `DIALECT` of .sql: "+strings.Join(export.Dialects(), ", ")+" (default "+export.Dialects()[0]+")")
	f.StringVar(&e.format, "format", "", "the `FORMAT`, onnx, json or sql, instead of the extension of OUT")
	f.StringVarP(&e.out, "output", "o", "", "the file `OUT` to write; - for standard output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (e *exportCommand) check(check *session.Checks, args []string) {
	check.Required("output")
	check.Do(e.precision.Check)
	if e.dialect != "" {
		check.OneOf("--sql", e.dialect, export.Dialects())
	}
	check.Models(args)
	if check.Cmd.Flags().Changed("format") {
		check.OneOf("--format", e.format, export.Formats())
	} else {
		check.Refuse(e.out == session.Stream, "-o is \"-\", which has no extension: want --format onnx, json or sql")
		check.Ending("-o, --output", e.out, export.Formats()...)
		for _, f := range export.Formats() {
			if session.HasEnding(e.out, f) {
				e.format = f
			}
		}
	}
	check.Refuse(e.format != "onnx" && check.Cmd.Flags().Changed("precision"), "--precision is given for %s: want it for onnx", e.format)
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
	fmt.Fprintf(w, "%s: %s, %d coordinates, %s (%s)\n", r.Output, r.Format, r.Dim, fault.FormatBytes(int64(r.Bytes)), r.Method)
}

func (e *exportCommand) run(ctx context.Context, args []string) error {
	m, err := metric.Open(ctx, e.Session, args[0])
	if err != nil {
		return err
	}
	var content bytes.Buffer
	inside, err := export.Write(ctx, &content, m.Model, e.format, export.Options{
		ONNXOptions: export.ONNXOptions{Precision: export.Precision(e.precision), Limits: export.Limits{Memory: m.Eng.MemoryLimit()}},
		Dialect:     export.Dialect(e.dialect),
	})
	if err != nil {
		return fault.InFile(err, args[0])
	}
	if inside != "" && inside != export.Precision(e.precision) {
		e.Warnf("the graph takes and gives single precision, and computes in double: single precision could lose more than 1e-5 of the coordinates")
	}
	err = e.WriteFile(e.out, func(w io.Writer) error {
		_, err := w.Write(content.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	r := exportReport{Method: m.Name(), Format: e.format, Dim: m.Dim(), Bytes: content.Len(), Computed: string(inside), Output: e.out, Warnings: e.Warnings()}
	return e.Summarize(e.out, r, r.text)
}
