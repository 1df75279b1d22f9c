// Package propertytest runs property tests on problems that are the same in every run.
package propertytest

import (
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
	"pgregory.net/rapid"
)

// Draws is an environment variable: with the value "random", tests draw different problems in every
// run. `make properties` sets it.
const Draws = drawstest.Variable

// Check is rapid.Check from seed 1, or from the seed of the flag -rapid.seed, with fewer problems
// under the race detector.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	flags()
	rapid.Check(t, property)
}

// CheckSome is [Check] with count problems instead of a hundred, for properties of slow fits. If
// problems differ in every run, it draws as many as Check.
func CheckSome(t *testing.T, count int, property func(*rapid.T)) {
	t.Helper()
	flags()
	if os.Getenv(Draws) != "random" {
		checks.Lock()
		defer checks.Unlock()
		defer set("rapid.checks", strconv.Itoa(racetest.Fewer(count)), strconv.Itoa(racetest.Fewer(100)))
		set("rapid.checks", strconv.Itoa(racetest.Fewer(100)), strconv.Itoa(racetest.Fewer(count)))
	}
	rapid.Check(t, property)
}

// Cases returns a function that notes what a property has drawn, by name. The test fails at its end
// if one of the names was never noted: a property that never draws its case cannot fail.
func Cases(t testing.TB, names ...string) func(name string, drawn bool) {
	t.Helper()
	missing := map[string]bool{}
	for _, name := range names {
		missing[name] = true
	}
	t.Cleanup(func() {
		if !t.Failed() {
			for name := range missing {
				t.Errorf("no problem was drawn with %s", name)
			}
		}
	})
	return func(name string, drawn bool) {
		if drawn {
			delete(missing, name)
		}
	}
}

// checks guards the number of problems, which is one flag for all tests: lock it to change that
// number.
var checks sync.Mutex

// flags sets the flags of rapid once, because tests may run in parallel.
var flags = sync.OnceFunc(func() {
	if os.Getenv(Draws) != "random" {
		set("rapid.seed", "0", "1")
	}
	set("rapid.checks", "100", strconv.Itoa(racetest.Fewer(100)))
})

// Inputs returns twenty inputs of so many random bytes, with which a fuzz target begins.
func Inputs(rng *rand.Rand, size int) (list [][]byte) {
	for range 20 {
		input := make([]byte, size)
		for i := range input {
			input[i] = byte(rng.Uint32())
		}
		list = append(list, input)
	}
	return list
}

// set changes a flag if it still has its default.
func set(name, usual, value string) {
	f := flag.Lookup(name)
	if f.Value.String() != usual {
		return
	}
	if err := f.Value.Set(value); err != nil {
		panic(err)
	}
}
