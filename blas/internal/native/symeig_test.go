package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/gonum"
	"github.com/mustlink/mustlink/internal/racetest"
)

// kindsOfMatrices are those that LAPACK's own tests draw on: random, with spectra that are
// clustered, graded or repeated, tridiagonal ones whose eigenvalues come in close pairs, and
// some that deflate at once.
func kindsOfMatrices(n int, rng *rand.Rand) map[string]blas.Matrix {
	spectrum := func(w func(i int) float64) blas.Matrix {
		q, l := blas.NewMatrix(n, n), blas.NewMatrix(n, n)
		for i := range q.Data {
			q.Data[i] = rng.NormFloat64()
		}
		reference := gonum.New(nil)
		reference.QR(q, l)
		scaled, a := q.Clone(), blas.NewMatrix(n, n)
		for i := range n {
			for j := range n {
				scaled.Set(i, j, q.At(i, j)*w(j))
			}
		}
		reference.Gemm(false, true, 1, scaled, q, 0, a)
		return a
	}
	tridiagonal := func(d, e func(i int) float64) blas.Matrix {
		a := blas.NewMatrix(n, n)
		for i := range n {
			a.Set(i, i, d(i))
			if i > 0 {
				a.Set(i, i-1, e(i))
			}
		}
		return a
	}
	random := blas.NewMatrix(n, n)
	for i := range random.Data {
		random.Data[i] = rng.NormFloat64()
	}
	wilkinson := func(m int) func(i int) float64 { // |i - (m-1)/2| in each block of m
		return func(i int) float64 { return math.Abs(float64(i%m) - float64(m-1)/2) }
	}
	return map[string]blas.Matrix{
		"random":    random,
		"clustered": spectrum(func(i int) float64 { return 1 + 1e-9*float64(i%7) }),
		"one large": spectrum(func(i int) float64 { return math.Max(1e-10, float64(1-min(1, i))) }),
		"graded":    spectrum(func(i int) float64 { return math.Pow(10, -12*float64(i)/float64(n)) }),
		"repeated":  spectrum(func(i int) float64 { return float64(i % 4) }),
		"opposite":  spectrum(func(i int) float64 { return float64(i/2) * float64(1-2*(i%2)) }),
		"Wilkinson": tridiagonal(wilkinson(n), func(int) float64 { return 1 }),
		"glued": tridiagonal(wilkinson(21), func(i int) float64 {
			if i%21 == 0 {
				return 1e-8
			}
			return 1
		}),
		"1-2-1": tridiagonal(func(int) float64 { return 2 }, func(int) float64 { return 1 }),
		"diagonal": tridiagonal(func(i int) float64 {
			return float64(i * 7 % 5)
		}, func(int) float64 { return 0 }),
		"tiny off": tridiagonal(func(i int) float64 {
			return float64(i)
		}, func(int) float64 { return 1e-20 }),
		"zero":  blas.NewMatrix(n, n),
		"small": spectrum(func(i int) float64 { return 1e-90 / float64(1+i*i) }),
		"huge":  spectrum(func(i int) float64 { return 1e90 / float64(1+i) }),
	}
}

// Residuals, orthogonality and eigenvalues, the last against gonum's QR iteration, are within
// 30 n eps, and the bits do not depend on the number of workers.
func TestSymEigKinds(t *testing.T) {
	table, err := asm.Select(asm.Best())
	if err != nil {
		t.Fatal(err)
	}
	one, three, reference := New(table, 1), New(table, 3), gonum.New(nil)
	for _, n := range racetest.Some([]int{25, 33, 64, 65, 129, 260}, []int{65}) {
		for name, a := range kindsOfMatrices(n, rand.New(rand.NewPCG(uint64(n), 7))) {
			what := fmt.Sprintf("n=%d, %s", n, name)
			for i := range n { // the lower triangle is all there is
				for j := i + 1; j < n; j++ {
					a.Set(i, j, a.At(j, i))
				}
			}
			bound := 30 * float64(n) * 0x1p-53 * max(norm1(a), 0x1p-1000)
			v, w := a.Clone(), make([]float64, n)
			if err := one.SymEig(v, w, true); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			again, w3 := a.Clone(), make([]float64, n)
			if err := three.SymEig(again, w3, true); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if !slices.Equal(v.Data, again.Data) || !slices.Equal(w, w3) {
				t.Fatalf("%s: three workers give other bits", what)
			}
			if !slices.IsSorted(w) {
				t.Errorf("%s: the eigenvalues do not ascend", what)
			}
			values, want := make([]float64, n), make([]float64, n)
			if err := one.SymEig(a.Clone(), values, false); err != nil {
				t.Fatalf("%s, values only: %v", what, err)
			}
			others := a.Clone()
			if err := reference.SymEig(others, want, true); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !(math.Abs(w[i]-want[i]) <= bound) || !(math.Abs(values[i]-want[i]) <= bound) {
					t.Errorf("%s: eigenvalue %d is %v with vectors and %v without: want %v within %.2g", what,
						i, w[i], values[i], want[i], bound)
				}
			}
			// V V' = I and V A = W V, for the rows of V; and invariant subspaces are gonum's:
			// vectors of eigenvalues that are apart are orthogonal up to rounding over the
			// distance.
			gram, product, cross := blas.NewMatrix(n, n), blas.NewMatrix(n, n), blas.NewMatrix(n, n)
			reference.Gemm(false, true, 1, v, others, 0, cross)
			reference.Gemm(false, true, 1, v, v, 0, gram)
			reference.Gemm(false, false, 1, v, a, 0, product)
			for i := range n {
				for j := range n {
					unit := 0.0
					if i == j {
						unit = 1
					}
					if !(math.Abs(gram.At(i, j)-unit) <= 30*float64(n)*0x1p-53) {
						t.Fatalf("%s: v_%d'v_%d is %v", what, i, j, gram.At(i, j))
					}
					if apart := math.Abs(w[i] - want[j]); !(math.Abs(cross.At(i, j))*apart <= 2*bound) {
						t.Fatalf("%s: eigenvector %d has a part %.3g of gonum's %d, %.3g away", what, i,
							cross.At(i, j), j, apart)
					}
					if !(math.Abs(product.At(i, j)-w[i]*v.At(i, j)) <= bound) {
						t.Fatalf("%s: the residual of eigenvector %d is %.3g: want %.3g", what, i,
							product.At(i, j)-w[i]*v.At(i, j), bound)
					}
				}
			}
		}
	}
}

