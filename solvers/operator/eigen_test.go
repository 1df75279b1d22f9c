package operator_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/operator"
)

const eps = 0x1p-52

// diagonal returns a sparse matrix with these eigenvalues. Its eigenvectors are unit vectors, which
// no method exploits.
func diagonal(t testing.TB, w []float64) operator.Operator {
	t.Helper()
	m := &sparse.Matrix{Rows: len(w), Cols: len(w), Start: []int{0}}
	for i, v := range w {
		m.Col, m.Val = append(m.Col, int32(i)), append(m.Val, v)
		m.Start = append(m.Start, i+1)
	}
	a, err := operator.Sparse(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// check verifies A v = w v with the operator itself, orthonormality, and the reported residuals.
func check(t *testing.T, eng *engine.Engine, a operator.Operator, res *operator.Eigenpairs,
	tolerance float64) {
	t.Helper()
	n, k := a.Order(), len(res.Values)
	if k == 0 {
		return
	}
	x, y := blas.NewMatrix(n, k), blas.NewMatrix(n, k)
	for i := range n {
		for j := range k {
			x.Set(i, j, res.Vectors.At(j, i))
		}
	}
	if err := a.Multiply(context.Background(), eng, y, x); err != nil {
		t.Fatal(err)
	}
	for j, w := range res.Values {
		sum := 0.0
		for i := range n {
			d := y.At(i, j) - w*x.At(i, j)
			sum += d * d
		}
		r := math.Sqrt(sum)
		if !(r <= 2*tolerance*res.Norm) {
			t.Errorf("residual of pair %d (%v) is %.3g |A|: want %.3g", j, w, r/res.Norm, tolerance)
		}
		if !(math.Abs(r-res.Residuals[j]) <= 1e-3*r+30*eps*res.Norm) {
			t.Errorf("residual of pair %d is %g, reported as %g", j, r, res.Residuals[j])
		}
		for l := range j + 1 {
			dot := 0.0
			for i := range n {
				dot += x.At(i, j) * x.At(i, l)
			}
			want := 0.0
			if l == j {
				want = 1
			}
			if !(math.Abs(dot-want) <= 30*eps*math.Sqrt(float64(n))) {
				t.Errorf("v_%d'v_%d is %v: want %v", j, l, dot, want)
			}
		}
	}
}

// spectra returns easy and hard spectra of order n.
func spectra(n int) map[string][]float64 {
	make := func(f func(i int) float64) []float64 {
		w := make([]float64, n)
		for i := range w {
			w[i] = f(i)
		}
		return w
	}
	return map[string][]float64{
		"line":     make(func(i int) float64 { return float64(i) }),
		"decaying": make(func(i int) float64 { return 1 / float64(1+i) }),
		"indefinite": make(func(i int) float64 {
			return math.Pow(0.98, float64(i)) * float64(1-2*(i%2))
		}),
		"identity":       make(func(int) float64 { return 1 }),
		"zero":           make(func(int) float64 { return 0 }),
		"thirty copies":  make(func(i int) float64 { return float64(i / 30) }),
		"two values":     make(func(i int) float64 { return float64(i % 2) }),
		"clusters":       make(func(i int) float64 { return float64(i/12) + 1e-6*float64(i%12) }),
		"square":         make(func(i int) float64 { return float64(i) * float64(i) }),
		"one above many": make(func(i int) float64 { return float64(1/(1+i)) + 1e-3*float64(i%7) }),
	}
}

// TestEnds checks that the eigenvalues at both ends are found with all their copies, in a sparse
// matrix (filtered) and a dense one (a Krylov space of the matrix itself), with a coarse and a fine
// tolerance.
func TestEnds(t *testing.T) {
	const n, k = 600, 10
	eng := enginetest.New(t, 2)
	ctx := context.Background()
	for name, w := range spectra(n) {
		sorted := slices.Clone(w)
		slices.Sort(sorted)
		norm := max(math.Abs(sorted[0]), math.Abs(sorted[n-1]))
		full := blas.NewMatrix(n, n)
		for i, v := range w {
			full.Set(i, i, v)
		}
		dense, err := operator.Dense(full)
		if err != nil {
			t.Fatal(err)
		}
		for kind, a := range map[string]operator.Operator{"sparse": diagonal(t, w), "dense": dense} {
			for _, tolerance := range []float64{1e-6, 1e-10} {
				t.Run(fmt.Sprintf("%s/%s/%g", name, kind, tolerance), func(t *testing.T) {
					o := operator.EigenOptions{Tolerance: tolerance, Seed: 3}
					top, err := operator.TopEigenpairs(ctx, eng, a, k, o)
					if err != nil {
						t.Fatal(err)
					}
					bottom, err := operator.BottomEigenpairs(ctx, eng, a, k, o)
					if err != nil {
						t.Fatal(err)
					}
					for i := range k {
						if d := math.Abs(top.Values[i] - sorted[n-1-i]); !(d <= 2*tolerance*norm) {
							t.Errorf("value %d from the top is %v: want %v", i, top.Values[i], sorted[n-1-i])
						}
						if d := math.Abs(bottom.Values[i] - sorted[i]); !(d <= 2*tolerance*norm) {
							t.Errorf("value %d from the bottom is %v: want %v", i, bottom.Values[i],
								sorted[i])
						}
					}
					if !(top.Norm <= norm*(1+1e-12)) || !(top.Norm >= 0.5*max(sorted[n-1], -sorted[0])) {
						t.Errorf("the norm is %v: want %v from below", top.Norm, norm)
					}
					check(t, eng, a, top, tolerance)
					check(t, eng, a, bottom, tolerance)
				})
			}
		}
	}
}

// TestNull checks for every method that an excluded subspace does not return.
func TestNull(t *testing.T) {
	for _, n := range []int{100, 700} {
		w := make([]float64, n)
		for i := range w {
			w[i] = float64(i)
		}
		null := blas.NewMatrix(2, n)
		null.Set(0, 0, 1)
		null.Set(1, 2, 1)
		eng := enginetest.New(t, 1)
		a := diagonal(t, w)
		res, err := operator.BottomEigenpairs(context.Background(), eng, a, 3,
			operator.EigenOptions{Null: null, Tolerance: 1e-7})
		if err != nil {
			t.Fatal(n, err)
		}
		for i, want := range []float64{1, 3, 4} {
			if !(math.Abs(res.Values[i]-want) <= 1e-4) {
				t.Errorf("n=%d: value %d is %v: want %v", n, i, res.Values[i], want)
			}
		}
		check(t, eng, a, res, 1e-7)
	}
}

// TestKernel checks that the largest eigenpairs of a kernel matrix are the same whether it is
// stored or not, and equal those of a decomposition.
func TestKernel(t *testing.T) {
	const n, k = 500, 5
	rng := rand.New(rand.NewPCG(5, 6))
	data := make([]float64, n*3)
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	x, err := points.NewDense(n, 3, data)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := kernel.Parse("rbf:sigma=1.5")
	if err != nil {
		t.Fatal(err)
	}
	f, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	eng := enginetest.New(t, 2)
	ctx := context.Background()
	gram, err := f.Gram(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := operator.Dense(gram)
	if err != nil {
		t.Fatal(err)
	}
	a, err := operator.TopEigenpairs(ctx, eng, stored, k, operator.EigenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := operator.TopEigenpairs(ctx, eng, kernelMatrix{f, x}, k, operator.EigenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, eng, stored, a, 1e-10)
	check(t, eng, stored, b, 1e-10)
	all := make([]float64, n)
	if err := eng.SymEig(ctx, gram.Clone(), all, false); err != nil {
		t.Fatal(err)
	}
	for i := range k {
		for what, v := range map[string]float64{"stored": a.Values[i], "not stored": b.Values[i]} {
			if !(math.Abs(v-all[n-1-i]) <= 1e-10*all[n-1]) {
				t.Errorf("%s: value %d is %v: want %v", what, i, v, all[n-1-i])
			}
		}
	}
}

// TestEigenSameBits checks that the result is bit-identical for any number of workers.
func TestEigenSameBits(t *testing.T) {
	w := spectra(3000)["square"]
	var want *operator.Eigenpairs
	for workers := 1; workers <= 3; workers++ {
		res, err := operator.BottomEigenpairs(context.Background(), enginetest.New(t, workers),
			diagonal(t, w), 7, operator.EigenOptions{Tolerance: 1e-8})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = res
		}
		if !slices.Equal(res.Values, want.Values) || !slices.Equal(res.Vectors.Data, want.Vectors.Data) {
			t.Fatalf("%d workers give other bits", workers)
		}
	}
}

// rings returns a graph of circles of the given sizes; the eigenvalues of a circle of n points are
// 2 - 2 cos(2 pi j / n).
func rings(sizes ...int) *sparse.Matrix {
	m := &sparse.Matrix{Start: []int{0}}
	for _, n := range sizes {
		first := m.Rows
		for i := range n {
			if n > 1 {
				a, b := first+(i+n-1)%n, first+(i+1)%n
				m.Col = append(m.Col, int32(min(a, b)), int32(max(a, b)))
				m.Val = append(m.Val, 1, 1)
			}
			m.Start = append(m.Start, len(m.Col))
		}
		m.Rows += n
	}
	m.Cols = m.Rows
	return m
}

// TestLaplacianWithHubs has graphs in which some points are neighbors of hundreds of others. The
// largest eigenvalue of the Laplacian is then isolated and must not be mistaken for the limit of
// the unwanted part. Circles have known eigenvalues: a null vector for every component, and each
// other one twice, or four times for two circles of the same size. The search has its own limit, so
// that no decomposition helps it.
func TestLaplacianWithHubs(t *testing.T) {
	const n, r = 500, 22
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var pairs [][2]int
		for i := range n {
			for range 10 {
				j := rng.IntN(n)
				if hub := rng.IntN(60); rng.Float64() < 0.6 { // the first hubs have the most neighbors
					j = rng.IntN(hub + 1)
				}
				if j != i {
					pairs = append(pairs, [2]int{min(i, j), max(i, j)})
				}
			}
		}
		a := graphOf(n, pairs)
		l, err := graph.Laplacian(a, false)
		if err != nil {
			t.Fatal(err)
		}
		op, err := operator.Sparse(l)
		if err != nil {
			t.Fatal(err)
		}
		eng := enginetest.New(t, 2)
		res, err := operator.LaplacianEigenpairs(context.Background(), eng, a, false, r,
			operator.EigenOptions{Tolerance: 1e-8, Products: 20000, Seed: seed})
		if err != nil {
			t.Fatal(seed, err)
		}
		check(t, eng, op, res, 1e-8)
		all, err := operator.LaplacianEigenpairs(context.Background(), eng, a, false, n/2,
			operator.EigenOptions{})
		if err != nil || all.Method != "decomposition" {
			t.Fatal(all.Method, err)
		}
		for i, v := range res.Values {
			if !(math.Abs(v-all.Values[i]) <= 1e-6) {
				t.Errorf("seed %d: value %d is %v: want %v", seed, i, v, all.Values[i])
			}
		}
	}
}

// graphOf returns the adjacency matrix of the graph with these edges.
func graphOf(n int, pairs [][2]int) *sparse.Matrix {
	slices.SortFunc(pairs, func(p, q [2]int) int { return cmp.Or(p[0]-q[0], p[1]-q[1]) })
	pairs = slices.Compact(pairs)
	near := make([][]int32, n)
	for _, p := range pairs {
		near[p[0]], near[p[1]] = append(near[p[0]], int32(p[1])), append(near[p[1]], int32(p[0]))
	}
	m := &sparse.Matrix{Rows: n, Cols: n, Start: []int{0}}
	for _, list := range near {
		slices.Sort(list)
		m.Col = append(m.Col, list...)
		m.Start = append(m.Start, len(m.Col))
	}
	m.Val = slices.Repeat([]float64{1}, len(m.Col))
	return m
}

func TestLaplacianOfRings(t *testing.T) {
	for _, sizes := range [][]int{{5}, {1, 1, 1}, {700}, {400, 1, 400, 3}, {1000, 900}} {
		var want []float64
		for _, n := range sizes {
			for j := range n {
				want = append(want, 2-2*math.Cos(2*math.Pi*float64(j)/float64(n)))
			}
		}
		slices.Sort(want)
		a := rings(sizes...)
		for _, normalized := range []bool{false, true} {
			scale := 1.0
			if normalized {
				scale = 0.5 // every degree is 2, except for single points
			}
			for _, r := range []int{0, 1, 2, 3, min(13, a.Rows)} {
				r = min(r, a.Rows)
				eng := enginetest.New(t, 2)
				res, err := operator.LaplacianEigenpairs(context.Background(), eng, a, normalized, r,
					operator.EigenOptions{Tolerance: 1e-9})
				if err != nil {
					t.Fatal(sizes, r, err)
				}
				l, err := graph.Laplacian(a, normalized)
				if err != nil {
					t.Fatal(err)
				}
				op, err := operator.Sparse(l)
				if err != nil {
					t.Fatal(err)
				}
				if res.Norm == 0 {
					res.Norm = 4
				}
				check(t, eng, op, res, 1e-9)
				for i, v := range res.Values {
					if !(math.Abs(v-scale*want[i]) <= 1e-8) {
						t.Errorf("%v, normalized %t: value %d of %d is %v: want %v", sizes, normalized, i, r,
							v, scale*want[i])
					}
				}
			}
		}
	}
}

func TestEigenErrors(t *testing.T) {
	eng := enginetest.New(t, 1)
	ctx := context.Background()
	a := diagonal(t, spectra(600)["square"])
	input := func(what string, err error) {
		t.Helper()
		if !fault.IsInput(err) {
			t.Errorf("%s: %v: want an error of input", what, err)
		}
	}
	_, err := operator.TopEigenpairs(ctx, eng, a, 601, operator.EigenOptions{})
	input("k > n", err)
	_, err = operator.TopEigenpairs(ctx, eng, a, -1, operator.EigenOptions{})
	input("k < 0", err)
	_, err = operator.BottomEigenpairs(ctx, eng, a, 600, operator.EigenOptions{Null: blas.NewMatrix(1, 600)})
	input("k > n - null", err)
	_, err = operator.BottomEigenpairs(ctx, eng, a, 5, operator.EigenOptions{Null: blas.NewMatrix(1, 599)})
	input("null of another length", err)
	_, err = operator.TopEigenpairs(ctx, eng, a, 1, operator.EigenOptions{Tolerance: math.NaN()})
	input("tolerance", err)
	_, err = operator.TopEigenpairs(ctx, eng, a, 1, operator.EigenOptions{Products: -1})
	input("products", err)
	_, err = operator.LaplacianEigenpairs(ctx, eng, rings(5), false, 6, operator.EigenOptions{})
	input("r > n", err)
	small, _ := engine.New(engine.Options{MemoryLimit: 10000})
	_, err = operator.TopEigenpairs(ctx, small, a, 2, operator.EigenOptions{})
	input("memory", err)

	for _, n := range []int{0, 1} {
		res, err := operator.TopEigenpairs(ctx, eng, diagonal(t, make([]float64, n)), n,
			operator.EigenOptions{})
		if err != nil || len(res.Values) != n || !res.Converged {
			t.Errorf("n = %d: %v, %v", n, res, err)
		}
	}

	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := operator.BottomEigenpairs(done, eng, a, 3, operator.EigenOptions{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: %v", err)
	}

	nan := spectra(600)["line"]
	var bad *blas.NoConvergenceError
	if _, err := operator.TopEigenpairs(ctx, eng, poisoned{diagonal(t, nan)}, 3,
		operator.EigenOptions{}); !errors.As(err, &bad) {
		t.Errorf("NaN: %v", err)
	}
}

// TestEigenNoConvergence checks that a limit that is too low gives the best pairs so far together
// with the error.
func TestEigenNoConvergence(t *testing.T) {
	eng := enginetest.New(t, 2)
	a := diagonal(t, spectra(3000)["square"])
	_, err := operator.BottomEigenpairs(context.Background(), eng, a, 8, operator.EigenOptions{Products: 200})
	var bound *operator.NoEigenpairsError
	if !errors.As(err, &bound) {
		t.Fatal(err)
	}
	if bound.Best.Converged || len(bound.Best.Values) != 8 || bound.Passed == 8 {
		t.Errorf("%+v", bound)
	}
	if slices.Max(bound.Best.Residuals) <= 1e-10*bound.Best.Norm {
		t.Error("all residuals pass")
	}
}

// poisoned returns NaN.
type poisoned struct{ operator.Operator }

func (p poisoned) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	err := p.Operator.Multiply(ctx, eng, y, x)
	y.Set(3, 0, math.NaN())
	return err
}
