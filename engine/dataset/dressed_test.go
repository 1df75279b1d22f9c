package dataset

import "testing"

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
