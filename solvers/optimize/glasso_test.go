package optimize_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// tol is the gap for each row. f grows by half the squared distance of M from the optimum, measured
// by M itself.
const tol = 1e-12

func solve(t enginetest.Fataler, p blas.Matrix, lambda float64) (*optimize.GlassoResult, error) {
	t.Helper()
	return optimize.Glasso(context.Background(), enginetest.New(t, 1), p, lambda,
		optimize.GlassoOptions{Tol: tol, MaxIter: 1000})
}

// covariance returns the covariance of n random points whose features are mixtures of each other,
// minus shift times the identity.
func covariance(rng *rand.Rand, n, d int, shift float64) blas.Matrix {
	x, p := blas.NewMatrix(n, d), blas.NewMatrix(d, d)
	for i := range n {
		row := x.Row(i)
		for j := range row {
			row[j] = rng.NormFloat64()
			if j > 0 {
				row[j] += 0.8 * row[j-1]
			}
		}
	}
	for a := range d {
		for b := range d {
			for i := range n {
				p.Set(a, b, p.At(a, b)+x.At(i, a)*x.At(i, b)/float64(n))
			}
		}
		p.Set(a, a, p.At(a, a)-shift)
	}
	return p
}

// optimal checks the optimality conditions: M is positive definite, and W = M^-1 has the diagonal
// of P; where M is not 0, W differs from P by lambda in the direction of the sign of M, and
// elsewhere by at most lambda. The gap bounds all errors.
func optimal(t *rapid.T, p blas.Matrix, lambda float64, r *optimize.GlassoResult) {
	t.Helper()
	d := p.Rows
	w, size := enginetest.Inverse(t, r.M), 0.0
	for _, v := range w.Data {
		size = max(size, math.Abs(v))
	}
	within := 4 * math.Sqrt(tol*float64(d)) * size
	if !r.Converged || !(r.Gap >= 0 && r.Gap <= tol*float64(d)) {
		t.Fatalf("converged %v, gap %g after %d sweeps: want at most %g", r.Converged, r.Gap, r.Sweeps,
			tol*float64(d))
	}
	linear := 0.0
	for i := range d {
		for j := range d {
			off, m := w.At(i, j)-p.At(i, j), r.M.At(i, j)
			switch {
			case m != r.M.At(j, i):
				t.Fatalf("M_%d,%d is %g, M_%d,%d %g: want a symmetric matrix", i, j, m, j, i, r.M.At(j, i))
			case i == j && math.Abs(off) > within:
				t.Fatalf("W_%d,%d - P is %g: want 0", i, i, off)
			case i != j && math.Abs(off) > lambda+within:
				t.Fatalf("W_%d,%d - P is %g: want at most %g", i, j, off, lambda)
			case i != j && m != 0 &&
				math.Abs(m)*math.Abs(off-math.Copysign(lambda, m)) > within*max(1, math.Abs(m)):
				t.Fatalf("W_%d,%d - P is %g where M is %g: want %g", i, j, off, m, math.Copysign(lambda, m))
			}
			linear += p.At(i, j) * m
			if i != j {
				linear += lambda * math.Abs(m)
			}
		}
	}
	if math.Abs(linear-float64(d)) > 1e-4*float64(d) { // f of multiples of M has its minimum at M
		t.Fatalf("tr(PM) + lambda |M| is %g: want %d", linear, d)
	}
	for k := 1; k < len(r.Trace); k++ {
		if r.Trace[k] > r.Trace[k-1]+1e-10*float64(d) {
			t.Fatalf("the objective rises from %g to %g in sweep %d", r.Trace[k-1], r.Trace[k], k)
		}
	}
	if r.Trace[len(r.Trace)-1] != r.Objective {
		t.Fatal("the trace does not end in the objective")
	}
}

// TestOptimum checks the optimality conditions for covariances, and for covariances minus a
// multiple of the identity, which are usually indefinite.
func TestOptimum(t *testing.T) {
	indefinite := 0
	propertytest.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		d := rapid.IntRange(1, 20).Draw(rt, "d")
		lambda := rapid.SampledFrom([]float64{0.03, 0.1, 0.4, 2}).Draw(rt, "lambda")
		p := covariance(rng, 2*d+3, d, rapid.SampledFrom([]float64{0, 0.1, 0.3}).Draw(rt, "shift"))
		r, err := solve(rt, p, lambda)
		w, values := p.Clone(), make([]float64, d)
		if err := enginetest.New(rt, 1).SymEig(context.Background(), w, values, false); err != nil {
			rt.Fatal(err)
		}
		if values[0] > 0 && err != nil {
			rt.Fatalf("P is positive definite, error %v", err)
		}
		if err != nil || !r.Converged && values[0] <= 0 { // close to the limit, the solution is far away
			if err != nil && !errors.Is(err, optimize.ErrUnbounded) {
				rt.Fatal(err)
			}
			return
		}
		if values[0] < 0 {
			indefinite++
		}
		optimal(rt, p, lambda, r)
	})
	if indefinite == 0 {
		t.Error("no indefinite matrix was solved")
	}
}

