package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type neighborsCommand struct {
	*session.Session
	data  source.Data
	train string
	names source.Links // how the table names rows
	k     int
	indexed
	out string
}

func newNeighbors(s *session.Session) *cobra.Command {
	c := &neighborsCommand{Session: s}
	cmd := &cobra.Command{
		Use:        "neighbors MODEL --train DATA -i NEW [-k K] -o OUT",
		SuggestFor: []string{"knn", "nearest", "search", "query"},
		Short:      "list the nearest training rows of each row",
		Long: `Write the K nearest rows of --train for each row of -i, in the learned distance: the Euclidean one of
the coordinates of mustlink embed. OUT has the columns
row (of -i), rank (1 for the nearest), neighbor (a row of --train) and distance, which is not squared;
the rows of -i come in their order, equal distances in the order of the rows of --train. If OUT is a
CSV and both files have ids, rows are named by these, otherwise by 0-based numbers, as with
--links-by row. A row that is in both files is its own nearest neighbor, at distance 0.

The search is exact. --approximate recall=R finds, on average, at least the share R of the exact
neighbors, in a small part of the time: it divides the rows of --train into cells, and compares a row
with the rows of the nearest cells only. How many cells that takes is measured on a sample of the rows
of --train, and the recall that the summary shows on another one. A recall of 1 is exact.

The cells take about as long to make as a search for some 10,000 rows of -i. --index FILE keeps them:
it is written if it does not exist, and read if it does. It serves any recall, and is refused if the
model, the rows of --train or the number of neighbors are others.

The rows of --train are kept in memory. Rows of -i in ` + session.Endings(" and ") + ` are read, searched and
written block by block, also from a pipe.`,
		Example: `  mustlink neighbors model.mlk --train train.csv -i new.csv -k 10 -o neighbors.csv
  mustlink neighbors model.mlk --train train.npy -i new.npy --approximate recall=.95 --index train.index -o neighbors.parquet`,
		Args: usage.Positional(1, 1, "MODEL"),
		RunE: metric.Checked(s, c.check, c.run),
	}
	f := usage.FlagsOf(cmd)
	f.String(&c.train, "train", "", "the file of `DATA` to search in, in a format as for -i")
	f.String(&c.data.Path, "input,i", "",
		"the file of `NEW` rows: "+session.InputEndings()+"; - for standard input")
	c.data.ReadingFlags(cmd)
	f.String(&c.names.By, "links-by", dataset.ByAuto,
		"how OUT names rows: `row|id|auto`, which is id if both files have ids and OUT is a CSV",
		usage.OneOf(dataset.ByRow, dataset.ByID, dataset.ByAuto))
	f.Int(&c.k, "neighbors,k", 10, "number `K` of neighbors of each row", usage.Range(">= 1"))
	c.indexed.flags(cmd)
	f.String(&c.out, "output,o", "", "the file `OUT` to write; - for standard output")
	f.Required("train", "input", "output")
	return cmd
}

// neighborsReport is the result of `mustlink neighbors`.
type neighborsReport struct {
	Method    string       `json:"method"`
	Train     int          `json:"train_rows"`
	N         int          `json:"n"`
	Neighbors int          `json:"neighbors"`
	Indexed   *indexReport `json:"approximate,omitempty"`
	Output    string       `json:"output"`
	Warnings  []string     `json:"warnings"`
}

// check finds mistakes that do not require reading anything.
func (c *neighborsCommand) check(check *session.Checks, args []string) {
	check.Models(args)
	check.Input("--train", c.train)
	c.data.Check(check)
	c.data.LabelOptional = true
	c.indexed.check(check)
	if !c.byID() {
		check.Matrix("-o, --output", c.out, c.data.Format)
		return
	}
	if f := session.FormatOf(c.out); f != "" && f != "csv" {
		check.Refuse(true, "-o, --output is %s, but ids are written as CSV: want a name that ends in .csv, "+
			"or --links-by row", c.out)
	}
	check.Output("-o, --output", c.out)
}

func (c *neighborsCommand) byID() bool { return c.names.By == dataset.ByID }

