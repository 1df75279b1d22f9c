package sparse

import (
	"errors"
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

// Across visits every stored element in order with its mirror image, whatever the pattern is.
func TestAcross(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 12 {
		m := &Matrix{Rows: n, Cols: n, Start: []int{0}}
		for range n {
			for j := range n {
				if rng.IntN(3) == 0 {
					m.Col, m.Val = append(m.Col, int32(j)), append(m.Val, rng.NormFloat64())
				}
			}
			m.Start = append(m.Start, len(m.Col))
		}
		seen := 0
		err := m.Across(func(i, j int, v, turned float64) error {
			if seen < m.Start[i] || seen >= m.Start[i+1] || int(m.Col[seen]) != j {
				t.Errorf("n=%d: element (%d, %d) is visited after %d", n, i, j, seen)
			}
			if v != m.At(i, j) || turned != m.At(j, i) {
				t.Errorf("n=%d: elements (%d, %d) and its mirror image are %v, %v: want %v, %v", n, i, j, v,
					turned, m.At(i, j), m.At(j, i))
			}
			seen++
			return nil
		})
		if err != nil || seen != m.Count() {
			t.Errorf("n=%d: %d elements, error %v: want %d", n, seen, err, m.Count())
		}
		stop, calls := errors.New("stop"), 0
		err = m.Across(func(int, int, float64, float64) error { calls++; return stop })
		if m.Count() > 0 && (err != stop || calls != 1) {
			t.Errorf("n=%d: error %v after %d calls: want the first", n, err, calls)
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
