package catalog_test

import (
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
)

// TestShare: the share of the learned distance that an embedding holds is that over all pairs of
// the rows, but for the sample of pairs. It is 1 for an exact embedding. A model keeps that of its
// training points, in a file too, and shows it.
func TestShare(t *testing.T) {
	ctx, eng := t.Context(), enginetest.New(t, 2)
	x, labels, _ := enginetest.Rings(t, 300, 2, 1)
	train, fresh := points.Slice(x, 0, 150), points.Slice(x, 150, 300)
	set := enginetest.Drawn(t, labels[:150], 30, 30, 1)
	for _, c := range []struct {
		method, kernel, params string
		exact                  bool
	}{
		{"krca", "", "dims=3", false},
		{"krca", "rbf:sigma=0.3", "dims=0", false},
		{"gml", "", "width=0.3 dims=3", false},
		{"gml", "", "prior=datadep dims=3", false},
		{"itml", "rbf:sigma=0.5", "dims=4", false},
		{"gml", "", "prior=spectral", true},
		{"itml", "", "", true},
		{"rca", "", "", true},
		{"blend", "", "", true},
	} {
		name := strings.Join([]string{c.method, c.kernel, c.params}, " ")
		method, err := catalog.Lookup(c.method)
		if err != nil {
			t.Fatal(err)
		}
		params := map[string]string{}
		for _, field := range strings.Fields(c.params) {
			key, value, _ := strings.Cut(field, "=")
			params[key] = value
		}
		config := catalog.Config{Kernel: c.kernel, Params: params, Seed: 1}
		l, err := method.New(config)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Fit(ctx, eng, train, set)
		if err != nil {
			t.Fatal(name, err)
		}
		f := catalog.NewFitted(eng, m, nil)
		file, err := catalog.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		back, err := catalog.Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []points.Points{train, fresh} {
			got, err := f.Share(ctx, eng, rows)
			if err != nil {
				t.Fatal(name, err)
			}
			if want := whole(t, m, rows); !(math.Abs(got-want) <= 0.03) || c.exact && got != 1 {
				t.Errorf("%s: share %v, of all pairs %v", name, got, want)
			}
		}
		if c.exact {
			continue
		}
		own, err := f.Share(ctx, eng, train)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for _, s := range back.Model.(algorithms.Describer).Describe() {
			if strings.HasPrefix(s.Name, "share of the learned") &&
				s.Value.(float64) == math.Round(1e4*own)/1e4 {
				shown++
			}
		}
		if kept := back.Model.(algorithms.Projection).Share(); kept != own ||
			(shown == 1) != (own < 0.99995) {
			t.Errorf("%s: the file has the share %v, and %d statistics show it: want %v", name, kept, shown,
				own)
		}
	}
}

// whole returns the share over all pairs of rows.
func whole(t *testing.T, m algorithms.Model, x points.Points) float64 {
	t.Helper()
	ctx, eng := t.Context(), enginetest.New(t, 1)
	z, err := m.Embed(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Gram(ctx, eng, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	held, all := 0.0, 0.0
	for i := range x.Len() {
		for j := range i {
			held += points.SquaredDistance(z.Row(i), z.Row(j))
			all += k.At(i, i) + k.At(j, j) - 2*k.At(i, j)
		}
	}
	return held / all
}

// TestShareUnknown: distances of rows of a Gram matrix to each other are not known unless they are
// its reference objects.
func TestShareUnknown(t *testing.T) {
	ctx, eng := t.Context(), enginetest.New(t, 1)
	x, labels, _ := enginetest.Rings(t, 60, 2, 1)
	k, err := enginetest.Kernel(t, "rbf:sigma=0.5").Gram(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	g, err := points.NewGram(60, 60, k.Clone().Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	method, err := catalog.Lookup("itml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := method.New(catalog.Config{Params: map[string]string{"dims": "3"}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Fit(ctx, eng, g, enginetest.Drawn(t, labels, 20, 20, 1))
	if err != nil {
		t.Fatal(err)
	}
	f := catalog.NewFitted(eng, m, nil)
	if share, err := f.Share(ctx, eng, g); err != nil || !(share > 0 && share < 1) {
		t.Errorf("training rows: share %v (%v)", share, err)
	}
	unknown := make([]int, 60)
	for i := range unknown {
		unknown[i] = -1
	}
	diagonal := make([]float64, 60)
	for i := range diagonal {
		diagonal[i] = 1
	}
	fresh, err := points.NewGram(60, 60, k.Clone().Data, diagonal, unknown)
	if err != nil {
		t.Fatal(err)
	}
	if share, err := f.Share(ctx, eng, fresh); err != nil || share != 0 {
		t.Errorf("other rows: share %v (%v), want 0 for unknown", share, err)
	}
}
