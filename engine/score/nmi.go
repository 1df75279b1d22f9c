package score

import (
	"math"
	"slices"
)

// NMI returns the mutual information of the two labelings divided by the arithmetic mean of their
// entropies, 2 I(U,V) / (H(U) + H(V)), in [0, 1]. Symmetric.
//
// Two labelings that are both a single cluster give 1 (they are equal), a single cluster against
// any other labeling gives 0 (it has no information). Papers rarely state which mean they divide
// by; the arithmetic mean is the default of scikit-learn since 0.22 and the choice of Manning,
// Raghavan & Schütze 2008, section 16.3. Lengths that differ or are 0 are a *fault.ShapeError.
func NMI[A, B comparable](truth []A, predicted []B) (float64, error) {
	return ofTable(truth, predicted, func(t *contingency) (float64, error) { return t.nmi(), nil })
}

func (t *contingency) nmi() float64 {
	if len(t.cells) == len(t.classes) && len(t.cells) == len(t.cluster) {
		return 1 // equal partitions: exactly 1
	}
	n := float64(t.n)
	terms := make([]float64, len(t.cells))
	for k, c := range t.cells {
		q := float64(c.count)
		// n q / (a b) is computed as a product of two ratios near 1, so no factor overflows or
		// loses bits.
		terms[k] = q / n * math.Log(q/float64(t.classes[c.class])*(n/float64(t.cluster[c.cluster])))
	}
	information := sum(terms)
	mean := (entropy(t.classes, n) + entropy(t.cluster, n)) / 2
	return min(max(information/mean, 0), 1)
}

// entropy returns the entropy in nats of a partition of n objects into the given sizes.
func entropy(sizes []uint64, n float64) float64 {
	terms := make([]float64, len(sizes))
	for k, q := range sizes {
		p := float64(q) / n
		terms[k] = -p * math.Log(p)
	}
	return sum(terms)
}

// sum adds the terms in ascending order, so that the result does not depend on the order of the
// objects.
func sum(terms []float64) float64 {
	slices.Sort(terms)
	s := 0.0
	for _, v := range terms {
		s += v
	}
	return s
}
