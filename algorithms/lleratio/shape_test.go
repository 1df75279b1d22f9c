package lleratio

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// Sparse rows, with zeros that are there and without, have as many features that vary as the dense
// ones.
func TestVaryingOfSparseRows(t *testing.T) {
	drew := propertytest.Cases(t, "a zero that is there", "a feature that begins later", "one row", "a limit")
	propertytest.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		x := &points.Dense{N: n, D: d, Data: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(0, 2).Draw(t, "value"))
		}), n*d, n*d).Draw(t, "x")}
		s := &points.CSR{N: n, D: d, Start: []int{0}}
		for i := range n {
			for j, v := range x.Row(i) {
				if v != 0 || rapid.Bool().Draw(t, "there") {
					s.Col, s.Val = append(s.Col, int32(j)), append(s.Val, v)
				}
				drew("a zero that is there", v == 0 && slices.Contains(s.Col[s.Start[i]:], int32(j)))
				drew("a feature that begins later", i > 0 && v != 0 && x.Row(i - 1)[j] == 0)
			}
			s.Start = append(s.Start, len(s.Col))
		}
		dense, sparse := varyingDense(x, limit), varyingSparse(s, limit)
		drew("one row", n == 1)
		drew("a limit", dense == limit && varyingDense(x, d+1) > limit)
		if dense != sparse {
			t.Fatalf("%d of the dense rows, %d of the sparse ones", dense, sparse)
		}
	})
}
