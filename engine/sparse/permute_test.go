package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Element (i, j) of the permuted matrix is element (order[i], order[j]), and columns ascend.
func TestPermute(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 30} {
		m := &Matrix{Rows: n, Cols: n, Start: []int{0}}
		for range n {
			for j := range n {
				if rng.IntN(4) == 0 {
					m.Col, m.Val = append(m.Col, int32(j)), append(m.Val, rng.NormFloat64())
				}
			}
			m.Start = append(m.Start, len(m.Col))
		}
		order := make([]int32, n)
		for i, v := range rng.Perm(n) {
			order[i] = int32(v)
		}
		p := m.Permute(order)
		if p.Count() != m.Count() || len(p.Start) != n+1 {
			t.Fatalf("n=%d: %d elements: want %d", n, p.Count(), m.Count())
		}
		for i := range n {
			if col, _ := p.Row(i); !slices.IsSorted(col) {
				t.Errorf("columns of row %d are %v", i, col)
			}
			for j := range n {
				if got, want := p.At(i, j), m.At(int(order[i]), int(order[j])); got != want {
					t.Errorf("element (%d, %d) is %v: want %v", i, j, got, want)
				}
			}
		}
	}
}

// Rows begin where those before them end.
func TestBegins(t *testing.T) {
	start := []int{0, 3, 0, 2, 1}
	next := Begins(start)
	if want := []int{0, 3, 3, 5, 6}; !slices.Equal(start, want) || !slices.Equal(next, want[:4]) {
		t.Errorf("rows begin at %v, %v: want %v", start, next, want)
	}
	if next[0] = 9; start[0] != 0 {
		t.Error("counting changes where rows begin")
	}
	if next := Begins(nil); len(next) != 0 {
		t.Errorf("no rows begin at %v", next)
	}
}
