package krca

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// Every place on the path is the fit with that eps: in the spectral form to rounding, in the
// Cholesky form to what that loses and to what the spectral one takes for rounding errors.
func TestPathIsTheFits(t *testing.T) {
	ctx := context.Background()
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(6, 50).Draw(rt, "n")
		x, _, set := enginetest.Bands(rt, n, rapid.IntRange(1, 6).Draw(rt, "d"), n/3,
			rapid.Uint64().Draw(rt, "seed"))
		spec, err := kernel.Parse(rapid.SampledFrom([]string{"linear", "rbf:sigma=msq",
			"poly:degree=2,coef=1,scale=0.1"}).Draw(rt, "kernel"))
		if err != nil {
			rt.Fatal(err)
		}
		eng := enginetest.New(rt, 2)
		l := Learner{Kernel: spec, Params: DefaultParams()}
		all, err := l.FitPath(ctx, eng, x, set)
		if err != nil {
			rt.Fatal(err)
		}
		path := all.(*Path)
		var pairs [][2]int
		for i := range n {
			pairs = append(pairs, [2]int{i, (i * 7) % n})
		}
		values := []float64{1e-6, 1e-3, 0.03, 1, 1e4}
		got, err := path.Distances(ctx, eng, x, pairs, values)
		if err != nil {
			rt.Fatal(err)
		}
		for v, eps := range values {
			for form, tolerance := range map[Form]float64{FormSpectral: 1e-11, FormAuto: 1e-5} {
				l.Params.EpsRel, l.Params.Form = eps, form
				fitted, err := l.Fit(ctx, eng, x, set)
				if err != nil {
					rt.Fatal(err)
				}
				want, err := fitted.Distances(ctx, eng, x, pairs)
				if err != nil {
					rt.Fatal(err)
				}
				for p := range want {
					scale := 0.0
					for _, w := range want {
						scale = max(scale, w)
					}
					if !(math.Abs(got[v][p]-want[p]) <= tolerance*scale) {
						rt.Fatalf("eps_rel %g, %s: distance %v of pair %v: want %v", eps, form, got[v][p],
							pairs[p], want[p])
					}
				}
				if form != FormSpectral {
					continue
				}
				m, err := path.Model(ctx, eng, eps)
				if err != nil {
					rt.Fatal(err)
				}
				a, errA := m.Embed(ctx, eng, x)
				b, errB := fitted.Embed(ctx, eng, x)
				if errA != nil || errB != nil || a.Cols != b.Cols {
					rt.Fatalf("embedding in %d dimensions: want %d (%v, %v)", a.Cols, b.Cols, errA, errB)
				}
				for i := range a.Data {
					if a.Data[i] != b.Data[i] {
						rt.Fatalf("eps_rel %g: value %d of the embedding is %v: want %v", eps, i, a.Data[i],
							b.Data[i])
					}
				}
			}
		}
	})
}

func TestPathMistakes(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 1)
	x, _, set := enginetest.Bands(t, 12, 2, 4, 1)
	l := Learner{Params: DefaultParams()}
	all, err := l.FitPath(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	path := all.(*Path)
	for _, eps := range []float64{0, -1, math.NaN(), math.Inf(1), 1e300} {
		if _, err := path.Distances(ctx, eng, x, [][2]int{{0, 1}}, []float64{eps}); !fault.IsInput(err) {
			t.Errorf("eps_rel %g: %v", eps, err)
		}
		if _, err := path.Model(ctx, eng, eps); !fault.IsInput(err) {
			t.Errorf("model of eps_rel %g: %v", eps, err)
		}
	}
	if _, err := path.Distances(ctx, eng, x, [][2]int{{0, 12}}, []float64{1}); !fault.IsInput(err) {
		t.Errorf("a row that is not there: %v", err)
	}
	none, err := links.New(12, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.FitPath(ctx, eng, x, none); !fault.IsInput(err) {
		t.Errorf("no links: %v", err)
	}
	if _, err := l.FitPath(ctx, eng, &points.Dense{N: 2, D: 1, Data: []float64{1, math.NaN()}},
		none); !fault.IsInput(err) {
		t.Errorf("NaN: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := l.FitPath(ended, eng, x, set); err == nil {
		t.Error("canceled: no error")
	}
}
