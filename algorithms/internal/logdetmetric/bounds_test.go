package logdetmetric

import (
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/selection"
)

// TestQuantile: quantiles of whole numbers from 0 on, in any order, are those of the uniform
// distribution.
func TestQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	keys := make([]selection.Key, 101)
	for i, p := range rng.Perm(len(keys)) {
		keys[i] = selection.Key{Value: float64(p), Row: int32(i)}
	}
	for _, q := range []float64{0.05, 0.95, 1, 0, 0.125, 0.5} {
		if got := quantile(keys, q); got-100*q > 1e-12 || 100*q-got > 1e-12 {
			t.Errorf("quantile %v is %v: want %v", q, got, 100*q)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("quantile of no values is %v: want 0", got)
	}
}
