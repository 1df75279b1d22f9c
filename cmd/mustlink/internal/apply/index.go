package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms/neighborindex"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// indexed has the flags of a search by an index.
type indexed struct {
	approximate string // "" for an exact search
	path        string // of the index, "" to keep none
	seed        uint64
	recall      float64
}

func (x *indexed) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&x.approximate, "approximate", "", "search by an index, with `recall=R`: the share of the exact neighbors to find, > 0 and <= 1")
	f.StringVar(&x.path, "index", "", "with --approximate: `FILE` of the index, which is written if it does not exist")
	usage.SeedFlag(f, &x.seed)
	f.Lookup("seed").Usage = "with --approximate: seed of the cells and samples of a new index"
	usage.CompleteWith(cmd, "approximate", "recall=.95")
}

// check finds mistakes in the flags.
func (x *indexed) check(check *session.Checks) {
	given := check.Cmd.Flags().Changed("approximate")
	for _, name := range []string{"index", "seed"} {
		check.Refuse(!given && check.Cmd.Flags().Changed(name), "--%s is given without --approximate: want both, or neither", name)
	}
	if !given {
		return
	}
	text, named := strings.CutPrefix(x.approximate, "recall=")
	recall, err := strconv.ParseFloat(text, 64)
	check.Refuse(!named || err != nil || !(recall > 0 && recall <= 1), "--approximate is %q: want recall=R with a number R > 0 and <= 1", x.approximate)
	x.recall = recall
	if x.exists() {
		check.File("--index", x.path, "")
		return
	}
	check.Refuse(x.path == session.Stream, "--index is \"-\": want a file")
	check.Output("--index", x.path)
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
		r.Value, session.Plural(r.Rows, "other row"), r.Wanted, r.Probes, session.Plural(r.Cells, "cell"))
	if r.File != "" {
		how := "read"
		if r.Built {
			how = "written"
		}
		fmt.Fprintf(w, "index\t%s (%s)\n", r.File, how)
	}
}

// open returns the index of the rows of --train, which it reads, or makes and writes.
func (x *indexed) open(ctx context.Context, m *metric.Metric, path string, train *dataset.Data, known blas.Matrix, k int) (*neighborindex.Searcher, *indexReport, error) {
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
func (x *indexed) index(ctx context.Context, m *metric.Metric, path string, train *dataset.Data, known blas.Matrix, k int) (index *neighborindex.Index, built bool, err error) {
	model, err := m.Record().Digest()
	if err != nil {
		return nil, false, err
	}
	of := neighborindex.Source{Model: model, Data: dataset.Fingerprint(train.Points)}
	if x.exists() {
		index, err = x.read(ctx, m, path, train, of, k)
		return index, false, err
	}
	if n := known.Rows; k >= n {
		return nil, false, usage.Errorf("-k, --neighbors is %d: want at most %d with --approximate, one less than the number of rows of %s", k, n-1, train.Name)
	}
	bar := m.Progress()
	index, err = neighborindex.Build(ctx, m.Eng, known, of, neighborindex.Options{Neighbors: k, Seed: x.seed, Progress: bar.Report})
	bar.Done()
	if err == nil && x.path != "" {
		err = m.WriteFile(x.path, func(w io.Writer) error {
			_, err := index.WriteTo(w)
			return err
		})
	}
	return index, true, fault.InFile(err, train.Name)
}

// read reads the index and refuses that of another search.
func (x *indexed) read(ctx context.Context, m *metric.Metric, path string, train *dataset.Data, of neighborindex.Source, k int) (*neighborindex.Index, error) {
	index, err := session.Await(ctx, func() (*neighborindex.Index, error) {
		return neighborindex.ReadFile(x.path, int64(m.MemoryLimit))
	})
	switch {
	case err != nil:
		return nil, err
	case index.Source().Model != of.Model:
		return nil, fault.Data(x.path, "it is the index of another model than %s: want another --index", path)
	case index.Source().Data != of.Data:
		return nil, fault.Data(x.path, "it is the index of other rows than those of %s: want another --index", train.Name)
	case index.Neighbors() != k:
		return nil, fault.Data(x.path, "it is an index for %s: want -k %d, or another --index", session.Plural(index.Neighbors(), "neighbor"), index.Neighbors())
	}
	return index, nil
}
