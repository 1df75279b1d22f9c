// Package drawstest says how much of its work a test does that draws many problems, or that goes
// through a table of many methods and many changes.
//
// The rule: with the value "all" of MUSTLINK_DRAWS, which `make draws` sets, such a test runs all.
// Otherwise it runs the first of its draws, and what it demands of their mean or share allows for
// the error of so few; of a table it runs a part in which every row and every column is.
package drawstest

import (
	"os"

	"github.com/mustlink/mustlink/internal/racetest"
)

// Variable is the name of the environment variable.
const Variable = "MUSTLINK_DRAWS"

// All reports whether tests run all of their draws.
func All() bool { return os.Getenv(Variable) == "all" }

// Count returns all, the number of draws, or few of them; a fifth under the race detector.
func Count(few, all int) int {
	if All() {
		few = all
	}
	return racetest.Fewer(few)
}

// Turn reports whether the cell of a table is one of those that run: all, or one of every so many
// in each row, and in each column another.
func Turn(row, column, every int) bool { return All() || (row+column)%every == 0 }
