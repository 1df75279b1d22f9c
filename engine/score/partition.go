package score

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// fewest returns the number of rows that have a score: two for those of pairs, one for the
// accuracy.
func fewest(named bool) int {
	if named {
		return 1
	}
	return 2
}

func errUnlabeled(n int) error {
	return fault.Shape("number of rows with a true label", n, "at least 2")
}

// partitions computes the scores of predicted labels.
func (r *Report) partitions(table *Table) error {
	t := table.labels.contingency()
	if t.n == 1 {
		r.Clusters, r.Accuracy = 1, new(float64(table.right))
		return nil
	}
	p, err := t.pairs()
	if err != nil {
		return err
	}
	r.Clusters = len(t.cluster)
	r.Rand, r.BalancedRand, r.AdjustedRand, r.NMI = new(p.rand()), new(p.balanced()), new(p.adjusted()),
		new(t.nmi())
	r.note(&r.ClusterAccuracy)(t.clusterAccuracy())
	if table.known() {
		r.Accuracy = new(float64(table.right) / float64(t.n))
		r.Numbered = !table.Named && table.numbered() && r.ClusterAccuracy != nil &&
			*r.Accuracy < *r.ClusterAccuracy
	}
	return nil
}

// known reports whether all predicted labels are true labels of some row, or of a class without
// one.
func (t *Table) known() bool {
	if t.Named {
		return true
	}
	for label := range t.labels.clusters.seen {
		if _, ok := t.labels.classes.seen[label]; !ok {
			return false
		}
	}
	return true
}

// numbered reports whether the predicted labels are 0 to k - 1 for k different ones.
func (t *Table) numbered() bool {
	for k := range len(t.labels.clusters.seen) {
		if _, ok := t.labels.clusters.seen[strconv.Itoa(k)]; !ok {
			return false
		}
	}
	return true
}

// pairs counts the n(n-1)/2 pairs of objects by whether each labeling puts them together.
type pairs struct {
	both      uint64 // same class, same cluster
	classOnly uint64 // same class, different clusters
	clustOnly uint64 // different classes, same cluster
	neither   uint64
}

func (p pairs) total() uint64 { return p.both + p.classOnly + p.clustOnly + p.neither }

// pairs returns the counts; it requires n >= 2, as otherwise there are no pairs.
func (t *contingency) pairs() (pairs, error) {
	if t.n < 2 {
		return pairs{}, fault.Shape("number of objects", int(t.n), "at least 2, as the score is over pairs")
	}
	var p pairs
	var sameClass, sameCluster uint64 // each sum is below n^2/2 < 2^63
	for _, c := range t.cells {
		p.both += choose2(c.count)
	}
	for _, q := range t.classes {
		sameClass += choose2(q)
	}
	for _, q := range t.cluster {
		sameCluster += choose2(q)
	}
	p.classOnly = sameClass - p.both
	p.clustOnly = sameCluster - p.both
	p.neither = choose2(t.n) - sameClass - p.clustOnly
	return p, nil
}

// choose2 returns q(q-1)/2 for q < 2^32.
func choose2(q uint64) uint64 { return q * (q - 1) / 2 }

// dense returns the table with classes as rows, or its transpose if there are fewer clusters than
// classes: rows <= columns.
func (t *contingency) dense() (table []int64, rows, columns int) {
	rows, columns = len(t.classes), len(t.cluster)
	swap := rows > columns
	if swap {
		rows, columns = columns, rows
	}
	table = make([]int64, rows*columns)
	for _, c := range t.cells {
		a, b := int(c.class), int(c.cluster)
		if swap {
			a, b = b, a
		}
		table[a*columns+b] = int64(c.count)
	}
	return table, rows, columns
}

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
	denominator := mul(p.both+p.classOnly, p.classOnly+p.neither).float() +
		mul(p.both+p.clustOnly, p.clustOnly+p.neither).float()
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

// PrecisionRecall says how far groups mix classes and how far they divide them.
type PrecisionRecall struct {
	Precision *float64 `json:"precision,omitempty"`
	Recall    *float64 `json:"recall,omitempty"`
	// F is the harmonic mean of both, 0 if both are.
	F *float64 `json:"f,omitempty"`
}

// Pairwise returns the precision and the recall of the pairs of objects that predicted puts
// together: the share of these that are of one class, and the share of the pairs of one class that
// are among these. A share of no pairs is nil, and F if there are neither. Swapping the labelings
// swaps precision and recall. Lengths that differ or are below 2 are a *fault.ShapeError.
func Pairwise[A, B comparable](truth []A, predicted []B) (r PrecisionRecall, err error) {
	_, err = byPairs(truth, predicted, func(p pairs) float64 {
		r = p.precisionRecall()
		return 0
	})
	return r, err
}

func (p pairs) precisionRecall() PrecisionRecall {
	share := func(part, of float64) *float64 {
		if of == 0 {
			return nil
		}
		return new(part / of)
	}
	both, class, clust := float64(p.both), float64(p.both+p.classOnly), float64(p.both+p.clustOnly)
	return PrecisionRecall{share(both, clust), share(both, class), share(2*both, class+clust)}
}

