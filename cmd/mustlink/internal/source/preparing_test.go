package source

import (
	"strings"
	"testing"
)

// Columns that share a line show the least and the largest number of distinct values.
func TestColumnsAlike(t *testing.T) {
	columns := make([]Column, 5)
	for k := range columns {
		columns[k] = Column{Name: string(rune('a' + k)), Kind: "number", Distinct: 4}
	}
	for want, distinct := range map[string]int{"4": 4, "2 to 4": 2} {
		columns[3].Distinct, want = distinct, "a to e (5)\tnumber\t0\t"+want+"\t-"
		var b strings.Builder
		if WriteColumns(&b, columns); !strings.Contains(b.String(), want) {
			t.Errorf("%q: want %q", b.String(), want)
		}
	}
}
