package apply

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
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

Points of ` + session.Endings(" and ") + ` are read block by block, also from a pipe, and only paired rows are
kept in memory. Pairs are read and distances written block by block too. Pairs are read twice, so
those from a pipe are kept in memory.`,
		Example: `  mustlink distance model.mlk -i data.csv --pairs pairs.csv -o distances.csv
  mustlink distance -i data.csv --pairs pairs.csv -o raw.csv`,
		Args: usage.Positional(0, 1, "MODEL"),
		RunE: metric.Checked(s, d.check, d.run),
	}
	f := usage.FlagsOf(cmd)
	d.data.Flags(cmd)
	d.preparing.Flags(cmd, "without MODEL: ")
	f.String(&d.pairs.Path, "pairs", "", "`PAIRS`: a CSV with the columns i and j")
	d.pairs.ByFlag(cmd)
	f.String(&d.out, "output,o", "", "the file `OUT` to write, one column; - for standard output")
	f.Required("input", "pairs", "output")
	return cmd
}

// check finds mistakes that do not require reading anything.
func (d *distanceCommand) check(check *session.Checks, args []string) {
	check.Models(args)
	d.preparing.Check(check, len(args) > 0, &d.data)
	d.data.Check(check)
	d.data.LabelOptional = len(args) > 0
	d.pairs.Check(check)
	check.Matrix("-o, --output", d.out, d.data.Format)
}

func (d *distanceCommand) run(ctx context.Context, m *metric.Metric, _ []string) error {
	d.m = m
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
	pairs, err := source.ReadRows(ctx, d.Session, &d.pairs, d.pairs.Path, data, dataset.ReadPairs)
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

// pairFile is a file of pairs, which the command reads twice.
type pairFile struct {
	path, name string
	text       []byte // content of a file that can be read only once
	held       bool
}

// openPairFile copies pairs that can be read only once into memory.
func openPairFile(ctx context.Context, s *session.Session, path string) (*pairFile, error) {
	f := &pairFile{path: path, name: path, held: !source.CanReadTwice(path)}
	read := func() ([]byte, error) { return s.ReadPipe(path) }
	if path == session.Stream {
		f.name = "standard input"
		read = func() ([]byte, error) { return s.ReadWithin(f.name, s.Stdin) }
	}
	var err error
	if f.held {
		f.text, err = session.Await(ctx, read)
	}
	return f, err
}

// open begins to read the pairs.
func (f *pairFile) open(c dataset.LinkContext) (*dataset.PairStream, error) {
	in := dataset.Input{Name: f.name}
	if f.held {
		in.Stream, in.Gzip = bytes.NewReader(f.text), session.HasEnding(f.path, "gz")
	}
	return dataset.OpenPairs(in, c)
}

// gathered are the paired rows of a stream of points.
type gathered struct {
	*metric.Metric
	byID   bool
	index  map[string]int // of each paired id or number among the gathered rows, -1 before it is read
	count  int            // pairs
	ids    []string       // of the gathered rows, with byID
	values []float64
	width  int    // numbers of a gathered row, -1 before the first block
	name   string // of the points, for messages
	rows   int    // number of gathered rows
	n      int    // number of rows read
}

// want marks a row as paired.
func (g *gathered) want(text string) {
	if !g.byID {
		i, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return
		}
		text = strconv.Itoa(i)
	}
	g.index[text] = -1
}

// stream computes the distances of points that are read a block at a time: it reads the names of
// rows from the pairs, gathers these rows from the points, and reads the pairs again.
func (d *distanceCommand) stream(ctx context.Context) (int, error) {
	pairs, err := openPairFile(ctx, d.Session, d.pairs.Path)
	if err != nil {
		return 0, err
	}
	g := &gathered{Metric: d.m, index: map[string]int{}, width: -1}
	if err := g.readNames(ctx, pairs, &d.pairs); err != nil {
		return 0, err
	}
	bar := d.Progress()
	defer bar.Done()
	bar.Part(1. / 3)
	if err := prepareStreamed(ctx, d.m, &d.data, &d.preparing, 0); err != nil {
		return 0, err
	}
	src, err := d.m.Flags(&d.data).Open(ctx, d.Session, false)
	if err != nil {
		return 0, err
	}
	bar.Part(0.5)
	if err := g.gather(ctx, &d.pairs, src); err != nil {
		return 0, err
	}
	bar.Part(1)
	return g.count, d.writeDistances(ctx, g, pairs)
}

// readNames collects the names of rows, and decides how l names them. It cannot check them: the
// rows are read later.
func (g *gathered) readNames(ctx context.Context, pairs *pairFile, l *source.Links) error {
	s, err := session.Await(ctx, func() (*dataset.PairStream, error) {
		return pairs.open(dataset.LinkContext{})
	})
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		block, err := session.Await(ctx, func() ([][2]string, error) {
			return s.Names(source.LinesOfBlock(g.Session))
		})
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if l.By == dataset.ByAuto {
			if l.By = dataset.ByRow; slices.ContainsFunc(block, func(pair [2]string) bool {
				return !dataset.Numbered(pair[:])
			}) {
				l.By = dataset.ByID
			}
		}
		g.byID = l.By == dataset.ByID
		g.count += len(block)
		for _, pair := range block {
			g.want(pair[0])
			g.want(pair[1])
		}
		if err := g.Eng.Check(fmt.Sprintf("names of %d linked rows", len(g.index)),
			int64(len(g.index))*source.EntryBytes, "pass fewer pairs at a time"); err != nil {
			return err
		}
	}
}

// gather reads the points.
func (g *gathered) gather(ctx context.Context, by *source.Links, src *mustlink.RowSource) error {
	rows := g.Metric.Rows(metric.Once(src), "gathering points")
	rows.Place = func(_ context.Context, part *dataset.Data) (blas.Matrix, error) {
		err := by.NeedIDs(part)
		if err == nil {
			err = g.take(part)
		}
		return blas.Matrix{Rows: part.Points.Len()}, err
	}
	for _, err := range rows.All(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// take keeps the paired rows of a block, as the metric takes them. It prepares at least one row of
// the first block, so that its columns are compared with those of the model.
func (g *gathered) take(part *dataset.Data) error {
	var rows []int
	var name []byte // of a row
	for i := range part.Points.Len() {
		if name = strconv.AppendInt(name[:0], int64(g.n+i), 10); g.byID {
			name = append(name[:0], part.IDs[i]...)
		}
		at, wanted := g.index[string(name)]
		if wanted && at >= 0 { // only ids can occur twice
			return fault.InFile(fault.Cell(i, "id",
				"the id %q is that of an earlier row too: want different ids", part.IDs[i]), part.Name)
		}
		if wanted {
			own := string(name)
			g.index[own] = g.rows
			if g.rows++; g.byID {
				g.ids = append(g.ids, own)
			}
			rows = append(rows, i)
		}
	}
	if len(rows) > 0 || g.width < 0 {
		some := *part
		if some.Points = part.Points.Select(rows); len(rows) == 0 {
			some.Points = points.Slice(part.Points, 0, 1)
		}
		x, err := g.Prepared(&some)
		if err != nil {
			return fault.InSelection(err, rows)
		}
		prepared := x.(*points.Dense) // only tables are streamed
		g.width = prepared.D
		g.values = append(g.values, prepared.Data[:len(rows)*prepared.D]...)
	}
	g.name = part.Name
	g.n += part.Points.Len()
	return g.Eng.Check(fmt.Sprintf("%d linked rows", g.rows), 2*engine.MatrixBytes(g.rows, g.width),
		"pass fewer pairs at a time")
}

// context returns the meaning of the names in the pairs, after the rows have been read.
func (g *gathered) context(by string) dataset.LinkContext {
	c := dataset.LinkContext{N: g.n, By: by}
	if g.byID {
		c.N, c.IDs = g.rows, append([]string{}, g.ids...) // not nil: there are ids
	}
	return c
}

// replace replaces row numbers by indices of gathered rows.
func (g *gathered) replace(pairs [][2]int) error {
	if g.byID {
		return nil // these are indices already
	}
	for k, pair := range pairs {
		for side, i := range pair {
			at, ok := g.index[strconv.Itoa(i)]
			if !ok {
				return fault.Data("", "row %d is new since the first reading of the file: want a file that "+
					"does not change", i)
			}
			pairs[k][side] = at
		}
	}
	return nil
}

// writeDistances reads the pairs again and writes their distances.
func (d *distanceCommand) writeDistances(ctx context.Context, g *gathered, pairs *pairFile) error {
	x := &points.Dense{N: g.rows, D: g.width, Data: g.values} // as the metric takes them
	s, err := pairs.open(g.context(d.pairs.By))
	if err != nil {
		return err
	}
	defer s.Close()
	bar, begin, done := g.Progress(), time.Now(), 0
	defer bar.Done()
	next, stop := dataset.Prefetch(ctx, func(ctx context.Context) (dataset.Rows, error) {
		block, err := session.Await(ctx, func() ([][2]int, error) {
			return s.Next(source.LinesOfBlock(g.Session))
		})
		if err != nil {
			return dataset.Rows{}, err
		}
		if err := g.replace(block); err != nil {
			return dataset.Rows{}, fault.InFile(err, pairs.path)
		}
		distances, err := d.distances(ctx, x, block)
		if err != nil {
			return dataset.Rows{}, fault.InFile(fault.InRows(err, done), g.name)
		}
		done += len(distances)
		bar.Report(algorithms.Progress{Stage: "distances", Done: done, Total: g.count,
			Elapsed: time.Since(begin)})
		return dataset.Rows{Data: distances}, nil
	})
	defer stop()
	return dataset.WriteRows(d.out, g.count, 1, next, d.writing())
}
