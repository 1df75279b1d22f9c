// Package activelearning (engine room: may change) chooses which pairs a person should look at next.
//
// It explores, then consolidates (Basu, Banerjee & Mooney, "Active semi-supervision for pairwise
// constrained clustering", SDM 2004). Every class that was met is known by the rows that must-links
// join; a row, or a group of linked ones, is asked against the classes, the nearest first, until
// the answer is yes, and if it never is, it is a new class. So a question or two place a row, and
// its links with all other rows that are placed follow: what follows is never asked. While classes
// are likely to be left, the row that is farthest from all of them comes next; afterwards that of
// which it is least certain where it belongs: the entropy of its class, as the distances to the
// nearest rows of the classes suggest. Divided by the expected number of questions (Xiong, Azimi &
// Fern, "Active learning of constraints for semi-supervised clustering", TKDE
// 2014) it was no better on the sets of `mustlink-bench suggest`, and places that npkl learned anew from the answers were worse.
//
// A learner should be given what the links imply ([links.Set.Closure]), unless it learns from
// components of must-links.
//
// Everything is decided by sums of squared differences in a fixed order: the same links, places and
// seed give the same questions in every build and for any number of workers.
package activelearning

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/points"
)

const (
	// enough is how many groups in a row must turn out to be of classes that are known before no
	// more are looked for; and how many of the last class that was left for them, before that is no
	// longer asked.
	enough = 5
	// sharpness is the power of the ratio of two squared distances that is the odds of two classes.
	// 1, 2 and 4 were tried: it hardly matters.
	sharpness = 2
)

// Next returns the question to ask now, and false when there is none whose answer is open. It
// changes nothing. Cost O(n classes).
func (s *Session) Next() (Pair, bool) {
	list := s.Batch(1)
	if len(list) == 0 {
		return Pair{}, false
	}
	return list[0], true
}

// Batch returns up to count questions that can be asked at once, the best first; fewer when the
// others depend on their answers. Each places another group of rows, and far from those before it,
// because it is chosen as if these were placed where they probably belong. A row stands in two of
// them only if a class has fewer rows than questions. Cost O(count n (classes + d)).
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

// batch is a session in which the groups of earlier questions are taken.
type batch struct {
	*Session
	near        [][]float64
	used, taken map[int]bool // rows, groups
}

// question is a group that may be placed: its row that is nearest to a class it may belong to, and
// how many there are of these.
type question struct{ group, row, class, open int }

// best returns the question of largest value; of equal ones that of the smallest row.
func (b *batch) best() (best question, ok bool) {
	if q, open := b.question(b.last); open && (q.open > 1 || b.sure < enough) {
		return q, true // half placed, it is worth least
	}
	value := math.Inf(-1)
	for g := range b.rows {
		if q, open := b.question(g); open {
			if v := b.value(q); v > value {
				best, value, ok = q, v, true
			}
		}
	}
	return best, ok
}

// question returns that of a group, and false if there is nothing to ask.
func (b *batch) question(g int) (q question, ok bool) {
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

// exploring says that classes may be left that nobody has met.
func (s *Session) exploring() bool {
	return len(s.classes) != s.most && (s.calm < enough || len(s.classes) < 2)
}

// value is what a question is worth: the distance to all classes while they are looked for, then
// the entropy of the class that the group is of.
func (b *batch) value(q question) float64 {
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

// ratio returns the odds of a class at squared distance other, that of the nearest class at squared
// distance first being 1.
func ratio(first, other float64) float64 {
	if first == other {
		return 1
	}
	return math.Pow(first/other, sharpness)
}

// take makes a pair of a question, and places its row where it probably belongs.
func (b *batch) take(q question) Pair {
	best, at, fresh := math.Inf(1), -1, false
	for _, j := range b.rows[b.classes[q.class]] {
		d := points.SquaredDistance(b.coordinates.Row(q.row), b.coordinates.Row(j))
		if unused := !b.used[j]; at < 0 || unused && !fresh || unused == fresh && d < best {
			best, at, fresh = d, j, unused
		}
	}
	b.used[q.row], b.used[at], b.taken[q.group] = true, true, true
	near := b.near[q.class]
	for i := range near {
		near[i] = min(near[i], points.SquaredDistance(b.coordinates.Row(i), b.coordinates.Row(q.row)))
	}
	return Pair{q.row, at}
}
