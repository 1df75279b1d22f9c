package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tol covers about a hundred rounding errors; kernel values in these tests are of order 1, those of
// poly up to a few hundred.
const tol = 2e-13

// tolerance returns tol, except for exp applied to another kernel: there the distance is the square
// root of a difference of kernel values, which for near points is the square root of a rounding
// error.
func tolerance(text string) float64 {
	if strings.HasPrefix(text, "exp:width=2@") {
		return 3e-8
	}
	return tol
}

// Every kernel agrees with its definition on every combination of dense and sparse points.
func TestAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	eng := enginetest.New(t, 0)
	xd, xs := sparsify(rng, enginetest.Normal(rng, 21, 9, 0))
	yd, _ := sparsify(rng, enginetest.Normal(rng, 13, 9, 0))
	copy(yd.Row(2), xd.Row(5)) // equal points
	ys := enginetest.Sparse(yd)
	xy, xx := pairsOf(xd, yd), pairsOf(xd, xd)
	for _, text := range vectorKernels {
		k := enginetest.Kernel(t, text)
		for _, c := range []struct {
			name string
			x, y points.Points
		}{{"dense,dense", xd, yd}, {"sparse,sparse", xs, ys}, {"sparse,dense", xs, yd},
			{"dense,sparse", xd, ys}} {
			t.Run(text+"/"+c.name, func(t *testing.T) {
				checkAll(t, tolerance(text), crossOf(t, k, eng, c.x, c.y), func(i, j int) float64 {
					return eval(text, xy(i, j))
				})
				checkAll(t, tolerance(text), gramOf(t, k, eng, c.x), func(i, j int) float64 {
					return eval(text, xx(i, j))
				})
			})
		}
	}
}

func checkAll(t *testing.T, tol float64, got blas.Matrix, want func(i, j int) float64) {
	t.Helper()
	for i := range got.Rows {
		for j, v := range got.Row(i) {
			if w := want(i, j); !near(v, w, tol) {
				t.Fatalf("(%d, %d) is %v, want %v: off by %.3g", i, j, v, w, v-w)
			}
		}
	}
}

// Matrices of several tiles, with sizes around the tile edges, are exactly symmetric, have the
// diagonal of Diagonal, and equal the cross matrix of the points with themselves.
func TestGramAndCrossAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	eng := enginetest.New(t, 3)
	for _, n := range []int{0, 1, 2, 127, 128, 129, 300, 513} {
		dense, sparse := sparsify(rng, enginetest.Normal(rng, n, 5, 0.5))
		for _, text := range []string{"linear", "rbf:sigma=1.5", "exp:width=2@cosine",
			"poly:degree=3,coef=0.5,scale=0.25"} {
			k := enginetest.Kernel(t, text)
			for _, x := range []points.Points{dense, sparse} {
				t.Run(fmt.Sprintf("n=%d/%s/%T", n, text, x), func(t *testing.T) {
					g := gramOf(t, k, eng, x)
					checkSymmetric(t, g)
					diagonal, err := k.Diagonal(t.Context(), eng, x)
					if err != nil || len(diagonal) != n {
						t.Fatalf("diagonal of length %d, %v", len(diagonal), err)
					}
					for i, v := range diagonal {
						if g.At(i, i) != v {
							t.Fatalf("diagonal %d is %v, want %v", i, g.At(i, i), v)
						}
					}
					c := crossOf(t, k, eng, x, x)
					loose := 5 * tolerance(text)
					for i := range n {
						for j := range n {
							if !near(c.At(i, j), g.At(i, j), loose) {
								t.Fatalf("(%d, %d): cross %v, gram %v", i, j, c.At(i, j), g.At(i, j))
							}
						}
					}
				})
			}
		}
	}
}

func checkSymmetric(t *testing.T, g blas.Matrix) {
	t.Helper()
	for i := range g.Rows {
		for j := range i {
			if math.Float64bits(g.At(i, j)) != math.Float64bits(g.At(j, i)) {
				t.Fatalf("(%d, %d) is %v, its mirror %v", i, j, g.At(i, j), g.At(j, i))
			}
		}
	}
}

