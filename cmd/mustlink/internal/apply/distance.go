package apply

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type distanceCommand struct {
	*session.Session
	m         *metric.Metric // of the model, or of the prepared rows
	data      source.Data
	preparing source.Preparing
	pairs     source.Links
	out       string
}

func newDistance(s *session.Session) *cobra.Command {
	d := &distanceCommand{Session: s, pairs: source.Links{Flag: "--pairs"}}
	cmd := &cobra.Command{
		Use:   "distance [MODEL] -i DATA --pairs PAIRS -o OUT",
		Short: "write the learned distances of pairs",
		Long: `Write the learned distance of each pair in PAIRS, a CSV with the columns i and j (0-based rows of
DATA, or ids with --links-by id): one number in each row, in the order of PAIRS. Distances are
Euclidean, not squared. PAIRS can also be a file of links.

Distances are those of the learned metric itself, like the values of mustlink gram. The coordinates
of mustlink embed hold only a share of it for krca, and for gml and itml with a kernel. Without MODEL
they are the Euclidean distances of the prepared rows, in which nothing was learned.

Points of .csv, .npy, .parquet and .arrow are read block by block, also from a pipe, and only paired rows are
kept in memory. Pairs are read and distances written block by block too. Pairs are read twice, so
those from a pipe are kept in memory.`,
		Example: `  mustlink distance model.mlk -i data.csv --pairs pairs.csv -o distances.csv
  mustlink distance -i data.csv --pairs pairs.csv -o raw.csv`,
		Args: usage.Positional(0, 1, "MODEL"),
		RunE: s.Checked(d.check, d.run),
	}
	f := cmd.Flags()
	d.data.Flags(cmd)
	d.preparing.Flags(cmd, "without MODEL: ")
	f.StringVar(&d.pairs.Path, "pairs", "", "`PAIRS`: a CSV with the columns i and j")
	d.pairs.ByFlag(cmd)
	f.StringVarP(&d.out, "output", "o", "", "the file `OUT` to write, one column; - for standard output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (d *distanceCommand) check(check *session.Checks, args []string) {
	check.Required("input", "pairs", "output")
	check.Models(args)
	d.preparing.Check(check, len(args) > 0, &d.data)
	d.data.Check(check)
	d.pairs.Check(check)
	check.Matrix("-o, --output", d.out, d.data.Format)
}

func (d *distanceCommand) run(ctx context.Context, args []string) error {
	var err error
	if d.m, err = metric.Open(ctx, d.Session, args...); err != nil {
		return err
	}
	work := d.inMemory
	if d.data.InBlocks(d.Session) && (d.preparing.AsRead() || source.CanReadTwice(d.data.Path) &&
		!d.preparing.Weighs()) {
		work = d.stream
	}
	n, err := work(ctx)
	if err != nil {
		return err
	}
	r := matrixReport{Method: d.m.Name(), Rows: n, Cols: 1, Output: d.out, Warnings: d.Warnings()}
	return d.Summarize(d.out, r, r.text)
}

// writing returns the write options of distances.
func (d *distanceCommand) writing() dataset.WriteOptions {
	options := d.Writing(d.out, d.data.Format)
	options.Columns = []string{"distance"}
	return options
}

// distances returns the distances of pairs of rows of x, which the metric takes.
func (d *distanceCommand) distances(ctx context.Context, x points.Points, pairs [][2]int) (list []float64,
	err error) {
	if _, sequences := x.(*points.Sequences); sequences && !d.m.Learned() {
		return nil, fault.Data("", "sequences have no distances without a kernel: want a model")
	}
	list, err = d.m.SquaredDistances(ctx, x, pairs)
	for p, squared := range list {
		list[p] = math.Sqrt(squared)
	}
	return list, err
}

// inMemory writes the distances of pairs of points in memory, and returns the number of pairs.
func (d *distanceCommand) inMemory(ctx context.Context) (int, error) {
	data, err := d.m.Read(ctx, &d.data)
	if err != nil {
		return 0, err
	}
	table, err := d.preparing.Apply(ctx, d.Session, data)
	if err != nil {
		return 0, err
	}
	x, err := d.m.Prepared(table.Data())
	if err != nil {
		return 0, err
	}
	pairs, err := source.ReadRows(ctx, d.Session, &d.pairs, d.pairs.Path, data, dataset.DecodePairs, dataset.ReadPairs)
	if err != nil {
		return 0, err
	}
	distances, err := d.distances(ctx, x, pairs)
	if err != nil {
		return 0, fault.InFile(err, data.Name)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return len(distances), dataset.WriteMatrix(d.out, len(distances), 1, distances, 1, nil, d.writing())
}
