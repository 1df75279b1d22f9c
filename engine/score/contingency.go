package score

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

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
func ofTable[A, B comparable](truth []A, predicted []B, score func(*contingency) (float64, error)) (float64, error) {
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
		return &fault.ShapeError{What: "number of predicted labels", Got: predicted, Want: fmt.Sprintf("%d, the number of true labels", truth)}
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
		return pairs{}, &fault.ShapeError{What: "number of objects", Got: int(t.n), Want: "at least 2, as the score is over pairs"}
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
