// Package score measures how well a partition, a ranking or an embedding agrees with known classes:
// Rand (plain, class-balanced, adjusted), NMI, the ratio J, AUC, recall@k and accuracy, as pure
// functions.
//
// Three kinds of input:
//
//   - two labelings of the same objects ([Rand], [BalancedRand], [AdjustedRand], [NMI],
//     [Accuracy], [ClusterAccuracy], [Pairwise], [BCubed]): slices of any comparable type,
//     where only equality counts. They go through the contingency table, O(n + cells), and
//     count pairs in exact integers up to n = 2^31;
//   - scores and a yes/no truth ([AUC]);
//   - an embedding, n x d row-major and compact, with labels ([JRatio], [PairAUC],
//     [RecallAtK], [NeighborAccuracy]): Euclidean distances, O(n^2 d), never stored.
//
// [All] computes all scores that the data allow, as `mustlink score` shows them.
//
// Bad input gives the typed errors of engine/fault; a measure that is undefined for the data (no
// pair of the kind that it averages over) is an error with the reason, never a NaN. Every label is
// a class, also ""; only [All] omits rows without a true label. Results do not depend on the names
// of the labels.
package score

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Input is the input of [All]: true labels with predicted labels, an embedding, or both.
type Input struct {
	// Truth has the true label of each row; rows with "" are omitted from every score.
	Truth []string
	// Predicted has the predicted label of each row; nil for none. Here "" is a label like any
	// other.
	Predicted []string
	// Named means that the predicted labels name classes, as those of a classifier do, also where
	// no row is of the class.
	Named bool
	// X is the N x D embedding, row-major and compact; nil for none.
	X    []float64
	N, D int
	// Ks are the k of recall@k; nil means those of 1, 5 and 10 that are below the number of rows.
	Ks []int
}

// Report has the scores that the input allows; the others are nil.
type Report struct {
	N         int `json:"n"`                  // rows scored
	Unlabeled int `json:"unlabeled"`          // rows without a true label, which are omitted
	Classes   int `json:"classes"`            // distinct true labels
	Clusters  int `json:"clusters,omitempty"` // distinct predicted labels

	Rand         *float64 `json:"rand,omitempty"`
	BalancedRand *float64 `json:"balanced_rand,omitempty"`
	AdjustedRand *float64 `json:"adjusted_rand,omitempty"`
	NMI          *float64 `json:"nmi,omitempty"`
	// ClusterAccuracy is the accuracy under the best one-to-one matching of clusters to classes.
	ClusterAccuracy *float64 `json:"cluster_accuracy,omitempty"`
	// Accuracy compares the labels literally; nil unless every predicted label is a true label of
	// some row, as otherwise it would only measure how clusters are named, or Input.Named.
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Numbered is true if the predicted labels are 0 to Clusters - 1, as clusters are numbered, and
	// another naming of them agrees better with the truth.
	Numbered bool `json:"-"`

	// Pairwise and BCubed are those of groups, from [Table.Groups].
	Pairwise *PrecisionRecall `json:"pairwise,omitempty"`
	BCubed   *PrecisionRecall `json:"b_cubed,omitempty"`

	JRatio           *float64   `json:"j_ratio,omitempty"`
	PairAUC          *float64   `json:"pair_auc,omitempty"`
	NeighborAccuracy *float64   `json:"neighbor_accuracy,omitempty"`
	Recall           []RecallAt `json:"recall,omitempty"`

	// Notes gives the reason for each score that is undefined for the data.
	Notes []string `json:"notes,omitempty"`
}

// RecallAt is the recall at one k.
type RecallAt struct {
	K     int     `json:"k"`
	Value float64 `json:"value"`
}

// Score is one named score.
type Score struct {
	Name  string
	Value float64
}

// Scores lists the computed scores in a fixed order, under their JSON names; the recall at k is
// "recall@k".
func (r *Report) Scores() []Score {
	var out []Score
	add := func(name string, v *float64) {
		if v != nil {
			out = append(out, Score{name, *v})
		}
	}
	add("rand", r.Rand)
	add("balanced_rand", r.BalancedRand)
	add("adjusted_rand", r.AdjustedRand)
	add("nmi", r.NMI)
	add("cluster_accuracy", r.ClusterAccuracy)
	add("accuracy", r.Accuracy)
	for _, of := range []struct {
		name string
		*PrecisionRecall
	}{{"pairwise", r.Pairwise}, {"b_cubed", r.BCubed}} {
		if of.PrecisionRecall != nil {
			add(of.name+"_precision", of.Precision)
			add(of.name+"_recall", of.Recall)
			add(of.name+"_f", of.F)
		}
	}
	add("j_ratio", r.JRatio)
	add("pair_auc", r.PairAUC)
	add("neighbor_accuracy", r.NeighborAccuracy)
	for _, a := range r.Recall {
		add(fmt.Sprintf("recall@%d", a.K), &a.Value)
	}
	return out
}

