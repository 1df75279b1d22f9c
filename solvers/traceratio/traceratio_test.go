package traceratio

import (
	"context"
	"errors"
	"fmt"
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
)

// semidefinite returns X'X, where X has rank rows and columns with scales from 1 to spread.
func semidefinite(rng *rand.Rand, m, rank int, spread float64) blas.Matrix {
	x, out := blas.NewMatrix(rank, m), blas.NewMatrix(m, m)
	for i := range rank {
		for j := range m {
			x.Set(i, j, rng.NormFloat64()*math.Pow(spread, float64(j)/float64(m)))
		}
	}
	for i := range m {
		for j := range m {
			for k := range rank {
				out.Set(i, j, out.At(i, j)+x.At(k, i)*x.At(k, j))
			}
		}
	}
	return out
}

// traceOf returns tr(W X W') by its definition.
func traceOf(w, x blas.Matrix) float64 {
	sum := 0.0
	for r := range w.Rows {
		for i := range x.Rows {
			for j := range x.Cols {
				sum += w.At(r, i) * x.At(max(i, j), min(i, j)) * w.At(r, j)
			}
		}
	}
	return sum
}

func checkOrthonormal(t interface{ Errorf(string, ...any) }, w blas.Matrix) {
	for i := range w.Rows {
		for j := range w.Rows {
			dot, want := 0.0, 0.0
			if i == j {
				want = 1
			}
			for k := range w.Cols {
				dot += w.At(i, k) * w.At(j, k)
			}
			if !(math.Abs(dot-want) <= 10*float64(w.Cols)*0x1p-52) {
				t.Errorf("row %d of W times row %d is %g, want %g", i, j, dot, want)
			}
		}
	}
}

// TestNewtonIsBisection checks that Newton's method and bisection agree, in few steps, and that
// both return the ratio of their subspace.
func TestNewtonIsBisection(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		m := rapid.IntRange(2, 24).Draw(t, "m")
		d := rapid.IntRange(1, m-1).Draw(t, "d")
		a := semidefinite(rng, m, rapid.IntRange(1, m).Draw(t, "rank of a"), 3)
		b := semidefinite(rng, m, m+rapid.IntRange(1, m).Draw(t, "rank of b"),
			rapid.SampledFrom([]float64{1, 10, 100}).Draw(t, "spread"))
		ctx, eng := context.Background(), enginetest.New(t, 0)
		newton, err := Solve(ctx, eng, a, b, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		halved, err := Solve(ctx, eng, a, b, d, Options{Bisect: true})
		if err != nil {
			t.Fatal(err)
		}
		if newton.Method != "newton" || halved.Method != "bisection" || !newton.Converged {
			t.Fatalf("methods %s and %s", newton.Method, halved.Method)
		}
		if !(math.Abs(newton.Ratio-halved.Ratio) <= 1e-12*halved.Ratio) {
			t.Fatalf("ratio %.17g by Newton's method, %.17g by bisection", newton.Ratio, halved.Ratio)
		}
		if newton.Eigenproblems > 20 {
			t.Errorf("%d eigenproblems", newton.Eigenproblems)
		}
		for k := 1; k < len(newton.Trace); k++ {
			if newton.Trace[k] < newton.Trace[k-1]*(1-1e-13) {
				t.Errorf("step %d goes from %.17g to %.17g", k, newton.Trace[k-1], newton.Trace[k])
			}
		}
		checkOrthonormal(t, newton.W)
		if got := traceOf(newton.W, a) / traceOf(newton.W, b); !(math.Abs(got-newton.Ratio) <= 1e-11*got) {
			t.Errorf("W has the ratio %.17g, the result says %.17g", got, newton.Ratio)
		}
	})
}

