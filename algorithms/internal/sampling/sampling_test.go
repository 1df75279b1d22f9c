package sampling

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSome(t *testing.T) {
	for _, limit := range []int{4, 5, 9} {
		if got, want := Some(4, limit, 1), []int{0, 1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("%d of 4 are %v, want %v", limit, got, want)
		}
	}
	if got := Some(-1, 3, 1); len(got) != 0 {
		t.Errorf("some of none are %v", got)
	}
	const total, limit, seeds = 10, 3, 6000
	count := make([]int, total)
	for seed := range uint64(seeds) {
		got := Some(total, limit, seed)
		if len(got) != limit || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != limit ||
			got[0] < 0 || got[limit-1] >= total {
			t.Fatalf("seed %d: %v, want %d different ascending numbers below %d", seed, got, limit, total)
		}
		if !slices.Equal(got, Some(total, limit, seed)) {
			t.Fatalf("seed %d draws other numbers the second time", seed)
		}
		for _, k := range got {
			count[k]++
		}
	}
	// all numbers are equally likely: six standard deviations of a binomial
	const mean = seeds * limit / total
	for k, c := range count {
		if math.Abs(float64(c-mean)) > 6*math.Sqrt(mean*0.7) {
			t.Errorf("%d was drawn %d times, want about %d", k, c, mean)
		}
	}
}

// All pairs of different numbers are equally likely, in both orders.
func TestPair(t *testing.T) {
	const n, draws = 4, 12000
	rng := rand.New(rand.NewPCG(1, 1))
	count := map[[2]int]float64{}
	for range draws {
		p := Pair(rng, n)
		if p[0] == p[1] || min(p[0], p[1]) < 0 || max(p[0], p[1]) >= n {
			t.Fatalf("pair %v: want two different numbers below %d", p, n)
		}
		count[p]++
	}
	const each = draws / (n * (n - 1))
	if len(count) != n*(n-1) {
		t.Errorf("%d pairs: want %d", len(count), n*(n-1))
	}
	for p, c := range count {
		if math.Abs(c-each) > 5*math.Sqrt(each) {
			t.Errorf("%v is drawn %v times of %d: want about %d", p, c, draws, each)
		}
	}
}
