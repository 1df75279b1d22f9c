package job

import (
	"context"
	"io"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

// Tally says what has become of the rows of an element.
type Tally struct {
	Index     int64
	Read, Bad int64
	Written   int64
}

// Elements returns the elements as a collection whose parts may go to different workers.
func Elements(s beam.Scope, elements []shard.Element) beam.PCollection {
	s = s.Scope("elements")
	return beam.Reshuffle(s, beam.CreateList(s, elements))
}

// Collect returns all that an iterator of Beam gives.
func Collect[T any](next func(*T) bool) []T {
	var all []T
	for v := *new(T); next(&v); v = *new(T) {
		all = append(all, v)
	}
	return all
}

// Reading says how rows are read.
func (c Config) Reading() shard.Options {
	return shard.Options{IgnoreLabels: c.IgnoreLabels, MemoryLimit: c.MemoryLimit}
}

// Slot calls f with the worker of this process when it has a processor to spare, and sends its
// error on its way.
func (c Config) Slot(ctx context.Context, f func(w *Worker) error) error {
	w, err := c.Worker()
	if err != nil {
		return Wrap(err)
	}
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return Wrap(context.Cause(ctx))
	}
	return Wrap(f(w))
}

// Do is Slot for the rows of an element, which it counts. ctx must be the one that a DoFn was
// given.
func (c Config) Do(ctx context.Context, f func(ctx context.Context, w *Worker) (Tally, error)) (t Tally, err error) {
	err = c.Slot(ctx, func(w *Worker) error {
		begin := time.Now()
		if t, err = f(ctx, w); err != nil {
			return err
		}
		RowsRead.Inc(ctx, t.Read)
		RowsWritten.Inc(ctx, t.Written)
		RowsBad.Inc(ctx, t.Bad)
		ElementsDone.Inc(ctx, 1)
		Millis.Update(ctx, time.Since(begin).Milliseconds())
		return nil
	})
	return t, err
}

// Each is Do for the rows of an element: f gets a reader of them, returns how many rows it has
// written, and may return the reader's io.EOF as its error. Each sees to the rows that are wrong.
func (c Config) Each(ctx context.Context, e shard.Element, f func(ctx context.Context, w *Worker, r *shard.Reader) (written int64, err error)) (Tally, error) {
	return c.Do(ctx, func(ctx context.Context, w *Worker) (Tally, error) {
		t := Tally{Index: e.Index}
		r, err := e.Open(c.Reading())
		if err != nil {
			return t, err
		}
		defer r.Close()
		if t.Written, err = f(ctx, w, r); err != nil && err != io.EOF {
			return t, err
		}
		bad, err := r.Bad()
		if err != nil {
			return t, err
		}
		BytesRead.Update(ctx, r.Bytes())
		t.Read, t.Bad = r.Rows(), int64(len(bad))
		return t, c.handleBad(e, bad)
	})
}

// handleBad writes the rows that are wrong, and ends the job when those of this element are too many
// by themselves.
func (c Config) handleBad(e shard.Element, bad []shard.Bad) error {
	if c.BadOutput != "" {
		if err := (shard.Output{Path: c.BadOutput}).WriteBad(e, bad); err != nil {
			return err
		}
	}
	if len(bad) == 0 {
		return nil
	}
	if c.BadRows == (Limit{}) {
		return bad[0].Err()
	}
	return c.BadRows.allows(int64(len(bad)), c.Rows)
}

// Over runs a DoFn that returns a [Tally] of each element, and judges these.
func (c Config) Over(s beam.Scope, fn any, elements []shard.Element, options ...beam.Option) {
	c.Check(s, beam.ParDo(s, fn, Elements(s, elements), options...))
}

// Check ends the job when the rows that are wrong are too many together.
func (c Config) Check(s beam.Scope, tallies beam.PCollection) {
	s = s.Scope("judge")
	sum := beam.Combine(s, &sumFn{}, tallies)
	beam.ParDo0(s, &checkFn{Config: c}, sum)
}

// sumFn adds tallies up.
type sumFn struct{}

func (*sumFn) MergeAccumulators(a, b Tally) Tally {
	return Tally{Read: a.Read + b.Read, Bad: a.Bad + b.Bad, Written: a.Written + b.Written}
}

type checkFn struct{ Config Config }

func (f *checkFn) ProcessElement(sum Tally) error {
	return Wrap(f.Config.BadRows.allows(sum.Bad, f.Config.Rows))
}

func init() {
	register.Combiner1[Tally](&sumFn{})
	register.DoFn1x1[Tally, error](&checkFn{})
	register.Emitter1[Tally]()
}
