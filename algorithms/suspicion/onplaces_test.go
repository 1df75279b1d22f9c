package suspicion

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// TestOnPlaces: embeddings, inner products and distances are one metric, of points of the fit and of others; it is the one that the second
// method learns from the first one's places, and nothing keeps it in a file.
func TestOnPlaces(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	r := rand.New(rand.NewPCG(3, 4))
	x, fresh := scattered(r, 40), scattered(r, 7)
	set, err := links.New(40, []links.Link{
		links.NewLink(0, 2, links.Must), links.NewLink(4, 8, links.Must), links.NewLink(1, 3, links.Must), links.NewLink(5, 9, links.Must),
		links.NewLink(0, 1, links.Cannot), links.NewLink(4, 7, links.Cannot),
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := judge{"npkl", "itml"}.learner(1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Fit(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	if l.Method() != "npkl on itml" || m.Method() != l.Method() {
		t.Errorf("methods %q and %q", l.Method(), m.Method())
	}
	first, err := l.(onPlaces).first.Fit(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	y, err := places(ctx, eng, first, x)
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.(onPlaces).Learner.Fit(ctx, eng, y, set)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]int{{0, 1}, {2, 6}, {3, 5}}
	want, err := second.Distances(ctx, eng, y, pairs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Distances(ctx, eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	for k := range want {
		if got[k] != want[k] {
			t.Errorf("pair %v: %v, by hand %v", pairs[k], got[k], want[k])
		}
	}
	for name, p := range map[string]*points.Dense{"fitted": x, "others": fresh} {
		checkOneMetric(ctx, t, eng, m, name, p, pairs)
	}
	cross, err := m.Gram(ctx, eng, x, fresh)
	if err != nil || cross.Rows != 40 || cross.Cols != 7 {
		t.Errorf("inner products of %d x %d, error %v: want 40 x 7", cross.Rows, cross.Cols, err)
	}
	if err := m.Encode(&model.File{}); err == nil {
		t.Error("it was stored")
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := l.Fit(stopped, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func scattered(r *rand.Rand, n int) *points.Dense {
	x := &points.Dense{N: n, D: 4, Data: make([]float64, 4*n)}
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	for i := 0; i < n; i += 2 {
		x.Data[4*i] += 5
	}
	return x
}

// checkOneMetric: distances are those of places, and of inner products.
func checkOneMetric(ctx context.Context, t *testing.T, eng *engine.Engine, m algorithms.Model, name string, x *points.Dense, pairs [][2]int) {
	t.Helper()
	d, err := m.Distances(ctx, eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.Gram(ctx, eng, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if y.Rows != x.N || y.Cols != m.Dim() || g.Rows != x.N || g.Cols != x.N {
		t.Fatalf("%s: places of %d x %d, inner products of %d x %d: want %[6]d x %[7]d and %[6]d x %[6]d", name, y.Rows, y.Cols, g.Rows, g.Cols, x.N, m.Dim())
	}
	for k, p := range pairs {
		apart := 0.0
		for c := range y.Cols {
			v := y.At(p[0], c) - y.At(p[1], c)
			apart += v * v
		}
		inner := g.At(p[0], p[0]) + g.At(p[1], p[1]) - 2*g.At(p[0], p[1])
		scale := 1e-9 * (g.At(p[0], p[0]) + g.At(p[1], p[1]))
		if math.Abs(d[k]-apart) > scale || math.Abs(d[k]-inner) > scale {
			t.Errorf("%s, pair %v: %v apart, by places %v, by inner products %v", name, p, d[k], apart, inner)
		}
	}
}
