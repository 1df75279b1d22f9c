package dataset

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func TestSplit(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(rt, "n")
		fraction := rapid.Float64Range(0.01, 0.99).Draw(rt, "fraction")
		seed := rapid.Uint64().Draw(rt, "seed")
		var labels []string
		if rapid.Bool().Draw(rt, "stratified") {
			labels = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), n, n).Draw(rt, "labels")
		}
		first, second, err := Split(n, fraction, labels, seed)
		if err != nil {
			rt.Fatal(err)
		}
		all := slices.Concat(first, second)
		slices.Sort(all)
		for i := range all {
			if all[i] != i || len(all) != n {
				rt.Fatalf("parts %v and %v do not make up 0..%d", first, second, n-1)
			}
		}
		if !slices.IsSorted(first) || !slices.IsSorted(second) {
			rt.Fatalf("parts are not ascending: %v, %v", first, second)
		}
		want := min(max(int(math.Round(fraction*float64(n))), 1), n-1)
		if len(first) != want {
			rt.Fatalf("first part has %d of %d rows, want %d", len(first), n, want)
		}
		size, got := map[string]int{}, map[string]int{}
		for _, l := range labels {
			size[l]++
		}
		for _, i := range first {
			if labels != nil {
				got[labels[i]]++
			}
		}
		for l, k := range size { // always less than one row from the exact share
			if share := float64(k) * float64(want) / float64(n); math.Abs(float64(got[l])-share) >= 1 {
				rt.Fatalf("class %s has %d of %d rows in the first part, its share is %.3f", l, got[l], k, share)
			}
		}
		again, _, _ := Split(n, fraction, labels, seed)
		if !slices.Equal(first, again) {
			rt.Fatal("the same seed gave another split")
		}
	})
}

// Every row must be as likely as any other to be in the first part.
func TestSplitIsUniform(t *testing.T) {
	const n, trials = 10, 4000
	hits := make([]int, n)
	for seed := range uint64(trials) {
		first, _, err := Split(n, 0.3, nil, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range first {
			hits[i]++
		}
	}
	// Five standard deviations of a binomial count.
	mean, tol := 0.3*trials, 5*math.Sqrt(trials*0.3*0.7)
	for i, h := range hits {
		if math.Abs(float64(h)-mean) > tol {
			t.Errorf("row %d was drawn %d times, want %.0f +- %.0f", i, h, mean, tol)
		}
	}
}

func TestSplitErrors(t *testing.T) {
	for name, f := range map[string]func() error{
		"fraction 0":   func() error { _, _, err := Split(10, 0, nil, 1); return err },
		"fraction 1":   func() error { _, _, err := Split(10, 1, nil, 1); return err },
		"fraction NaN": func() error { _, _, err := Split(10, math.NaN(), nil, 1); return err },
		"one row":      func() error { _, _, err := Split(1, 0.5, nil, 1); return err },
		"labels":       func() error { _, _, err := Split(3, 0.5, []string{"a"}, 1); return err },
	} {
		if err := f(); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want an input error", name, err)
		}
	}
}
