package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/usage"
)

type distanceFlags struct {
	data  dataFlags
	pairs linkFlags
	out   string
}

func newDistance(a *app) *cobra.Command {
	d := distanceFlags{pairs: linkFlags{flag: "--pairs"}}
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
		Args:    usage.Positional(1, 1, "MODEL"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runDistance(cmd, args[0], &d) },
	}
	f := cmd.Flags()
	d.data.add(cmd)
	f.StringVar(&d.pairs.path, "pairs", "", "`PAIRS`: a CSV with the columns i and j")
	d.pairs.addBy(cmd)
	f.StringVarP(&d.out, "output", "o", "", "the file `OUT` to write, one column; - for standard output")
	return cmd
}

func (a *app) runDistance(cmd *cobra.Command, path string, fl *distanceFlags) error {
	check := a.Check(cmd)
	check.Required("input", "pairs", "output")
	check.Models([]string{path})
	fl.data.check(check)
	fl.pairs.check(check)
	check.Matrix("-o, --output", fl.out, fl.data.format)
	if check.Err != nil {
		return check.Err
	}
	m, err := a.metric(cmd.Context(), path)
	if err != nil {
		return err
	}
	work := m.holdDistances
	if inBlocks(fl.data.path, fl.data.options(a)) {
		work = m.streamDistances
	}
	n, err := work(cmd.Context(), fl)
	if err != nil {
		return err
	}
	r := matrixReport{Method: m.name(), Rows: n, Cols: 1, Output: fl.out, Warnings: a.Warnings()}
	return a.Summarize(fl.out, r, r.text)
}

// writing returns the options to write distances with.
func (fl *distanceFlags) writing(a *app) dataset.WriteOptions {
	options := a.Writing(fl.out, fl.data.format)
	options.Columns = []string{"squared_distance"}
	return options
}

// holdDistances writes the distances of pairs of points that are held, and returns their number.
func (m *metric) holdDistances(ctx context.Context, fl *distanceFlags) (int, error) {
	data, err := m.read(ctx, &fl.data)
	if err != nil {
		return 0, err
	}
	x, err := m.points(data)
	if err != nil {
		return 0, err
	}
	pairs, err := readRows(ctx, m.app, &fl.pairs, fl.pairs.path, data, dataset.DecodePairs, dataset.ReadPairs)
	if err != nil {
		return 0, err
	}
	distances, err := m.fitted.Model.Distances(ctx, m.eng, x, pairs)
	if err != nil {
		return 0, fault.InFile(err, data.Name)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return len(distances), dataset.WriteMatrix(fl.out, len(distances), 1, distances, 1, nil, fl.writing(m.app))
}
