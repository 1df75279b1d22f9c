package neighbors

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// Every row is classified as by [Classify] on all other rows, which include rows equal to it.
func TestLeaveOneOut(t *testing.T) {
	const n, d, k = 40, 3, 5
	ctx, eng, rng := context.Background(), enginetest.New(t, 2), rand.New(rand.NewPCG(9, 9))
	x, labels := blas.NewMatrix(n, d), make([]string, n)
	for i := range n {
		labels[i] = strconv.Itoa(rng.IntN(3))
		for c := range d {
			x.Set(i, c, float64(rng.IntN(4))) // few places, so that many rows are equal
		}
	}
	got, err := LeaveOneOut(ctx, eng, x, labels, k)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		rest := blas.NewMatrix(n-1, d)
		for r := range n - 1 {
			copy(rest.Row(r), x.Row(r+min(1, max(0, r-i+1))))
		}
		want, err := Classify(ctx, eng, rest, slices.Delete(slices.Clone(labels), i, i+1),
			x.View(i, i+1, 0, d), k)
		if err != nil {
			t.Fatal(err)
		}
		if got[i] != want[0] {
			t.Errorf("row %d is of class %s, by the other rows %s", i, got[i], want[0])
		}
	}
}

// Rows without a label do not vote: the answers are those of the labeled rows alone, which share
// the memory of the rows if all have labels.
func TestLabeled(t *testing.T) {
	const n, d, k = 30, 2, 3
	ctx, eng, rng := context.Background(), enginetest.New(t, 2), rand.New(rand.NewPCG(3, 9))
	x, query, labels := enginetest.Matrix(rng, n, d, 0), enginetest.Matrix(rng, 9, d, 0), make([]string, n)
	var rows []int
	var of []string
	for i := range n {
		if i%3 != 1 {
			labels[i] = strconv.Itoa(rng.IntN(3))
			rows, of = append(rows, i), append(of, labels[i])
		}
	}
	some, names, err := Labeled(x, labels)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Classify(ctx, eng, some, names, query, k)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Classify(ctx, eng, x.Select(rows), of, query, k)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q; error %v", got, want, err)
	}
	all, _, err := Labeled(some, names)
	if err != nil || &all.Data[0] != &some.Data[0] || all.Rows != len(rows) {
		t.Errorf("%d labeled rows, error %v: want the same %d", all.Rows, err, len(rows))
	}
	if _, _, err := Labeled(x, make([]string, n)); !fault.IsInput(err) {
		t.Errorf("no label: error %v", err)
	}
}
