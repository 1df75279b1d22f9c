package logdetmetric

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestArrange: the value of each rank is that of the sorted values, and parts the others, for
// values in any order and with ties.
func TestArrange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 10, 1000} {
		for name, at := range map[string]func(i int) float64{
			"random":     func(int) float64 { return rng.NormFloat64() },
			"ties":       func(int) float64 { return float64(rng.IntN(3)) },
			"equal":      func(int) float64 { return 1 },
			"ascending":  func(i int) float64 { return float64(i) },
			"descending": func(i int) float64 { return float64(-i) },
			"organ pipe": func(i int) float64 { return float64(min(i, n-i)) },
		} {
			v := make([]float64, n)
			for i := range v {
				v[i] = at(i)
			}
			sorted := slices.Sorted(slices.Values(v))
			for k := 0; k < n; k += 1 + n/20 {
				arrange(v, k)
				if v[k] != sorted[k] || k > 0 && slices.Max(v[:k]) > v[k] || slices.Min(v[k:]) < v[k] {
					t.Fatalf("%s, n=%d: rank %d is %v: want %v between smaller and larger ones", name, n, k, v[k], sorted[k])
				}
			}
			if slices.Sort(v); !slices.Equal(v, sorted) {
				t.Errorf("%s, n=%d: other values than before", name, n)
			}
		}
	}
}

// TestQuantile: quantiles of whole numbers from 0 on, in any order, are those of the uniform
// distribution.
func TestQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	v := make([]float64, 101)
	for i, p := range rng.Perm(len(v)) {
		v[i] = float64(p)
	}
	for _, q := range []float64{0.05, 0.95, 1, 0, 0.125, 0.5} {
		if got := quantile(v, q); got-100*q > 1e-12 || 100*q-got > 1e-12 {
			t.Errorf("quantile %v is %v: want %v", q, got, 100*q)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("quantile of no values is %v: want 0", got)
	}
}
