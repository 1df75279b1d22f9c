package apply

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type embedCommand struct {
	*session.Session
	data      source.Data
	precision source.Precision
	out       string
}

func newEmbed(s *session.Session) *cobra.Command {
	e := &embedCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "embed MODEL -i DATA -o OUT",
		Short: "map points to coordinates in which Euclidean tools work",
		Long: `Map points, those of the fit or new ones, to coordinates in which Euclidean distance is
the learned one: one row a point, as many columns as the model has dimensions. The file is
written by its extension (.csv, .npy, .parquet, each also .gz); all but .npy keep the column id.

Points of .csv, .npy and .parquet are read, embedded and written block by block, also from a pipe: their number
is bounded by the disk, not by memory. Only from .csv to .npy.gz, or to .npy on standard output, are they all read
first, because .npy has their number in front, and a .parquet from a pipe is, because its end says what is in it.

With --precision single, points are rounded to 24 bits and embedded in single precision, in about half the time; .npy holds
such coordinates in half the bytes. They have errors of about 1e-6 of the largest terms that they are the sums of; how much
that is of the coordinates themselves is measured on the first rows, and told. It is there for dense vectors and for models that are sums of kernel values or linear maps: of krca in the Cholesky form, kbeta
with extension=nystrom, gml (but for the spectral prior), lleratio, itml, kpca, and of all linear methods.`,
		Example: `  mustlink embed model.mlk -i new.csv -o embedded.npy
  mustlink embed model.mlk -i new.csv -o - | head -3`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0]) },
	}
	e.data.Flags(cmd)
	e.precision.Flag(cmd.Flags(), "the computation")
	cmd.Flags().StringVarP(&e.out, "output", "o", "", "the file `OUT` to write, n x dim; - for standard output")
	return cmd
}

func (e *embedCommand) run(cmd *cobra.Command, path string) error {
	check := e.Check(cmd)
	check.Required("input", "output")
	check.Do(e.precision.Check)
	check.Models([]string{path})
	e.data.Check(check)
	check.Matrix("-o, --output", e.out, e.data.Format)
	if check.Err != nil {
		return check.Err
	}
	ctx := cmd.Context()
	m, err := metric.Open(ctx, e.Session, path)
	if err != nil {
		return err
	}
	writing := e.Writing(e.out, e.data.Format)
	writing.Single = e.precision == source.Single
	src, err := m.Flags(&e.data).Open(ctx, e.Session, dataset.CountsFirst(e.out, writing))
	if err != nil {
		return err
	}
	rows := &metric.Rows{Metric: m, Open: func(context.Context) (*source.Blocks, error) { return src, nil }, Stage: "embedding"}
	half := &singleEmbedding{m, -1}
	if writing.Single {
		rows.Place = half.embed
	}
	dim := m.Fitted.Model.Dim()
	n, err := rows.WriteCoordinates(ctx, e.out, src.Rows, dim, writing)
	if err != nil {
		return err
	}
	if half.off > mostOff {
		e.Warnf("coordinates in single precision are off by %.1g of the largest, in the first rows: want --precision double for this model, whose terms cancel", half.off)
	}
	r := embedReport{matrixReport: matrixReport{Method: m.Name(), Rows: n, Cols: dim, Output: e.out, Warnings: e.Warnings()}}
	if writing.Single {
		r.Precision, r.Off = string(source.Single), &half.off
	}
	return e.Summarize(e.out, r, r.text)
}

// mostOff is the error of single precision, relative to the largest coordinate, that a warning tells of.
const mostOff = 1e-3

// embedReport is what `mustlink embed` prints.
type embedReport struct {
	matrixReport
	Precision string   `json:"precision,omitempty"` // single, or else nothing
	Off       *float64 `json:"single_error,omitempty"`
}

func (r embedReport) text(w io.Writer) {
	r.matrixReport.text(w)
	if r.Off != nil {
		fmt.Fprintf(w, "single precision, off by %.1g of the largest coordinate in the first rows\n", *r.Off)
	}
}
