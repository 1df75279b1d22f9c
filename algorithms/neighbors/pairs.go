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
// n (d + 40) numbers, and 32 bytes for each pair found.
func Pairs(ctx context.Context, eng *engine.Engine, x blas.Matrix, threshold float64,
	o PairOptions) ([]Pair, error) {
	if o.Most == 0 {
		o.Most = usualMost
	}
	if err := checkPairs(x, threshold, o); err != nil {
		return nil, err
	}
	if x.Rows < 2 {
		return []Pair{}, nil
	}
	if err := eng.Check(fmt.Sprintf("search for pairs of %d rows", x.Rows), treeBytes(x.Rows, x.Cols),
		"search with fewer rows"); err != nil {
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
	return fault.Param("threshold", j.threshold, "a smaller one, or a few neighbors of each row: %s pairs "+
		"of rows are that near, and at most %d may be found", count, j.Most)
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
	near   []int     // positions in the other part that matter

	lower, upper []float64   // box of the active rows
	left, right  blas.Matrix // gathered rows
	products     blas.Matrix
	norms, never []float64

	pairs []Pair
	count int
}

// roundingUp is a factor that rounding of a square, or its root, does not exceed.
const roundingUp = 1 + 0x1p-48

// newSearcher returns a searcher, which must be released.
func newSearcher(ctx context.Context, j *pairJoin, counting bool) *searcher {
	s := &searcher{
		pairJoin: j, ctx: ctx, t: j.eng.Backend().Kernels(), counting: counting, all: counting ||
			j.Neighbors > 0,
		reach: make([]float64, partRows), lists: make([][]Pair, partRows), active: make([][]int, j.depth+1),
		lower: make([]float64, j.y.Cols), upper: make([]float64, j.y.Cols),
		left: j.eng.GetMatrix(partRows, j.z.Cols), right: j.eng.GetMatrix(partRows, j.z.Cols),
		products: j.eng.GetMatrix(partRows, partRows),
		norms:    make([]float64, partRows), never: slices.Repeat([]float64{math.Inf(-1)}, partRows),
	}
	for level := range s.active {
		s.active[level] = make([]int, 0, partRows)
	}
	return s
}

func (s *searcher) release() {
	for _, m := range []blas.Matrix{s.left, s.right, s.products} {
		s.eng.PutMatrix(m)
	}
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

// compareWith compares rows of the part with those of another part.
func (s *searcher) compareWith(part int, rows []int) {
	const (
		few    = 4  // rows, for which a box of them does not pay
		fewest = 16 // rows on both sides, for which a product of matrices does
	)
	s.choose(part, rows, len(rows) < few)
	if len(rows) >= fewest && len(s.near) >= fewest {
		s.multiply(rows)
		return
	}
	for _, r := range rows {
		place, row, reach := s.y.Row(s.first+r), s.z.Row(s.first+r), s.reach[r]
		for _, b := range s.near {
			if s.t.SquaredDistance(place, s.y.Row(b)) <= reach &&
				s.t.SquaredDistance(row, s.z.Row(b)) <= reach {
				s.decide(r, b)
			}
		}
	}
}

// choose sets near to the rows of another part that are near the box of rows of this one, or to all
// of them.
func (s *searcher) choose(part int, rows []int, all bool) {
	s.near = s.near[:0]
	most := math.Inf(1)
	if !all {
		s.enclose(rows)
		most = 0
		for _, r := range rows {
			most = max(most, s.reach[r])
		}
	}
	lo, hi := s.partBounds(part)
	for b := lo; b < hi; b++ {
		if all || gap(s.y.Row(b), s.lower, s.upper, most) <= most {
			s.near = append(s.near, b)
		}
	}
}

// enclose computes the box of rows of the part.
func (s *searcher) enclose(rows []int) {
	copy(s.lower, s.y.Row(s.first+rows[0]))
	copy(s.upper, s.lower)
	for _, r := range rows[1:] {
		for c, v := range s.y.Row(s.first + r) {
			if v < s.lower[c] {
				s.lower[c] = v
			} else if v > s.upper[c] {
				s.upper[c] = v
			}
		}
	}
}

// multiply compares rows of the part with the near ones by expanded squared distances, whose
// rounding is below (d + 4) eps times the sum of the squared lengths. The factor is generous.
func (s *searcher) multiply(rows []int) {
	if s.ctx.Err() != nil {
		return
	}
	left := gather(s.left, s.z, len(rows), func(k int) int { return s.first + rows[k] })
	right := gather(s.right, s.z, len(s.near), func(k int) int { return s.near[k] })
	products := s.products.View(0, len(rows), 0, len(s.near))
	s.product(left, right, products)
	norms := s.norms[:len(s.near)]
	for k, b := range s.near {
		norms[k] = s.norm[b]
	}
	longest, eps := slices.Max(norms), 16*float64(s.z.Cols+16)*0x1p-53
	for k, r := range rows {
		own, row := s.norm[s.first+r], products.Row(k)
		s.t.SquaredDistances(row, row, own, norms, 0)
		for at := 0; at < len(row); at++ {
			at += s.t.FirstBelow(row[at:], s.never[at:], s.reach[r]+eps*(own+longest))
			if at < len(row) {
				s.decide(r, s.near[at])
			}
		}
	}
}

// gather copies rows of z into the first rows of memory.
func gather(memory, z blas.Matrix, count int, place func(k int) int) blas.Matrix {
	m := memory.View(0, count, 0, z.Cols)
	for k := range count {
		copy(m.Row(k), z.Row(place(k)))
	}
	return m
}

// product multiplies rows with rows, in pieces that the backend does not distribute: all workers
// are busy with other parts.
func (s *searcher) product(left, right, to blas.Matrix) {
	const smallFlops = 1 << 20
	step := max(1, smallFlops/(2*right.Rows*max(1, right.Cols)))
	for lo := 0; lo < left.Rows; lo += step {
		hi := min(lo+step, left.Rows)
		s.eng.Backend().Gemm(false, true, 1, left.View(lo, hi, 0, left.Cols), right, 0,
			to.View(lo, hi, 0, to.Cols))
	}
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
