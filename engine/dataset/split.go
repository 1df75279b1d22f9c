package dataset

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// The streams of random numbers: with separate streams, two uses of one seed get different numbers.
const (
	streamSplit    = 0x73706c6974
	streamGenerate = 0x67656e6572617465
)

// Split divides the rows 0..n-1 at random into a first part of round(fraction*n) rows, but at least
// one and at most n-1, and a second part with the rest. Both are ascending.
//
// With labels (one per row) the split is stratified: each class contributes its share to the first
// part, rounded up or down so that the total is the same; the largest remainders are rounded up,
// ties in the order of first appearance. A fraction outside (0, 1) and n < 2 are errors of package
// fault. The result depends only on the arguments.
func Split(n int, fraction float64, labels []string, seed uint64) (first, second []int, err error) {
	switch {
	case !(0 < fraction && fraction < 1):
		return nil, nil, &fault.ParamError{Param: "fraction", Value: fraction, Want: "a number between 0 and 1"}
	case n < 2:
		return nil, nil, &fault.ShapeError{What: "number of rows to split", Got: n, Want: "at least 2"}
	case labels != nil && len(labels) != n:
		return nil, nil, &fault.ShapeError{What: "number of labels", Got: len(labels), Want: "one for each row"}
	}
	total := min(max(int(math.Round(fraction*float64(n))), 1), n-1)
	classes := classRows(n, labels)
	rng := rand.New(rand.NewPCG(seed, streamSplit))
	for k, take := range shares(classes, n, total) {
		rows := classes[k]
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		first, second = append(first, rows[:take]...), append(second, rows[take:]...)
	}
	slices.Sort(first)
	slices.Sort(second)
	return first, second, nil
}

// classRows returns the rows of each class in the order of first appearance; without
// labels there is one class.
func classRows(n int, labels []string) [][]int {
	number := make(map[string]int)
	var classes [][]int
	for i := range n {
		var label string
		if labels != nil {
			label = labels[i]
		}
		k, ok := number[label]
		if !ok {
			k = len(classes)
			number[label] = k
			classes = append(classes, nil)
		}
		classes[k] = append(classes[k], i)
	}
	return classes
}

// shares divides total among the classes in proportion to their sizes by the method of
// largest remainders, in whole numbers so that nothing depends on rounding.
func shares(classes [][]int, n, total int) []int {
	take := make([]int, len(classes))
	order := make([]int, len(classes))
	left := total
	for k, rows := range classes {
		take[k] = len(rows) * total / n
		left -= take[k]
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(classes[b])*total%n, len(classes[a])*total%n)
	})
	for _, k := range order[:left] {
		take[k]++
	}
	return take
}
