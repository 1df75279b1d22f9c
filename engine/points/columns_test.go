package points

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// scattered returns n sparse vectors of so many values each, out of d features.
func scattered(rng *rand.Rand, n, values, d int) *CSR {
	p := &CSR{N: n, D: d, Start: []int{0}}
	for range n {
		row := map[int32]bool{}
		for range values {
			row[int32(rng.IntN(d))] = true
		}
		for _, c := range sortedKeys(row) {
			p.Col, p.Val = append(p.Col, c), append(p.Val, rng.NormFloat64())
		}
		p.Start = append(p.Start, len(p.Col))
	}
	return p
}

func sortedKeys(m map[int32]bool) []int32 {
	var keys []int32
	for c := range m {
		keys = append(keys, c)
	}
	slices.Sort(keys)
	return keys
}

// TestCompact: compacted points name the same values by the same features, in order, whether few or
// many of the features occur.
func TestCompact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 7, 60, 5000, math.MaxInt32} {
		p, y := scattered(rng, 20, 6, d), scattered(rng, 9, 4, d)
		c, columns := p.Compact()
		if err := c.Validate(); err != nil || c.D != len(columns) || !slices.IsSorted(columns) {
			t.Fatalf("of %d features: %v, %d columns for %d features", d, err, len(columns), c.D)
		}
		occurs := map[int32]bool{}
		for k, j := range c.Col {
			if columns[j] != p.Col[k] {
				t.Fatalf("of %d features: value %d is of feature %d, want %d", d, k, columns[j], p.Col[k])
			}
			occurs[columns[j]] = true
		}
		if len(occurs) != len(columns) || !slices.Equal(c.Val, p.Val) || !slices.Equal(c.Start, p.Start) {
			t.Fatalf("of %d features: other values, or a column that does not occur", d)
		}
		r := y.Restrict(columns)
		if err := r.Validate(); err != nil || r.D != len(columns) {
			t.Fatal(err)
		}
		for i := range y.N {
			var want []float64
			col, val := y.Row(i)
			for k, c := range col {
				if occurs[c] {
					want = append(want, val[k])
				}
			}
			at, got := r.Row(i)
			for k, j := range at {
				if !slices.Contains(col, columns[j]) {
					t.Errorf("row %d has value %v at feature %d, where it had none", i, got[k], columns[j])
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("row %d of %d features: %v, want %v", i, d, got, want)
			}
		}
	}
	if c, columns := (&CSR{N: 2, D: math.MaxInt32, Start: []int{0, 0, 0}}).Compact(); c.D != 0 || columns == nil {
		t.Errorf("points without values: %d features, columns %v", c.D, columns)
	}
}
