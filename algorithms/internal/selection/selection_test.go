package selection

import (
	"math"
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
