package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// sdmlWith returns the default parameters with a change.
func sdmlWith(change func(p *SDML)) SDML {
	p := param.Default[SDML]()
	change(&p)
	return p
}

func sdmlFitted(t enginetest.Fataler, eng *engine.Engine, p SDML, x points.Points,
	set *links.Set) *SDMLModel {
	t.Helper()
	return fittest.On[*SDMLModel](t, eng, SDMLLearner{Params: p}, x, set)
}

// matrix returns M = W'W.
func matrix(eng *engine.Engine, m *SDMLModel) blas.Matrix {
	w, _ := m.Transform()
	out := blas.NewMatrix(w.Cols, w.Cols)
	eng.Backend().Gemm(true, false, 1, w, w, 0, out)
	return out
}

// sdmlFormula returns P and lambda by the comment of [SDML]. eta is the value for which the largest
// absolute eigenvalue of eta M0 (sum) is the balance.
func sdmlFormula(t enginetest.Fataler, params SDML, x *points.Dense,
	set *links.Set) (p blas.Matrix, lambda float64) {
	t.Helper()
	d, eng := x.D, enginetest.New(t, 1)
	sum, prior := blas.NewMatrix(d, d), blas.NewMatrix(d, d)
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		for a := range d {
			for b := range d {
				sum.Set(a, b, sum.At(a,
					b)+l.Weight*float64(l.Sign)*(x.Row(l.I)[a]-x.Row(l.J)[a])*(x.Row(l.I)[b]-x.Row(l.J)[b]))
			}
		}
	}
	for a := range d {
		for b := range d {
			for i := range x.N { // 1/2n^2 sum (x_i - x_j)(x_i - x_j)' is the covariance
				for j := range x.N {
					prior.Set(a, b, prior.At(a,
						b)+(x.Row(i)[a]-x.Row(j)[a])*(x.Row(i)[b]-x.Row(j)[b])/float64(2*x.N*x.N))
				}
			}
		}
	}
	unit := 0.0
	for a := range d {
		unit += prior.At(a, a) / float64(d)
	}
	for a := range d {
		prior.Set(a, a, prior.At(a, a)+1e-10*unit)
	}
	if params.Prior == SDMLIdentity {
		unit = 1
		for a := range d {
			clear(prior.Row(a))
			prior.Set(a, a, 1)
		}
	}
	l, inner, w := prior.Clone(), sum.Clone(), make([]float64, d)
	if err := eng.Backend().Cholesky(l); err != nil {
		t.Fatal(err)
	}
	eng.Backend().Trsm(true, false, l, inner)
	eng.Backend().Trsm(false, true, l, inner)
	if err := eng.SymEig(context.Background(), inner, w, false); err != nil {
		t.Fatal(err)
	}
	p = prior
	eng.Backend().Kernels().Axpy(params.Balance/max(-w[0], w[d-1]), sum.Data, p.Data)
	return p, params.Sparsity * unit
}

// TestSDMLOptimum checks the optimality conditions of the problem in the comment of [SDML]: W =
// M^-1 has the diagonal of P; where M is not 0, W differs from P by lambda in the direction of the
// sign of M, and elsewhere by at most lambda. Without sparsity M is P^-1.
func TestSDMLOptimum(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		eng := enginetest.New(rt, 1)
		x, _, set := enginetest.Bands(rt, 40, rapid.IntRange(1, 6).Draw(rt, "features"), 20,
			rapid.Uint64().Draw(rt, "seed"))
		params := sdmlWith(func(p *SDML) {
			p.Prior = rapid.SampledFrom([]SDMLPrior{SDMLIdentity, SDMLCovariance}).Draw(rt, "prior")
			p.Balance = rapid.SampledFrom([]float64{0, 0.3, 0.9}).Draw(rt, "balance")
			p.Sparsity = rapid.SampledFrom([]float64{0, 1e-3, 0.03, 0.2, 3}).Draw(rt, "sparsity")
			p.Tol, p.MaxIter = 1e-12, 5000
		})
		model := sdmlFitted(rt, eng, params, x, set)
		m := matrix(eng, model)
		p, lambda := sdmlFormula(rt, params, x, set)
		w := enginetest.Inverse(rt, m)
		size, within := slices.Max(w.Data), 1e-5
		if lambda == 0 {
			within = 1e-10
		}
		if !model.Status().Converged || !strings.Contains(model.Status().Message, "duality gap") {
			rt.Fatalf("status %+v", model.Status())
		}
		for a := range x.D {
			for b := range x.D {
				off, want, slack := w.At(a, b)-p.At(a, b), 0.0, 0.0
				if a != b {
					if slack = lambda; math.Abs(m.At(a, b)) > 1e-4*math.Sqrt(m.At(a, a)*m.At(b, b)) {
						want, slack = math.Copysign(lambda, m.At(a, b)), 0
					}
				}
				if math.Abs(off-want) > slack+within*size {
					rt.Fatalf("W_%d,%d - P is %g where M is %g: want %g within %g", a, b, off, m.At(a, b),
						want, slack)
				}
			}
		}
	})
}

