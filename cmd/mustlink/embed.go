package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/usage"
)

type embedFlags struct {
	data      dataFlags
	precision precisionFlag
	out       string
}

func newEmbed(a *app) *cobra.Command {
	var e embedFlags
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
		RunE: func(cmd *cobra.Command, args []string) error { return a.runEmbed(cmd, args[0], &e) },
	}
	e.data.add(cmd)
	e.precision.add(cmd.Flags(), "the computation")
	cmd.Flags().StringVarP(&e.out, "output", "o", "", "the file `OUT` to write, n x dim; - for standard output")
	return cmd
}

func (a *app) runEmbed(cmd *cobra.Command, path string, e *embedFlags) error {
	check := a.Check(cmd)
	check.Required("input", "output")
	check.Do(e.precision.check)
	check.Models([]string{path})
	e.data.check(check)
	check.Matrix("-o, --output", e.out, e.data.format)
	if check.Err != nil {
		return check.Err
	}
	ctx := cmd.Context()
	m, err := a.metric(ctx, path)
	if err != nil {
		return err
	}
	writing := a.Writing(e.out, e.data.format)
	writing.Single = e.precision == single
	src, err := a.openPoints(ctx, m.flags(&e.data), dataset.CountsFirst(e.out, writing))
	if err != nil {
		return err
	}
	rows := &locator{metric: m, open: func(context.Context) (*pointSource, error) { return src, nil }, stage: "embedding"}
	half := &singleEmbedding{m, -1}
	if writing.Single {
		rows.place = half.embed
	}
	dim := m.fitted.Model.Dim()
	n, err := rows.writeCoordinates(ctx, e.out, src.rows, dim, writing)
	if err != nil {
		return err
	}
	if half.off > mostOff {
		a.Warnf("coordinates in single precision are off by %.1g of the largest, in the first rows: want --precision double for this model, whose terms cancel", half.off)
	}
	r := embedReport{matrixReport: matrixReport{Method: m.name(), Rows: n, Cols: dim, Output: e.out, Warnings: a.Warnings()}}
	if writing.Single {
		r.Precision, r.Off = string(single), &half.off
	}
	return a.Summarize(e.out, r, r.text)
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
