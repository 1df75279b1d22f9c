package propertytest

import (
	"os"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/internal/racetest"
	"pgregory.net/rapid"
)

// CheckSome draws the first of the problems of Check, and does not change the number of problems of
// other tests.
func TestCheckSome(t *testing.T) {
	if os.Getenv(Draws) == "random" {
		t.Skip("problems differ in every run")
	}
	var all, some, again []uint64
	of := func(list *[]uint64) func(*rapid.T) {
		return func(t *rapid.T) { *list = append(*list, rapid.Uint64().Draw(t, "number")) }
	}
	Check(t, of(&all))
	CheckSome(t, 10, of(&some))
	Check(t, of(&again))
	if len(some) != racetest.Fewer(10) || !slices.Equal(some, all[:len(some)]) || !slices.Equal(all, again) {
		t.Errorf("drawn were %v, of %v, and then %v", some, all, again)
	}
}

// Two runs draw the same problems, and problems differ from each other.
func TestCheck(t *testing.T) {
	if os.Getenv(Draws) == "random" {
		t.Skip("problems differ in every run")
	}
	var runs [2][]uint64
	for k := range runs {
		Check(t, func(t *rapid.T) { runs[k] = append(runs[k], rapid.Uint64().Draw(t, "number")) })
	}
	if !slices.Equal(runs[0], runs[1]) || len(runs[0]) < 20 ||
		len(slices.Compact(slices.Sorted(slices.Values(runs[0])))) < len(runs[0])/2 {
		t.Errorf("drawn were %v and %v", runs[0], runs[1])
	}
}
