package neighborindex

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// A chooser finds what sorting finds, among equal numbers too, and where its guess is too low.
func TestChooser(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(4, 4))
	draws := map[string]func(j int) float64{
		"many are equal":            func(int) float64 { return math.Round(3 * rng.NormFloat64()) },
		"all differ":                func(int) float64 { return rng.NormFloat64() },
		"the sample has the lowest": func(j int) float64 { return float64(j%8) + rng.Float64() },
	}
	for _, n := range []int{1, 2, 9, 60, 500, 3000} {
		for _, count := range []int{1, 2, 3, 7, 16, 17, n / 2, n - 1, n} {
			if count < 1 || count > n {
				continue
			}
			for kind, draw := range draws {
				numbers, order := make([]float64, n), make([]int32, n)
				for j := range numbers {
					order[j], numbers[j] = int32(j), draw(j)
				}
				slices.SortStableFunc(order, func(a, b int32) int {
					return cmp.Compare(numbers[a], numbers[b])
				})
				early := (count + 7) / 8
				got := make([]int32, count)
				c := newChooser(eng.Backend().Kernels(), n, count)
				c.choose(numbers, early, got)
				if got[0] != order[0] {
					t.Fatalf("%s, %d of %d: the first is %d, want %d", kind, count, n, got[0], order[0])
				}
				for _, part := range []int{early, count} {
					if a, b := slices.Sorted(slices.Values(got[:part])),
						slices.Sorted(slices.Values(order[:part])); !slices.Equal(a, b) {
						t.Fatalf("%s, %d of %d: the first %d are %v, want %v", kind, count, n, part, a, b)
					}
				}
			}
		}
	}
}

// Verify accepts the rows of the index, and no others that are in other cells.
func TestVerify(t *testing.T) {
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(2, 9))
	rows := blobs(rng, 400, 3, 5)
	s := build(t, eng, rows, Options{Neighbors: 4, Cells: 15})
	if err := s.Verify(t.Context(), eng, rows); err != nil {
		t.Fatal(err)
	}
	changed := rows.Clone()
	far := slices.IndexFunc(s.cells, func(c int32) bool { return c != s.cells[37] })
	copy(changed.Row(37), rows.Row(far))
	if de, ok := s.Verify(t.Context(), eng, changed).(*fault.DataError); !ok || de.Row != 37 {
		t.Errorf("error %v, want one of row 37", s.Verify(t.Context(), eng, changed))
	}
	if err := s.Verify(t.Context(), eng, rows.View(0, 399, 0, 3)); !fault.IsInput(err) {
		t.Errorf("error %v for fewer rows", err)
	}
	changed.Set(5, 1, math.NaN())
	if err := s.Verify(t.Context(), eng, changed); !fault.IsInput(err) {
		t.Errorf("error %v for a NaN", err)
	}
}