// Large offsets do not reduce the accuracy: the reference takes differences first.
func TestShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	eng := enginetest.New(t, 0)
	for _, shift := range []float64{0, 1e6, -1e6} {
		x, y := enginetest.Normal(rng, 40, 6, shift), enginetest.Normal(rng, 30, 6, shift)
		xy, xx := pairsOf(x, y), pairsOf(x, x)
		for _, text := range []string{"rbf:sigma=1.5", "rbf:gamma=0.3", "exp:width=2"} {
			t.Run(fmt.Sprintf("shift=%g/%s", shift, text), func(t *testing.T) {
				k := enginetest.Kernel(t, text)
				relative := func(got blas.Matrix, pairs func(i, j int) pair) {
					for i := range got.Rows {
						for j, v := range got.Row(i) {
							if w := eval(text, pairs(i, j)); !(math.Abs(v-w) <= 1e-11*w) {
								t.Fatalf("(%d, %d) is %v, want %v: relative error %.3g", i, j, v, w, (v-w)/w)
							}
						}
					}
				}
				relative(crossOf(t, k, eng, x, y), xy)
				relative(gramOf(t, k, eng, x), xx)
			})
		}
	}
}

// For clusters far apart centering does not help. Near pairs are still accurate, and equal rows
// have a kernel value of exactly 1 in any position, dense and sparse.
func TestFarClusters(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	eng := enginetest.New(t, 0)
	x := enginetest.Normal(rng, 60, 4, 0)
	for i := range x.N {
		for c := range x.D {
			x.Data[i*x.D+c] += float64(i%3-1) * 1e6
		}
	}
	copy(x.Row(3), x.Row(0))
	copy(x.Row(50), x.Row(1))
	pairs := pairsOf(x, x)
	for _, p := range []points.Points{x, enginetest.Sparse(x)} {
		for _, text := range []string{"rbf:sigma=1.5", "exp:width=2"} {
			g, c := gramOf(t, enginetest.Kernel(t, text), eng, p),
				crossOf(t, enginetest.Kernel(t, text), eng, p, p)
			for _, m := range []blas.Matrix{g, c} {
				for i := range x.N {
					for j := range x.N {
						w := eval(text, pairs(i, j))
						if v := m.At(i, j); !(math.Abs(v-w) <= 1e-12*w) {
							t.Fatalf("%T %s (%d, %d): %v, want %v", p, text, i, j, v, w)
						}
					}
				}
				if m.At(3, 0) != 1 || m.At(50, 1) != 1 || m.At(7, 7) != 1 {
					t.Errorf("%T %s: equal rows have %v, %v and %v, want exactly 1", p, text, m.At(3, 0),
						m.At(50, 1), m.At(7, 7))
				}
			}
		}
	}
}

// rbf never exceeds 1 and its matrix is positive semidefinite, duplicates included.
func TestGramIsPositiveSemidefinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	eng := enginetest.New(t, 0)
	x := enginetest.Normal(rng, 150, 3, 10)
	for i := 100; i < 150; i++ {
		copy(x.Row(i), x.Row(i-100))
		if i%2 == 0 {
			x.Data[i*3] *= 1 + 1e-15
		}
	}
	for _, text := range vectorKernels {
		if strings.HasPrefix(text, "sigmoid") {
			continue // not positive semidefinite
		}
		g := gramOf(t, enginetest.Kernel(t, text), eng, x)
		if strings.HasPrefix(text, "rbf") || strings.HasPrefix(text, "exp") {
			for _, v := range g.Data {
				if !(v >= 0 && v <= 1) {
					t.Fatalf("%s: value %v outside [0, 1]", text, v)
				}
			}
		}
		w := make([]float64, g.Rows)
		if err := eng.SymEig(t.Context(), g, w, false); err != nil {
			t.Fatal(err)
		}
		// In exp@… the error is the square root of a rounding error, far above rounding itself.
		slack := 1e-13
		if strings.HasPrefix(text, "exp:width=2@") {
			slack = 1e-8
		}
		if top := w[len(w)-1]; w[0] < -slack*top {
			t.Errorf("%s: smallest eigenvalue %.3g, largest %.3g", text, w[0], top)
		}
	}
}

