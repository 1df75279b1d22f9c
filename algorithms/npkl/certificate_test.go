package npkl

import (
	"context"
	"math"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
)

// TestSmallestByInverse checks that the inverse and products find the same smallest eigenvalue at
// the optimum, and that a matrix with a negative eigenvalue has no factor.
func TestSmallestByInverse(t *testing.T) {
	x, labels := clouds(400, 3, 3)
	set, err := links.SampleByCount(labels, 100, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	for _, g := range []graphkernel.Graph{KNN, Dense} {
		p, start := problemOn(t, ctx, eng, g, x, set)
		d := newDescent(eng, p, start, 6, 1)
		if ok, err := d.settle(ctx, 1e-9, 5000, func() {}); !ok || err != nil {
			t.Fatalf("%s: the sweeps do not converge (%v)", g, err)
		}
		null, _, err := graphkernel.Axes(ctx, eng, d.v, counts)
		if err != nil {
			t.Fatal(err)
		}
		op, err := stationarity(p, d.v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := smallest(ctx, eng, op, null, 1e-9, 1)
		if err != nil {
			t.Fatal(err)
		}
		whole, ok, err := factored(ctx, eng, op, null)
		if !ok || err != nil {
			t.Fatalf("%s: no factor of a matrix whose smallest eigenvalue is %g (%v)", g, want.value, err)
		}
		got, err := whole.smallest(ctx, eng, op, null, 1e-9, 1)
		if err != nil {
			t.Fatal(err)
		}
		if slack := want.error + got.error + 1e-9*want.norm; math.Abs(got.value-want.value) > slack {
			t.Errorf("%s: %.12g by the inverse, %.12g by products", g, got.value, want.value)
		}
		if got.norm > 1.001*want.norm || got.norm < 0.05*want.norm {
			t.Errorf("%s: the norm is estimated as %g: want at most %g, and not far below", g, got.norm,
				want.norm)
		}
		for i := range p.Diag {
			p.Diag[i] -= want.value + 1e-4*want.norm
		}
		if op, err = stationarity(p, d.v); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := factored(ctx, eng, op, null); ok || err != nil {
			t.Errorf("%s: a matrix with a negative eigenvalue has a factor (%v)", g, err)
		}
	}
}
