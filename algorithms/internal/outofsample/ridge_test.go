package outofsample

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// sample draws points and smooth coordinates of them with some noise.
func sample(n int) (*points.Dense, blas.Matrix) {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	x := enginetest.Normal(rng, n, 3, 0)
	y := blas.NewMatrix(n, 2)
	for i := range n {
		row := x.Row(i)
		y.Set(i, 0, math.Sin(row[0])+0.1*rng.NormFloat64())
		y.Set(i, 1, row[1]*row[2]+0.1*rng.NormFloat64())
	}
	return x, y
}

// TestLeaveOneOut compares the closed form with fits to all rows but one.
func TestLeaveOneOut(t *testing.T) {
	const n, width, ridge = 25, 1.5, 0.1
	x, y := sample(n)
	ctx, eng := context.Background(), enginetest.New(t, 2)
	distance, err := kernel.Linear().SquaredDistances(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			distance.Set(i, j, math.Sqrt(distance.At(i, j)))
		}
	}
	p, err := decompose(ctx, eng, distance, width, y)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for out := range n {
		var rows []int
		for i := range n {
			if i != out {
				rows = append(rows, i)
			}
		}
		k := blas.NewMatrix(n-1, n-1)
		for a, i := range rows {
			for b, j := range rows {
				k.Set(a, b, math.Exp(-distance.At(i, j)/width))
			}
			k.Set(a, a, 1+ridge)
		}
		inverse := enginetest.Inverse(t, k)
		for c := range y.Cols {
			e := y.At(out, c)
			for a, i := range rows {
				for b, j := range rows {
					e -= math.Exp(-distance.At(out, i)/width) * inverse.At(a, b) * y.At(j, c)
				}
			}
			want += e * e
		}
	}
	if got, err := p.leaveOneOut(ctx, eng, ridge); err != nil || !(math.Abs(got-want) <= 1e-10*want) {
		t.Errorf("squared errors add up to %.15g: want %.15g", got, want)
	}
}

// TestOptimum: the weights are a stationary point of |Y - K V|^2 + ridge V' K V, where all rows are
// landmarks and where a part of them are.
func TestOptimum(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	for _, n := range []int{60, exact + 50} {
		x, y := sample(n)
		k, err := exponential(kernel.Linear(), 2)
		if err != nil {
			t.Fatal(err)
		}
		r := regression{Kernel: k}
		const ridge = 0.3
		if err := r.solve(ctx, eng, x, y, ridge, 1); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: n, false: landmarks}[n <= exact]; len(r.Rows) != want ||
			r.Weights.Rows != want {
			t.Fatalf("%d rows: %d landmarks, %d weights: want %d", n, len(r.Rows), r.Weights.Rows, want)
		}
		support := x.Select(r.Rows)
		fit, penalty := blas.NewMatrix(n, y.Cols), blas.NewMatrix(len(r.Rows), y.Cols)
		if err := k.MultiplyTo(ctx, eng, fit, x, support, r.Weights); err != nil {
			t.Fatal(err)
		}
		if err := k.MultiplyTo(ctx, eng, penalty, support, support, r.Weights); err != nil {
			t.Fatal(err)
		}
		residual := y.Clone()
		for i := range n {
			for c := range y.Cols {
				residual.Set(i, c, y.At(i, c)-fit.At(i, c))
			}
		}
		gradient := blas.NewMatrix(len(r.Rows), y.Cols) // K_lx (Y - K V) - ridge K_ll V
		if err := k.MultiplyTo(ctx, eng, gradient, support, x, residual); err != nil {
			t.Fatal(err)
		}
		for i := range gradient.Rows {
			for c, v := range gradient.Row(i) {
				// The jitter adds 1e-10 to the diagonal of a system whose elements are up to n.
				if v -= ridge * penalty.At(i, c); math.Abs(v) > 1e-8*float64(n) {
					t.Fatalf("%d rows: the gradient of weight (%d, %d) is %g", n, i, c, v)
				}
			}
		}
	}
}

// TestNew: a map predicts new points better than the mean and than the nearest training row, also
// from rows of a Gram matrix, and with points that are all equal.
func TestNew(t *testing.T) {
	const n = 300
	x, y := sample(n + 100)
	ctx, eng := context.Background(), enginetest.New(t, 2)
	m, err := NewRidge(ctx, eng, "test", kernel.Linear(), points.Slice(x, 0, n), y.View(0, n, 0, 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	fresh := points.Slice(x, n, n+100)
	got := embed(ctx, t, eng, m, fresh)
	var ours, nearest float64
	for i := range got.Rows {
		near, best := 0, math.Inf(1)
		for j := range n {
			if d := points.SquaredDistance(x.Row(n+i), x.Row(j)); d < best {
				near, best = j, d
			}
		}
		for c := range 2 {
			ours += math.Pow(got.At(i, c)-y.At(n+i, c), 2)
			nearest += math.Pow(y.At(near, c)-y.At(n+i, c), 2)
		}
	}
	if ours > 0.7*nearest {
		t.Errorf("squared errors of new points: %g, of the nearest training rows %g", ours, nearest)
	}

	whole, err := kernel.Linear().Gram(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	diagonal := make([]float64, n+100)
	reference := make([]int, n+100)
	for i := range diagonal {
		diagonal[i], reference[i] = whole.At(i, i), i
		if i >= n {
			reference[i] = -1
		}
	}
	inner := whole.View(0, n+100, 0, n).Clone()
	gram := &points.Gram{N: n + 100, M: n, Data: inner.Data, Diagonal: diagonal, Reference: reference}
	of, err := NewRidge(ctx, eng, "test", kernel.Linear(), points.Slice(gram, 0, n), y.View(0, n, 0, 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	same := embed(ctx, t, eng, of, points.Slice(gram, n, n+100))
	for i := range same.Rows {
		for c, v := range same.Row(i) {
			if math.Abs(v-got.At(i, c)) > 1e-8 {
				t.Fatalf("coordinate (%d, %d) from a Gram matrix is %g: want %g", i, c, v, got.At(i, c))
			}
		}
	}

	one := &points.Dense{N: 5, D: 2, Data: make([]float64, 10)}
	flat, err := NewRidge(ctx, eng, "test", kernel.Linear(), one, y.View(0, 5, 0, 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	if y := embed(ctx, t, eng, flat,
		&points.Dense{N: 1, D: 2, Data: []float64{1, 1}}); slices.ContainsFunc(y.Data, func(v float64) bool {
		return v-v != 0
	}) {
		t.Errorf("from points in one place: %v", y.Data)
	}
}

func embed(ctx context.Context, t *testing.T, eng *engine.Engine, m *fitted.Map,
	x points.Points) blas.Matrix {
	t.Helper()
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}
