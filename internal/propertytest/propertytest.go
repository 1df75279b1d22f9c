// Package propertytest runs property tests on problems that are the same in every run.
package propertytest

import (
	"flag"
	"os"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Draws is the variable that, set to "random", lets the tests draw other problems in every run; `make properties` sets it.
const Draws = "MUSTLINK_DRAWS"

// Check is rapid.Check from seed 1, or from that of the flag -rapid.seed.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	seed()
	rapid.Check(t, property)
}

// seed gives the flag its value, once, because tests may run side by side.
var seed = sync.OnceFunc(func() {
	if f := flag.Lookup("rapid.seed"); os.Getenv(Draws) != "random" && f.Value.String() == "0" {
		if err := f.Value.Set("1"); err != nil {
			panic(err)
		}
	}
})