// OfClusters removes Accuracy: predicted labels are numbers of clusters, which name no class.
func (r *Report) OfClusters() { r.Accuracy = nil }

// String returns the scores for people, in one line: "rand 0.9933, balanced_rand 0.9932".
func (r *Report) String() string {
	var parts []string
	for _, f := range r.Scores() {
		parts = append(parts, fmt.Sprintf("%s %.4g", f.Name, f.Value))
	}
	return strings.Join(parts, ", ")
}

// All computes every score that the input allows. Wrong sizes, values that are not finite and fewer
// than two labeled rows are errors as in the individual functions; a score that is undefined for
// the data is omitted with a note.
func All(in Input) (*Report, error) {
	if in.Predicted == nil && in.X == nil {
		return nil, fault.Data("",
			"there is nothing to score: want predicted labels or an embedding in addition to the true labels")
	}
	keep, truth := make([]int, 0, len(in.Truth)), make([]string, 0, len(in.Truth))
	for i, label := range in.Truth {
		if label != "" {
			keep, truth = append(keep, i), append(truth, label)
		}
	}
	if len(keep) < fewest(in.Named && in.X == nil) {
		return nil, errUnlabeled(len(keep))
	}
	_, sizes := number(truth)
	r := &Report{N: len(keep), Unlabeled: len(in.Truth) - len(keep), Classes: len(sizes)}
	if in.Predicted != nil {
		t := Table{Named: in.Named}
		if err := t.Add(in.Truth, in.Predicted); err != nil {
			return nil, err
		}
		if err := r.partitions(&t); err != nil {
			return nil, err
		}
	}
	if in.X != nil {
		// The whole embedding is checked, also the omitted rows.
		all, err := newEmbedding(in.X, in.N, in.D, in.Truth)
		if err != nil {
			return nil, err
		}
		if err := r.embedding(all, truth, keep, in.Ks); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Report) embedding(all *embedding, truth []string, keep, ks []int) error {
	e := &embedding{n: len(keep), d: all.d, x: make([]float64, 0, len(keep)*all.d)}
	for _, i := range keep {
		e.x = append(e.x, all.point(i)...)
	}
	e.class, e.size = number(truth)
	if ks == nil {
		ks = slices.DeleteFunc([]int{1, 5, 10}, func(k int) bool { return k >= e.n })
	}
	if err := e.checkK(ks); err != nil {
		return err
	}
	r.note(&r.JRatio)(e.jRatio())
	r.note(&r.PairAUC)(e.pairAUC())
	ranks, err := e.hitRanks()
	if err != nil && !errors.Is(err, errNoClassmates) {
		return err
	}
	r.NeighborAccuracy = new(neighborAccuracy(ranks, e.n))
	if err != nil {
		r.Notes = append(r.Notes, err.Error())
		return nil
	}
	for a, v := range recall(ranks, ks) {
		r.Recall = append(r.Recall, RecallAt{K: ks[a], Value: v})
	}
	return nil
}

// note returns a function that stores a score at dst, or its error among the notes.
func (r *Report) note(dst **float64) func(float64, error) {
	return func(v float64, err error) {
		if err != nil {
			r.Notes = append(r.Notes, err.Error())
			return
		}
		*dst = &v
	}
}

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
		return fault.Shape("number of predicted labels", len(predicted),
			"%d, as many as true labels", len(truth))
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
		return fault.Param("rows", rows, "a number >= 0")
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
		return fault.Shape("number of labels", int(n), "at most 2^32 - 1")
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
		return fault.Shape("number of labels", truth, "at most 2^31 - 1")
	}
	if truth == 0 {
		return fault.Shape("number of true labels", 0, "at least 1")
	}
	if predicted != truth {
		return fault.Shape("number of predicted labels", predicted, "%d, the number of true labels", truth)
	}
	return nil
}
