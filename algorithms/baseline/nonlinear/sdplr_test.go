package nonlinear

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// TestSDPLRIsTheSemidefiniteProgram compares the objective with that of the semidefinite program,
// which an interior-point method solves, for all losses, and checks that the gap of the model is a
// bound.
func TestSDPLRIsTheSemidefiniteProgram(t *testing.T) {
	propertytest.CheckSome(t, 40, func(t *rapid.T) {
		x, _, set := enginetest.Blobs(t, rapid.IntRange(12, 30).Draw(t, "n"), 3,
			rapid.IntRange(3, 9).Draw(t, "pairs"), rapid.Uint64().Draw(t, "seed"))
		l := SDPLRLearner{Params: param.Default[SDPLR](), Seed: rapid.Uint64().Draw(t, "start")}
		l.Params.Loss = rapid.SampledFrom([]graphkernel.Loss{graphkernel.Square, graphkernel.SquaredHinge,
			graphkernel.Hinge}).Draw(t, "loss")
		l.Params.C, l.Params.Tol, l.Params.MaxIter = rapid.SampledFrom([]float64{0.7, 1, 3}).Draw(t, "C"),
			1e-7, 100000
		l.Params.Graph = rapid.SampledFrom([]graphkernel.Graph{graphkernel.KNN, graphkernel.Dense}).Draw(t,
			"graph")
		ctx, eng := context.Background(), enginetest.New(t, 0)
		p, err := graphkernel.Setup{Method: SDPLRMethod, Settings: l.Params.Settings, Kernel: l.Kernel,
			Given: l.Similarities}.Start(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		want, err := optimize.MinimizeSDP(ctx, eng, p.Energy(), p.Terms(), optimize.SDPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Fit(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		got := m.(*SDPLRModel)
		if !got.Status().Converged {
			t.Fatalf("status %+v", got.Status())
		}
		if d := got.Objective() - want.Objective; d < -want.Gap-1e-9 || d > 1e-5*want.Objective {
			t.Fatalf("objective %.12g, the semidefinite program has %.12g with gap %g", got.Objective(),
				want.Objective, want.Gap)
		}
		if got.Objective()-got.Gap() > want.Objective+1e-9 {
			t.Fatalf("objective %.12g with gap %g: the optimum is %.12g", got.Objective(), got.Gap(),
				want.Objective)
		}
	})
}

// TestSDPLRGradient compares the gradient with finite differences.
func TestSDPLRGradient(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 30, 3, 12, 3)
	for _, loss := range []graphkernel.Loss{graphkernel.Square, graphkernel.SquaredHinge, graphkernel.Hinge} {
		p := param.Default[SDPLR]()
		p.Loss = loss
		ctx, eng := context.Background(), enginetest.New(t, 0)
		task, err := graphkernel.Setup{Method: SDPLRMethod, Settings: p.Settings,
			Kernel: SDPLRLearner{}.Kernel, Given: SDPLRLearner{}.Similarities}.Start(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		s := newSDPLRSearch(ctx, eng, task.Problem, p, 1)
		for k := range s.a {
			s.a[k] = 0.3 * float64(k%5)
		}
		g, other := s.v.Clone(), s.v.Clone()
		if _, err := s.evaluate(s.v, g); err != nil {
			t.Fatal(err)
		}
		const h = 1e-6
		for k := range s.v.Data {
			var side [2]float64
			for i, d := range []float64{-h, h} {
				moved := s.v.Clone()
				moved.Data[k] += d
				if side[i], err = s.evaluate(moved, other); err != nil {
					t.Fatal(err)
				}
			}
			if want := (side[1] - side[0]) / (2 * h); math.Abs(g.Data[k]-want) > 1e-6 {
				t.Fatalf("%s: element %d of the gradient is %g, differences give %g", loss, k, g.Data[k],
					want)
			}
		}
	}
}

func TestSDPLRBadInput(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 30, 3, 5, 1)
	none, err := links.New(30, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	for name, change := range map[string]func(p *SDPLR){
		"loss": func(p *SDPLR) {
			p.Loss = "linear"
		}, "C": func(p *SDPLR) { p.C = -1 }, "delta": func(p *SDPLR) { p.Delta = 0 },
		"rank": func(p *SDPLR) { p.Rank = -1 }, "tol": func(p *SDPLR) { p.Tol = math.NaN() },
		"max_iter": func(p *SDPLR) { p.MaxIter = 0 }, "neighbors": func(p *SDPLR) { p.Neighbors = 30 },
	} {
		l := SDPLRLearner{Params: param.Default[SDPLR]()}
		change(&l.Params)
		if _, err := l.Fit(ctx, eng, x, set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	l := SDPLRLearner{Params: param.Default[SDPLR]()}
	if _, err := l.Fit(ctx, eng, x, none); !fault.IsInput(err) {
		t.Errorf("no links: error %v", err)
	}
	l.Params.MaxIter = 2
	if m, err := l.Fit(ctx, eng, x, set); err != nil || m.Status().Converged || m.Status().Iterations != 2 {
		t.Errorf("two steps: error %v, status %+v", err, m.Status())
	}
}
