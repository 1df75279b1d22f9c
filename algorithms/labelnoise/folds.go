// Package labelnoise (engine room: may change) says which of the given links are probably wrong.
//
// A model tells little of the links that it was fitted on: many methods meet them all, the wrong
// ones too. So the links are divided into folds, and every link is measured by models that were
// fitted without it. Several methods do that, the judges, as each sees other things: directions
// that matter, the shape of the points, what follows from other links. Three are metrics; three
// more are npkl on the neighbors by each of these, which are more often of a kind than those by the
// points as they are. How far apart must-links and cannot-links then are, by the measure of every
// judge, decides how much each judge is believed: a logistic regression of the signs on the
// logarithms of the distances, that allows for wrong signs and estimates how many there are. As
// wrong links lead the judges astray, all is done again without the most suspicious ones, twice.
// The suspicion of a link is the logarithm of the odds that its sign is wrong.
//
// [Result.Without] leaves out the most suspicious links, [Result.Reweighted] gives them less
// weight, for methods that weigh links.
package labelnoise

import (
	"fmt"
	"math/rand/v2"

	"github.com/mustlink/mustlink/engine/links"
)

// streamFolds is the stream of the random numbers that deal links to folds.
const streamFolds = 0x737573706963

// fold is a part of the links, by their numbers, and the links of the other folds.
type fold struct {
	held []int
	fit  *links.Set
}

// divide deals the links to folds, must-links and cannot-links in equal parts, as often as there
// are repetitions and anew in every round. As there are at least two links of a kind, and two
// folds, every fold leaves one of a kind to fit on.
func (t *trial) divide(set *links.Set) error {
	must, _ := set.Count()
	for r := range t.o.Repetitions {
		random := rand.New(rand.NewPCG(t.o.Seed+uint64(t.round*t.o.Repetitions+r), streamFolds))
		of := make([]int, len(t.list))
		for at, k := range random.Perm(must) {
			of[k] = at % t.o.Folds
		}
		for at, k := range random.Perm(len(t.list) - must) {
			of[must+k] = t.o.Folds - 1 - at%t.o.Folds // small folds of one kind get the larger ones of the other
		}
		for f := range t.o.Folds {
			part, err := t.fold(set.N(), of, f)
			if err != nil {
				return err
			}
			if len(part.held) > 0 {
				t.folds = append(t.folds, part)
			}
		}
	}
	return nil
}

// fold returns the links of fold f. Dropped links are in no other fold's fit, unless none of their
// kind would be left.
func (t *trial) fold(n int, of []int, f int) (fold, error) {
	var out fold
	var kept, spare []links.Link
	left := map[links.Sign]int{}
	for k, l := range t.list {
		switch {
		case of[k] == f:
			out.held = append(out.held, k)
		case t.dropped[k]:
			spare = append(spare, l)
		default:
			kept = append(kept, l)
			left[l.Sign]++
		}
	}
	for _, l := range spare {
		if left[l.Sign] == 0 {
			kept = append(kept, l)
		}
	}
	var err error
	if out.fit, err = links.New(n, kept); err != nil {
		return out, fmt.Errorf("fold %d: %w", f+1, err)
	}
	return out, nil
}