// BCubed returns the B-cubed precision and recall: the mean over the objects of the share of an
// object's cluster that is of its class, and of the share of its class that is in its cluster,
// where the object counts itself. All are above 0 and at most 1. Swapping the labelings swaps
// precision and recall. (Bagga & Baldwin 1998, in the form of Amigó et al. 2009, Inf. Retrieval
// 12:461-486.) Lengths that differ or are 0 are a *fault.ShapeError.
func BCubed[A, B comparable](truth []A, predicted []B) (r PrecisionRecall, err error) {
	_, err = ofTable(truth, predicted, func(t *contingency) (float64, error) {
		r = t.bCubed()
		return 0, nil
	})
	return r, err
}

func (t *contingency) bCubed() PrecisionRecall {
	precision, recall := make([]float64, len(t.cells)), make([]float64, len(t.cells))
	for k, c := range t.cells {
		q := float64(c.count)
		precision[k] = q / float64(t.cluster[c.cluster]) * (q / float64(t.n))
		recall[k] = q / float64(t.classes[c.class]) * (q / float64(t.n))
	}
	p, q := min(sum(precision), 1), min(sum(recall), 1)
	return PrecisionRecall{new(p), new(q), new(2 * p * q / (p + q))}
}

// Groups returns the report with the pairwise and B-cubed precision and recall of the rows so far.
// Errors and cost are those of [Table.Report].
func (t *Table) Groups() (*Report, error) {
	r, err := t.Report()
	if err != nil {
		return nil, err
	}
	c := t.labels.contingency()
	r.BCubed = new(c.bCubed())
	if p, err := c.pairs(); err == nil { // one row has none
		r.Pairwise = new(p.precisionRecall())
	}
	return r, nil
}

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
	return max(information/mean, 0)
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

// Accuracy returns the fraction of objects whose predicted label is the true one.
// Lengths that differ or are 0 are a *fault.ShapeError.
func Accuracy[T comparable](truth, predicted []T) (float64, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return 0, err
	}
	right := 0
	for i, label := range truth {
		if predicted[i] == label {
			right++
		}
	}
	return float64(right) / float64(len(truth)), nil
}

// maxCells bounds the dense table of ClusterAccuracy: 2^24 cells take 128 MiB.
const maxCells = 1 << 24

// ClusterAccuracy returns the fraction of correct objects under the best one-to-one matching of
// clusters to classes; surplus clusters or classes have no match. The matching is exact (Hungarian
// method, [Kuhn 1955]) and costs O(n + s^2 t), where s and t are the smaller and the larger of the
// numbers of classes and clusters. Symmetric.
//
// Lengths that differ or are 0, and more than 2^24 cells, are a *fault.ShapeError.
//
// [Kuhn 1955]: https://doi.org/10.1002/nav.3800020109
func ClusterAccuracy[A, B comparable](truth []A, predicted []B) (float64, error) {
	return ofTable(truth, predicted, (*contingency).clusterAccuracy)
}

func (t *contingency) clusterAccuracy() (float64, error) {
	if len(t.classes)*len(t.cluster) > maxCells {
		return 0, fault.Shape("number of classes times clusters", len(t.classes)*len(t.cluster),
			"at most %d to match them one to one", maxCells)
	}
	table, rows, columns := t.dense()
	return float64(assign(table, rows, columns)) / float64(t.n), nil
}

// assign returns the largest sum of entries of the rows x columns table, rows <= columns, that
// takes one entry from each row and at most one from each column.
//
// It adds the rows one by one, each through a shortest augmenting path in the costs reduced by the
// potentials u and v (the Hungarian method in the form of Jonker and Volgenant 1987, Computing
// 38:325-340). Cost: O(rows^2 columns).
func assign(table []int64, rows, columns int) int64 {
	const far = int64(1) << 62
	u, v := make([]int64, rows+1), make([]int64, columns+1)
	rowOf := make([]int, columns+1) // rows and columns from 1; 0: free
	back := make([]int, columns+1)  // column before this one on the shortest path
	dist := make([]int64, columns+1)
	done := make([]bool, columns+1)
	for r := 1; r <= rows; r++ {
		for c := range dist {
			dist[c], done[c] = far, false
		}
		rowOf[0] = r
		at := 0
		for rowOf[at] != 0 {
			done[at] = true
			i, next, step := rowOf[at], 0, far
			costs := table[(i-1)*columns : i*columns]
			for c := 1; c <= columns; c++ {
				if done[c] {
					continue
				}
				if reduced := -costs[c-1] - u[i] - v[c]; reduced < dist[c] {
					dist[c], back[c] = reduced, at
				}
				if dist[c] < step {
					step, next = dist[c], c
				}
			}
			for c := 0; c <= columns; c++ {
				if done[c] {
					u[rowOf[c]] += step
					v[c] -= step
				} else {
					dist[c] -= step
				}
			}
			at = next
		}
		for at != 0 {
			rowOf[at] = rowOf[back[at]]
			at = back[at]
		}
	}
	var best int64
	for c := 1; c <= columns; c++ {
		if rowOf[c] != 0 {
			best += table[(rowOf[c]-1)*columns+c-1]
		}
	}
	return best
}