func (c *neighborsCommand) run(ctx context.Context, m *metric.Metric, args []string) error {
	if m.Dim() == 0 {
		return fault.Data(args[0],
			"the model has 0 dimensions: want at least 1, as otherwise all distances are 0")
	}
	train, err := c.readTraining(ctx, m)
	if err != nil {
		return err
	}
	if c.approximate != "" { // now, since there is less room next to the coordinates
		c.indexed.data = dataset.Fingerprint(train.Points)
	}
	known, err := m.Coordinates(ctx, train)
	if err != nil {
		return err
	}
	r := &neighborsReport{Method: m.Name(), Train: known.Rows, Neighbors: c.k, Output: c.out}
	bar := c.Progress()
	defer bar.Done()
	if c.approximate != "" {
		bar.Part(0.5)
	}
	find, err := c.finder(ctx, m, args[0], train, known, r)
	if err != nil {
		return err
	}
	bar.Part(1)
	if err := c.write(ctx, m, train, find, r); err != nil {
		return err
	}
	bar.Done()
	r.Warnings = c.Warnings()
	return c.Summarize(c.out, r, r.text)
}

// readTraining reads --train.
func (c *neighborsCommand) readTraining(ctx context.Context, m *metric.Metric) (*dataset.Data, error) {
	d := c.data
	d.Path = c.train
	train, err := m.Read(ctx, &d)
	if err != nil {
		return nil, err
	}
	if n := train.Points.Len(); c.k > n {
		return nil, usage.Errorf("-k, --neighbors is %d: want at most %d, the number of rows of %s", c.k, n,
			train.Name)
	}
	return train, c.names.NeedIDs(train)
}

// finder returns the search for the neighbors of a block.
type finder func(ctx context.Context, queries blas.Matrix) (index []int32, dist2 []float64, err error)

func (c *neighborsCommand) finder(ctx context.Context, m *metric.Metric, path string, train *dataset.Data,
	known blas.Matrix, r *neighborsReport) (finder, error) {
	if c.approximate == "" {
		return func(ctx context.Context, queries blas.Matrix) ([]int32, []float64, error) {
			return neighbors.Search(ctx, m.Eng, queries, known, c.k, false)
		}, nil
	}
	s, report, err := c.indexed.open(ctx, m, path, train, known, c.k)
	if err != nil {
		return nil, err
	}
	r.Indexed = report
	return func(ctx context.Context, queries blas.Matrix) ([]int32, []float64, error) {
		return s.Search(ctx, queries, c.k, report.Probes)
	}, nil
}

// found has the neighbors of a block.
type found struct {
	mustlink.Block
	index []int32
	dist2 []float64
}

// write searches for the rows of -i block by block and writes the table.
func (c *neighborsCommand) write(ctx context.Context, m *metric.Metric, train *dataset.Data, find finder,
	r *neighborsReport) error {
	writing := c.Writing(c.out, c.data.Format)
	writing.Columns = []string{"row", "rank", "neighbor", "distance"}
	src, err := m.Flags(&c.data).Open(ctx, c.Session, !c.byID() && dataset.CountsFirst(c.out, writing))
	if err != nil {
		return err
	}
	const values = 6 // of a neighbor, in the lists and in the table
	rows := m.Rows(metric.Once(src), "neighbors")
	rows.Most = catalog.BlockRows(values*c.k, int64(c.MemoryLimit))
	next, stop, err := mustlink.EachBlock(ctx, rows,
		func(ctx context.Context, block mustlink.Block) (found, error) {
			r.N += block.Coordinates.Rows
			if err := c.names.NeedIDs(block.Data); err != nil {
				return found{}, err
			}
			what := fmt.Sprintf("table of %d neighbors of %d rows", c.k, block.Coordinates.Rows)
			if err := m.Eng.Check(what, engine.MatrixBytes(block.Coordinates.Rows, values*c.k),
				"want fewer neighbors"); err != nil {
				return found{}, err
			}
			index, dist2, err := find(ctx, block.Coordinates)
			return found{block, index, dist2}, err
		})
	if err != nil {
		return err
	}
	defer stop()
	named := c.byID()
	if c.names.By == dataset.ByAuto && train.IDs != nil && strings.HasPrefix(cmp.Or(writing.Format,
		session.FormatOf(c.out), "csv"), "csv") {
		first, err := next()
		named = err == nil && first.Data.IDs != nil
		rest := next
		next = func() (found, error) {
			next = rest
			return first, err
		}
	}
	if named {
		rows := c.named(func() (found, error) { return next() }, train.IDs)
		return dataset.WriteTable(c.out, writing.Columns, rows, c.WritingText())
	}
	total := -1
	if src.Rows >= 0 {
		total = src.Rows * c.k
	}
	return dataset.WriteRows(c.out, total, len(writing.Columns), func() (dataset.Rows, error) {
		f, err := next()
		if err != nil {
			return dataset.Rows{}, err
		}
		return dataset.Rows{Data: c.numbered(f)}, nil
	}, writing)
}

