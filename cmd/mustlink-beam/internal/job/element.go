package job

import (
	"context"
	"io"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
)

// Tally counts the rows of an element: read, bad and written.
type Tally struct {
	Index     int64
	Read, Bad int64
	Written   int64
}

// Elements returns a collection of the elements, which the runner may divide among workers.
func Elements(s beam.Scope, elements []shard.Element) beam.PCollection {
	s = s.Scope("elements")
	return beam.Reshuffle(s, beam.CreateList(s, elements))
}

// Collect returns all values of a Beam iterator.
func Collect[T any](next func(*T) bool) []T {
	var all []T
	for v := *new(T); next(&v); v = *new(T) {
		all = append(all, v)
	}
	return all
}

// Reading returns the options for reading rows.
func (c Config) Reading() shard.Options {
	return shard.Options{IgnoreLabels: c.IgnoreLabels, MemoryLimit: c.MemoryLimit}
}

// Reading returns the options for reading rows for the model: with texts and missing cells if it
// prepares columns.
func (w *Worker) Reading(o shard.Options) shard.Options {
	if w.Model == nil || w.Model.Record().Preparation() != "columns" {
		return o
	}
	o.Mixed = true
	o.Text, o.Numbers = w.Model.Record().Kinds()
	return o
}

// Slot calls f with the worker of this process as soon as a processor is free. It wraps the error
// (see [Wrap]).
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

// Do is Slot for one element, whose tally it adds to the counters. ctx must be the context that
// Beam passes to a DoFn.
func (c Config) Do(ctx context.Context,
	f func(ctx context.Context, w *Worker) (Tally, error)) (t Tally, err error) {
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

// Each is Do with a reader of the element's rows. f returns the number of rows that it has written,
// and may return the reader's io.EOF as its error. Each handles the bad rows.
func (c Config) Each(ctx context.Context, e shard.Element,
	f func(ctx context.Context, w *Worker, r *shard.Reader) (written int64, err error)) (Tally, error) {
	return c.Do(ctx, func(ctx context.Context, w *Worker) (Tally, error) {
		t := Tally{Index: e.Index}
		r, err := e.Open(w.Reading(c.Reading()))
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

// handleBad lists the bad rows in a file. It returns an error when this element alone has more bad
// rows than the limit allows.
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

// Over runs a DoFn that returns a [Tally] for each element, and checks the limit on bad rows.
func (c Config) Over(s beam.Scope, fn any, elements []shard.Element, options ...beam.Option) {
	c.Check(s, beam.ParDo(s, fn, Elements(s, elements), options...))
}

// Check ends the job when all elements together have more bad rows than the limit allows.
func (c Config) Check(s beam.Scope, tallies beam.PCollection) {
	s = s.Scope("check")
	sum := beam.Combine(s, &sumFn{}, tallies)
	beam.ParDo0(s, &checkFn{Config: c}, sum)
}

// sumFn adds tallies.
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
