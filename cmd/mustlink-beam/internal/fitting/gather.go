package fitting

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
	"github.com/mustlink/mustlink/engine/points"
)

func init() {
	register.DoFn5x1[context.Context, shard.Element, NeededRows, func(rowrandom.Rows), func(job.Tally),
		error](&gatherFn{})
}

// NeededRows are the numbers of the rows to gather, ascending.
type NeededRows struct{ Rows []int64 }

// gatherFn emits the needed rows of an element. It does not read an element without any.
type gatherFn struct{ Config job.Config }

func (f *gatherFn) ProcessElement(ctx context.Context, e shard.Element, needed NeededRows,
	emit func(rowrandom.Rows), emitTally func(job.Tally)) error {
	lo, _ := slices.BinarySearch(needed.Rows, e.Start)
	hi, _ := slices.BinarySearch(needed.Rows, e.Start+e.Rows)
	if lo == hi {
		return nil
	}
	these := needed.Rows[lo:hi]
	var out rowrandom.Rows
	tally, err := coordinates.OfElement(ctx, f.Config, e,
		func(_ *job.Worker, block shard.Block, x blas.Matrix) error {
			for i, number := range block.Numbers {
				if _, is := slices.BinarySearch(these, number); is {
					out.Take(number, x.Row(i))
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	emit(out)
	emitTally(tally)
	return nil
}

// gather returns a collection of [rowrandom.Rows].
func gather(s beam.Scope, c job.Config, elements []shard.Element, needed []int64) beam.PCollection {
	s = s.Scope("gather")
	rows, tallies := beam.ParDo2(s, &gatherFn{Config: c}, job.Elements(s, elements),
		beam.SideInput{Input: beam.Create(s, NeededRows{needed})})
	c.Check(s, tallies)
	return rows
}

// gathered is all rows that were gathered.
type gathered struct {
	numbers []int64 // ascending
	x       *points.Dense
}

// rows returns the points of the given rows.
func (g gathered) rows(rows []int) (points.Points, error) {
	at := make([]int, len(rows))
	for i, row := range rows {
		index, is := slices.BinarySearch(g.numbers, int64(row))
		if !is {
			return nil, &fault.DataError{Row: row,
				Err: fmt.Errorf("the fit needs this row, but it is bad: want a good row; correct it, or " +
					"remove its links")}
		}
		at[i] = index
	}
	return g.x.Select(at), nil
}
