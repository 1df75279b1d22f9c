package neighbors

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Pair is two rows with their distance. I < J.
type Pair struct {
	I, J     int32
	Distance float64
}

// compare orders pairs by distance, then by rows.
func (p Pair) compare(q Pair) int {
	switch {
	case p.Distance != q.Distance:
		if p.Distance < q.Distance {
			return -1
		}
		return 1
	case p.I != q.I:
		return int(p.I) - int(q.I)
	}
	return int(p.J) - int(q.J)
}

// PairOptions are the options of [Pairs].
type PairOptions struct {
	// Neighbors, if not 0, keeps a pair only if one of its rows is among so many nearest rows of the
	// other, ties by row.
	Neighbors int
	// Most is the largest number of pairs that may be found, 0 for 20 million.
	Most int
	// Progress, if not nil, is notified of finished rows.
	Progress func(algorithms.Progress)
}

// usualMost is the usual largest number of pairs: 20 million take 640 MB at most.
const usualMost = 20_000_000

// pairBytes is the memory of a pair while it is found: in the list of its part and in that of all.
const pairBytes = 32

// Pairs returns all pairs of rows of x (n x d) whose Euclidean distance is at most threshold, the
// nearest first, ties by rows. The distance is the root of [points.SquaredDistance] of the rows.
//
// The search is exact. Rows are divided by medians along the principal directions of the data into
// parts of up to 128 rows, and a row is compared with the rows of a part only if the part's
// bounding box is near enough. Rounded distances, with a bound of their rounding, select
// candidates, and sums of squared differences decide. The result is bit-identical for any number of
// workers.
//
// Errors: *fault.ParamError (a threshold that is negative or not finite, negative Neighbors or
// Most; a threshold with more than Most pairs: it states about how many), *fault.ShapeError (more
// than 2^31-1 rows), *fault.DataError (a value that is not finite, or so large that squared
// distances overflow), *fault.MemoryError, and ctx.Err(), wrapped.
//
// Cost: O(n log n) plus 2d flops for each comparison: about as many as there are pairs within the
// threshold in the first principal directions. These are few if the threshold is small compared
// with the spread of the rows, and all n^2/2 at worst; twice as many with Neighbors. Memory:
// n (d + 40) numbers, and 32 bytes for each pair found.
func Pairs(ctx context.Context, eng *engine.Engine, x blas.Matrix, threshold float64, o PairOptions) ([]Pair, error) {
	if o.Most == 0 {
		o.Most = usualMost
	}
	if err := checkPairs(x, threshold, o); err != nil {
		return nil, err
	}
	if x.Rows < 2 {
		return []Pair{}, nil
	}
	if err := eng.Check(fmt.Sprintf("search for pairs of %d rows", x.Rows), treeBytes(x.Rows, x.Cols), "search with fewer rows"); err != nil {
		return nil, err
	}
	t, err := newTree(ctx, eng, x)
	if err != nil {
		return nil, fmt.Errorf("neighbors: pairs: %w", err)
	}
	j := &pairJoin{tree: t, eng: eng, x: x, threshold: threshold, PairOptions: o, begin: time.Now()}
	if err := j.estimate(ctx); err != nil {
		return nil, err
	}
	pairs, err := j.all(ctx)
	if err != nil && !fault.IsInput(err) {
		err = fmt.Errorf("neighbors: pairs: %w", err)
	}
	return pairs, err
}

func checkPairs(x blas.Matrix, threshold float64, o PairOptions) error {
	switch {
	case !(threshold >= 0) || math.IsInf(threshold, 0):
		return &fault.ParamError{Param: "threshold", Value: threshold, Want: "a finite number >= 0"}
	case o.Neighbors < 0:
		return &fault.ParamError{Param: "neighbors", Value: o.Neighbors, Want: "a number >= 0, 0 for all"}
	case o.Most < 1:
		return &fault.ParamError{Param: "largest number of pairs", Value: o.Most, Want: "a number >= 1"}
	case x.Rows > math.MaxInt32:
		return &fault.ShapeError{What: "number of rows", Got: x.Rows, Want: fmt.Sprintf("at most %d", math.MaxInt32)}
	}
	return CheckFinite("rows", x)
}

