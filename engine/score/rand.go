package score

import "math/bits"

// Rand returns the Rand index: the fraction of the n(n-1)/2 pairs on which the two labelings agree:
// together in both or apart in both. In [0, 1]; symmetric. (Rand 1971, JASA 66:846-850.) Lengths
// that differ or are below 2 are a *fault.ShapeError.
func Rand[A, B comparable](truth []A, predicted []B) (float64, error) {
	return byPairs(truth, predicted, pairs.rand)
}

// BalancedRand returns half the probability that a same-class pair shares a cluster plus half the
// probability that a different-class pair does not. With more than two clusters the many
// different-class pairs dominate the plain index, but not this one. If there are no pairs of one
// kind, only the other term counts. Not symmetric. (Xing, Ng, Jordan & Russell, NIPS 2002, section
// 3; Yeung, Chang & Dai 2008.) Lengths that differ or are below 2 are a *fault.ShapeError.
func BalancedRand[A, B comparable](truth []A, predicted []B) (float64, error) {
	return byPairs(truth, predicted, pairs.balanced)
}

// AdjustedRand returns the Rand index corrected for chance: 1 for equal partitions,
// expectation 0 for independent ones, at least -1/2. Two partitions that are both one
// cluster or both all singletons are equal and give 1. Symmetric.
// (Hubert & Arabie 1985, J. Classification 2:193-218, eq. 5.)
// Lengths that differ or are below 2 are a *fault.ShapeError.
func AdjustedRand[A, B comparable](truth []A, predicted []B) (float64, error) {
	return byPairs(truth, predicted, pairs.adjusted)
}

func byPairs[A, B comparable](truth []A, predicted []B, score func(pairs) float64) (float64, error) {
	return ofTable(truth, predicted, func(t *contingency) (float64, error) {
		p, err := t.pairs()
		if err != nil {
			return 0, err
		}
		return score(p), nil
	})
}

func (p pairs) rand() float64 { return float64(p.both+p.neither) / float64(p.total()) }

func (p pairs) balanced() float64 {
	same, different := p.both+p.classOnly, p.clustOnly+p.neither
	switch {
	case same == 0:
		return float64(p.neither) / float64(different)
	case different == 0:
		return float64(p.both) / float64(same)
	}
	return 0.5*float64(p.both)/float64(same) + 0.5*float64(p.neither)/float64(different)
}

// adjusted evaluates Hubert and Arabie's ratio as
//
//	2 (both neither - classOnly clustOnly) / (same (classOnly+neither) + joined (clustOnly+neither)),
//
// same = both + classOnly, joined = both + clustOnly: it is their formula with index, expectation
// and maximum multiplied by the number of pairs. The products have up to 122 bits and are computed
// exactly, so there is no cancellation.
func (p pairs) adjusted() float64 {
	if p.classOnly == 0 && p.clustOnly == 0 {
		return 1
	}
	a, b := mul(p.both, p.neither), mul(p.classOnly, p.clustOnly)
	numerator := 2 * a.minus(b)
	denominator := mul(p.both+p.classOnly, p.classOnly+p.neither).float() + mul(p.both+p.clustOnly, p.clustOnly+p.neither).float()
	return numerator / denominator
}

// wide is an unsigned integer of 128 bits.
type wide struct{ hi, lo uint64 }

func mul(x, y uint64) wide {
	hi, lo := bits.Mul64(x, y)
	return wide{hi, lo}
}

func (x wide) float() float64 { return float64(x.hi)*0x1p64 + float64(x.lo) }

// minus returns x - y, rounded once or twice.
func (x wide) minus(y wide) float64 {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, borrow := bits.Sub64(x.hi, y.hi, borrow)
	if borrow != 0 {
		return -y.minus(x)
	}
	return wide{hi, lo}.float()
}
