package verdict

import (
	"math"
	"slices"
)

// ranks are the AUC of some pairs and how each of them contributes.
type ranks struct {
	auc          float64
	placed       []float64 // share of the pairs of the other kind on the right side of a pair
	must, cannot int
}

// newRanks returns the ranks of squared distances, those of must-links first.
func newRanks(d []float64, must int) ranks {
	r := ranks{must: must, cannot: len(d) - must, placed: make([]float64, len(d))}
	yes, no := slices.Sorted(slices.Values(d[:must])), slices.Sorted(slices.Values(d[must:]))
	for k, v := range d {
		if k < must {
			r.placed[k] = 1 - shareBelow(no, v)
			r.auc += r.placed[k]
		} else {
			r.placed[k] = shareBelow(yes, v)
		}
	}
	r.auc /= float64(must)
	return r
}

// shareBelow returns the share of sorted values that are below v; equal ones count half.
func shareBelow(sorted []float64, v float64) float64 {
	below, _ := slices.BinarySearch(sorted, v)
	upTo := below
	for upTo < len(sorted) && sorted[upTo] == v {
		upTo++
	}
	return float64(below+upTo) / 2 / float64(len(sorted))
}

// effect returns the part of the error of the AUC that is due to pair k: the linear term of
// U-statistics (DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837-845).
func (r ranks) effect(k int) float64 {
	if k < r.must {
		return (r.placed[k] - r.auc) / float64(r.must)
	}
	return (r.placed[k] - r.auc) / float64(r.cannot)
}

// effects are the parts of an error that are due to single pairs. Pairs with a common point are
// not independent.
type effects struct {
	pairs [][2]int
	of    map[[2]int]int // index of a pair
	terms []float64
}

// add adds a term; those of one pair are summed.
func (e *effects) add(pair [2]int, term float64) {
	if e.of == nil {
		e.of = map[[2]int]int{}
	}
	at, there := e.of[pair]
	if !there {
		at = len(e.pairs)
		e.of[pair] = at
		e.pairs, e.terms = append(e.pairs, pair), append(e.terms, 0)
	}
	e.terms[at] += term
}

// minus returns the effects of the difference from another error.
func (e *effects) minus(other *effects) (out effects) {
	for k, pair := range e.pairs {
		out.add(pair, e.terms[k])
	}
	for k, pair := range other.pairs {
		out.add(pair, -other.terms[k])
	}
	return out
}

// spread returns the standard spread of the sum of the terms, where terms of pairs with a
// common point may be correlated in any way (Aronow, Samii & Assenova 2015, Political Analysis
// 23:564-577, equation 2).
func (e *effects) spread() float64 {
	var order []int
	sum := map[int]float64{}
	own := 0.0
	for k, pair := range e.pairs {
		own += e.terms[k] * e.terms[k]
		for _, i := range pair {
			if _, there := sum[i]; !there {
				order = append(order, i)
			}
			sum[i] += e.terms[k]
		}
	}
	joint := -own
	for _, i := range order {
		joint += sum[i] * sum[i]
	}
	return math.Sqrt(max(joint, own))
}