// pairJoin is the state of a search for pairs.
type pairJoin struct {
	*tree
	eng       *engine.Engine
	x         blas.Matrix // the rows themselves, whose distances decide
	threshold float64
	PairOptions

	begin time.Time
	mu    sync.Mutex // of the two below
	done  int        // rows
	total int        // pairs found, those of both directions twice
}

// estimate refuses a threshold with too many pairs before they are stored: from the pairs of few
// parts if there are far too many, otherwise from those of more.
func (j *pairJoin) estimate(ctx context.Context) error {
	if j.Neighbors > 0 {
		return nil // at most n Neighbors
	}
	about := 0.0
	for _, sampled := range []int{2, 32} {
		var err error
		if about, err = j.sample(ctx, min(sampled, j.parts)); err != nil {
			return fmt.Errorf("neighbors: pairs: %w", err)
		}
		if about > 100/float64(sampled)*float64(j.Most) {
			return j.tooMany(fmt.Sprintf("about %.3g", about))
		}
	}
	return j.eng.Check(fmt.Sprintf("about %.3g pairs within %g", about, j.threshold), int64(pairBytes*about), pairHint)
}

// sample estimates the number of pairs from those of some parts.
func (j *pairJoin) sample(ctx context.Context, parts int) (float64, error) {
	counts, rows := make([]int, parts), 0
	part := func(s int) int { return s * j.parts / parts }
	for s := range parts {
		lo, hi := j.partBounds(part(s))
		rows += hi - lo
	}
	err := j.eng.For(ctx, parts, 1, func(s, _ int) error {
		w := newSearcher(ctx, j, true)
		defer w.release()
		w.search(part(s))
		counts[s] = w.count
		return ctx.Err()
	})
	sum := 0
	for _, c := range counts {
		sum += c
	}
	return float64(sum) / 2 * float64(j.n) / float64(rows), err
}

const pairHint = "use a smaller threshold, or a few neighbors of each row"

func (j *pairJoin) tooMany(count string) error {
	return &fault.ParamError{Param: "threshold", Value: j.threshold,
		Want: fmt.Sprintf("a smaller one, or a few neighbors of each row: %s pairs of rows are that near, and at most %d may be found", count, j.Most)}
}

// all finds the pairs of all parts.
func (j *pairJoin) all(ctx context.Context) ([]Pair, error) {
	found := make([][]Pair, j.parts)
	err := j.eng.For(ctx, j.parts, 8, func(lo, hi int) error {
		w := newSearcher(ctx, j, false)
		defer w.release()
		for p := lo; p < hi; p++ {
			w.search(p)
			if err := ctx.Err(); err != nil {
				return err
			}
			found[p] = slices.Clone(w.pairs)
			if err := j.note(p, len(w.pairs)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	pairs := slices.Concat(found...)
	slices.SortFunc(pairs, Pair.compare)
	if j.Neighbors > 0 {
		pairs = slices.Compact(pairs) // found from both sides
	}
	if len(pairs) > j.Most {
		return nil, j.tooMany(fmt.Sprint(len(pairs)))
	}
	return slices.Clip(pairs), nil
}

// note counts the pairs of part p and reports progress.
func (j *pairJoin) note(p, pairs int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	lo, hi := j.partBounds(p)
	j.done += hi - lo
	j.total += pairs
	most := j.Most
	if j.Neighbors > 0 {
		most *= 2
	}
	if j.total > most {
		return j.tooMany(fmt.Sprintf("more than %d", j.Most))
	}
	if err := j.eng.Check(fmt.Sprintf("pairs within %g, more than %d", j.threshold, j.total/2), int64(pairBytes*j.total), pairHint); err != nil {
		return err
	}
	if j.Progress != nil {
		j.Progress(algorithms.Progress{Stage: "pairs", Done: j.done, Total: j.n, Elapsed: time.Since(j.begin)})
	}
	return nil
}