// numbered returns the rows of the table with numbers.
func (c *neighborsCommand) numbered(f found) []float64 {
	out := make([]float64, 0, 4*len(f.index))
	for at, j := range f.index {
		out = append(out, float64(f.First+at/c.k), float64(1+at%c.k), float64(j), math.Sqrt(f.dist2[at]))
	}
	return out
}

// named yields the rows of the table with ids.
func (c *neighborsCommand) named(next func() (found, error),
	ids []string) func(yield func([]string, error) bool) {
	return func(yield func([]string, error) bool) {
		record := make([]string, 4)
		for {
			f, err := next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for at, j := range f.index {
				record[0], record[1], record[2] = f.Data.IDs[at/c.k], strconv.Itoa(1+at%c.k), ids[j]
				record[3] = strconv.FormatFloat(math.Sqrt(f.dist2[at]), 'g', 17, 64)
				if !yield(record, nil) {
					return
				}
			}
		}
	}
}

func (r *neighborsReport) text(w io.Writer) {
	fmt.Fprintf(w, "neighbors\t%d of each of %s among %s (%s)\n", r.Neighbors, fault.Count(r.N, "row"),
		fault.Count(r.Train, "row"), r.Method)
	if r.Indexed == nil {
		fmt.Fprintf(w, "search\texact\n")
	} else {
		r.Indexed.text(w)
	}
	fmt.Fprintf(w, "output\t%s\n", r.Output)
}

// indexed has the flags of a search by an index.
type indexed struct {
	approximate string // "" for an exact search
	path        string // of the index, "" to keep none
	seed        uint64
	recall      float64
	data        string // fingerprint of the rows
}

func (x *indexed) flags(cmd *cobra.Command) {
	f := usage.FlagsOf(cmd)
	x.recallFlag(f, "")
	f.String(&x.path, "index", "",
		"with --approximate: `FILE` of the index, which is written if it does not exist",
		usage.Needs("approximate"))
	f.Seed(&x.seed, usage.Needs("approximate"))
	f.Lookup("seed").Usage = "with --approximate: seed of the cells and samples of a new index"
}

// recallFlag is the flag of an index, for some of the work of a command.
func (x *indexed) recallFlag(f usage.Flags, of string, rules ...usage.Rule) {
	f.String(&x.approximate, "approximate", "",
		of+"search by an index, with `recall=R`: the share of the exact neighbors to find, > 0 and <= 1",
		append(rules, usage.Complete("recall=.95"))...)
}

// check finds mistakes in the flags.
func (x *indexed) check(check *session.Checks) {
	x.checkRecall(check)
	if x.recall == 0 {
		return
	}
	if x.exists() {
		check.File("--index", x.path, "")
		return
	}
	check.Refuse(x.path == session.Stream, "--index is \"-\": want a file")
	check.Output("--index", x.path)
}

func (x *indexed) checkRecall(check *session.Checks) {
	if !check.Cmd.Flags().Changed("approximate") {
		return
	}
	text, named := strings.CutPrefix(x.approximate, "recall=")
	recall, err := strconv.ParseFloat(text, 64)
	check.Refuse(!named || err != nil || !(recall > 0 && recall <= 1),
		"--approximate is %q: want recall=R with a number R > 0 and <= 1", x.approximate)
	x.recall = recall
}

