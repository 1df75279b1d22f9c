// Package labelnoise (engine room: may change) ranks links by how likely they are mislabeled.
//
// The distances of a fitted model reveal little about the links of its fit: many methods satisfy
// them all, the wrong ones too. So the links are divided into folds, and each link is measured by
// models fitted without it. Several metrics do that, since each depends on different properties:
// relevant directions, the shape of the data, the links implied by others. Three of them are
// metrics of their own; three more are npkl on the embedding of each, where neighbors belong
// together more often than in the input space. A logistic regression of the signs on the logarithms
// of the distances weights the metrics by how well they separate must-links from cannot-links. It
// allows for wrong signs and estimates their share. As wrong links also harm the fits, the
// procedure is repeated, twice by default, without the links that were most suspicious so far. The
// score of a link is the logarithm of the odds that its sign is wrong.
//
// [Result.Without] leaves out the most suspicious links. [Result.Reweighted] reduces their weights,
// for methods that use weights.
package labelnoise

import (
	"fmt"
	"math/rand/v2"

	"github.com/mustlink/mustlink/engine/links"
)

// streamFolds is the stream of the random numbers that assign links to folds.
const streamFolds = 0x737573706963

// fold is a part of the links, as indices, and the set of links to fit without them.
type fold struct {
	heldOut []int
	fit     *links.Set
}

// divide assigns the links to folds, must-links and cannot-links in equal parts. It does so once
// per repetition, with other random numbers in every round. There are at least two links of a kind
// and two folds: every fold leaves at least one of each kind for its fit.
func (r *ranking) divide(set *links.Set) error {
	must, _ := set.Count()
	for repetition := range r.o.Repetitions {
		random := rand.New(rand.NewPCG(r.o.Seed+uint64(r.round*r.o.Repetitions+repetition), streamFolds))
		of := make([]int, len(r.list))
		for at, k := range random.Perm(must) {
			of[k] = at % r.o.Folds
		}
		for at, k := range random.Perm(len(r.list) - must) {
			of[must+k] = r.o.Folds - 1 - at%r.o.Folds // folds with fewer must-links get more cannot-links
		}
		for f := range r.o.Folds {
			part, err := r.fold(set.N(), of, f)
			if err != nil {
				return err
			}
			if len(part.heldOut) > 0 {
				r.folds = append(r.folds, part)
			}
		}
	}
	return nil
}

// fold returns fold f. Its fit uses no dropped links, unless no other link of their kind is left.
func (r *ranking) fold(n int, of []int, f int) (fold, error) {
	var out fold
	var kept, spare []links.Link
	left := map[links.Sign]int{}
	for k, l := range r.list {
		switch {
		case of[k] == f:
			out.heldOut = append(out.heldOut, k)
		case r.dropped[k]:
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
