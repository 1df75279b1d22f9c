package gml

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// TestTheta checks that theta is optimal: the gradient agrees with differences, and no direction
// within the cone decreases the objective.
func TestTheta(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r := rapid.IntRange(1, 6).Draw(t, "r")
		eng := enginetest.New(t, 0)
		g, c := enginetest.Matrix(rng, r, r+3, 0), blas.NewMatrix(r, r)
		eng.Backend().Gemm(false, true, 1, g, g, 0, c)
		k := make([]float64, r)
		for i := range k {
			k[i] = c.At(i, i) * math.Exp(rng.NormFloat64())
		}
		theta, err := minimizeTheta(eng, c, k, make([]float64, r))
		if err != nil {
			t.Fatal(err)
		}
		value := func(theta []float64) thetaPoint {
			p, err := evaluateTheta(eng, c, k, theta)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		best := value(theta)
		for i := range r {
			if theta[i] < 0 || i > 0 && theta[i] < theta[i-1] {
				t.Fatalf("theta is %v", theta)
			}
			up, down := slices.Clone(theta), slices.Clone(theta)
			h := 1e-5 * (1e-2 + theta[i])
			up[i] += h
			down[i] = max(0, down[i]-h)
			if want := (value(up).value - value(down).value) /
				(up[i] - down[i]); math.Abs(best.slope[i]-want) > 1e-3*(1+math.Abs(want)) {
				t.Fatalf("slope %d is %g, differences give %g", i, best.slope[i], want)
			}
		}
		for range 100 { // other points of the cone, near and far
			other, sum := slices.Clone(theta), 0.0
			size := math.Pow(10, -5*rng.Float64())
			for i := range other {
				other[i] = max(0, other[i]+size*rng.NormFloat64())
				sum = max(sum, other[i])
				other[i] = sum // increases
			}
			if v := value(other).value; v < best.value-1e-7*(1+math.Abs(best.value)) {
				t.Fatalf("%v gives %.12g, %v gives %.12g", theta, best.value, other, v)
			}
		}
	})
}

