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

// recorded is a test that notes its errors and its end.
type recorded struct {
	testing.TB
	end    func()
	errors int
}

func (r *recorded) Helper()               { r.TB.Helper() }
func (r *recorded) Failed() bool          { return r.errors > 0 }
func (r *recorded) Cleanup(f func())      { r.end = f }
func (r *recorded) Errorf(string, ...any) { r.errors++ }

// A case that no problem had is an error, unless the test has failed before.
func TestCases(t *testing.T) {
	for _, c := range []struct{ few, many, failed, want int }{{1, 3, 0, 0}, {1, 0, 0, 1}, {0, 0, 0, 2},
		{0, 0, 1, 1}} {
		r := &recorded{TB: t, errors: c.failed}
		drew := Cases(r, "few", "many")
		for k := range 4 {
			drew("few", k < c.few)
			drew("many", k < c.many)
		}
		r.end()
		if r.errors != c.want {
			t.Errorf("%v: %d errors, want %d", c, r.errors, c.want)
		}
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
