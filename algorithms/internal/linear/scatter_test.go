package linear

import (
	"context"
	"errors"
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
	want := blas.NewMatrix(m, m)
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
	var d Differences
	d.AddLinks(list, 1)
	d.AddResiduals(near, w, alpha)
	widths := make([]int, n)
	for i := range widths {
		widths[i] = width(c.Row(i))
	}
	rows, byPoints := blas.NewMatrix(m, m), blas.NewMatrix(m, m)
	byRows, through := d.addRows(ctx, eng, c, d.lengths(widths), rows),
		d.addByPoints(ctx, eng, c, firstRows(widths, m), byPoints)
	if err := errors.Join(byRows, through); err != nil {
		t.Fatal(err)
	}
	for i := range m {
		for j := range i + 1 {
			tolerance := 1e-12 * math.Sqrt(want.At(i, i)*want.At(j, j))
			for _, got := range []blas.Matrix{rows, byPoints} {
				if e := math.Abs(got.At(i, j) - want.At(i, j)); e > tolerance {
					t.Errorf("element (%d, %d) is %g, want %g", i, j, got.At(i, j), want.At(i, j))
				}
			}
		}
	}
}

// TestTriangular compares both ways for coordinates of more than one window, triangular at first,
// and checks which one is chosen: not if D cancels most of C.
func TestTriangular(t *testing.T) {
	const n, m = 1700, 1200
	ctx, eng, rng := t.Context(), enginetest.New(t, 2), rand.New(rand.NewPCG(5, 1))
	c := blas.NewMatrix(n, m)
	for i := range n {
		for j := range min(i+1, m) {
			c.Set(i, j, rng.NormFloat64())
		}
	}
	var d Differences
	for i := range n {
		d.AddLinks([]links.Link{{I: i, J: (i + 1) % n, Weight: 1}}, 0.5)
		d.AddLinks([]links.Link{{I: i, J: rng.IntN(i + 1), Weight: 2}}, 1)
	}
	widths := make([]int, n)
	for i := range widths {
		widths[i] = width(c.Row(i))
	}
	first, lengths := firstRows(widths, m), d.lengths(widths)
	if !d.byPoints(eng, c, first, lengths) {
		t.Error("the scatter of many links is computed row by row")
	}
	a, b := blas.NewMatrix(m, m), blas.NewMatrix(m, m)
	if err := errors.Join(d.addRows(ctx, eng, c, lengths, a), d.Scatter(ctx, eng, c, b)); err != nil {
		t.Fatal(err)
	}
	for i := range m {
		for j := range i + 1 {
			if e := math.Abs(a.At(i, j) - b.At(i, j)); !(e <= 1e-12*math.Sqrt(a.At(i, i)*a.At(j, j))) {
				t.Fatalf("element (%d, %d) is %g row by row and %g by points", i, j, a.At(i, j), b.At(i, j))
			}
		}
	}
	for i := range n {
		c.Set(i, 0, 1e4)
	}
	if d.byPoints(eng, c, first, lengths) {
		t.Error("differences of points that are almost equal are computed from the points")
	}
}
