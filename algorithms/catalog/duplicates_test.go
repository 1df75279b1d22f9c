package catalog_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// TestEqualRows: training rows that are equal but linked differently keep the coordinates that they
// have learned, in Embed, Distances and a part of the rows; a new point equal to several of them
// has their mean.
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
		list = append(list, links.NewLink(i, i+copies, links.Must), links.NewLink(i, i+copies+1, links.Cannot), links.NewLink(i+1, i+copies+2, links.Must))
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
		if got := embed(x); !slices.Equal(got.Data, own.Clone().Data) {
			t.Errorf("%s %v: Embed of the training rows is not what they have learned", c.method, c.params)
		}
		if got, want := embed(points.Slice(x, 3, n-2)), own.View(3, n-2, 0, own.Cols); !slices.Equal(got.Data, want.Clone().Data) {
			t.Errorf("%s %v: Embed of a run of training rows is not what they have learned", c.method, c.params)
		}
		differ(t, c.method, m, own, x, embed)
	}
}

// differ checks that copies of a row have learned different coordinates, that Distances shows it,
// and that a new row has the mean.
func differ(t *testing.T, method string, m algorithms.Model, own blas.Matrix, x *points.Dense, embed func(points.Points) blas.Matrix) {
	t.Helper()
	squared, err := m.Distances(t.Context(), enginetest.New(t, 1), x, [][2]int{{4, 5}, {1, 4}})
	if err != nil {
		t.Fatal(err)
	}
	for k, pair := range [][2]int{{4, 5}, {1, 4}} {
		want := points.SquaredDistance(own.Row(pair[0]), own.Row(pair[1]))
		if math.Abs(squared[k]-want) > 1e-12*want {
			t.Errorf("%s: squared distance of rows %v is %g: want %g", method, pair, squared[k], want)
		}
	}
	if squared[0] == 0 {
		t.Errorf("%s: rows 4 and 5 are equal, and have learned the same: want links that make them differ", method)
	}
	one := embed(x.Select([]int{5}))
	for c, v := range one.Row(0) {
		mean := 0.0
		for r := 4; r < 8; r++ {
			mean += own.At(r, c) / 4
		}
		if math.Abs(v-mean) > 1e-12*(1+math.Abs(mean)) {
			t.Errorf("%s: column %d of a point equal to rows 4 to 7 is %g: want their mean %g", method, c, v, mean)
		}
	}
}