// norm1 returns the largest absolute row sum.
func norm1(a blas.Matrix) float64 {
	largest := 0.0
	for i := range a.Rows {
		sum := 0.0
		for _, v := range a.Row(i) {
			sum += math.Abs(v)
		}
		largest = max(largest, sum)
	}
	return largest
}

// Roots of the secular equation lie between their poles, and the equation holds at them to its
// own rounding: for poles close together, far apart and of every weight.
func TestSecular(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		k := 1 + rng.IntN(40)
		s := secular{rho: math.Exp(10 * rng.NormFloat64())}
		d := rng.NormFloat64()
		for range k {
			s.d = append(s.d, d)
			d += math.Exp(-20 * rng.Float64())
			z := math.Exp(-10 * rng.Float64())
			s.z2 = append(s.z2, z*z)
		}
		for i := range k {
			delta := make([]float64, k)
			root := s.root(i, delta)
			if !(delta[i] < 0) || i+1 < k && !(delta[i+1] > 0) {
				t.Fatalf("root %d of %d is outside its interval: %v, distances %v", i, k, root, delta)
			}
			f, size := 1/s.rho, 1/s.rho
			for j, v := range delta {
				f += s.z2[j] / v
				size += math.Abs(s.z2[j] / v)
			}
			// An error of an ulp in the distance to the pole moves its term by as much.
			if !(math.Abs(f) <= 8*float64(k+4)*0x1p-52*size) {
				t.Fatalf("root %d of %d: the function is %.3g there, its terms add up to %.3g", i, k, f, size)
			}
		}
	}
}

// TestSymEigStride checks that nothing is written between the rows of a matrix that is part of a
// larger one.
func TestSymEigStride(t *testing.T) {
	table, err := asm.Select(asm.Best())
	if err != nil {
		t.Fatal(err)
	}
	const n, stride = 70, 80
	whole := blas.NewMatrix(n, stride)
	rng := rand.New(rand.NewPCG(13, 14))
	for i := range whole.Data {
		whole.Data[i] = rng.NormFloat64()
	}
	before := whole.Clone()
	if err := New(table, 2).SymEig(whole.View(0, n, 0, n), make([]float64, n), true); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if !slices.Equal(whole.Row(i)[n:], before.Row(i)[n:]) {
			t.Fatalf("row %d was written beyond the matrix", i)
		}
	}
}

func BenchmarkSymEig(b *testing.B) {
	table, err := asm.Select(asm.Best())
	if err != nil {
		b.Fatal(err)
	}
	backend := New(table, 2)
	for _, n := range []int{100, 500, 1000} {
		for _, vectors := range []bool{true, false} {
			b.Run(fmt.Sprintf("n=%d/vectors=%t", n, vectors), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 1))
				a := blas.NewMatrix(n, n)
				for i := range a.Data {
					a.Data[i] = rng.NormFloat64()
				}
				w := make([]float64, n)
				for b.Loop() {
					if err := backend.SymEig(a.Clone(), w, vectors); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestTeam checks that a team does every task of every run once, whose functions alternate.
func TestTeam(t *testing.T) {
	const tasks, runs = 8, 500
	for _, helpers := range []int{0, 1, 5} {
		var counts [2][tasks]atomic.Int64
		team := newTeam(helpers, tasks)
		for r := range runs {
			team.run(func(i int) { counts[r%2][i].Add(1) })
			for i := range counts[r%2] {
				if got := counts[r%2][i].Load(); got != int64(r/2+1) {
					t.Fatalf("%d helpers: task %d was done %d times in %d runs", helpers, i, got, r/2+1)
				}
			}
		}
		team.stop()
	}
}
