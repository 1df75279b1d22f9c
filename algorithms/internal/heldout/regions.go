package heldout

import (
	"fmt"
	"math/rand/v2"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// Regions divides the linked points into count folds, as [Deal] does, so that the points of a fold
// have many links with each other: their links are those between two points of the fold. Both ends
// of such a pair are new to the model, as rows of later data are. A model that draws new points
// together, or to the middle, ranks links between new points and training points too well or too
// badly.
//
// Without cannot-links, random pairs of points of the fold without a link serve as such. Of the
// folds only the points and links are set: what Deal requires of a fold is left to the caller.
// Errors: count < 2 (*fault.ParamError). Cost: O(links log links).
func Regions(set *links.Set, count int, seed uint64) ([]Fold, error) {
	if count < 2 {
		return nil, &fault.ParamError{Param: "folds", Value: count, Want: "a number >= 2"}
	}
	r := rand.New(rand.NewPCG(seed, streamFolds))
	of := grow(newUnits(set, count, r), count, r)
	must, cannot := set.Must(), set.Cannot()
	out := make([]Fold, count)
	for f := range out {
		fold, err := split(set, of, f, must, cannot)
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", f+1, err)
		}
		fold.Links = inside(fold.Links, of, f)
		if len(cannot) == 0 {
			fold.Links.List = append(fold.Links.List, strangers(fold, set, r)...)
		}
		out[f] = fold
	}
	return out, nil
}

// inside returns the pairs of two points of a fold.
func inside(p Pairs, of map[int]int, f int) (out Pairs) {
	for k, pair := range p.List {
		a, there := of[pair[0]]
		b, too := of[pair[1]]
		if there && too && a == f && b == f {
			out.List = append(out.List, pair)
			if k < p.Must {
				out.Must++
			}
		}
	}
	return out
}

// strangers draws as many pairs of points of the fold as it has must-links, and returns those that
// must-links do not join.
func strangers(fold Fold, set *links.Set, r *rand.Rand) (out [][2]int) {
	component := set.Components()
	for range fold.Links.Must {
		i, j := fold.Points[r.IntN(len(fold.Points))], fold.Points[r.IntN(len(fold.Points))]
		if component[i] != component[j] {
			out = append(out, [2]int{min(i, j), max(i, j)})
		}
	}
	return out
}

// units are groups of points that stay together, and the cannot-links between them.
type units struct {
	points [][]int
	near   [][]int // for each unit, the units at the other ends of its cannot-links
	total  int     // points
}

// newUnits returns the components of must-links, in parts no larger than a fold, and the other
// linked points one by one.
func newUnits(set *links.Set, count int, r *rand.Rand) *units {
	parts, total := groups(set, count, r)
	u := &units{points: parts, near: make([][]int, len(parts)), total: total}
	unit := map[int]int{}
	for k, part := range parts {
		for _, i := range part {
			unit[i] = k
		}
	}
	for _, l := range set.Cannot() {
		a, b := unit[l.I], unit[l.J]
		u.near[a], u.near[b] = append(u.near[a], b), append(u.near[b], a)
	}
	return u
}

// grow returns the fold of every point. Each fold grows from a unit by the unit with the most
// cannot-links into it, until it has its share of the points.
func grow(u *units, count int, r *rand.Rand) map[int]int {
	of := map[int]int{}
	free := r.Perm(len(u.points)) // candidates for the start of a fold, and where no unit is near
	taken := make([]bool, len(u.points))
	for f := range count {
		room := (u.total - len(of) + count - f - 1) / (count - f)
		frontier := newFrontier(len(u.points))
		for size := 0; size < room; {
			next := frontier.best(taken)
			for next < 0 && len(free) > 0 {
				if !taken[free[0]] {
					next = free[0]
				}
				free = free[1:]
			}
			if next < 0 {
				break
			}
			taken[next] = true
			size += len(u.points[next])
			for _, i := range u.points[next] {
				of[i] = f
			}
			for _, k := range u.near[next] {
				frontier.add(k)
			}
		}
	}
	return of
}

// frontier counts the cannot-links of units into a fold; level[c] holds units that had count c when
// they entered it.
type frontier struct {
	count []int
	level [][]int
}

func newFrontier(n int) *frontier { return &frontier{count: make([]int, n)} }

// add notes one more cannot-link of a unit.
func (f *frontier) add(unit int) {
	f.count[unit]++
	for len(f.level) <= f.count[unit] {
		f.level = append(f.level, nil)
	}
	f.level[f.count[unit]] = append(f.level[f.count[unit]], unit)
}

// best removes the unit with the most cannot-links that is not taken, of several the last one that
// came; it returns -1 if there is none.
func (f *frontier) best(taken []bool) int {
	for len(f.level) > 0 {
		last := len(f.level) - 1
		units := f.level[last]
		if len(units) == 0 {
			f.level = f.level[:last]
			continue
		}
		unit := units[len(units)-1]
		f.level[last] = units[:len(units)-1]
		if !taken[unit] {
			return unit
		}
	}
	return -1
}
