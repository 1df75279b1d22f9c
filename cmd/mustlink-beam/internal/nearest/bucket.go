package nearest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/points"
)

func init() {
	register.DoFn4x1[context.Context, int64, func(*Piece) bool, func(BucketDistances), error](&bucketFn{})
	register.Emitter1[BucketDistances]()
	register.Iter1[Piece]()
}

// bucketFn finds the neighbors of a bucket's primary rows among all its rows.
type bucketFn struct {
	Config  job.Config
	Routing Routing
	Buckets int64
	K       int
	Output  shard.Output
}

func (f *bucketFn) ProcessElement(ctx context.Context, bucket int64, pieces func(*Piece) bool,
	emit func(BucketDistances)) error {
	all := job.Collect(pieces)
	slices.SortFunc(all, func(a, b Piece) int { return cmp.Compare(a.Element, b.Element) })
	all = slices.Compact(all)
	return f.Config.Slot(ctx, func(w *job.Worker) error { return f.search(ctx, w, bucket, all, emit) })
}

// The number of query rows, and of rows that they are compared with, at a time.
const (
	queryRows     = 1 << 15
	candidateRows = 1 << 14
)

// search finds the neighbors of a bucket's rows, a block at a time, and writes the bucket's file.
func (f *bucketFn) search(ctx context.Context, w *job.Worker, bucket int64, pieces []Piece,
	emit func(BucketDistances)) error {
	var values []float64
	err := f.each(pieces, func(p Piece) int64 {
		return p.Primary
	}, queryRows, func(query rowrandom.Rows) error {
		found := newLists(f.K, query)
		err := f.each(pieces, func(p Piece) int64 {
			return p.Rows
		}, candidateRows, func(candidates rowrandom.Rows) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return found.search(ctx, w.Engine, candidates.Matrix(), candidates.Numbers)
		})
		if err != nil {
			return err
		}
		found.pad()
		for i, number := range query.Numbers {
			if f.Routing.Sampling.draws(number) {
				emit(BucketDistances{Row: number, Squared: squared(found.found[i])})
			}
		}
		values, err = found.append(values)
		return err
	})
	if err != nil || len(values) == 0 {
		return err
	}
	job.RowsWritten.Inc(ctx, int64(len(values)/(2*f.K+1)))
	return shard.WriteMatrix(f.Output.Name(bucket, f.Buckets), 2*f.K+1, values, Columns(f.K), nil)
}

// each reads the first rows of every piece, rows(piece) of each, and calls g with about maxRows of
// them at a time, by ascending numbers.
func (f *bucketFn) each(pieces []Piece, rows func(Piece) int64, maxRows int,
	g func(block rowrandom.Rows) error) error {
	var block rowrandom.Rows
	flush := func() error {
		defer func() { block = rowrandom.Rows{} }()
		block.Ascending()
		return g(block)
	}
	for _, p := range pieces {
		err := f.Routing.read(p, rows(p), maxRows, func(d *points.Dense) error {
			for i := range d.N {
				row := d.Row(i)
				block.Take(int64(row[0]), row[1:])
			}
			if len(block.Numbers) < maxRows {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
	}
	if len(block.Numbers) == 0 {
		return nil
	}
	return flush()
}

// read reads the first rows of a piece and calls f with at most maxRows of them at a time.
func (g Routing) read(p Piece, rows int64, maxRows int, f func(d *points.Dense) error) error {
	if rows == 0 {
		return nil
	}
	r, err := shard.Element{File: g.file(p), First: p.First, Rows: rows}.Open(shard.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		block, err := r.Next(maxRows)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(block.Points.(*points.Dense)); err != nil {
			return err
		}
	}
}
