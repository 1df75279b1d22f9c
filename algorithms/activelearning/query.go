// Package activelearning (internal: may change) chooses the next pairs of rows to query.
//
// It explores, then consolidates (Basu, Banerjee & Mooney, "Active semi-supervision for pairwise
// constrained clustering", SDM 2004). A known class is a group of rows joined by must-links. To
// assign a row, or a group of linked rows, the package queries it against the known classes, the
// nearest first, until the answer is yes; if all answers are no, the row is a new class. One or two
// queries assign a row. They imply its links with all other assigned rows, and implied links are
// never queried. While unknown classes are likely, the next row is the one farthest from all known
// classes. Afterwards it is the row whose class is most uncertain, by the entropy of class
// probabilities from the distances to the nearest row of each class. Dividing the entropy by the
// expected number of queries (Xiong, Azimi & Fern, "Active learning of constraints for
// semi-supervised clustering", TKDE 2014) was no better on the data of `mustlink-bench suggest`,
// and coordinates that npkl learned again from the answers were worse.
//
// Fit a learner to the closure of the links ([links.Set.Closure]), unless it learns from components
// of must-links.
//
// All decisions use sums of squared differences in a fixed order: the same links, coordinates and
// seed give the same queries in every build and for any number of workers.
package activelearning

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/points"
)

const (
	// patience is the number of consecutive groups that must belong to known classes before the
	// exploration ends. It is also the number of consecutive groups that must belong to their last
	// possible class before a group with one possible class is no longer queried first.
	patience = 5
	// sharpness is the exponent that turns the ratio of two squared distances into the odds of two
	// classes. The values 1, 2 and 4 made hardly any difference.
	sharpness = 2
)

// Next returns the next query, and false if all answers are implied. It does not change s. Cost:
// O(n classes).
func (s *Session) Next() (Pair, bool) {
	list := s.Batch(1)
	if len(list) == 0 {
		return Pair{}, false
	}
	return list[0], true
}

// Batch returns up to count queries that can be answered together, the best first. It returns fewer
// if the others depend on their answers. Each query assigns another group of rows. The groups are
// far from each other, because each query is chosen as if the earlier groups were assigned to their
// most probable class. A row occurs in two queries only if a class has fewer rows than queries.
// Cost: O(count n (classes + d)).
func (s *Session) Batch(count int) []Pair {
	b := &batch{Session: s, used: map[int]bool{}, taken: map[int]bool{}}
	for _, near := range s.near {
		b.near = append(b.near, slices.Clone(near))
	}
	var list []Pair
	for len(list) < count {
		q, ok := b.best()
		if !ok {
			break
		}
		list = append(list, b.take(q))
	}
	return list
}

// batch is a session during the choice of a batch.
type batch struct {
	*Session
	near        [][]float64
	used, taken map[int]bool // rows and groups of earlier queries
}

// query is a possible query about a group: its row nearest to one of its possible classes, that
// class, and the number of possible classes.
type query struct{ group, row, class, open int }

// best returns the query with the largest value, and the first group of equal ones. A group with
// earlier answers comes first, whatever its value.
func (b *batch) best() (best query, ok bool) {
	if q, open := b.query(b.last); open && (q.open > 1 || b.sure < patience) {
		return q, true
	}
	value := math.Inf(-1)
	for g := range b.rows {
		if q, open := b.query(g); open {
			if v := b.value(q); v > value {
				best, value, ok = q, v, true
			}
		}
	}
	return best, ok
}

// query returns the query of a group, and false if the group has no open one.
func (b *batch) query(g int) (q query, ok bool) {
	if g < 0 || b.rows[g] == nil || b.class[g] >= 0 || b.taken[g] {
		return q, false
	}
	q.group = g
	best := math.Inf(1)
	for k, class := range b.classes {
		if b.apart[g][class] || b.passed[g][class] {
			continue
		}
		q.open++
		for _, i := range b.rows[g] {
			if v := b.near[k][i]; v < best {
				best, q.row, q.class = v, i, k
			}
		}
	}
	return q, q.open > 0
}

// exploring reports whether unknown classes are likely.
func (s *Session) exploring() bool {
	return len(s.classes) != s.maxClasses && (s.calm < patience || len(s.classes) < 2)
}

// value returns the value of a query: during the exploration the distance to the nearest class,
// then the entropy of the group's class.
func (b *batch) value(q query) float64 {
	if b.exploring() {
		farthest := math.Inf(1)
		for _, near := range b.near {
			farthest = min(farthest, near[q.row])
		}
		return farthest
	}
	sum, entropy := 0.0, 0.0
	odds := make([]float64, 0, 8)
	for k, class := range b.classes {
		if !b.apart[q.group][class] && !b.passed[q.group][class] {
			odds = append(odds, ratio(b.near[q.class][q.row], b.near[k][q.row]))
			sum += odds[len(odds)-1]
		}
	}
	for _, o := range odds {
		if p := o / sum; p > 0 {
			entropy -= p * math.Log(p)
		}
	}
	return entropy
}

// ratio returns the odds of a class at squared distance other relative to the nearest class, at
// squared distance first.
func ratio(first, other float64) float64 {
	if first == other {
		return 1
	}
	return math.Pow(first/other, sharpness)
}

// take returns the pair of a query, and assigns its row to the most probable class for the rest of
// the batch. The row of the class is the nearest one that is in no other query, if there is one.
func (b *batch) take(q query) Pair {
	best, at, atUnused := math.Inf(1), -1, false
	for _, j := range b.rows[b.classes[q.class]] {
		d := points.SquaredDistance(b.coordinates.Row(q.row), b.coordinates.Row(j))
		if unused := !b.used[j]; at < 0 || unused && !atUnused || unused == atUnused && d < best {
			best, at, atUnused = d, j, unused
		}
	}
	b.used[q.row], b.used[at], b.taken[q.group] = true, true, true
	near := b.near[q.class]
	for i := range near {
		near[i] = min(near[i], points.SquaredDistance(b.coordinates.Row(i), b.coordinates.Row(q.row)))
	}
	return Pair{q.row, at}
}
