package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/krylov"
	"github.com/mustlink/mustlink/internal/racetest"
)

// withSpectrum returns Q diag(w) Q' for a random product Q of reflections.
func withSpectrum(b blas.Backend, w []float64, seed uint64) blas.Matrix {
	n := len(w)
	rng := rand.New(rand.NewPCG(seed, 7))
	a := blas.NewMatrix(n, n)
	for i, v := range w {
		a.Set(i, i, v)
	}
	u, p := make([]float64, n), make([]float64, n)
	for range 6 {
		uu := 0.0
		for i := range u {
			u[i] = rng.NormFloat64()
			uu += u[i] * u[i]
		}
		b.Gemv(false, 1, a, u, 0, p)
		up := 0.0
		for i := range u {
			up += u[i] * p[i]
		}
		for i := range n {
			for j := range n {
				a.Data[i*a.Stride+j] -= 2*(u[i]*p[j]+p[i]*u[j])/uu - 4*up*u[i]*u[j]/(uu*uu)
			}
		}
	}
	return a
}

// TestSymEigTopOfLargeOrder checks that the search converges on the spectra that are not hard, with
// the right eigenvalues, unit vectors and small residuals, also if an eigenvalue has more copies
// than the block has columns. On hard spectra the decomposition may replace it.
func TestSymEigTopOfLargeOrder(t *testing.T) {
	b := New(mustTable(t), 2).(*backend)
	const n, k = 520, 12
	hard := map[string]bool{"repeated 3 values": true, "negative": true}
	spectra := map[string]func(i int) float64{
		"decaying":          func(i int) float64 { return 1 / float64(1+i) },
		"geometric":         func(i int) float64 { return math.Pow(0.9, float64(i)) },
		"repeated 3 values": func(i int) float64 { return float64(i % 3) },
		"identity":          func(int) float64 { return 1 },
		"one above many":    func(i int) float64 { return float64(1 / (1 + i)) },
		"fifty copies":      func(i int) float64 { return 2 * float64(min(1, 50/(i+1))) },
		"negative":          func(i int) float64 { return -float64(i+1) * float64(i+1) },
		"indefinite":        func(i int) float64 { return float64(1-2*(i%2)) * math.Pow(0.95, float64(i)) },
		"large":             func(i int) float64 { return 1e90 / float64(1+i*i) },
		"small":             func(i int) float64 { return 1e-90 / float64(1+i*i) },
	}
	if racetest.Enabled { // one search of many products and one with a restart say it all
		spectra = map[string]func(i int) float64{"decaying": spectra["decaying"],
			"fifty copies": spectra["fifty copies"]}
	}
	for name, f := range spectra {
		t.Run(name, func(t *testing.T) {
			spectrum := make([]float64, n)
			norm := 0.0
			for i := range spectrum {
				spectrum[i] = f(i)
				norm = max(norm, math.Abs(spectrum[i]))
			}
			a := withSpectrum(b, spectrum, 3)
			w, v := make([]float64, k), blas.NewMatrix(k, n)
			if !hard[name] && !krylov.Top(b, b.nest.EachBlock, a.Clone(), w, v) {
				t.Fatal("the search did not end within its budget")
			}
			if hard[name] {
				if err := b.SymEigTop(a.Clone(), w, v); err != nil {
					t.Fatal(err)
				}
			}
			want := largest(spectrum, k)
			tol := 10 * float64(n) * 0x1p-52
			for i := range w {
				if !(math.Abs(w[i]-want[i]) <= tol*norm) {
					t.Errorf("eigenvalue %d is %.17g: want %.17g", i, w[i], want[i])
				}
			}
			checkPairs(t, b, symmetric(a), w, v, tol, norm)
		})
	}
}

// symmetric returns a copy of a's lower triangle, mirrored: rounding made a unsymmetric.
func symmetric(a blas.Matrix) blas.Matrix { return form.Mirror(a) }

func largest(values []float64, k int) []float64 {
	sorted := append([]float64(nil), values...)
	for i := range k {
		best := i
		for j := i; j < len(sorted); j++ {
			if sorted[j] > sorted[best] {
				best = j
			}
		}
		sorted[i], sorted[best] = sorted[best], sorted[i]
	}
	return sorted[:k]
}

