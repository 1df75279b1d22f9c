package quickselect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

func TestFirst(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-2, 2), 2, 300).Draw(t, "values")
		round := rapid.Bool().Draw(t, "round")
		keys := make([]Key, len(values))
		for i, v := range values {
			if round {
				v = math.Round(v)
			}
			keys[i] = Key{v, int32(i)}
		}
		count := rapid.IntRange(1, len(keys)-1).Draw(t, "count")
		sorted := slices.Clone(keys)
		slices.SortFunc(sorted, Key.Compare)
		First(keys, count)
		slices.SortFunc(keys[:count], Key.Compare)
		if !slices.Equal(keys[:count], sorted[:count]) {
			t.Fatalf("%v: want %v", keys[:count], sorted[:count])
		}
	})
}

// TestRanks: the largest of the first keys has the value of its rank in the sorted values, which
// parts the others, for values in any order and with ties.
func TestRanks(t *testing.T) {
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
			v := make([]Key, n)
			for i := range v {
				v[i] = Key{at(i), int32(i)}
			}
			sorted := slices.SortedFunc(slices.Values(v), Key.Compare)
			for k := 0; k < n; k += 1 + n/20 {
				First(v, k+1)
				last := slices.MaxFunc(v[:k+1], Key.Compare)
				if last != sorted[k] || k+1 < n && slices.MinFunc(v[k+1:], Key.Compare).less(last) {
					t.Fatalf("%s, n=%d: rank %d is %v: want %v between smaller and larger ones", name, n, k,
						last, sorted[k])
				}
			}
			if slices.SortFunc(v, Key.Compare); !slices.Equal(v, sorted) {
				t.Errorf("%s, n=%d: other values than before", name, n)
			}
		}
	}
}