// Permuting the points permutes the matrix.
func TestPermutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	eng := enginetest.New(t, 0)
	dense, sparse := sparsify(rng, enginetest.Normal(rng, 140, 6, 0))
	perm := rng.Perm(140)
	for _, x := range []points.Points{dense, sparse} {
		for _, text := range []string{"linear", "rbf:sigma=1.5", "cosine"} {
			k := enginetest.Kernel(t, text)
			g, p := gramOf(t, k, eng, x), gramOf(t, k, eng, x.Select(perm))
			for i := range perm {
				for j := range perm {
					if !near(p.At(i, j), g.At(perm[i], perm[j]), tol) {
						t.Fatalf("%T %s: (%d, %d) is %v, was %v", x, text, i, j, p.At(i, j),
							g.At(perm[i], perm[j]))
					}
				}
			}
		}
	}
}

// Row i of a cross matrix is bit-identical alone and in any batch.
func TestCrossRowsAreIndependent(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	eng := enginetest.New(t, 0)
	if eng.Backend().Name() == "netlib" {
		t.Skip("the rounding of OpenBLAS depends on the position of a row in its block")
	}
	for _, d := range []int{2, 65} {
		xd, xs := sparsify(rng, enginetest.Normal(rng, 140, d, 0.3))
		yd, ys := sparsify(rng, enginetest.Normal(rng, 520, d, 0.3))
		for _, c := range [][2]points.Points{{enginetest.Normal(rng, 140, d, 1),
			enginetest.Normal(rng, 520, d, 1)}, {xd, yd}, {xs, ys}, {xs, yd}, {xd, ys}} {
			for _, text := range []string{"linear", "rbf:sigma=1.5"} {
				k := enginetest.Kernel(t, text)
				all := crossOf(t, k, eng, c[0], c[1])
				for _, rows := range [][]int{{0}, {139}, {100, 7}, seq(1, 140)} {
					some := crossOf(t, k, eng, c[0].Select(rows), c[1])
					for r, i := range rows {
						if !sameBits(some.Row(r), all.Row(i)) {
							t.Fatalf("d=%d %T,%T %s: row %d of 140 differs in a batch of %d", d, c[0], c[1],
								text, i, len(rows))
						}
					}
				}
			}
		}
	}
}

func seq(lo, hi int) []int {
	var s []int
	for i := lo; i < hi; i++ {
		s = append(s, i)
	}
	return s
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y)
	})
}

// Results do not depend on the number of workers.
func TestWorkersDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	dense, sparse := sparsify(rng, enginetest.Normal(rng, 270, 7, 0.3))
	other := enginetest.Normal(rng, 530, 7, 0)
	for _, x := range []points.Points{enginetest.Normal(rng, 270, 7, 3), dense, sparse} {
		for _, text := range []string{"linear", "rbf:sigma=1.5", "poly:degree=3,coef=0.5,scale=0.25@cosine"} {
			k := enginetest.Kernel(t, text)
			// One backend for all, so that only the workers differ, not its threads.
			one := enginetest.New(t, 1)
			g, c := gramOf(t, k, one, x), crossOf(t, k, one, x, other)
			for _, workers := range []int{2, 5} {
				eng := enginetest.With(t, engine.Options{Workers: workers, Backend: one.Backend()})
				if !sameBits(g.Data, gramOf(t, k, eng, x).Data) ||
					!sameBits(c.Data, crossOf(t, k, eng, x, other).Data) {
					t.Fatalf("%T %s: the bits with %d workers and 1 worker differ", x, text, workers)
				}
			}
		}
	}
}

// A dst with a stride is overwritten only within its columns.
func TestToStride(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	eng := enginetest.New(t, 0)
	x, y := enginetest.Normal(rng, 140, 5, 0), enginetest.Normal(rng, 150, 5, 0)
	for _, text := range []string{"linear", "rbf:sigma=1.5"} {
		k := enginetest.Kernel(t, text)
		padded := func(rows, cols int) (blas.Matrix, blas.Matrix) {
			big := blas.NewMatrix(rows+2, cols+5)
			for i := range big.Data {
				big.Data[i] = math.NaN()
			}
			return big, big.View(1, rows+1, 2, cols+2)
		}
		big, dst := padded(140, 140)
		if err := k.GramTo(t.Context(), eng, dst, x); err != nil {
			t.Fatal(err)
		}
		checkPadding(t, big, dst, gramOf(t, k, eng, x))
		big, dst = padded(140, 150)
		if err := k.CrossTo(t.Context(), eng, dst, x, y); err != nil {
			t.Fatal(err)
		}
		checkPadding(t, big, dst, crossOf(t, k, eng, x, y))
	}
}

