package sampling

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/fault"
)

func init() {
	register.DoFn4x1[context.Context, shard.Element, func(rowrandom.Rows), func(job.Tally), error](&drawFn{})
	register.Combiner1[rowrandom.Rows](&smallestFn{})
}

// The streams of random numbers for the landmarks, and for the sample from which leverage scores
// are estimated.
const (
	streamLandmarks = 0x6c616e646d61726b // "landmark"
	streamSample    = streamLandmarks + 1
)

// drawFn draws rows of an element.
type drawFn struct {
	Config job.Config
	M      int
	Seed   uint64
	Stream uint64
	Weight string // name of the column of weights, which is not a feature then; "" for equal weights
}

func (f *drawFn) ProcessElement(ctx context.Context, e shard.Element, emit func(rowrandom.Rows),
	emitTally func(job.Tally)) error {
	var all rowrandom.Rows
	tally, err := coordinates.OfElement(ctx, f.Config, e,
		func(_ *job.Worker, block shard.Block, x blas.Matrix) error {
			return f.offer(&all, block, x)
		})
	if err != nil {
		return err
	}
	emit(all)
	emitTally(tally)
	return nil
}

// offer draws among the rows of a block.
func (f *drawFn) offer(all *rowrandom.Rows, block shard.Block, x blas.Matrix) error {
	column := -1
	if f.Weight != "" {
		if column = slices.Index(block.Features, f.Weight); column < 0 {
			return fault.Unknown("--weight", f.Weight, block.Features)
		}
	}
	for i, number := range block.Numbers {
		row, weight := x.Row(i), 1.0
		if column >= 0 {
			if weight = row[column]; weight < 0 {
				return &fault.DataError{Row: i, Column: f.Weight,
					Err: fmt.Errorf("weight is %g: want a number >= 0", weight)}
			}
			row = slices.Concat(row[:column], row[column+1:])
		}
		if weight > 0 {
			all.Offer(rowrandom.Exponential(f.Seed, f.Stream, number, weight), number, row)
		}
	}
	all.Smallest(f.M, nil)
	return nil
}

// smallestFn merges the rows drawn. The order of the merges does not matter.
type smallestFn struct{ M int }

func (f *smallestFn) MergeAccumulators(a, b rowrandom.Rows) rowrandom.Rows {
	both := a.With(b)
	both.Smallest(f.M, nil)
	return both
}

// reservoir returns a collection of the M rows drawn.
func reservoir(s beam.Scope, elements beam.PCollection, f *drawFn) beam.PCollection {
	parts, tallies := beam.ParDo2(s, f, elements)
	f.Config.Check(s, tallies)
	return beam.Combine(s, &smallestFn{M: f.M}, parts)
}
