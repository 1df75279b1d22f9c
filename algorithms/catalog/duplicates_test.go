package catalog_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// TestEqualRows: a row has the coordinates that it has learned, and the mean of what all training
// rows equal to it have learned if they are linked differently. It has them in any batch: all
// training rows, these in another order, a part, one row, and in Distances.
func TestEqualRows(t *testing.T) {
	const n, copies = 40, 4
	rng := rand.New(rand.NewPCG(1, 2))
	x := &points.Dense{N: n, D: 2}
	for i := range n {
		if i > 4 && i < 8 {
			x.Data = append(x.Data, x.Row(4)...)
		} else {
			x.Data = append(x.Data, rng.NormFloat64(), rng.NormFloat64())
		}
		x.N = i + 1
	}
	x.N = n
	var list []links.Link
	for i := 0; i+copies < n; i += copies {
		list = append(list, links.NewLink(i, i+copies, links.Must),
			links.NewLink(i, i+copies+1, links.Cannot), links.NewLink(i+1, i+copies+2, links.Must))
	}
	set, err := links.New(n, list)
	if err != nil {
		t.Fatal(err)
	}
	eng := enginetest.New(t, 2)
	for _, c := range []struct {
		method string
		params map[string]string
	}{
		{"npkl", nil},
		{"npkl", map[string]string{"graph": "dense"}},
		{"gml", map[string]string{"prior": "spectral"}},
		{"gml", map[string]string{"prior": "spectral", "extension": "barycentric"}},
		{"gml", map[string]string{"prior": "spectral", "extension": "nystrom"}},
		{"spectral", nil},
		{"npk", nil},
		{"simplenpkl", nil},
		{"sdplr", nil},
		{"klein", nil},
		{"cmvu", nil},
	} {
		l, err := catalog.New(c.method, catalog.Config{Seed: 1, Params: c.params})
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Fit(t.Context(), eng, x, set)
		if err != nil {
			t.Errorf("%s %v: %v", c.method, c.params, err)
			continue
		}
		own := m.(interface{ Coordinates() blas.Matrix }).Coordinates()
		embed := func(part points.Points) blas.Matrix {
			y, err := m.Embed(t.Context(), eng, part)
			if err != nil {
				t.Fatal(err)
			}
			return y
		}
		want := meansOfEqual(t, c.method, own)
		got := embed(x)
		for i := range n {
			if points.SquaredDistance(got.Row(i),
				want.Row(i)) > 1e-24*(1+points.SquaredDistance(own.Row(i), own.Row(0))) {
				t.Errorf("%s %v: row %d is at %v: want %v", c.method, c.params, i, got.Row(i), want.Row(i))
			}
		}
		for _, rows := range [][]int{rng.Perm(n), {5}, {7, 3, 6}, {12, 13, 14, 15}} {
			for k, y := range embed(x.Select(rows)).Data {
				if y != got.At(rows[k/got.Cols], k%got.Cols) {
					t.Fatalf("%s %v: row %d has other coordinates in another batch", c.method, c.params,
						rows[k/got.Cols])
				}
			}
		}
		squared, err := m.Distances(t.Context(), eng, x, [][2]int{{4, 5}, {1, 6}})
		apart := points.SquaredDistance(got.Row(1), got.Row(4))
		if err != nil || squared[0] != 0 || math.Abs(squared[1]-apart) > 1e-12*apart {
			t.Errorf("%s %v: squared distances of equal rows and of another are %v (%v)", c.method, c.params,
				squared, err)
		}
	}
}

// meansOfEqual returns learned coordinates with the mean of rows 4 to 7 for each of them, and
// checks that links have made these differ.
func meansOfEqual(t *testing.T, method string, own blas.Matrix) blas.Matrix {
	t.Helper()
	if points.SquaredDistance(own.Row(4), own.Row(5)) == 0 {
		t.Errorf("%s: rows 4 and 5 have learned the same: want links that make them differ", method)
	}
	out := own.Clone()
	for c := range own.Cols {
		mean := (own.At(4, c) + own.At(5, c) + own.At(6, c) + own.At(7, c)) / 4
		for r := 4; r < 8; r++ {
			out.Set(r, c, mean)
		}
	}
	return out
}
