package score

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Table counts the rows of each pair of a true and a predicted label, for rows that arrive in
// blocks. Its memory grows with the number of different labels and pairs, not with the number of
// rows. The zero value is empty.
type Table struct {
	// Named is as in [Input].
	Named     bool
	labels    counter[string, string]
	right     uint64 // rows whose two labels are equal
	unlabeled int
}

// Add counts rows. Rows whose true label is "" are omitted from every score; a predicted "" is a
// label like any other. Lengths that differ, and more rows than 2^32 - 1, are a *fault.ShapeError.
func (t *Table) Add(truth, predicted []string) error {
	if len(predicted) != len(truth) {
		return &fault.ShapeError{What: "number of predicted labels", Got: len(predicted),
			Want: fmt.Sprintf("%d, as many as true labels", len(truth))}
	}
	if err := t.checkRoom(len(truth)); err != nil {
		return err
	}
	for i, label := range truth {
		t.add(label, predicted[i], 1)
	}
	return nil
}

// AddCount is Add for several rows with the same two labels. A negative number is a
// *fault.ParamError.
func (t *Table) AddCount(truth, predicted string, rows int) error {
	if rows < 0 {
		return &fault.ParamError{Param: "rows", Value: rows, Want: "a number >= 0"}
	}
	if err := t.checkRoom(rows); err != nil || rows == 0 {
		return err
	}
	t.add(truth, predicted, uint64(rows))
	return nil
}

// checkRoom refuses rows whose number of pairs would need more than 64 bits.
func (t *Table) checkRoom(rows int) error {
	if n := t.labels.table.n + uint64(rows); n > math.MaxUint32 {
		return &fault.ShapeError{What: "number of labels", Got: int(n), Want: "at most 2^32 - 1"}
	}
	return nil
}

func (t *Table) add(truth, predicted string, rows uint64) {
	if truth == "" {
		t.unlabeled += int(rows)
		return
	}
	if truth == predicted {
		t.right += rows
	}
	t.labels.add(kept(&t.labels.classes, truth), kept(&t.labels.clusters, predicted), rows)
}

// kept returns a copy of a label that does not keep its surrounding text in memory.
func kept(n *numbering[string], label string) string {
	if _, ok := n.seen[label]; ok {
		return label
	}
	return strings.Clone(label)
}

// Entries returns the number of different true labels, of different predicted labels, and of pairs
// that occur, in total: the size of the table.
func (t *Table) Entries() int {
	return len(t.labels.classes.size) + len(t.labels.clusters.size) + len(t.labels.table.cells)
}

// Report returns the scores of the rows so far, as [All] does for labels. Fewer than two rows with
// a true label are a *fault.ShapeError, but one row has an accuracy if Named. Cost: O(entries), for
// any number of rows.
func (t *Table) Report() (*Report, error) {
	r := &Report{N: int(t.labels.table.n), Unlabeled: t.unlabeled, Classes: len(t.labels.classes.size)}
	if r.N < fewest(t.Named) {
		return nil, errUnlabeled(r.N)
	}
	return r, r.partitions(t)
}

// fewest returns the number of rows that have a score: two for those of pairs, one for the
// accuracy.
func fewest(named bool) int {
	if named {
		return 1
	}
	return 2
}

func errUnlabeled(n int) error {
	return &fault.ShapeError{What: "number of rows with a true label", Got: n, Want: "at least 2"}
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

// contingency is the sparse table n_ab of two labelings: the number of objects with class a and
// cluster b. Classes, clusters and cells are numbered by first appearance, so that the order of
// sums does not depend on the names of the labels.
type contingency struct {
	n                uint64
	classes, cluster []uint64 // sizes
	cells            []cell
}

type cell struct {
	class, cluster int32
	count          uint64
}

// counter builds a contingency table from one pair of labels after another.
type counter[A, B comparable] struct {
	table    contingency
	classes  numbering[A]
	clusters numbering[B]
	place    map[[2]int32]int32 // index of each pair among the cells
}

// ofTable computes a score of two labelings from their contingency table.
func ofTable[A, B comparable](truth []A, predicted []B,
	score func(*contingency) (float64, error)) (float64, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return 0, err
	}
	var c counter[A, B]
	for i, label := range truth {
		c.add(label, predicted[i], 1)
	}
	return score(c.contingency())
}

// add counts n >= 1 objects with these labels.
func (c *counter[A, B]) add(truth A, predicted B, n uint64) {
	if c.place == nil {
		c.place = make(map[[2]int32]int32)
	}
	at := [2]int32{c.classes.add(truth, n), c.clusters.add(predicted, n)}
	k, ok := c.place[at]
	if !ok {
		k = int32(len(c.table.cells))
		c.place[at] = k
		c.table.cells = append(c.table.cells, cell{class: at[0], cluster: at[1]})
	}
	c.table.cells[k].count += n
	c.table.n += n
}

// contingency returns the table so far.
func (c *counter[A, B]) contingency() *contingency {
	c.table.classes, c.table.cluster = c.classes.size, c.clusters.size
	return &c.table
}

// numbering numbers labels from 0 in the order in which they first appear, and counts them.
type numbering[T comparable] struct {
	seen map[T]int32
	size []uint64
}

func (n *numbering[T]) add(label T, count uint64) int32 {
	k, ok := n.seen[label]
	if !ok {
		if n.seen == nil {
			n.seen = make(map[T]int32)
		}
		k = int32(len(n.size))
		n.seen[label] = k
		n.size = append(n.size, 0)
	}
	n.size[k] += count
	return k
}

// number replaces labels by 0-based numbers in order of first appearance, with the sizes.
func number[T comparable](labels []T) (of []int32, size []uint64) {
	var n numbering[T]
	of = make([]int32, len(labels))
	for i, label := range labels {
		of[i] = n.add(label, 1)
	}
	return of, n.size
}

func sameLength(truth, predicted int) error {
	if truth > math.MaxInt32 {
		return &fault.ShapeError{What: "number of labels", Got: truth, Want: "at most 2^31 - 1"}
	}
	if truth == 0 {
		return &fault.ShapeError{What: "number of true labels", Got: 0, Want: "at least 1"}
	}
	if predicted != truth {
		return &fault.ShapeError{What: "number of predicted labels", Got: predicted,
			Want: fmt.Sprintf("%d, the number of true labels", truth)}
	}
	return nil
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
		return pairs{}, &fault.ShapeError{What: "number of objects", Got: int(t.n),
			Want: "at least 2, as the score is over pairs"}
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
