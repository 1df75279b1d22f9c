package draw

import (
	"math"
	"slices"
	"testing"
)

func TestSome(t *testing.T) {
	for _, most := range []int{4, 5, 9} {
		if got, want := Some(4, most, 1), []int{0, 1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("%d of 4 are %v, want %v", most, got, want)
		}
	}
	if got := Some(-1, 3, 1); len(got) != 0 {
		t.Errorf("some of none are %v", got)
	}
	const total, most, seeds = 10, 3, 6000
	count := make([]int, total)
	for seed := range uint64(seeds) {
		got := Some(total, most, seed)
		if len(got) != most || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != most || got[0] < 0 || got[most-1] >= total {
			t.Fatalf("seed %d: %v, want %d different ascending numbers below %d", seed, got, most, total)
		}
		if !slices.Equal(got, Some(total, most, seed)) {
			t.Fatalf("seed %d draws others the second time", seed)
		}
		for _, k := range got {
			count[k]++
		}
	}
	const mean = seeds * most / total // every number is as likely: six standard deviations of a binomial
	for k, c := range count {
		if math.Abs(float64(c-mean)) > 6*math.Sqrt(mean*0.7) {
			t.Errorf("%d was drawn %d times, want about %d", k, c, mean)
		}
	}
}