// TestDataDepNewRows: kernel and distances of fitted models are, for training and new rows, those
// of M = (S^-1 + V diag(theta) V')^-1 by this definition, changed by the multipliers of the links,
// also after rounds that learn theta.
func TestDataDepNewRows(t *testing.T) {
	const n, fresh = 70, 30
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, labels, _ := enginetest.Rings(t, n+fresh, 2, 1)
	train := points.Slice(x, 0, n).(*points.Dense)
	for _, outer := range []int{1, 4} {
		l := of(DataDep)
		l.Params.Outer, l.Params.Dims = outer, 3
		m := fittest.Fit[*Model](t, l, train, enginetest.Drawn(t, labels[:n], 20, 20, 1))
		if learned := len(m.Trace()) > 1 && slices.Max(m.weights) > 0; learned != (outer > 1) {
			t.Fatalf("%d rounds, theta %v", len(m.Trace()), m.weights)
		}
		b, err := begin(l.Params, l.Begin(eng, train, nil)).vectors(ctx, m.Kernel())
		if err != nil {
			t.Fatal(err)
		}
		gram, err := m.Kernel().Gram(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		// With s(x, y) of all rows, (S^-1 + U U')^-1 = S - S U (I + U'S U)^-1 U'S, where U has
		// sqrt(theta_c) v_c on the training rows. What is learned on these has a ridge in S.
		s, u := mat.NewDense(x.N, x.N, gram.Data), mat.NewDense(x.N, len(m.weights), nil)
		for c, v := range m.weights {
			for i := range n {
				u.Set(i, c, math.Sqrt(v)*b.Vectors.At(c, i))
			}
		}
		ridged := mat.DenseCopyOf(s)
		for i := range n {
			ridged.Set(i, i, ridged.At(i, i)*(1+ridge)) // a Gaussian kernel, 1 there
		}
		deformed := func(s, left, right *mat.Dense) *mat.Dense {
			var lu, ur, inner, solved, out mat.Dense
			lu.Mul(left, u)
			ur.Mul(u.T(), right)
			inner.Product(u.T(), ridged, u)
			for c := range m.weights {
				inner.Set(c, c, inner.At(c, c)+1)
			}
			if err := solved.Solve(&inner, &ur); err != nil {
				t.Fatal(err)
			}
			out.Mul(&lu, &solved)
			out.Sub(s, &out)
			return &out
		}
		linked := logdetmetric.Supervision{Links: m.warm.Links}.Linked()
		across, among := mat.NewDense(x.N, len(linked), nil), mat.NewDense(len(linked), len(linked), nil)
		columns, whole := deformed(s, s, ridged), deformed(ridged, ridged, ridged)
		across.Apply(func(i, b int, _ float64) float64 { return columns.At(i, linked[b]) }, across)
		among.Apply(func(a, b int, _ float64) float64 { return whole.At(linked[a], linked[b]) }, among)
		compareKernel(t, m, x, n, moved(t, m, deformed(s, s, s), across, among))
	}
}

// TestDeformed checks that the family is the inverse of S^-1 + V diag(theta) V', and that the
// learned kernel agrees with its definition between new points, too, where T is 0.
func TestDeformed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, others, r = 14, 5, 3
	ctx, eng := context.Background(), enginetest.New(t, 0)
	spec, err := kernel.Parse("rbf:sigma=1.5")
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	all := &points.Dense{N: n + others, D: 2, Data: enginetest.Matrix(rng, n+others, 2, 0).Data}
	train := points.Slice(all, 0, n)
	l := of(DataDep)
	d := &deformed{fit: begin(l.Params, l.Begin(eng, train, nil)), theta: []float64{0, 0.4, 3},
		linked: []int{1, 4, 5, 9}}
	if d.s, err = k.Gram(ctx, eng, train); err != nil {
		t.Fatal(err)
	}
	d.v, d.w, d.c = enginetest.Matrix(rng, n, r, 0), blas.NewMatrix(n, r), blas.NewMatrix(r, r)
	eng.Backend().Gemm(false, false, 1, d.s, d.v, 0, d.w)
	eng.Backend().Gemm(true, false, 1, d.v, d.w, 0, d.c)
	if err := d.factor(); err != nil {
		t.Fatal(err)
	}
	whole, err := k.Gram(ctx, eng, all)
	if err != nil {
		t.Fatal(err)
	}
	inverse := enginetest.Inverse(t, whole)
	for i := range n {
		for j := range n {
			for c, v := range d.theta {
				inverse.Set(i, j, inverse.At(i, j)+v*d.v.At(i, c)*d.v.At(j, c))
			}
		}
	}
	m := enginetest.Inverse(t, inverse) // of training and new points
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	for i, v := range d.among(rows, rows).Data {
		if want := m.At(i/n, i%n); math.Abs(v-want) > 1e-8 {
			t.Fatalf("M is %g at (%d, %d), want %g", v, i/n, i%n, want)
		}
	}
	b := blas.NewMatrix(4, 4)
	half := enginetest.Matrix(rng, 4, 4, 0)
	eng.Backend().Gemm(false, true, 0.02, half, half, 0, b)
	learned, err := d.directions(ctx, k, b)
	if err != nil {
		t.Fatal(err)
	}
	definition := func(i, j int) float64 {
		sum := m.At(i, j)
		for a, p := range d.linked {
			for c, q := range d.linked {
				sum -= m.At(i, p) * b.At(a, c) * m.At(q, j)
			}
		}
		return sum
	}
	y, err := learned.Embed(ctx, eng, all)
	if err != nil {
		t.Fatal(err)
	}
	// Training points span the map, so products with them are exact.
	for i := range n {
		for j := range n + others {
			sum := 0.0
			for c := range y.Cols {
				sum += y.At(i, c) * y.At(j, c)
			}
			if want := definition(i, j); math.Abs(sum-want) > 1e-6 {
				t.Fatalf("the learned kernel is %g at (%d, %d), want %g", sum, i, j, want)
			}
		}
	}
	want := mat.NewDense(n+others, n+others, nil)
	for i := range n + others {
		for j := range n + others {
			want.Set(i, j, definition(i, j))
		}
	}
	among := blas.NewMatrix(4, 4)
	for a, p := range d.linked {
		for c, q := range d.linked {
			among.Set(a, c, definition(p, q))
		}
	}
	exact, err := d.corrected(ctx, learned, d.among(d.linked, d.linked), &logdet.Result{A: among})
	if err != nil {
		t.Fatal(err)
	}
	compareKernel(t, fitted.New(exact, DefaultParams(), algorithms.Status{}), all, n, want)
	// v' K v
	for c, got := range d.energies(b) {
		want := 0.0
		for i := range n {
			for j := range n {
				want += d.v.At(i, c) * definition(i, j) * d.v.At(j, c)
			}
		}
		if math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
			t.Fatalf("energy %d is %g, want %g", c, got, want)
		}
	}
}
