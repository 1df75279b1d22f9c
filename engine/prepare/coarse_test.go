package prepare_test

import (
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// A column is named if numbers of double precision are too far apart for its differences, and whole
// numbers, which are exact, constant columns and columns that reach 0 are not.
func TestCoarse(t *testing.T) {
	for name, c := range map[string]struct {
		values [3]float64
		named  bool
	}{
		"1e12, spread 1":       {[3]float64{1e12 + 0.25, 1e12 - 0.5, 1e12}, true},
		"-1e12, spread 1":      {[3]float64{-1e12 + 0.25, -1e12 - 0.5, -1e12}, true},
		"1e8, spread 1":        {[3]float64{1e8 + 0.25, 1e8 - 0.5, 1e8}, false},
		"whole":                {[3]float64{1e12, 1e12 + 1, 1e12 - 1}, false},
		"whole, beyond 2^53":   {[3]float64{1e17, 1e17 + 32, 1e17 - 32}, true},
		"constant":             {[3]float64{1e12 + 0.5, 1e12 + 0.5, 1e12 + 0.5}, false},
		"reaches 0":            {[3]float64{1e12 + 0.5, 0, 1e12}, false},
		"large, of its spread": {[3]float64{1e12 + 0.5, 2e12, -1e12}, false},
	} {
		x := &points.Dense{N: 3, D: 2, Data: []float64{0.5, c.values[0], 1, c.values[1], 2, c.values[2]}}
		sparse := &points.CSR{N: 3, D: 9, Start: []int{0}}
		for i, v := range c.values {
			sparse.Col, sparse.Val = append(sparse.Col, int32(i)), append(sparse.Val, 1)
			if v != 0 {
				sparse.Col, sparse.Val = append(sparse.Col, 7), append(sparse.Val, v)
			}
			sparse.Start = append(sparse.Start, len(sparse.Col))
		}
		mixed := &points.Mixed{N: 3, Columns: []points.Column{
			{Name: "text", Codes: []int32{0, 0, 0}, Levels: []string{"a"}}, {Name: "7", Numbers: c.values[:]}}}
		for _, p := range []points.Points{x, sparse, mixed} {
			d := &dataset.Data{Points: p}
			if p == points.Points(x) {
				d.Features = []string{"a", "7"}
			}
			got := prepare.Coarse(d, nil)
			if len(got) > 1 || (len(got) == 1) != c.named || c.named && !strings.Contains(got[0], `column "7"`) {
				t.Errorf("%s, %T: notices %q", name, p, got)
			}
			if other := prepare.Coarse(d, []string{"text"}); len(other) > 0 {
				t.Errorf("%s, %T: notices %q of a column that is no input", name, p, other)
			}
		}
	}
}
