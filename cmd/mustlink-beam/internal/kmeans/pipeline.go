package kmeans

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/fault"
)

func init() {
	register.DoFn5x1[context.Context, shard.Element, func(*State) bool, func(int64, Part), func(job.Tally),
		error](&passFn{})
	register.DoFn2x2[int64, func(*Part) bool, int64, Part](&mergeFn{})
	register.DoFn3x2[context.Context, State, func(*Part) bool, State, error](&stepFn{})
	register.DoFn2x2[context.Context, State, State, error](&reclusterFn{})
	register.Emitter2[int64, Part]()
	register.Iter1[Part]()
	register.Iter1[State]()
}

// Source is the input of a pipeline, which every pass reads.
type Source struct {
	config   job.Config
	elements beam.PCollection // of shard.Element
	count    int
}

// Over returns the rows of the elements as a source.
func Over(s beam.Scope, c job.Config, elements []shard.Element) Source {
	return Source{c, job.Elements(s, elements), len(elements)}
}

// fanIn is the number of parts that are merged at a time.
const fanIn = 64

// next is one pass and its step: a composite transform from one State to the next.
func (r Source) next(s beam.Scope, p pass, state beam.PCollection) beam.PCollection {
	s = s.Scope(p.Kind)
	parts, tallies := beam.ParDo2(s, &passFn{Config: r.config, Pass: p}, r.elements,
		beam.SideInput{Input: state})
	if p.assesses {
		r.config.Check(s, tallies)
	}
	// last is the last group of each level of the tree, at the end group 0
	for last := r.count - 1; ; last /= fanIn {
		parts = beam.ParDo(s, &mergeFn{Limit: p.Limit}, beam.GroupByKey(s, parts))
		if last < fanIn {
			break
		}
	}
	return beam.ParDo(s, &stepFn{Config: r.config, Pass: p}, state,
		beam.SideInput{Input: beam.DropKey(s, parts)})
}

// passFn computes the part of an element. Its key is the number of its first group of parts. Its
// side input is the only State. In a job that has failed there is none, and passFn returns no
// error, which could hide the first one.
type passFn struct {
	Config job.Config
	Pass   pass
}

func (f *passFn) ProcessElement(ctx context.Context, e shard.Element, states func(*State) bool,
	emit func(int64, Part), emitTally func(job.Tally)) error {
	var s State
	if !states(&s) || s.Converged || s.Failed {
		return nil
	}
	found := Part{Index: e.Index}
	tally, err := coordinates.OfElement(ctx, f.Config, e,
		func(w *job.Worker, block shard.Block, x blas.Matrix) error {
			part, err := f.Pass.part(ctx, w.Engine, x, block.Numbers, s)
			if err == nil {
				found.merge(part, f.Pass.Limit)
			}
			return err
		})
	if err != nil {
		return err
	}
	emit(e.Index/fanIn, found)
	emitTally(tally)
	return nil
}

// mergeFn merges the parts of a group. The key of its result is the group of groups.
type mergeFn struct{ Limit float64 }

func (f *mergeFn) ProcessElement(group int64, parts func(*Part) bool) (int64, Part) {
	return group / fanIn, mergeAll(job.Collect(parts), f.Limit)
}

// stepFn computes the next state. After convergence there are no parts, and the state does not
// change.
type stepFn struct {
	Config job.Config
	Pass   pass
}

func (f *stepFn) ProcessElement(ctx context.Context, s State, parts func(*Part) bool) (State, error) {
	if s.Converged || s.Failed {
		return s, nil
	}
	list := job.Collect(parts)
	if len(list) == 0 { // even an element without rows has a part
		s.Failed = true
		return s, nil
	}
	found := mergeAll(list, f.Pass.Limit)
	if found.Rows == 0 {
		return s, job.Wrap(fault.Data("", "all rows are bad: want at least one good row"))
	}
	return f.Pass.step(s, found), nil
}

// reclusterFn computes the initial centers from the drawn rows.
type reclusterFn struct {
	Config job.Config
	K      int
	Seed   uint64
}

func (f *reclusterFn) ProcessElement(ctx context.Context, s State) (State, error) {
	if s.Failed {
		return s, nil
	}
	w, err := f.Config.Worker()
	if err == nil {
		s, err = s.recluster(ctx, w.Engine, f.K, f.Seed)
	}
	return s, job.Wrap(err)
}

// Candidates draws rows by k-means|| and weights them by the number of rows nearest to them. It
// returns a collection of one [State].
func (r Source) Candidates(s beam.Scope, o Options) beam.PCollection { return r.candidates(s, o, 0) }

// candidates is Candidates with a sample, which contains every row with the given chance.
func (r Source) candidates(s beam.Scope, o Options, chance float64) beam.PCollection {
	s = s.Scope("k-means||")
	state := r.next(s, pass{Kind: first, Seed: o.Seed, assesses: true}, beam.Create(s, State{}))
	for i := range o.Rounds {
		state = r.next(s, pass{Kind: round, Seed: o.Seed, Round: uint64(i + 1), Limit: float64(o.draws())},
			state)
	}
	return r.next(s, pass{Kind: weigh, Seed: o.Seed, Chance: chance, Limit: all}, state)
}

// Centers computes the centers of k-means of rows of o.Width values. It returns a collection of one
// [State]. The initial centers are the given ones, or else those of k-means||.
func (r Source) Centers(s beam.Scope, o Options, given *State) beam.PCollection {
	s = s.Scope("k-means")
	var state beam.PCollection
	if given != nil {
		state = beam.Create(s, *given)
	} else {
		state = beam.ParDo(s, &reclusterFn{Config: r.config, K: o.K, Seed: o.Seed},
			r.candidates(s, o, chance(r.config.Rows, o.Width)))
	}
	for i := range o.Iterations {
		state = r.next(s, pass{Kind: move, Tol: o.Tol, assesses: given != nil && i == 0}, state)
	}
	return r.next(s, pass{Kind: measure, assesses: given != nil && o.Iterations == 0}, state)
}