// TestNoAscentIsBetter checks that no ascent from a random basis ends higher: rotations in the
// planes of pairs of basis vectors, one inside W and one outside, each the best of its plane.
func TestNoAscentIsBetter(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	rng := rand.New(rand.NewPCG(5, 5))
	for _, size := range [][2]int{{3, 1}, {4, 2}, {6, 2}, {7, 5}} {
		m, d := size[0], size[1]
		a, b := semidefinite(rng, m, 3, 1), semidefinite(rng, m, m+1, 5)
		res, err := Solve(ctx, eng, a, b, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		best := 0.0
		for range 1000 {
			best = max(best, ascend(rng, a, b, d))
		}
		if best > res.Ratio*(1+1e-10) || best < res.Ratio*(1-1e-6) {
			t.Errorf("m = %d, d = %d: ratio %.15g, the best of 1000 ascents is %.15g", m, d, res.Ratio, best)
		}
	}
}

// ascend improves the first d vectors of a random orthonormal basis q until nothing changes.
func ascend(rng *rand.Rand, a, b blas.Matrix, d int) float64 {
	m := a.Rows
	q := blas.NewMatrix(m, m)
	for i := range m { // Gram and Schmidt
		row := q.Row(i)
		for j := range m {
			row[j] = rng.NormFloat64()
		}
		for pass := 0; pass < 2*i; pass++ {
			other, dot := q.Row(pass%i), 0.0
			for j := range m {
				dot += row[j] * other[j]
			}
			for j := range m {
				row[j] -= dot * other[j]
			}
		}
		norm := 0.0
		for _, v := range row {
			norm += v * v
		}
		for j := range m {
			row[j] /= math.Sqrt(norm)
		}
	}
	quadratic := func(x blas.Matrix, p, r []float64) float64 {
		sum := 0.0
		for i := range m {
			for j := range m {
				sum += p[i] * x.At(i, j) * r[j]
			}
		}
		return sum
	}
	w := q.View(0, d, 0, m)
	ratio := traceOf(w, a) / traceOf(w, b)
	for range 300 {
		before := ratio
		for i := range d {
			for o := d; o < m; o++ {
				p, r := q.Row(i), q.Row(o)
				// The best rotation of the plane for the current ratio maximizes c = A - ratio B.
				at := func(u, v []float64) float64 { return quadratic(a, u, v) - ratio*quadratic(b, u, v) }
				angle := 0.5 * math.Atan2(2*at(p, r), at(p, p)-at(r, r))
				cos, sin := math.Cos(angle), math.Sin(angle)
				for j := range m {
					p[j], r[j] = cos*p[j]+sin*r[j], cos*r[j]-sin*p[j]
				}
			}
			ratio = traceOf(w, a) / traceOf(w, b)
		}
		if ratio-before <= 1e-14*ratio {
			break
		}
	}
	return ratio
}

// TestInvariants checks that scaling A and B scales the ratio, and that rotating the space rotates
// the subspace.
func TestInvariants(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		m := rapid.IntRange(2, 12).Draw(t, "m")
		d := rapid.IntRange(1, m-1).Draw(t, "d")
		a, b := semidefinite(rng, m, m, 2), semidefinite(rng, m, 2*m, 2)
		ctx, eng := context.Background(), enginetest.New(t, 0)
		res, err := Solve(ctx, eng, a, b, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, e := math.Exp(rng.NormFloat64()*5), math.Exp(rng.NormFloat64()*5)
		scaledA, scaledB := a.Clone(), b.Clone()
		for i := range scaledA.Data {
			scaledA.Data[i] *= c
			scaledB.Data[i] *= e
		}
		scaled, err := Solve(ctx, eng, scaledA, scaledB, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := res.Ratio * c / e; !(math.Abs(scaled.Ratio-want) <= 1e-11*want) {
			t.Errorf("ratio %g of scaled matrices, want %g", scaled.Ratio, want)
		}
		order := rng.Perm(m)
		turnedA, turnedB := blas.NewMatrix(m, m), blas.NewMatrix(m, m)
		for i := range m {
			for j := range m {
				turnedA.Set(i, j, a.At(order[i], order[j]))
				turnedB.Set(i, j, b.At(order[i], order[j]))
			}
		}
		turned, err := Solve(ctx, eng, turnedA, turnedB, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(turned.Ratio-res.Ratio) <= 1e-11*res.Ratio) {
			t.Errorf("ratio %g with the axes in another order, want %g", turned.Ratio, res.Ratio)
		}
		if res.Gap > 1e-4 { // unique: the projectors agree
			for i := range m {
				for j := range m {
					p, q := 0.0, 0.0
					for r := range d {
						p += turned.W.At(r, i) * turned.W.At(r, j)
						q += res.W.At(r, order[i]) * res.W.At(r, order[j])
					}
					if math.Abs(p-q) > 1e-7 {
						t.Fatalf("projector (%d,%d) is %g with the axes in another order, want %g", i, j, p,
							q)
					}
				}
			}
		}
	})
}

// TestNullSpace checks that a null space of B on which A is not 0 is the solution, and that one on
// which A is 0 has no effect.
func TestNullSpace(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	rng := rand.New(rand.NewPCG(8, 8))
	const m = 7
	a, b := semidefinite(rng, m, m, 1), blas.NewMatrix(m, m)
	for i := range m - 3 {
		b.Set(i, i, 1+float64(i))
	}
	res, err := Solve(ctx, eng, a, b, 2, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(res.Ratio, 1) || res.Method != "unbounded" || traceOf(res.W, b) > 1e-14 {
		t.Errorf("ratio %g by %s, tr(WBW') = %g: want no bound", res.Ratio, res.Method, traceOf(res.W, b))
	}
	checkOrthonormal(t, res.W)
	// The best subspace of the three-dimensional null space is computed by its eigenvalues.
	inside := blas.NewMatrix(3, 3)
	for i := range 3 {
		for j := range 3 {
			inside.Set(i, j, a.At(m-3+i, m-3+j))
		}
	}
	w := make([]float64, 3)
	if err := eng.SymEig(ctx, inside, w, false); err != nil {
		t.Fatal(err)
	}
	if got, want := traceOf(res.W, a), w[1]+w[2]; math.Abs(got-want) > 1e-12*want {
		t.Errorf("tr(WAW') = %.15g in the null space, want %.15g", got, want)
	}
	// With more dimensions than the null space has, the ratio is bounded.
	if res, err = Solve(ctx, eng, a, b, 4, Options{}); err != nil || math.IsInf(res.Ratio, 0) {
		t.Errorf("4 dimensions: ratio %v, error %v", res, err)
	}
	// A and B vanish on the same space.
	for i := range m {
		for j := range m {
			if i >= m-3 || j >= m-3 {
				a.Set(i, j, 0)
			}
		}
	}
	common, err := Solve(ctx, eng, a, b, 2, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if math.IsInf(common.Ratio, 0) || !(common.Ratio > 0) {
		t.Errorf("ratio %g where A vanishes with B, want a finite one", common.Ratio)
	}
}

// large returns X'X of order m and both triangles, as semidefinite, in less time.
func large(eng *engine.Engine, rng *rand.Rand, m, rank int, spread, size float64) blas.Matrix {
	x, out := blas.NewMatrix(rank, m), blas.NewMatrix(m, m)
	for i := range rank {
		for j := range m {
			x.Set(i, j, size*rng.NormFloat64()*math.Pow(spread, float64(j)/float64(m)))
		}
	}
	eng.Backend().Gemm(true, false, 1, x, x, 0, out)
	return out
}

// twice returns a matrix with two blocks x, and so with every eigenvalue twice.
func twice(x blas.Matrix) blas.Matrix {
	m := x.Rows
	out := blas.NewMatrix(2*m, 2*m)
	for i := range m {
		copy(out.Row(i), x.Row(i))
		copy(out.Row(m + i)[m:], x.Row(i))
	}
	return out
}

// TestLargeOrder checks the search in a growing space, for matrices of large order, by a
// decomposition of A - ratio B: the sum of the largest eigenvalues is 0, W spans their
// eigenvectors if these are unique, and the bits do not depend on the number of workers.
func TestLargeOrder(t *testing.T) {
	ctx, eng, rng := context.Background(), enginetest.New(t, 2), rand.New(rand.NewPCG(1, 9))
	const m = wholeOrder + 10
	full := func(spread, size float64) blas.Matrix { return large(eng, rng, m, m+20, spread, size) }
	for name, c := range map[string]struct {
		a, b blas.Matrix
		d    int
	}{
		"few directions of A": {large(eng, rng, m, 60, 3, 1), full(10, 1), 10},
		"fewer than d":        {large(eng, rng, m, 8, 3, 1), full(10, 1), 10},
		"one dimension":       {full(2, 1), full(3, 1), 1},
		"many dimensions":     {full(30, 1), full(10, 1), m/davidsonShare - 1},
		"units far apart":     {full(10, 1e4), full(10, 1e-5), 10},
		"condition 1e10":      {full(1, 1), full(1e5, 1e-2), 25},
		"every eigenvalue twice": {twice(large(eng, rng, m/2, 40, 3, 1)),
			twice(large(eng, rng, m/2, m, 10, 1)), 9},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := Solve(ctx, eng, c.a, c.b, c.d, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c.d == 1 {
				alone, err := Solve(ctx, enginetest.New(t, 1), c.a, c.b, c.d, Options{})
				if err != nil || !slices.Equal(alone.W.Data, res.W.Data) {
					t.Errorf("error %v, or W depends on the number of workers", err)
				}
			}
			checkOrthonormal(t, res.W)
			for k := 1; k < len(res.Trace); k++ {
				if res.Trace[k] < res.Trace[k-1]*(1-1e-13) {
					t.Errorf("step %d goes from %.17g to %.17g", k, res.Trace[k-1], res.Trace[k])
				}
			}
			checkOptimal(t, eng, c.a, c.b, res)
		})
	}
}

// TestUnboundedOrder checks that a ratio without bound is noticed at a large order, where the
// search begins without knowing the null space of B: if A is as large there as elsewhere or much
// smaller.
func TestUnboundedOrder(t *testing.T) {
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(3, 9))
	const m, null, d = wholeOrder + 10, 12, 9
	for _, size := range []float64{1, 1e-4} {
		a, b := large(eng, rng, m, m+20, 1, 1), large(eng, rng, m, m-null, 3, 1)
		for i := range m {
			for j := range m {
				if i < null || j < null {
					b.Set(i, j, 0)
				}
				if i < null {
					a.Set(i, j, size*a.At(i, j))
				}
				if j < null {
					a.Set(i, j, size*a.At(i, j))
				}
			}
		}
		res, err := Solve(t.Context(), eng, a, b, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsInf(res.Ratio, 1) || res.Method != "unbounded" || !(traceOf(res.W, b) <= 1e-12*b.Trace()) {
			t.Errorf("A of size %g in the null space: ratio %g by %s, tr(WBW') = %g: want no bound", size,
				res.Ratio, res.Method, traceOf(res.W, b))
		}
	}
}

// checkOptimal compares a result with a decomposition of A - ratio B.
func checkOptimal(t *testing.T, eng *engine.Engine, a, b blas.Matrix, res *Result) {
	m, d := a.Rows, res.W.Rows
	shifted, w := a.Clone(), make([]float64, a.Rows)
	for i, v := range b.Data {
		shifted.Data[i] -= res.Ratio * v
	}
	if err := eng.SymEig(context.Background(), shifted, w, true); err != nil {
		t.Fatal(err)
	}
	sum, scale := 0.0, math.Max(math.Abs(w[0]), w[m-1])*float64(m)*0x1p-52
	for _, v := range w[m-d:] {
		sum += v
		scale += 1e-10 * math.Abs(v)
	}
	if math.Abs(sum) > scale {
		t.Errorf("the %d largest eigenvalues of A - ratio B add up to %g, want 0 within %g", d, sum, scale)
	}
	// The part of W outside the span of the eigenvectors.
	inside := blas.NewMatrix(d, d)
	eng.Backend().Gemm(false, true, 1, res.W, shifted.View(m-d, m, 0, m), 0, inside)
	rest := float64(d)
	for _, v := range inside.Data {
		rest -= v * v
	}
	gap := (w[m-d] - w[m-d-1]) / (w[m-1] - w[0])
	if rounding := 10 * float64(m) * 0x1p-52; math.Sqrt(max(0, rest)) > 1e-7+rounding/gap {
		t.Errorf("W has a part %g outside the span of the eigenvectors; relative gap %g", math.Sqrt(rest),
			gap)
	}
}

func TestBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := semidefinite(rng, 4, 4, 1), semidefinite(rng, 4, 8, 1)
	with := func(x blas.Matrix, i, j int, v float64) blas.Matrix {
		x = x.Clone()
		x.Set(i, j, v)
		return x
	}
	for name, c := range map[string]struct {
		a, b blas.Matrix
		d    int
		o    Options
	}{
		"d = 0":      {a, b, 0, Options{}},
		"d > m":      {a, b, 5, Options{}},
		"shapes":     {a, blas.NewMatrix(3, 3), 1, Options{}},
		"zero A":     {blas.NewMatrix(4, 4), b, 1, Options{}},
		"NaN":        {with(a, 2, 1, math.NaN()), b, 1, Options{}},
		"infinity":   {a, with(b, 3, 3, math.Inf(1)), 1, Options{}},
		"negative":   {a, with(b, 0, 0, -1), 1, Options{}},
		"iterations": {a, b, 1, Options{MaxIter: -1}},
	} {
		if _, err := Solve(ctx, eng, c.a, c.b, c.d, c.o); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Solve(done, eng, a, b, 2, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	all, err := Solve(ctx, eng, a, b, 4, Options{})
	if err != nil || all.Method != "all" || math.Abs(all.Ratio-a.Trace()/b.Trace()) > 1e-14*all.Ratio {
		t.Errorf("d = m: %v, error %v", all, err)
	}
	// Newton's method that ends too early is followed by bisection.
	short, err := Solve(ctx, eng, a, b, 2, Options{MaxIter: 1})
	if err != nil || short.Method != "bisection" {
		t.Errorf("one step: %v, error %v: want bisection", short, err)
	}
}

func ExampleSolve() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		panic(err)
	}
	a, b := blas.NewMatrix(3, 3), blas.NewMatrix(3, 3)
	for i, v := range []float64{8, 3, 1} {
		a.Set(i, i, v)
		b.Set(i, i, []float64{4, 1, 1}[i])
	}
	res, err := Solve(context.Background(), eng, a, b, 2, Options{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("ratio %.2f, in %d eigenproblems\n", res.Ratio, res.Eigenproblems)
	// Output: ratio 2.20, in 2 eigenproblems
}

// TestVanishingCoordinates: large problems are solved where both matrices vanish, or are only
// rounding, on many of the first coordinates. The best subspace has the one coordinate with the
// largest ratio, and others where the matrices vanish.
func TestVanishingCoordinates(t *testing.T) {
	const m, d = 700, 10
	for _, zeros := range []int{172, 200, 400} {
		for _, noise := range []float64{0, 1e-18} {
			rng, eng := rand.New(rand.NewPCG(1, 1)), enginetest.New(t, 2)
			a, b, want := blas.NewMatrix(m, m), blas.NewMatrix(m, m), 0.0
			for i := range m {
				x, y, scale := rng.Float64(), 1+rng.Float64(), 1.0
				if i < zeros {
					scale = noise
				} else {
					want = max(want, x/y)
				}
				a.Set(i, i, scale*x)
				b.Set(i, i, scale*y)
			}
			got, err := Solve(context.Background(), eng, a, b, d, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Converged || !(math.Abs(got.Ratio-want) <= 1e-9*want) {
				t.Errorf("%d coordinates of size %g: ratio %.12g, converged %v, want %.12g", zeros, noise,
					got.Ratio, got.Converged, want)
			}
		}
	}
}