func checkPadding(t *testing.T, big, dst, want blas.Matrix) {
	t.Helper()
	for i := range want.Rows {
		if !sameBits(dst.Row(i), want.Row(i)) {
			t.Fatalf("row %d differs from the compact result", i)
		}
	}
	written := 0
	for _, v := range big.Data {
		if !math.IsNaN(v) {
			written++
		}
	}
	if written != want.Rows*want.Cols {
		t.Errorf("%d values were written, want %d", written, want.Rows*want.Cols)
	}
}

// Every kernel gives the same values for a precomputed linear Gram matrix as for the vectors.
func TestPrecomputed(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	eng := enginetest.New(t, 0)
	train, fresh := enginetest.Normal(rng, 30, 4, 0), enginetest.Normal(rng, 12, 4, 0)
	lin := enginetest.Kernel(t, "linear")
	g, err := points.NewGram(30, 30, gramOf(t, lin, eng, train).Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	diagonal, err := lin.Diagonal(t.Context(), eng, fresh)
	if err != nil {
		t.Fatal(err)
	}
	f, err := points.NewGram(12, 30, crossOf(t, lin, eng, fresh, train).Data, diagonal, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{4, 29, 0, 4, 11}
	for _, text := range vectorKernels {
		k := enginetest.Kernel(t, text)
		// Distances of precomputed products come from the expansion alone.
		loose := 1e-12
		if strings.HasPrefix(text, "exp") || strings.HasPrefix(text, "linear@rbf") {
			loose = 1e-7
		}
		same := func(name string, got, want blas.Matrix) {
			for i := range want.Rows {
				for j, w := range want.Row(i) {
					if !near(got.At(i, j), w, loose) {
						t.Errorf("%s, %s: (%d, %d) is %v, want %v", text, name, i, j, got.At(i, j), w)
						return
					}
				}
			}
		}
		got := gramOf(t, k, eng, g)
		checkSymmetric(t, got)
		same("gram", got, gramOf(t, k, eng, train))
		same("gram of a selection", gramOf(t, k, eng, g.Select(rows)), gramOf(t, k, eng, train.Select(rows)))
		same("new against train", crossOf(t, k, eng, f, g), crossOf(t, k, eng, fresh, train))
		same("new against a selection", crossOf(t, k, eng, f, g.Select(rows)),
			crossOf(t, k, eng, fresh, train.Select(rows)))
		same("one new object", gramOf(t, k, eng, f.Select([]int{3})),
			gramOf(t, k, eng, fresh.Select([]int{3})))
	}
	if got := gramOf(t, lin, eng, g); !sameBits(got.Data, g.Data) {
		t.Error("linear on a Gram matrix is not the matrix itself")
	}
	var d *fault.DataError
	if _, err := lin.Cross(t.Context(), eng, g, f); !errors.As(err, &d) || d.Row != 0 {
		t.Errorf("columns of unknown objects: %v", err)
	}
	if _, err := lin.Gram(t.Context(), eng, f); !errors.As(err, &d) || d.Row != 1 {
		t.Errorf("Gram of unknown objects: %v", err)
	}
	if _, err := lin.Pairs(t.Context(), eng, f, [][2]int{{0, 0}, {5, 2}}); !errors.As(err, &d) || d.Row != 5 {
		t.Errorf("pair of unknown objects: %v", err)
	}
}

func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	eng := enginetest.New(t, 2)
	dense, sparse := sparsify(rng, enginetest.Normal(rng, 40, 7, 0))
	lin := gramOf(t, enginetest.Kernel(t, "linear"), eng, dense)
	gram, err := points.NewGram(40, 40, lin.Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	xx := pairsOf(dense, dense)
	var pairs [][2]int
	for range 600 { // several blocks
		pairs = append(pairs, [2]int{rng.IntN(40), rng.IntN(40)})
	}
	pairs[17] = [2]int{9, 9}
	for _, text := range vectorKernels {
		k := enginetest.Kernel(t, text)
		for _, x := range []points.Points{dense, sparse, gram} {
			got, err := k.Pairs(t.Context(), eng, x, pairs)
			if err != nil {
				t.Fatal(err)
			}
			swapped := make([][2]int, len(pairs))
			for p, ij := range pairs {
				swapped[p] = [2]int{ij[1], ij[0]}
			}
			back, err := k.Pairs(t.Context(), eng, x, swapped)
			if err != nil || !sameBits(got, back) {
				t.Fatalf("%s %T: swapping pairs changes values (%v)", text, x, err)
			}
			loose := tolerance(text)
			if _, isGram := x.(*points.Gram); isGram && strings.Contains(text, "exp") {
				loose = 1e-7
			}
			for p, ij := range pairs {
				if w := eval(text, xx(ij[0], ij[1])); !near(got[p], w, loose) {
					t.Fatalf("%s %T: pair %v is %v, want %v", text, x, ij, got[p], w)
				}
			}
		}
	}
	for _, bad := range [][2]int{{0, 40}, {-1, 3}} {
		var d *fault.DataError
		if _, err := enginetest.Kernel(t, "linear").Pairs(t.Context(), eng, dense,
			[][2]int{{0, 1}, bad}); !errors.As(err, &d) || d.Row != 1 {
			t.Errorf("pair %v: %v", bad, err)
		}
	}
}

func TestSquaredDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	eng := enginetest.New(t, 0)
	x, y := enginetest.Normal(rng, 140, 3, 1e3), enginetest.Normal(rng, 20, 3, 1e3)
	copy(x.Row(77), x.Row(5))
	xx, xy := pairsOf(x, x), pairsOf(x, y)
	for _, text := range []string{"linear", "rbf:sigma=1.5", "cosine"} {
		k := enginetest.Kernel(t, text)
		d, err := k.SquaredDistances(t.Context(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		checkSymmetric(t, d)
		c, err := k.Squared().Cross(t.Context(), eng, x, y)
		if err != nil {
			t.Fatal(err)
		}
		check := func(m blas.Matrix, pairs func(i, j int) pair) {
			for i := range m.Rows {
				for j, v := range m.Row(i) {
					p := pairs(i, j)
					w := eval(text, pair{0, p.xx, p.xx, p.xx}) + eval(text, pair{0, p.yy, p.yy, p.yy}) -
						2*eval(text, p)
					if text == "linear" {
						w = p.d2
					}
					if v < 0 || !(math.Abs(v-w) <= 1e-13*max(1, w)) {
						t.Fatalf("%s: (%d, %d) is %v, want %v", text, i, j, v, w)
					}
				}
			}
		}
		check(d, xx)
		check(c, xy)
		if d.At(5, 5) != 0 || text == "linear" && d.At(77, 5) != 0 {
			t.Errorf("%s: distance of equal points is %v and %v", text, d.At(5, 5), d.At(77, 5))
		}
	}
}

func TestEmptyAndFeatureless(t *testing.T) {
	eng := enginetest.New(t, 0)
	none, some := &points.Dense{D: 3}, &points.Dense{N: 2, D: 3, Data: make([]float64, 6)}
	sparse := &points.CSR{N: 2, D: 3, Start: []int{0, 0, 0}}
	for _, text := range vectorKernels {
		k := enginetest.Kernel(t, text)
		for _, c := range [][2]points.Points{{none, some}, {some, none}, {none, none}, {none, sparse},
			{sparse, none}} {
			if m := crossOf(t, k, eng, c[0], c[1]); m.Rows != c[0].Len() || m.Cols != c[1].Len() {
				t.Errorf("%s: %d x %d", text, m.Rows, m.Cols)
			}
		}
		for _, x := range []points.Points{some, sparse, &points.Dense{N: 2}} {
			w := eval(text, pair{})
			for _, v := range append(gramOf(t, k, eng, x).Data, crossOf(t, k, eng, x, x).Data...) {
				if !near(v, w, tol) {
					t.Errorf("%s %T: zero vectors give %v, want %v", text, x, v, w)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	eng := enginetest.With(t, engine.Options{MemoryLimit: 1 << 20})
	rbf := enginetest.Kernel(t, "rbf:sigma=1")
	x := &points.Dense{N: 2, D: 2, Data: []float64{1, 2, 3, 4}}
	g := &points.Gram{N: 2, M: 2, Data: []float64{1, 0, 0, 1}, Diagonal: []float64{1, 1},
		Reference: []int{0, 1}}
	with := func(v float64) *points.Dense { return &points.Dense{N: 2, D: 2, Data: []float64{1, 2, 3, v}} }
	cases := []struct {
		name  string
		k     kernel.Kernel
		x, y  points.Points
		as    any
		wants string
	}{
		{"features", rbf, x, &points.Dense{N: 1, D: 3, Data: make([]float64, 3)}, new(*fault.ShapeError),
			"number of features is 2: want 3"},
		{"references", rbf, g,
			&points.Gram{N: 1, M: 1, Data: []float64{1}, Diagonal: []float64{1}, Reference: []int{0}},
			new(*fault.ShapeError), "reference objects"},
		{"kinds", rbf, x, g, new(*fault.ParamError), "points of one kind"},
		{"sequences", enginetest.Kernel(t, "rbf:sigma=1@spectrum:k=3"), x, x, new(*fault.ParamError),
			"takes sequences"},
		{"memory", rbf, &points.Dense{N: 1000}, &points.Dense{N: 1000}, new(*fault.MemoryError), "landmarks"},
		{"nan in x", rbf, with(math.NaN()), x, new(*fault.DataError), `row 1, column "1": value is NaN`},
		{"inf in y", rbf, x, with(math.Inf(-1)), new(*fault.DataError), `row 1, column "1": value is -Inf`},
		{"overflow", rbf, with(1e200), x, new(*fault.DataError), "standardize"},
		{"overflow of poly", enginetest.Kernel(t, "poly:degree=100"), with(1e10), x, new(*fault.DataError),
			"standardize"},
		{"overflow of linear", enginetest.Kernel(t, "linear"), x, with(1e160), new(*fault.DataError),
			"standardize"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.k.Cross(t.Context(), eng, c.x, c.y)
			if !errors.As(err, c.as) || !fault.IsInput(err) || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("Cross: %v, want %T with %q", err, c.as, c.wants)
			}
			if c.x.Len() == c.y.Len() && c.name != "kinds" && c.name != "features" {
				for _, x := range []points.Points{c.x, c.y} {
					m, err := c.k.Gram(t.Context(), eng, x)
					if err == nil && slices.ContainsFunc(m.Data, func(v float64) bool {
						return math.IsNaN(v) || math.IsInf(v, 0)
					}) {
						t.Error("Gram: not finite without an error")
					}
				}
			}
		})
	}
	t.Run("diagonal and pairs", func(t *testing.T) {
		var d *fault.DataError
		for _, v := range []float64{math.NaN(), 1e200} {
			if _, err := rbf.Diagonal(t.Context(), eng, with(v)); !errors.As(err, &d) || d.Row != 1 {
				t.Errorf("Diagonal with %v: %v", v, err)
			}
			if _, err := rbf.Pairs(t.Context(), eng, with(v), [][2]int{{0, 1}}); !errors.As(err, &d) ||
				d.Row != 1 {
				t.Errorf("Pairs with %v: %v", v, err)
			}
		}
	})
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err1 := rbf.Gram(ctx, eng, x)
		_, err2 := rbf.Cross(ctx, eng, x, x)
		_, err3 := rbf.Diagonal(ctx, eng, x)
		_, err4 := rbf.Pairs(ctx, eng, x, [][2]int{{0, 1}})
		for i, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("call %d: %v", i, err)
			}
		}
	})
	t.Run("shape of dst", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("a dst of the wrong shape was accepted")
			}
		}()
		_ = rbf.GramTo(t.Context(), eng, blas.NewMatrix(2, 3), x)
	})
}