// exists reports whether there is an index to read.
func (x *indexed) exists() bool {
	if x.path == "" || x.path == session.Stream {
		return false
	}
	_, err := os.Stat(x.path)
	return !errors.Is(err, fs.ErrNotExist)
}

// indexReport describes an approximate search.
type indexReport struct {
	Wanted float64 `json:"wanted"`
	neighborindex.Recall
	Cells  int    `json:"cells"`
	Probes int    `json:"probes"`
	File   string `json:"index,omitempty"`
	Built  bool   `json:"built"`
}

func (r *indexReport) text(w io.Writer) {
	fmt.Fprintf(w, "search\trecall %.4f on %s of --train (wanted %v), by %d of %s\n",
		r.Value, fault.Count(r.Rows, "other row"), r.Wanted, r.Probes, fault.Count(r.Cells, "cell"))
	if r.File != "" {
		how := "read"
		if r.Built {
			how = "written"
		}
		fmt.Fprintf(w, "index\t%s (%s)\n", r.File, how)
	}
}

// open returns the index of the rows of --train, which it reads, or makes and writes.
func (x *indexed) open(ctx context.Context, m *metric.Metric, path string, train *dataset.Data,
	known blas.Matrix, k int) (*neighborindex.Searcher, *indexReport, error) {
	index, built, err := x.index(ctx, m, path, train, known, k)
	if err != nil {
		return nil, nil, err
	}
	r := &indexReport{Wanted: x.recall, File: x.path, Built: built}
	if r.Probes, err = index.Probes(x.recall); err != nil {
		return nil, nil, err
	}
	r.Recall, r.Cells = index.Recall(r.Probes), index.Cells()
	s, err := index.Open(ctx, m.Eng, known)
	return s, r, fault.InFile(err, train.Name)
}

// index reads the index if there is one, and otherwise makes and writes it.
func (x *indexed) index(ctx context.Context, m *metric.Metric, path string, train *dataset.Data,
	known blas.Matrix, k int) (index *neighborindex.Index, built bool, err error) {
	model, err := m.Record().Digest()
	if err != nil {
		return nil, false, err
	}
	of := neighborindex.Source{Model: model, Data: x.data}
	if x.exists() {
		index, err = x.read(ctx, m, path, train, of, k)
		return index, false, err
	}
	if n := known.Rows; k >= n {
		return nil, false, usage.Errorf(
			"-k, --neighbors is %d: want at most %d with --approximate, one less than the number of rows "+
				"of %s", k, n-1, train.Name)
	}
	bar := m.Progress()
	defer bar.Done()
	index, err = neighborindex.Build(ctx, m.Eng, known, of,
		neighborindex.Options{Neighbors: k, Seed: x.seed, Progress: bar.Report})
	if err == nil && x.path != "" {
		err = m.WriteFile(x.path, func(w io.Writer) error {
			_, err := index.WriteTo(w)
			return err
		})
	}
	return index, true, fault.InFile(err, train.Name)
}

// read reads the index and refuses that of another search.
func (x *indexed) read(ctx context.Context, m *metric.Metric, path string, train *dataset.Data,
	of neighborindex.Source, k int) (*neighborindex.Index, error) {
	index, err := session.Await(ctx, func() (*neighborindex.Index, error) {
		return neighborindex.ReadFile(x.path, int64(m.MemoryLimit))
	})
	switch {
	case err != nil:
		return nil, err
	case index.Source().Model != of.Model:
		return nil, fault.Data(x.path, "it is the index of another model than %s: want another --index", path)
	case index.Source().Data != of.Data:
		return nil, fault.Data(x.path, "it is the index of other rows than those of %s: want another --index",
			train.Name)
	case index.Neighbors() != k:
		return nil, fault.Data(x.path, "it is an index for %s: want -k %d, or another --index",
			fault.Count(index.Neighbors(), "neighbor"), index.Neighbors())
	}
	return index, nil
}