// TestSDMLSparse checks that a large sparsity leaves only the diagonal: M is the inverse of the
// diagonal of P, and the map is diagonal.
func TestSDMLSparse(t *testing.T) {
	eng := enginetest.New(t, 1)
	x, _, set := enginetest.Bands(t, 50, 5, 25, 3)
	params := sdmlWith(func(p *SDML) { p.Sparsity = 2 })
	w, _ := sdmlFitted(t, eng, params, x, set).Transform()
	p, _ := sdmlFormula(t, params, x, set)
	for a := range x.D {
		for b := range x.D {
			if want := map[bool]float64{true: 1 /
				math.Sqrt(p.At(a, a))}[a == b]; math.Abs(w.At(a, b)-want) > 1e-12*(want+1e-300) {
				t.Errorf("W_%d,%d is %g: want %g", a, b, w.At(a, b), want)
			}
		}
	}
}

// TestSDMLIndefinite checks that there is no metric if cannot-links outweigh the prior, and that
// the error names the balance at which this begins; with enough sparsity there is a metric,
// although P is indefinite.
func TestSDMLIndefinite(t *testing.T) {
	eng := enginetest.New(t, 1)
	// P is I + eta ((0,0),(0,1)) - 2 eta ((1,1),(1,1))
	x := &points.Dense{N: 4, D: 2, Data: []float64{0, 0, 1, 0, 0, 1, 1, 1}}
	set := enginetest.Links(t, 4,
		[]links.Link{links.NewLink(0, 2, links.Must), links.NewLink(0, 3, links.Cannot),
			links.NewLink(0, 3, links.Cannot)})
	limit := 0.0
	for _, prior := range []SDMLPrior{SDMLIdentity, SDMLCovariance} {
		_, err := SDMLLearner{Params: sdmlWith(func(p *SDML) {
			p.Prior, p.Balance = prior, 1.5
		})}.Fit(t.Context(), eng, x, set)
		wrong, is := errors.AsType[*fault.ParamError](err)
		if !is || wrong.Param != "balance" {
			t.Fatalf("%s: error %v: want one of the balance", prior, err)
		}
		if _, err := fmt.Sscanf(wrong.Want, "a number below %g,", &limit); err != nil {
			t.Fatalf("%s: %q does not name a limit", prior, wrong.Want)
		}
		for _, c := range []struct{ balance, sign float64 }{{0.999 * limit, 1}, {1.01 * limit, -1}} {
			p, _ := sdmlFormula(t, sdmlWith(func(p *SDML) { p.Prior, p.Balance = prior, c.balance }), x, set)
			if det := p.At(0, 0)*p.At(1, 1) - p.At(0, 1)*p.At(1, 0); c.sign*det <= 0 || p.At(0, 0) <= 0 {
				t.Errorf("%s, balance %g: determinant of P %g", prior, c.balance, det)
			}
		}
	}
	// |P_12| - lambda < root of P_11 P_22
	params := sdmlWith(func(p *SDML) { p.Balance, p.Sparsity, p.Tol = 1.1, 0.3, 1e-12 })
	p, lambda := sdmlFormula(t, params, x, set)
	if p.At(0, 0)*p.At(1, 1) >= p.At(0, 1)*p.At(0, 1) {
		t.Fatalf("P %v is definite", p.Data)
	}
	w := enginetest.Inverse(t, matrix(eng, sdmlFitted(t, eng, params, x, set)))
	if want := p.At(0, 1) + lambda; math.Abs(w.At(0, 1)-want) > 1e-5 ||
		math.Abs(w.At(0, 0)-p.At(0, 0)) > 1e-5 || math.Abs(w.At(1, 1)-p.At(1, 1)) > 1e-5 {
		t.Errorf("inverse of M %v: want the diagonal of %v, and %g", w.Data, p.Data, want)
	}
}

