package sampling

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/results"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
)

func init() {
	register.DoFn1x1[rowrandom.Rows, error](&writeFn{})
}

// The names of the rules.
const (
	Reservoir = "reservoir"
	KMeans    = "kmeans||"
	Leverage  = "leverage"
)

// Rules returns the names of the rules.
func Rules() []string { return []string{Reservoir, KMeans, Leverage} }

// Options select the landmarks.
type Options struct {
	Rule   string
	M      int // number of landmarks
	Seed   uint64
	Weight string // for a reservoir: the column of weights
	Kernel string // for leverage scores
}

// Validate returns a *fault.ParamError for the first option that cannot be used.
func (o Options) Validate() error {
	switch {
	case !slices.Contains(Rules(), o.Rule):
		return fault.Unknown("--rule", o.Rule, Rules())
	case o.M < 1:
		return &fault.ParamError{Param: "-m, --landmarks", Value: o.M, Want: "a number >= 1"}
	case o.Weight != "" && o.Rule != Reservoir:
		return &fault.ParamError{Param: "--weight", Value: o.Weight, Want: "none: only --rule " + Reservoir +
			" uses weights"}
	case o.Rule != Leverage:
		return nil
	}
	if _, err := kernel.Parse(o.Kernel); err != nil {
		return err
	}
	return nil
}

// Choose chooses landmarks and writes them: their coordinates to one file and the numbers of their
// rows to another, unless that is "".
func Choose(s beam.Scope, c job.Config, elements []shard.Element, o Options, path, rows string) {
	s = s.Scope("landmarks")
	var chosen beam.PCollection
	switch o.Rule {
	case KMeans:
		chosen = spread(s, c, elements, o)
	case Leverage:
		chosen = leverage(s, c, job.Elements(s, elements), o)
	default:
		chosen = reservoir(s, job.Elements(s, elements),
			&drawFn{Config: c, M: o.M, Seed: o.Seed, Stream: streamLandmarks, Weight: o.Weight})
	}
	beam.ParDo0(s, &writeFn{Path: path, Rows: rows}, chosen)
}

// Summary is the summary of a job.
type Summary struct {
	Landmarks int `json:"landmarks"`
}

// writeFn writes the landmarks in the order of their rows.
type writeFn struct{ Path, Rows string }

func (f *writeFn) ProcessElement(d rowrandom.Rows) error { return job.Wrap(f.write(d)) }

func (f *writeFn) write(d rowrandom.Rows) error {
	if len(d.Keys) == 0 {
		return fault.Data("", "no row can be a landmark: want good rows with a weight > 0")
	}
	d.Ascending()
	if err := shard.WriteMatrix(f.Path, d.Width(), d.Values, nil, nil); err != nil {
		return err
	}
	if f.Rows != "" {
		if err := WriteRows(f.Rows, d.Numbers); err != nil {
			return err
		}
	}
	return results.Save(f.Path, Summary{len(d.Keys)})
}

// WriteRows writes row numbers to a CSV file of one column.
func WriteRows(path string, numbers []int64) error {
	return dataset.Atomic(path, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		fmt.Fprintln(out, "row")
		for _, n := range numbers {
			fmt.Fprintln(out, n)
		}
		return out.Flush()
	})
}
