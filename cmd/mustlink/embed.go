package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// A block of rows that are embedded and written at a time takes about so many bytes, as points or as coordinates.
const (
	blockBytes = 16 << 20
	mostRows   = 1 << 14
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
		Args: positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runEmbed(cmd, args[0], &e) },
	}
	cmd.Flags().SortFlags = false
	e.data.add(cmd)
	e.precision.add(cmd.Flags(), "the computation")
	cmd.Flags().StringVarP(&e.out, "output", "o", "", "the file `OUT` to write, n x dim; - for standard output")
	return cmd
}

func (a *app) runEmbed(cmd *cobra.Command, path string, e *embedFlags) error {
	if err := required(cmd, "input", "output"); err != nil {
		return err
	}
	if err := e.precision.check(); err != nil {
		return err
	}
	if err := a.useModel(path); err != nil {
		return err
	}
	if err := a.useData(&e.data); err != nil {
		return err
	}
	if err := a.checkMatrixOutput(e.out, e.data.format); err != nil {
		return err
	}
	eng, fitted, err := a.open(cmd.Context(), path)
	if err != nil {
		return err
	}
	writing := a.writing(e.out, e.data.format)
	writing.Single = e.precision == single
	counted := dataset.CountsFirst(e.out, writing)
	src, err := a.openPoints(cmd.Context(), e.data.forModel(fitted), counted)
	if err != nil {
		return err
	}
	defer src.close()
	half, place := &singleEmbedding{fitted.Model, -1}, fitted.Model.Embed
	if writing.Single {
		place = half.embed
	}
	n, err := a.embedTo(cmd.Context(), e, src, eng, fitted, place, writing)
	if err != nil {
		return err
	}
	if half.off > mostOff {
		a.warn("coordinates in single precision are off by %.1g of the largest, in the first rows: want --precision double for this model, whose terms cancel", half.off)
	}
	r := embedReport{matrixReport: matrixReport{Method: fitted.Model.Method(), Rows: n, Cols: fitted.Model.Dim(), Output: e.out, Warnings: a.allWarnings()}}
	if writing.Single {
		r.Precision, r.Off = string(single), &half.off
	}
	return a.summarise(e.out, r, r.text)
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

// embedding embeds points.
type embedding func(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error)

// embedTo embeds block by block: one is read and one is written while a third is computed. It returns the number of rows.
func (a *app) embedTo(ctx context.Context, e *embedFlags, src *pointSource, eng *engine.Engine, fitted *catalog.Fitted, place embedding, writing dataset.WriteOptions) (int, error) {
	bar, begin, dim := a.progress(), time.Now(), fitted.Model.Dim()
	defer bar.done()
	most := a.rowsOfBlock(fitted)
	read, stopReading := dataset.Ahead(ctx, func(ctx context.Context) (*dataset.Data, error) { return src.next(ctx, most) })
	defer stopReading()
	done := 0
	embed := func(ctx context.Context) (dataset.Rows, error) {
		part, err := read()
		if err != nil {
			return dataset.Rows{}, err
		}
		bar.report(algorithms.Progress{Stage: "embedding", Done: done, Total: max(0, src.rows), Elapsed: time.Since(begin)})
		x, err := fitted.Prepare(part)
		if err != nil {
			return dataset.Rows{}, inRows(err, done)
		}
		y, err := place(ctx, eng, x)
		if err != nil {
			return dataset.Rows{}, inFile(part.Name, inRows(err, done))
		}
		done += y.Rows
		return dataset.Rows{Data: valuesOf(y), IDs: part.IDs}, nil
	}
	computed, stopComputing := dataset.Ahead(ctx, embed)
	defer stopComputing()
	written := 0
	next := func() (dataset.Rows, error) {
		block, err := computed()
		written += len(block.Data) / dim
		return block, err
	}
	err := dataset.WriteRows(e.out, src.rows, dim, next, writing)
	return written, err
}

// rowsOfBlock returns the number of rows that are read and embedded at a time.
func (a *app) rowsOfBlock(fitted *catalog.Fitted) int {
	width := fitted.Model.Dim()
	if m, ok := fitted.Model.(algorithms.Inputs); ok {
		width = max(width, m.InputDim())
	}
	return a.rowsOfWidth(width)
}

// rowsOfWidth is rowsOfBlock for rows of that many values. Some blocks are in memory at a time, which together are to take a
// fraction of the memory limit.
func (a *app) rowsOfWidth(width int) int {
	const share = 32
	bytes := blockBytes
	if a.memoryLimit > 0 {
		bytes = int(min(blockBytes, int64(a.memoryLimit)/share))
	}
	return min(max(1, bytes/8/max(1, width)), mostRows)
}

// valuesOf returns the values of m without gaps between rows.
func valuesOf(m blas.Matrix) []float64 {
	if m.Stride != m.Cols {
		m = m.Clone()
	}
	return m.Data[:m.Rows*m.Cols]
}

// inRows moves the row that an error names by that of the block's beginning.
func inRows(err error, lo int) error {
	if de, ok := errors.AsType[*fault.DataError](err); ok && de.Row >= 0 && error(de) == err {
		moved := *de
		moved.Row += lo
		return &moved
	}
	return err
}
