package drawstest

import (
	"testing"

	"github.com/mustlink/mustlink/internal/racetest"
)

// A part of a table has every row and every column, and all is all.
func TestTurn(t *testing.T) {
	for value, want := range map[string]int{"": 4, "random": 4, "all": 12} {
		t.Setenv(Variable, value)
		rows, columns, cells := map[int]bool{}, map[int]bool{}, 0
		for r := range 4 {
			for c := range 3 {
				if Turn(r, c, 3) {
					rows[r], columns[c] = true, true
					cells++
				}
			}
		}
		if len(rows) != 4 || len(columns) != 3 || cells != want {
			t.Errorf("%q: %d cells of %d rows and %d columns, want %d", value, cells, len(rows), len(columns), want)
		}
		if few, all := Count(3, 9), racetest.Fewer(9); value == "all" && few != all ||
			value != "all" && few != racetest.Fewer(3) {
			t.Errorf("%q: %d draws", value, few)
		}
	}
}
