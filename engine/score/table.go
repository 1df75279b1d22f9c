package score

import (
	"fmt"
	"math"
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
		return &fault.ShapeError{What: "number of predicted labels", Got: len(predicted), Want: fmt.Sprintf("%d, as many as true labels", len(truth))}
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
	r.Rand, r.BalancedRand, r.AdjustedRand, r.NMI = new(p.rand()), new(p.balanced()), new(p.adjusted()), new(t.nmi())
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
