package neighbors

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

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
		pairJoin: j, ctx: ctx, t: j.eng.Backend().Kernels(), counting: counting, all: counting || j.Neighbors > 0,
		reach: make([]float64, partRows), lists: make([][]Pair, partRows), active: make([][]int, j.depth+1),
		lower: make([]float64, j.y.Cols), upper: make([]float64, j.y.Cols),
		left: j.eng.GetMatrix(partRows, j.z.Cols), right: j.eng.GetMatrix(partRows, j.z.Cols), products: j.eng.GetMatrix(partRows, partRows),
		norms: make([]float64, partRows), never: slices.Repeat([]float64{math.Inf(-1)}, partRows),
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
			if s.t.SquaredDistance(place, s.y.Row(b)) <= reach && s.t.SquaredDistance(row, s.z.Row(b)) <= reach {
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
		s.eng.Backend().Gemm(false, true, 1, left.View(lo, hi, 0, left.Cols), right, 0, to.View(lo, hi, 0, to.Cols))
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
