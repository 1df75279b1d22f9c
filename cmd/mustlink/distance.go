package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
)

type distanceFlags struct {
	data  dataFlags
	pairs linkFlags // its path is --pairs
	out   string
}

func newDistance(a *app) *cobra.Command {
	var d distanceFlags
	cmd := &cobra.Command{
		Use:   "distance MODEL -i DATA --pairs PAIRS -o OUT",
		Short: "write the squared learned distances of pairs",
		Long: `Write the squared learned distance of each pair in PAIRS, a CSV with the columns i and j
(0-based rows of DATA, or ids with --links-by id): one number a row, in the order of PAIRS.
A file of links serves as well.

Points of .csv, .npy and .parquet pass block by block, also from a pipe, and only the rows that pairs
name are held; pairs are read and their distances written block by block. (Pairs of a
pipe are held, since they are gone through twice.)`,
		Example: `  mustlink distance model.mlk -i data.csv --pairs pairs.csv -o distances.csv`,
		Args:    positional(1, 1, "MODEL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runDistance(cmd, args[0], &d) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	d.data.add(cmd)
	f.StringVar(&d.pairs.path, "pairs", "", "`PAIRS`: a CSV with the columns i and j")
	d.pairs.addBy(cmd)
	f.StringVarP(&d.out, "output", "o", "", "the file `OUT` to write, one column; - for standard output")
	return cmd
}

func (a *app) runDistance(cmd *cobra.Command, path string, fl *distanceFlags) error {
	if err := a.checkDistance(cmd, path, fl); err != nil {
		return err
	}
	eng, fitted, err := a.open(cmd.Context(), path)
	if err != nil {
		return err
	}
	work := a.holdDistances
	if inBlocks(fl.data.path, fl.data.options(a)) {
		work = a.streamDistances
	}
	n, err := work(cmd.Context(), eng, fitted, fl)
	if err != nil {
		return err
	}
	r := matrixReport{Method: fitted.Model.Method(), Rows: n, Cols: 1, Output: fl.out, Warnings: a.allWarnings()}
	return a.summarise(fl.out, r, r.text)
}

// holdDistances writes the distances of pairs of points that are held, and returns their number.
func (a *app) holdDistances(ctx context.Context, eng *engine.Engine, fitted *catalog.Fitted, fl *distanceFlags) (int, error) {
	data, x, err := a.readFor(ctx, fitted, &fl.data)
	if err != nil {
		return 0, err
	}
	pairs, err := a.readPairs(ctx, &fl.pairs, data)
	if err != nil {
		return 0, err
	}
	distances, err := fitted.Model.Distances(ctx, eng, x, pairs)
	if err != nil {
		return 0, inFile(data.Name, err)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	options := a.writing(fl.out, fl.data.format)
	options.Columns = []string{"squared_distance"}
	return len(distances), dataset.WriteMatrix(fl.out, len(distances), 1, distances, 1, nil, options)
}

func (a *app) checkDistance(cmd *cobra.Command, path string, fl *distanceFlags) error {
	if err := required(cmd, "input", "pairs", "output"); err != nil {
		return err
	}
	if err := fl.pairs.check(); err != nil {
		return err
	}
	if err := a.useModel(path); err != nil {
		return err
	}
	if err := a.useData(&fl.data); err != nil {
		return err
	}
	if err := a.useInput("--pairs", fl.pairs.path); err != nil {
		return err
	}
	return a.checkMatrixOutput(fl.out, fl.data.format)
}

// readPairs reads pairs of rows of d.
func (a *app) readPairs(ctx context.Context, l *linkFlags, d *dataset.Data) ([][2]int, error) {
	if err := l.needIDs(d); err != nil {
		return nil, err
	}
	c := dataset.LinkContext{N: d.Points.Len(), IDs: d.IDs, By: l.by, MemoryLimit: int64(a.memoryLimit)}
	return await(ctx, func() ([][2]int, error) {
		if l.path == stream {
			return dataset.DecodePairs(a.stdin, "standard input", false, c)
		}
		return dataset.ReadPairs(l.path, c)
	})
}
