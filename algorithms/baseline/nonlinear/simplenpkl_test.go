package nonlinear

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestSimpleNPKLOptimal checks the optimality conditions: K is positive semidefinite with the norm
// S, and with a_e = -l'/2 of each link, the matrix A(a) - m K is negative semidefinite for the m
// that makes it orthogonal to K.
func TestSimpleNPKLOptimal(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(12, 40).Draw(t, "n")
		x, _, set := enginetest.Blobs(t, n, 3, rapid.IntRange(3, 12).Draw(t, "pairs"),
			rapid.Uint64().Draw(t, "seed"))
		l := SimpleNPKLLearner{Params: param.Default[SimpleNPKL]()}
		l.Params.Loss = rapid.SampledFrom([]graphkernel.Loss{SimpleNPKLLinear,
			SimpleNPKLSquaredHinge}).Draw(t, "loss")
		l.Params.Graph = rapid.SampledFrom([]graphkernel.Graph{graphkernel.KNN, graphkernel.Dense}).Draw(t,
			"graph")
		l.Params.C, l.Params.Size, l.Params.Tol, l.Params.MaxIter, l.Params.Rank = 2, 0.1, 1e-9, 5000, n
		ctx, eng := context.Background(), enginetest.New(t, 0)
		fitted, err := l.Fit(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		m := fitted.(*SimpleNPKLModel)
		if !m.Status().Converged {
			t.Fatalf("status %+v", m.Status())
		}
		p, err := graphkernel.Setup{Method: SimpleNPKLMethod, Settings: l.Params.Settings, Kernel: l.Kernel,
			Given: l.Similarities}.Start(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		k := blas.NewMatrix(n, n)
		eng.Backend().Gemm(false, true, 1, m.Coordinates(), m.Coordinates(), 0, k)
		size, want := math.Sqrt(product(k, k)), 0.1*float64(n)
		if math.Abs(size-want) > 1e-9*want {
			t.Fatalf("the norm of K is %g, want %g", size, want)
		}
		a, objective := p.Energy(), product(p.Energy(), k)
		for i := range a.Data {
			a.Data[i] = -a.Data[i]
		}
		for _, link := range slices.Concat(set.Must(), set.Cannot()) {
			f := float64(link.Sign) * k.At(link.I, link.J)
			slope := 2.0 // of the loss, negative
			if l.Params.Loss == SimpleNPKLSquaredHinge {
				slope = 4 * max(0, 1-f)
				objective += 2 * max(0, 1-f) * max(0, 1-f)
			} else {
				objective -= 2 * f
			}
			a.Set(link.I, link.J, a.At(link.I, link.J)+slope/2*float64(link.Sign))
			a.Set(link.J, link.I, a.At(link.J, link.I)+slope/2*float64(link.Sign))
		}
		if math.Abs(objective-m.Objective()) > 1e-9*(1+math.Abs(objective)) {
			t.Fatalf("objective %.15g, by definition %.15g", m.Objective(), objective)
		}
		multiplier := product(a, k) / product(k, k)
		for i := range a.Data {
			a.Data[i] -= multiplier * k.Data[i]
		}
		w := make([]float64, n)
		if err := eng.SymEig(ctx, a, w, false); err != nil {
			t.Fatal(err)
		}
		if multiplier < 0 || w[n-1] > 1e-3*(1-w[0]) {
			t.Fatalf("multiplier %g, largest eigenvalue of A - m K %g, smallest %g", multiplier, w[n-1], w[0])
		}
	})
}

func product(a, b blas.Matrix) float64 {
	sum := 0.0
	for i, v := range a.Data {
		sum += v * b.Data[i]
	}
	return sum
}

func TestSimpleNPKLBadInput(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 30, 3, 5, 1)
	none, err := links.New(30, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	for name, change := range map[string]func(p *SimpleNPKL){
		"loss": func(p *SimpleNPKL) {
			p.Loss = "sl"
		}, "C": func(p *SimpleNPKL) { p.C = -1 }, "delta": func(p *SimpleNPKL) { p.Delta = 0 },
		"size": func(p *SimpleNPKL) {
			p.Size = 0
		}, "rank": func(p *SimpleNPKL) { p.Rank = -1 }, "tol": func(p *SimpleNPKL) { p.Tol = math.NaN() },
		"max_iter": func(p *SimpleNPKL) {
			p.MaxIter = 0
		}, "neighbors": func(p *SimpleNPKL) { p.Neighbors = 30 },
	} {
		l := SimpleNPKLLearner{Params: param.Default[SimpleNPKL]()}
		change(&l.Params)
		if _, err := l.Fit(ctx, eng, x, set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	l := SimpleNPKLLearner{Params: param.Default[SimpleNPKL]()}
	if _, err := l.Fit(ctx, eng, x, none); !fault.IsInput(err) {
		t.Errorf("no links: error %v", err)
	}
	// Problems without a solution are reported.
	l.Params.Size = 100
	m, err := l.Fit(ctx, eng, x, set)
	if err != nil || m.Status().Converged || !strings.Contains(m.Status().Message, "smaller size") {
		t.Errorf("a size without effect: error %v, status %+v", err, m.Status())
	}
	l.Params.Size, l.Params.C, l.Params.Loss = 1, 1e-6, SimpleNPKLLinear
	m, err = l.Fit(ctx, eng, x, set)
	if err != nil || !strings.Contains(m.Status().Message, "too weak") {
		t.Errorf("weak links: error %v, status %+v", err, m.Status())
	}
}
