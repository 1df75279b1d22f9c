package neighbors

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
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

// Distances returns those of pairs.
func Distances(pairs []Pair) []float64 {
	out := make([]float64, len(pairs))
	for k, p := range pairs {
		out[k] = p.Distance
	}
	return out
}

// Draw returns up to count of the pairs, drawn at random by a seed, without those of links.
func Draw(pairs []Pair, known *links.Set, count int, seed uint64) (out [][2]int) {
	linked := map[[2]int]bool{}
	for _, l := range slices.Concat(known.Must(), known.Cannot()) {
		linked[[2]int{min(l.I, l.J), max(l.I, l.J)}] = true
	}
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool {
		return linked[[2]int{int(p.I), int(p.J)}]
	})
	for _, k := range rand.New(rand.NewPCG(seed, 0)).Perm(len(pairs))[:min(count, len(pairs))] {
		out = append(out, [2]int{int(pairs[k].I), int(pairs[k].J)})
	}
	return out
}

// PairOptions are the options of [Pairs].
type PairOptions struct {
	// Neighbors, if not 0, keeps a pair only if one of its rows is among so many nearest rows of
	// the other, ties by row.
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
// n (9d/8 + 66) numbers, and 32 bytes for each pair found.
func Pairs(ctx context.Context, eng *engine.Engine, x blas.Matrix, threshold float64,
	o PairOptions) ([]Pair, error) {
	if o.Most == 0 {
		o.Most = usualMost
	}
	if err := checkPairs(x, threshold, o); err != nil {
		return nil, err
	}
	if err := CheckPairs(eng, x.Rows, x.Cols); err != nil {
		return nil, err
	}
	if x.Rows < 2 {
		return []Pair{}, nil
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

// CheckPairs returns a *fault.MemoryError if the memory limit does not allow [Pairs] of n rows of d
// columns, so that callers need not make the rows first.
func CheckPairs(eng *engine.Engine, n, d int) error {
	if n < 2 {
		return nil
	}
	return eng.Check(fmt.Sprintf("search for pairs of %d rows", n), treeBytes(n, d), "search with fewer rows")
}

func checkPairs(x blas.Matrix, threshold float64, o PairOptions) error {
	switch {
	case !(threshold >= 0) || math.IsInf(threshold, 0):
		return fault.Param("threshold", threshold, "a finite number >= 0")
	case o.Neighbors < 0:
		return fault.Param("neighbors", o.Neighbors, "a number >= 0, 0 for all")
	case o.Most < 1:
		return fault.Param("largest number of pairs", o.Most, "a number >= 1")
	case x.Rows > math.MaxInt32:
		return fault.Shape("number of rows", x.Rows, "at most %d", math.MaxInt32)
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
	return j.eng.Check(fmt.Sprintf("about %.3g pairs within %g", about, j.threshold), int64(pairBytes*about),
		pairHint)
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
	return fault.Param("threshold", j.threshold, "a smaller one, or a few neighbors of each row: %s pairs "+
		"of rows are that near, and at most %d may be found", count, j.Most)
}

// all finds the pairs of all parts.
func (j *pairJoin) all(ctx context.Context) ([]Pair, error) {
	found := make([][]Pair, j.parts)
	err := j.eng.For(ctx, j.parts, 8, func(lo, hi int) error {
		w := newSearcher(ctx, j, false)
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
	if err := j.eng.Check(fmt.Sprintf("pairs within %g, more than %d", j.threshold, j.total/2),
		int64(pairBytes*j.total), pairHint); err != nil {
		return err
	}
	if j.Progress != nil {
		j.Progress(algorithms.Progress{Stage: "pairs", Done: j.done, Total: j.n,
			Elapsed: time.Since(j.begin)})
	}
	return nil
}

// searcher compares the rows of a part with those of other parts: with its own and later ones, so
// that every pair is found once, or with all of them to count pairs or to find neighbors. It has
// the scratch memory of one goroutine.
type searcher struct {
	*pairJoin
	ctx      context.Context
	t        *asm.Table
	counting bool
	all      bool // whether rows are compared with all parts

	own    int       // the part
	first  int       // place of its first row
	reach  []float64 // of each row: squared distance up to which rounded ones may matter
	lists  [][]Pair  // of each row: its neighbors so far, the nearest first; I is the other row
	active [][]int   // rows of the part that matter to the node, for each level

	never    []float64 // no bounds of single distances
	left     []float64 // rows to multiply
	products []float64 // half the squared distances of these from a part
	near     [][2]int  // a row of the part, and a place in another, that may be near enough

	pairs []Pair
	count int
}

// roundingUp is a factor that rounding of a square, or its root, does not exceed.
const roundingUp = 1 + 0x1p-48

// newSearcher returns a searcher.
func newSearcher(ctx context.Context, j *pairJoin, counting bool) *searcher {
	width := j.narrow.width
	s := &searcher{
		pairJoin: j, ctx: ctx, t: j.eng.Backend().Kernels(), counting: counting, all: counting ||
			j.Neighbors > 0,
		reach: make([]float64, partRows), lists: make([][]Pair, partRows), active: make([][]int, j.depth+1),
		never: slices.Repeat([]float64{math.Inf(-1)}, width), products: make([]float64, multiplied*width),
		left: make([]float64, multiplied*max(j.narrow.depth, j.wide.depth)),
	}
	for level := range s.active {
		s.active[level] = make([]int, 0, partRows)
	}
	return s
}

// search finds the pairs of part own.
func (s *searcher) search(own int) {
	lo, hi := s.partBounds(own)
	s.own, s.first, s.pairs, s.count = own, lo, s.pairs[:0], 0
	rows := make([]int, hi-lo)
	for r := range rows {
		rows[r], s.lists[r] = r, s.lists[r][:0]
		s.setReach(r, s.threshold)
	}
	if s.Neighbors > 0 && !s.counting { // the nearest are here, most likely
		s.compareWith(own, rows)
	}
	s.visit(0, 0, rows)
	for r := range rows {
		i := s.order[s.first+r]
		for _, p := range s.lists[r] {
			s.pairs = append(s.pairs, Pair{min(i, p.I), max(i, p.I), p.Distance})
		}
	}
}

// setReach notes that rows beyond a distance do not matter to row r.
func (s *searcher) setReach(r int, distance float64) {
	reach := distance*roundingUp + s.slack
	s.reach[r] = reach * reach * roundingUp
}

// visit compares rows of the part with the rows below a node.
func (s *searcher) visit(level, node int, rows []int) {
	_, end := s.bounds(level, node)
	if !s.all && end <= s.first || s.full() {
		return
	}
	lower, upper := s.box(level, node)
	active := s.active[level][:0]
	for _, r := range rows {
		if gap(s.y.Row(s.first+r), lower, upper, s.reach[r]) <= s.reach[r] {
			active = append(active, r)
		}
	}
	switch {
	case len(active) == 0:
	case level < s.depth:
		one, other := 2*node, 2*node+1
		if s.Neighbors > 0 && s.nearer(level+1, other, one, active[0]) {
			one, other = other, one
		}
		s.visit(level+1, one, active)
		s.visit(level+1, other, active)
	case node != s.own || s.Neighbors == 0 || s.counting:
		s.compareWith(node, active)
	}
}

// nearer reports whether node a of a level is nearer to row r than node b.
func (s *searcher) nearer(level, a, b, r int) bool {
	distance := func(node int) float64 {
		lower, upper := s.box(level, node)
		return gap(s.y.Row(s.first+r), lower, upper, math.Inf(1))
	}
	return distance(a) < distance(b)
}

// full reports whether there are more pairs than may be found, or nobody wants them.
func (s *searcher) full() bool { return len(s.pairs) > s.Most }

// compareWith compares rows of the part with those of another part. Where the principal directions
// leave many pairs, all columns select: that takes less time than so many exact distances.
func (s *searcher) compareWith(part int, rows []int) {
	const exactCost = 2000 // an exact distance takes that long, a product of two numbers 1
	if s.wide.depth == 0 {
		s.selectBy(s.narrow, part, rows, all)
	} else if !s.selectBy(s.narrow, part, rows, len(rows)*partRows*s.wide.depth/exactCost) {
		s.selectBy(s.wide, part, rows, all)
	}
}

// all is any number of pairs.
const all = math.MaxInt

// multiplied is the number of rows that are multiplied with a part at a time, a multiple of MR.
const multiplied = 16

// selectBy decides on the rows of the part, and the places in another, whose distance in panels may
// be near enough. If these are more than most it returns false, and has decided on none.
func (s *searcher) selectBy(p panels, part int, rows []int, most int) bool {
	s.near = s.near[:0]
	own, other, d := p.of(s.own), p.of(part), p.depth-2
	first, _ := s.partBounds(part)
	for len(rows) > 0 && s.ctx.Err() == nil {
		some := rows[:min(multiplied, len(rows))]
		rows = rows[len(some):]
		for k, r := range some { // the product with b, |b|^2/2, 1 is half the squared distance
			a := s.left[k*p.depth:][:p.depth]
			column, step := p.column(own, r)
			for c := range d {
				a[c] = -column[c*step]
			}
			a[d], a[d+1] = 1, column[d*step]
		}
		for c := 0; c < p.width; c += p.packed {
			column, step := p.column(other, c)
			s.t.Direct((len(some)+s.t.MR-1)/s.t.MR*s.t.MR, step, p.depth, 1, 0, s.left, p.depth, 1, column,
				step, s.products[c:], p.width)
		}
		for k, r := range some {
			row := s.products[k*p.width:][:p.width]
			for at := 0; at < len(row); at++ {
				at += s.t.FirstBelow(row[at:], s.never[at:], s.reach[r]/2)
				switch {
				case at == len(row):
				case most == all: // at once, as the reach of the row may shrink
					s.decide(r, first+at)
				default:
					s.near = append(s.near, [2]int{r, first + at})
				}
			}
		}
		if len(s.near) > most {
			return false
		}
	}
	for _, p := range s.near {
		s.decide(p[0], p[1])
	}
	return true
}

// decide keeps the pair of row r of the part and the row at place b, if it is near enough.
func (s *searcher) decide(r, b int) {
	a := s.first + r
	if a == b || !s.all && b < a {
		return
	}
	if s.counting { // an estimate does not need the exact distance
		s.count++
		return
	}
	i, j := s.order[a], s.order[b]
	distance := math.Sqrt(squared(s.x, i, j))
	switch {
	case distance > s.threshold:
	case s.Neighbors > 0:
		s.offer(r, Pair{I: j, Distance: distance})
	default:
		s.pairs = append(s.pairs, Pair{min(i, j), max(i, j), distance})
	}
}

// offer inserts a neighbor into the list of row r, if it is near enough.
func (s *searcher) offer(r int, p Pair) {
	list := s.lists[r]
	if len(list) < s.Neighbors {
		list = append(list, p)
	} else if p.compare(list[len(list)-1]) >= 0 {
		return
	}
	at := len(list) - 1
	for ; at > 0 && p.compare(list[at-1]) < 0; at-- {
		list[at] = list[at-1]
	}
	list[at] = p
	if s.lists[r] = list; len(list) == s.Neighbors {
		s.setReach(r, list[len(list)-1].Distance)
	}
}
