package score

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// contingency is the sparse table n_ab of two labellings: how many objects have class a
// and cluster b. Classes, clusters and cells are numbered by first appearance, so that
// sums over them have one order whatever the labels are called.
type contingency struct {
	n                uint64
	classes, cluster []uint64 // sizes
	cells            []cell
}

type cell struct {
	class, cluster int32
	count          uint64
}

func newContingency[A, B comparable](truth []A, predicted []B) (*contingency, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return nil, err
	}
	t := &contingency{n: uint64(len(truth))}
	var a, b []int32
	a, t.classes = number(truth)
	b, t.cluster = number(predicted)
	place := make(map[[2]int32]int32)
	for i := range a {
		at := [2]int32{a[i], b[i]}
		k, ok := place[at]
		if !ok {
			k = int32(len(t.cells))
			place[at] = k
			t.cells = append(t.cells, cell{class: at[0], cluster: at[1]})
		}
		t.cells[k].count++
	}
	return t, nil
}

func sameLength(truth, predicted int) error {
	if truth > math.MaxInt32 {
		return &fault.ShapeError{What: "number of labels", Got: truth, Want: "at most 2^31 - 1"}
	}
	if truth == 0 {
		return &fault.ShapeError{What: "number of true labels", Got: 0, Want: "at least 1"}
	}
	if predicted != truth {
		return &fault.ShapeError{What: "number of predicted labels", Got: predicted, Want: fmt.Sprintf("%d, as many as true labels", truth)}
	}
	return nil
}

// number replaces labels by 0-based numbers in order of first appearance, with the sizes.
func number[T comparable](labels []T) (of []int32, size []uint64) {
	seen := make(map[T]int32)
	of = make([]int32, len(labels))
	for i, label := range labels {
		k, ok := seen[label]
		if !ok {
			k = int32(len(size))
			seen[label] = k
			size = append(size, 0)
		}
		of[i] = k
		size[k]++
	}
	return of, size
}

// pairs counts the n(n-1)/2 pairs of objects by what the two labellings say of them.
type pairs struct {
	both      uint64 // same class, same cluster
	classOnly uint64 // same class, different clusters
	clustOnly uint64 // different classes, same cluster
	neither   uint64
}

func (p pairs) total() uint64 { return p.both + p.classOnly + p.clustOnly + p.neither }

// pairs needs n >= 2, without which there are none.
func (t *contingency) pairs() (pairs, error) {
	if t.n < 2 {
		return pairs{}, &fault.ShapeError{What: "number of objects", Got: int(t.n), Want: "at least 2, as the score is over pairs"}
	}
	var p pairs
	var sameClass, sameCluster uint64 // each sum is below n^2/2 < 2^61
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

// dense returns the table with classes as rows, or its transpose when there are fewer
// clusters than classes: rows <= columns.
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
