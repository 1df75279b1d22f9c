package score

import (
	"fmt"
	"math"
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
