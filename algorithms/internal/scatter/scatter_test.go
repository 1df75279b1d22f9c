package scatter

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/links"
)

// TestDefinition compares both matrices with the sums that define them, for coordinates that are
// triangular in part, and for rows of zeros.
func TestDefinition(t *testing.T) {
	const n, m, k = 60, 40, 3
	ctx, eng, rng := context.Background(), enginetest.New(t, 2), rand.New(rand.NewPCG(4, 2))
	c, w := blas.NewMatrix(n, m), blas.NewMatrix(n, k)
	near := &graph.Neighbors{N: n, K: k}
	for i := range n {
		width := m
		if i < m {
			width = i // row 0 has only zeros
		}
		for j := range width {
			c.Set(i, j, rng.NormFloat64())
		}
		for a := range k {
			w.Set(i, a, rng.Float64())
			near.Index = append(near.Index, int32((i+1+rng.IntN(n-1))%n))
		}
	}
	near.Squared = make([]float64, len(near.Index))
	var list []links.Link
	for range 30 {
		i := rng.IntN(n)
		list = append(list, links.Link{I: i, J: (i + 1 + rng.IntN(n-1)) % n, Weight: 0.5 + rng.Float64()})
	}
	list = append(list, links.Link{I: 0, J: 1, Weight: 1})
	got, want := blas.NewMatrix(m, m), blas.NewMatrix(m, m)
	addRow := func(weight float64, row []float64) {
		for i := range m {
			for j := range m {
				want.Set(i, j, want.At(i, j)+weight*row[i]*row[j])
			}
		}
	}
	row := make([]float64, m)
	for _, l := range list {
		for j := range row {
			row[j] = c.At(l.I, j) - c.At(l.J, j)
		}
		addRow(l.Weight, row)
	}
	const alpha = 0.3
	for i := range n {
		copy(row, c.Row(i))
		for a := range k {
			for j := range row {
				row[j] -= w.At(i, a) * c.At(int(near.Index[i*k+a]), j)
			}
		}
		addRow(alpha, row)
	}
	if err := Links(ctx, eng, c, list, got); err != nil {
		t.Fatal(err)
	}
	if err := Residuals(ctx, eng, c, near, w, alpha, got); err != nil {
		t.Fatal(err)
	}
	for i := range m {
		for j := range i + 1 {
			if d := math.Abs(got.At(i, j) - want.At(i, j)); d > 1e-12*math.Sqrt(want.At(i, i)*want.At(j, j)) {
				t.Errorf("element (%d, %d) is %g, want %g", i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
}