// TestTwoRows checks the case of two rows: W_12 is P_12 moved toward 0 by lambda, and there is a
// solution if W is positive definite.
func TestTwoRows(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		number := func(name string, low, high float64) float64 {
			return rapid.Float64Range(low, high).Draw(rt, name)
		}
		a, b, c, lambda := number("a", 0.1, 3), number("b", 0.1, 3), number("c", -4, 4),
			number("lambda", 0, 2)
		w := math.Copysign(max(0, math.Abs(c)-lambda), c)
		det := a*b - w*w
		r, err := solve(rt, blas.MatrixOf(2, 2, []float64{a, c, c, b}), lambda)
		if det <= 0 {
			if err == nil && !math.IsInf(r.Gap, 1) || err != nil && !errors.Is(err, optimize.ErrUnbounded) {
				rt.Fatalf("determinant %g: gap %v, error %v, want one that there is no solution", det, r.Gap,
					err)
			}
			return
		}
		if det < 1e-2 {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		want := []float64{b / det, -w / det, -w / det, a / det}
		for k, v := range r.M.Data {
			if math.Abs(v-want[k]) > 4*math.Sqrt(2*tol)*(a+b)/det {
				rt.Fatalf("M is %v, want %v", r.M.Data, want)
			}
		}
	})
}

// TestLimits checks that lambda = 0 gives the inverse, and a large lambda the inverse of the
// diagonal, with no more error than an inverse.
func TestLimits(t *testing.T) {
	const d = 12
	p := covariance(rand.New(rand.NewPCG(2, 2)), 40, d, 0)
	inverse := enginetest.Inverse(t, p)
	r, err := solve(t, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range r.M.Data {
		if math.Abs(v-inverse.Data[k]) > 1e-12*slices.Max(inverse.Data) {
			t.Fatalf("element %d is %g: want %g", k, v, inverse.Data[k])
		}
	}
	if r, err = solve(t, p, 100); err != nil {
		t.Fatal(err)
	}
	for i := range d {
		for j := range d {
			if want := map[bool]float64{true: 1 / p.At(i, i)}[i == j]; r.M.At(i, j) != want {
				t.Fatalf("M_%d,%d is %g: want %g", i, j, r.M.At(i, j), want)
			}
		}
	}
	for name, p := range map[string][]float64{"negative": {-1}, "zero": {0}, "indefinite": {1, 2, 2, 1}} {
		k := int(math.Sqrt(float64(len(p))))
		if _, err := solve(t, blas.MatrixOf(k, k, p), 0); !errors.Is(err, optimize.ErrUnbounded) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestMemory checks that matrices beyond the memory limit are refused before they are made.
func TestMemory(t *testing.T) {
	const d = 100
	p := covariance(rand.New(rand.NewPCG(3, 3)), 2*d, d, 0)
	for limit, refused := range map[int64]bool{8 * d * d: true, 80 * d * d: false} {
		eng := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: limit})
		_, err := optimize.Glasso(context.Background(), eng, p, 1,
			optimize.GlassoOptions{Tol: tol, MaxIter: 100})
		if _, is := errors.AsType[*fault.MemoryError](err); is != refused || err != nil && !refused {
			t.Errorf("limit %d: error %v", limit, err)
		}
	}
}

// TestUnitsAndOrder checks that rows and columns in another order, and in other units, have the
// same solution: f grows by d log(unit).
func TestUnitsAndOrder(t *testing.T) {
	const d, lambda, unit = 10, 0.1, 1e6
	p := covariance(rand.New(rand.NewPCG(3, 3)), 30, d, 0.1)
	r, err := solve(t, p, lambda)
	if err != nil {
		t.Fatal(err)
	}
	order, q := rand.New(rand.NewPCG(4, 4)).Perm(d), blas.NewMatrix(d, d)
	for i, from := range order {
		for j, other := range order {
			q.Set(i, j, unit*p.At(from, other))
		}
	}
	s, err := solve(t, q, unit*lambda)
	if err != nil {
		t.Fatal(err)
	}
	if off := s.Objective - r.Objective - d*math.Log(unit); math.Abs(off) > 2*tol*d {
		t.Errorf("the objective is %g off", off)
	}
	for i, from := range order {
		for j, other := range order {
			if math.Abs(unit*s.M.At(i, j)-r.M.At(from, other)) > 1e-6*r.M.At(from, from) {
				t.Errorf("M_%d,%d is %g: want %g", i, j, unit*s.M.At(i, j), r.M.At(from, other))
			}
		}
	}
}

// TestGapBounds checks that a search that ends early reports this, and that its gap bounds its
// distance from the optimum.
func TestGapBounds(t *testing.T) {
	const d, lambda = 15, 0.02
	ctx, eng, p := context.Background(), enginetest.New(t, 1),
		covariance(rand.New(rand.NewPCG(5, 5)), 40, d, 0)
	best, err := solve(t, p, lambda)
	if err != nil {
		t.Fatal(err)
	}
	for sweeps := 1; sweeps < 6; sweeps++ {
		r, err := optimize.Glasso(ctx, eng, p, lambda, optimize.GlassoOptions{Tol: tol, MaxIter: sweeps})
		if err != nil {
			t.Fatal(err)
		}
		if above := r.Objective - best.Objective; r.Converged || r.Sweeps != sweeps ||
			!(above <= r.Gap+1e-12) || !(above >= -best.Gap) {
			t.Errorf("%d sweeps (%d, converged %v): %g above the optimum, gap %g", sweeps, r.Sweeps,
				r.Converged, above, r.Gap)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := optimize.Glasso(done, eng, p, lambda,
		optimize.GlassoOptions{Tol: tol, MaxIter: 9}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
