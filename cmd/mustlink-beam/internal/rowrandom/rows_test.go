package rowrandom

import (
	"slices"
	"testing"
)

// Rows are offered in any order and twice: the smallest keys win, equal ones by the number of the
// row, and rows keep their values.
func TestRows(t *testing.T) {
	var a, b Rows
	a.Offer(0.5, 3, []float64{3, -3})
	a.Offer(0.1, 9, []float64{9, -9})
	b.Offer(0.5, 1, []float64{1, -1})
	b.Offer(0.1, 9, []float64{9, -9})
	b.Offer(0.9, 4, []float64{4, -4})
	for name, c := range map[string]struct {
		m     int
		drawn func(key float64) bool
		want  []int64
	}{
		"all":        {9, nil, []int64{9, 1, 3, 4}},
		"two":        {2, nil, []int64{9, 1}},
		"large keys": {9, func(key float64) bool { return key > 0.1 }, []int64{1, 3, 4}},
		"none":       {9, func(float64) bool { return false }, []int64{}},
	} {
		r := a.With(b)
		r.Smallest(c.m, c.drawn)
		if !slices.Equal(r.Numbers, c.want) || !slices.IsSorted(r.Keys) {
			t.Errorf("%s: rows %v with keys %v, want rows %v", name, r.Numbers, r.Keys, c.want)
		}
		r.Ascending()
		if !slices.IsSorted(r.Numbers) || len(r.Values) != 2*len(r.Numbers) {
			t.Errorf("%s: rows %v with %d values", name, r.Numbers, len(r.Values))
		}
		for i, n := range r.Numbers {
			if r.Values[2*i] != float64(n) || r.Values[2*i+1] != -float64(n) {
				t.Errorf("%s: row %d has the values %v", name, n, r.Values[2*i:2*i+2])
			}
		}
	}
	if len(a.Keys) != 2 || (&Rows{}).Width() != 0 || a.Width() != 2 {
		t.Errorf("%d rows of %d values: want 2 of 2", len(a.Keys), a.Width())
	}
}
