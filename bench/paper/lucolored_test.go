package paper

import (
	"slices"
	"testing"
)

// TestLuDigitsClaims: the verdicts follow from the shares of the digits.
func TestLuDigitsClaims(t *testing.T) {
	d := &Drawing{Columns: []string{"system", "1-NN", "1-NN, labels not known", "J", "0", "2", "4", "5", "8"},
		Rows: [][]float64{
			{0, 0.8, 0.8, 3, 0.9, 0.9, 0.9, 0.4, 0.9},
			{1, 0.7, 0.7, 3, 0.9, 0.9, 0.9, 0.9, 0.9},
			{2, 0.7, 0.7, 3, 0.9, 0.9, 0.8, 0.4, 0.9},
			{3, 0.6, 0.6, 3, 0.9, 0.5, 0.4, 0.3, 0.2},
		}}
	if got := luMixed(d, 3); !slices.Equal(got, []string{"2", "4", "5", "8"}) {
		t.Errorf("not separated: %v", got)
	}
	want := []Verdict{Reproduced, Reproduced, Reproduced, Mixed} // digit 4 is no better than in system 1
	for k, c := range luDigitsClaims(d) {
		if c.Verdict != want[k] {
			t.Errorf("%+v: want %s", c, want[k])
		}
	}
	d.Rows[0][4], d.Rows[3][5] = 0.1, 0.9
	if c := luDigitsClaims(d); c[0].Verdict != Mixed || c[1].Verdict != Mixed {
		t.Errorf("%+v", c)
	}
}