// TestSDMLSame checks that the order of links, the order of the rows in each and the number of
// workers do not change the result. In other units the metric is the same up to the unit; with the
// covariance as prior it does not change.
func TestSDMLSame(t *testing.T) {
	x, _, set := enginetest.Bands(t, 60, 5, 30, 4)
	list := slices.Concat(set.Must(), set.Cannot())
	slices.Reverse(list)
	for k := range list {
		list[k].I, list[k].J = list[k].J, list[k].I
	}
	turned := enginetest.Links(t, 60, list)
	wide := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
	for k := range wide.Data {
		wide.Data[k] *= 1024
	}
	for _, prior := range []SDMLPrior{SDMLIdentity, SDMLCovariance} {
		params := sdmlWith(func(p *SDML) { p.Prior = prior })
		w, _ := sdmlFitted(t, enginetest.New(t, 1), params, x, set).Transform()
		if other, _ := sdmlFitted(t, enginetest.New(t, 4), params, x,
			turned).Transform(); !slices.Equal(w.Data, other.Data) {
			t.Errorf("%s: links in another order, with other workers, give another metric", prior)
		}
		unit := map[SDMLPrior]float64{SDMLIdentity: 1, SDMLCovariance: 1024}[prior]
		other, _ := sdmlFitted(t, enginetest.New(t, 1), params, wide, set).Transform()
		for k, v := range other.Data {
			if math.Abs(unit*v-w.Data[k]) > 1e-12*slices.Max(w.Data) {
				t.Fatalf("%s: element %d in other units is %g: want %g", prior, k, unit*v, w.Data[k])
			}
		}
	}
}

func TestSDMLBadInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	x, _, set := enginetest.Bands(t, 40, 4, 20, 6)
	twins := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	copy(twins.Row(1), twins.Row(0))
	for i := range twins.N {
		twins.Row(i)[3] = 7
	}
	list := func(l ...links.Link) *links.Set { return enginetest.Links(t, 40, l) }
	nothing := func(*SDML) {}
	nan := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	nan.Row(3)[2] = math.NaN()
	for name, c := range map[string]struct {
		change func(p *SDML)
		x      points.Points
		set    *links.Set
		says   string
	}{
		"no links":     {nothing, x, list(), "at least one"},
		"equal points": {nothing, twins, list(links.NewLink(0, 1, links.Must)), "equal points"},
		"canceling": {nothing, &points.Dense{N: 40, D: 1, Data: make40(0, 1, 2)},
			list(links.NewLink(0, 1, links.Must), links.NewLink(1, 2, links.Cannot)), "cancel"},
		"prior":    {func(p *SDML) { p.Prior = "covariances" }, x, set, "identity, covariance"},
		"balance":  {func(p *SDML) { p.Balance = -1 }, x, set, "balance"},
		"sparsity": {func(p *SDML) { p.Sparsity = math.NaN() }, x, set, "sparsity"},
		"tol":      {func(p *SDML) { p.Tol = 0 }, x, set, "tol"},
		"max_iter": {func(p *SDML) { p.MaxIter = 0 }, x, set, "max_iter"},
		"one place": {nothing, &points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set,
			"equal points"},
		"rows":  {nothing, x.Select([]int{1, 2}), set, "40"},
		"NaN":   {nothing, nan, set, "row 3"},
		"wide":  {nothing, &points.Dense{N: 40, D: 2049, Data: make([]float64, 40*2049)}, set, "2048"},
		"zeros": {nothing, &points.CSR{N: 40, D: 4, Start: make([]int, 41)}, set, "no variance"},
	} {
		if _, err := (SDMLLearner{Params: sdmlWith(c.change)}).Fit(t.Context(), eng, c.x,
			c.set); !fault.IsInput(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one of the input that says %q", name, err, c.says)
		}
	}
	// A column that does not vary or is a multiple of another is allowed, and so are links of one
	// kind only.
	for i := range twins.N {
		twins.Row(i)[2] = -3 * twins.Row(i)[1]
	}
	for _, prior := range []SDMLPrior{SDMLIdentity, SDMLCovariance} {
		for _, set := range []*links.Set{set, list(links.NewLink(0, 2, links.Must)),
			list(links.NewLink(0, 2, links.Cannot))} {
			sdmlFitted(t, eng, sdmlWith(func(p *SDML) { p.Prior = prior }), twins, set)
			sdmlFitted(t, eng, sdmlWith(func(p *SDML) { p.Prior, p.Sparsity = prior, 0 }), twins, set)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (SDMLLearner{Params: param.Default[SDML]()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// make40 returns 40 values that begin with those given.
func make40(first ...float64) []float64 { return append(first, make([]float64, 40-len(first))...) }

// TestSDMLUnfinished checks that a fit that ends early reports this, with the remaining gap.
func TestSDMLUnfinished(t *testing.T) {
	x, _, set := enginetest.Bands(t, 60, 6, 30, 4)
	s := sdmlFitted(t, enginetest.New(t, 1), sdmlWith(func(p *SDML) {
		p.MaxIter, p.Tol = 1, 1e-12
	}), x, set).Status()
	if s.Converged || s.Iterations != 1 || !strings.Contains(s.Message, "max_iter") {
		t.Errorf("status %+v", s)
	}
}
