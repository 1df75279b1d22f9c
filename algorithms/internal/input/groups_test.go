package input_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/input"
)

// Rows of pairs are distinct, in the order of their first appearance, and found at their index.
// Groups of pairs follow each other without a gap, and each is as long as it may be.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for range 200 {
		pairs := make([][2]int, 1+rng.IntN(30))
		for k := range pairs {
			pairs[k] = [2]int{rng.IntN(12), rng.IntN(12)}
		}
		var want []int
		for _, p := range pairs {
			for _, i := range p {
				if !slices.Contains(want, i) {
					want = append(want, i)
				}
			}
		}
		rows, at := input.RowsOf(pairs)
		if !slices.Equal(rows, want) || len(at) != len(want) {
			t.Fatalf("rows %v of %v: want %v", rows, pairs, want)
		}
		for k, i := range rows {
			if at[i] != k {
				t.Fatalf("row %d is at %d: want %d", i, at[i], k)
			}
		}
		most := rng.IntN(9)
		for lo := 0; lo < len(pairs); {
			hi, rows := input.Group(pairs, lo, most)
			if hi <= lo || hi > len(pairs) {
				t.Fatalf("the group from pair %d on ends at %d", lo, hi)
			}
			want, _ := input.RowsOf(pairs[lo:hi])
			if len(rows) != len(want) || len(rows) > most && hi > lo+1 {
				t.Fatalf("%v for pairs %v: want %v, at most %d", rows, pairs[lo:hi], want, most)
			}
			for k, i := range want {
				if rows[i] != k {
					t.Fatalf("row %d is at %d: want %d", i, rows[i], k)
				}
			}
			if hi < len(pairs) && len(rows)+2 <= most {
				t.Fatalf("a group of %d rows ends at pair %d: want at most %d", len(rows), hi, most)
			}
			lo = hi
		}
	}
}