// A Gram matrix that is symmetric up to rounding gives exactly symmetric values, the same in a
// matrix and for pairs.
func TestNearlySymmetricGram(t *testing.T) {
	eng := enginetest.New(t, 0)
	const n = 30
	data := make([]float64, n*n)
	rng := rand.New(rand.NewPCG(13, 1))
	for i := range data {
		data[i] = 1e-13 * rng.Float64()
		if i%(n+1) == 0 {
			data[i] = 1
		}
	}
	g, err := points.NewGram(n, n, data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := enginetest.Kernel(t, "linear")
	m := gramOf(t, k, eng, g)
	checkSymmetric(t, m)
	for i := range n {
		for j := range n {
			v, err := k.Pairs(t.Context(), eng, g, [][2]int{{i, j}})
			if err != nil || v[0] != m.At(i, j) {
				t.Fatalf("pair (%d, %d) is %v, the matrix has %v (%v)", i, j, v, m.At(i, j), err)
			}
		}
	}
}

// An indefinite "Gram" matrix gives no NaN: distances are clamped, overflow is an error.
func TestIndefiniteGram(t *testing.T) {
	eng := enginetest.New(t, 0)
	g, err := points.NewGram(2, 2, []float64{1, 5, 5, 1}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := gramOf(t, enginetest.Kernel(t, "rbf:sigma=1"), eng, g); m.At(1, 0) != 1 {
		t.Errorf("negative squared distance gives %v, want 1", m.At(1, 0))
	}
	if m := gramOf(t, enginetest.Kernel(t, "cosine"), eng, g); m.At(1, 0) != 1 {
		t.Errorf("cosine is %v, want at most 1", m.At(1, 0))
	}
	huge, err := points.NewGram(2, 2, []float64{1, -1e200, -1e200, 1}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var d *fault.DataError
	if _, err := enginetest.Kernel(t, "poly:degree=4").Gram(t.Context(), eng, huge); !errors.As(err, &d) {
		t.Errorf("overflow: %v", err)
	}
	if _, err := enginetest.Kernel(t, "poly:degree=4").Pairs(t.Context(), eng, huge,
		[][2]int{{0, 1}}); !errors.As(err, &d) || d.Row != 1 {
		t.Errorf("overflow in a pair: %v", err)
	}
}

func ExampleKernel_Gram() {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		panic(err)
	}
	x, err := points.NewDense(3, 2, []float64{0, 0, 3, 4, 0, 0})
	if err != nil {
		panic(err)
	}
	spec, err := kernel.Parse("rbf:sigma=5")
	if err != nil {
		panic(err)
	}
	k, err := kernel.New(spec)
	if err != nil {
		panic(err)
	}
	gram, err := k.Gram(context.Background(), eng, x)
	if err != nil {
		panic(err)
	}
	for i := range gram.Rows {
		fmt.Printf("%.4f\n", gram.Row(i))
	}
	// Output:
	// [1.0000 0.6065 1.0000]
	// [0.6065 1.0000 0.6065]
	// [1.0000 0.6065 1.0000]
}

func ExampleParse() {
	for _, text := range []string{"exp:lle", "rbf:0.5mean@cosine", "rbf:sgima=1", "rbf:sigma=-1"} {
		spec, err := kernel.Parse(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(spec, spec.NeedsData())
	}
	// Output:
	// exp:width=lle true
	// rbf:sigma=0.5mean@cosine true
	// parameter of kernel rbf is "sgima": want one of sigma, gamma; did you mean "sigma"?
	// sigma of kernel rbf is -1: want a number > 0
}

// A kernel matrix written to existing memory makes the same number of allocations for many points
// and for few.
func TestGramAllocations(t *testing.T) {
	eng := enginetest.New(t, 1)
	few, many := enginetest.Normal(rand.New(rand.NewPCG(1, 1)), 300, 7, 0),
		enginetest.Normal(rand.New(rand.NewPCG(1, 2)), 900, 7, 0)
	dst := eng.NewMatrix(900, 900)
	for _, text := range []string{"linear", "rbf:sigma=5", "exp:width=5", "poly:degree=3"} {
		k := enginetest.Kernel(t, text)
		each := enginetest.Allocations(t, 300, func(n int) {
			var x points.Points = few
			if n > 300 {
				x = many
			}
			if err := k.GramTo(t.Context(), eng, dst.View(0, n, 0, n), x); err != nil {
				t.Fatal(err)
			}
		})
		if each > 0.1 {
			t.Errorf("%s: %g allocations a row", text, each)
		}
	}
}
