package neighbors

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
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
