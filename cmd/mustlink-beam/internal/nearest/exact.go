package nearest

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

func init() {
	register.DoFn3x2[context.Context, shard.Element, func(*shard.Element) bool, job.Tally, error](&exactFn{})
	register.Iter1[shard.Element]()
}

// Exact compares all rows with all rows, and writes a file for each element.
func Exact(s beam.Scope, c job.Config, elements []shard.Element, k int, out shard.Output) {
	ExactOf(s, c, elements, elements, k, out)
}

// ExactOf is [Exact] for some of the elements of a set.
func ExactOf(s beam.Scope, c job.Config, elements, set []shard.Element, k int, out shard.Output) {
	s = s.Scope("all pairs")
	c.Over(s, &exactFn{Config: c, K: k, Output: out}, elements,
		beam.SideInput{Input: beam.CreateList(s, set)})
}

// exactFn finds the neighbors of an element's rows among all rows.
type exactFn struct {
	Config job.Config
	K      int
	Output shard.Output
}

func (f *exactFn) ProcessElement(ctx context.Context, e shard.Element,
	all func(*shard.Element) bool) (job.Tally, error) {
	return f.Config.Each(ctx, e, func(ctx context.Context, w *job.Worker, r *shard.Reader) (int64, error) {
		rows, err := whole(ctx, w, r)
		if err != nil {
			return 0, err
		}
		found := newLists(f.K, rows)
		for other := (shard.Element{}); all(&other); other = (shard.Element{}) {
			if err := f.among(ctx, w, other, found); err != nil {
				return 0, err
			}
		}
		values, err := found.append(nil)
		if err != nil {
			return 0, err
		}
		return int64(len(rows.Numbers)),
			shard.WriteMatrix(f.Output.Name(e.Index, e.Count), 2*f.K+1, values, Columns(f.K), nil)
	})
}

// among searches neighbors among the rows of one element.
func (f *exactFn) among(ctx context.Context, w *job.Worker, e shard.Element, found *lists) error {
	r, err := e.Open(w.Reading(f.Config.Reading()))
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = coordinates.Each(ctx, w, r, func(block shard.Block, more blas.Matrix) error {
		return found.search(ctx, w.Engine, more, block.Numbers)
	})
	return err
}

// whole returns all rows of a reader.
func whole(ctx context.Context, w *job.Worker, r *shard.Reader) (all rowrandom.Rows, err error) {
	_, err = coordinates.Each(ctx, w, r, func(block shard.Block, x blas.Matrix) error {
		for i, number := range block.Numbers {
			all.Take(number, x.Row(i))
		}
		return nil
	})
	return all, err
}