// checkPairs checks A v = w v and v v' = I in units of n eps.
func checkPairs(t *testing.T, b blas.Backend, a blas.Matrix, w []float64, v blas.Matrix, tol, norm float64) {
	t.Helper()
	av := blas.NewMatrix(v.Rows, v.Cols)
	b.Gemm(false, false, 1, v, a, 0, av)
	gram := blas.NewMatrix(v.Rows, v.Rows)
	b.Gemm(false, true, 1, v, v, 0, gram)
	for i := range w {
		sum := 0.0
		for j, x := range av.Row(i) {
			d := (x - w[i]*v.At(i, j)) / norm
			sum += d * d
		}
		if !(math.Sqrt(sum) <= tol) {
			t.Errorf("residual of pair %d is %.3g |A|: want at most %.3g", i, math.Sqrt(sum), tol)
		}
		for j := range w {
			want := 0.0
			if i == j {
				want = 1
			}
			if !(math.Abs(gram.At(i, j)-want) <= tol) {
				t.Errorf("v_%d'v_%d is %.17g: want %g", i, j, gram.At(i, j), want)
			}
		}
	}
}

// TestSymEigTopFallsBack checks that the result is right although a spectrum without any gap
// exhausts the search.
func TestSymEigTopFallsBack(t *testing.T) {
	racetest.Skip(t, "ten seconds of gonum's QR iteration, which starts no goroutine")
	b := New(mustTable(t), 2)
	const n, k = 520, 5
	spectrum := make([]float64, n)
	for i := range spectrum {
		spectrum[i] = 1 + 1e-9*float64(n-i)
	}
	a := withSpectrum(b, spectrum, 5)
	full := symmetric(a)
	w, v := make([]float64, k), blas.NewMatrix(k, n)
	if err := b.SymEigTop(a, w, v); err != nil {
		t.Fatal(err)
	}
	checkPairs(t, b, full, w, v, 10*float64(n)*0x1p-52, 1)
	for i := range w {
		if !(math.Abs(w[i]-spectrum[i]) <= 10*float64(n)*0x1p-52) {
			t.Errorf("eigenvalue %d is %.17g: want %.17g", i, w[i], spectrum[i])
		}
	}
}

// TestSymEigTopSameBits checks that the result is bit-identical for any number of workers, also of
// the decomposition: the start vectors are fixed, and products have one order.
func TestSymEigTopSameBits(t *testing.T) {
	const k = 7
	for _, n := range []int{390, 520} {
		spectrum := make([]float64, n)
		for i := range spectrum {
			spectrum[i] = 1 / float64(i+1)
		}
		var first []float64
		for _, workers := range []int{1, 3} {
			b := New(mustTable(t), workers)
			a := withSpectrum(New(mustTable(t), 1), spectrum, 9)
			w, v := make([]float64, k), blas.NewMatrix(k, n)
			if err := b.SymEigTop(a, w, v); err != nil {
				t.Fatal(err)
			}
			if got := append(w, v.Data...); first == nil {
				first = got
			} else {
				for i := range got {
					if got[i] != first[i] {
						t.Fatalf("order %d, %d workers: value %d is %v, with one %v", n, workers, i, got[i],
							first[i])
					}
				}
			}
		}
	}
}

func TestSymEigTopNonFinite(t *testing.T) {
	b := New(mustTable(t), 2)
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		a := blas.NewMatrix(520, 520)
		a.Set(519, 3, bad)
		if err := b.SymEigTop(a, make([]float64, 3), blas.NewMatrix(3, 520)); err == nil {
			t.Errorf("%v in the matrix: no error", bad)
		}
	}
}

func BenchmarkSymEigTop(bench *testing.B) {
	for _, n := range []int{500, 1000} {
		bench.Run(fmt.Sprintf("SymEigTop/n=%d/k=20", n), func(bench *testing.B) {
			b := New(mustTable(bench), 2)
			spectrum := make([]float64, n)
			for i := range spectrum {
				spectrum[i] = math.Pow(0.97, float64(i))
			}
			a := withSpectrum(b, spectrum, 1)
			w, v := make([]float64, 20), blas.NewMatrix(20, n)
			for bench.Loop() {
				c := a.Clone()
				if err := b.SymEigTop(c, w, v); err != nil {
					bench.Fatal(err)
				}
			}
		})
	}
}

func mustTable(t testing.TB) *asm.Table {
	t.Helper()
	table, err := asm.Select(asm.Best())
	if err != nil {
		t.Fatal(err)
	}
	return table
}
