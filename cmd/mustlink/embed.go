package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// embedRows is the number of points that are embedded and written at a time.
const embedRows = 16384

type embedFlags struct {
	data dataFlags
	out  string
}

func newEmbed(a *app) *cobra.Command {
	var e embedFlags
	cmd := &cobra.Command{
		Use:   "embed MODEL -i DATA -o OUT",
		Short: "map points to coordinates in which Euclidean tools work",
		Long: `Map points, those of the fit or new ones, to coordinates in which Euclidean distance is
the learned one: one row a point, as many columns as the model has dimensions. The file is
written by its extension (.csv, .npy, each also .gz); a CSV keeps the column id.

Rows are embedded and written block by block, and a large .npy file of points stays on disk:
their number is bounded by the disk, not by memory.`,
		Example: `  mustlink embed model.mlk -i new.csv -o embedded.npy
  mustlink embed model.mlk -i new.csv -o - | head -3`,
		Args: positional(1, 1, "MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runEmbed(cmd, args[0], &e) },
	}
	cmd.Flags().SortFlags = false
	e.data.add(cmd)
	cmd.Flags().StringVarP(&e.out, "output", "o", "", "the file `OUT` to write, n x dim; - for standard output")
	return cmd
}

func (a *app) runEmbed(cmd *cobra.Command, path string, e *embedFlags) error {
	if err := required(cmd, "input", "output"); err != nil {
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
	data, err := a.readData(cmd.Context(), e.data.forModel(fitted))
	if err != nil {
		return err
	}
	bar, begin, n := a.progress(), time.Now(), data.Points.Len()
	defer bar.done()
	embed := func(ctx context.Context, lo int) ([]float64, error) {
		bar.report(algorithms.Progress{Stage: "embedding", Done: lo, Total: n, Elapsed: time.Since(begin)})
		hi := min(lo+embedRows, n)
		part := *data
		part.Points = points.Slice(data.Points, lo, hi)
		x, err := fitted.Prepare(&part)
		if err != nil {
			return nil, inRows(err, lo)
		}
		y, err := fitted.Model.Embed(ctx, eng, x)
		if err != nil {
			return nil, inFile(data.Name, inRows(err, lo))
		}
		return valuesOf(y), nil
	}
	if err := a.writeEmbedding(cmd.Context(), e, data, fitted.Model.Dim(), embed); err != nil {
		return err
	}
	bar.done()
	r := matrixReport{Method: fitted.Model.Method(), Rows: n, Cols: fitted.Model.Dim(), Output: e.out, Warnings: a.allWarnings()}
	return a.summarise(e.out, r, r.text)
}

// writeEmbedding writes the blocks of dim columns that embed returns, the first of which is computed
// before the file is begun.
func (a *app) writeEmbedding(ctx context.Context, e *embedFlags, data *dataset.Data, dim int, embed func(ctx context.Context, lo int) ([]float64, error)) error {
	first, err := embed(ctx, 0)
	if err != nil {
		return err
	}
	next := func(row int) ([]float64, error) {
		if err := ctx.Err(); err != nil || row == 0 {
			return first, err
		}
		return embed(ctx, row)
	}
	return dataset.WriteRows(e.out, data.Points.Len(), dim, data.IDs, next, a.writing(e.out, e.data.format))
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
