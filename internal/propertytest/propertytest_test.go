package propertytest

import (
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Two runs draw the same problems, and they differ from each other.
func TestCheck(t *testing.T) {
	if os.Getenv(Draws) == "random" {
		t.Skip("other problems are asked for in every run")
	}
	var runs [2][]uint64
	for k := range runs {
		Check(t, func(t *rapid.T) { runs[k] = append(runs[k], rapid.Uint64().Draw(t, "number")) })
	}
	if !slices.Equal(runs[0], runs[1]) || len(runs[0]) < 20 || len(slices.Compact(slices.Sorted(slices.Values(runs[0])))) < len(runs[0])/2 {
		t.Errorf("drawn were %v and %v", runs[0], runs[1])
	}
}
