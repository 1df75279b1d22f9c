package dataset

import (
	"slices"
	"testing"
)

// Numbers as people write them mean what a reader takes them for; texts that are none stay texts.
func TestUndress(t *testing.T) {
	for _, c := range []struct {
		text, point string
		bare, unit  string
	}{
		{"(12)", ".", "-12", ""},
		{"($1.50)", ".", "-1.50", "$"},
		{"( 3,25 \u20ac )", ",", "-3,25", "\u20ac"},
		{"-(3)", ".", "", ""},
		{"(-3)", ".", "", ""},
		{"()", ".", "", ""},
		{"(", ".", "", ""},
		{"1 234,5", ",", "1234,5", ""},
		{"12 345 678", ".", "12345678", ""},
		{"- 1 234", ".", "-1234", ""},
		{"1 23", ".", "", ""},
		{"0 123", ".", "", ""},
		{"1 234 %", ".", "1234", "%"},
	} {
		if bare, unit := undress(c.text, c.point); bare != c.bare || bare != "" && unit != c.unit {
			t.Errorf("undress(%q, %q) = %q, %q: want %q, %q", c.text, c.point, bare, unit, c.bare, c.unit)
		}
	}
}

// The same cells in a file: brackets count as minus signs where other cells have none.
func TestDressedColumns(t *testing.T) {
	d, err := decode("a,b\n12 672,(1.50)\n13 111,2.50\n14 222,(3.00)\n", ReadOptions{Mixed: true})
	if x := dense(t, d, err); !slices.Equal(x.Data, []float64{12672, -1.5, 13111, 2.5, 14222, -3}) {
		t.Errorf("read as %v", x.Data)
	}
}
