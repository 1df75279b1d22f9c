//go:build netlib && cgo && !purego

package netlib

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// TestGate checks that inside the gate OpenBLAS has the number of threads that the call requested:
// one for small calls, which run concurrently, and all for a large one, which runs alone.
func TestGate(t *testing.T) {
	const threads = 2
	var small, large atomic.Int32
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			if i%4 == 0 {
				leave := enter(largeFlops, threads)
				defer leave()
				large.Add(1)
				defer large.Add(-1)
				if got := currentThreads(); got != threads {
					t.Errorf("a large call finds %d threads: want %d", got, threads)
				}
				if large.Load() != 1 || small.Load() != 0 {
					t.Errorf("a large call runs concurrently with %d small and %d large ones: want it alone",
						small.Load(), large.Load()-1)
				}
				return
			}
			leave := enter(largeFlops-1, threads)
			defer leave()
			small.Add(1)
			defer small.Add(-1)
			if got := currentThreads(); got != 1 {
				t.Errorf("a small call finds %d threads: want 1", got)
			}
		})
	}
	wg.Wait()
	if got := currentThreads(); got != 1 {
		t.Errorf("%d threads are left: want 1", got)
	}
}

// TestRelease checks that after Release OpenBLAS has the thread count that other code set, in any
// order of calls.
func TestRelease(t *testing.T) {
	defer Release()
	for _, threads := range []int{2, 1, 2} {
		Release()
		setThreads(threads)
		for _, flops := range []float64{1, largeFlops, 1} {
			enter(flops, 2)()
		}
		if got := currentThreads(); got != 1 {
			t.Errorf("%d threads between calls: want 1", got)
		}
		Release()
		if got := currentThreads(); got != threads {
			t.Errorf("%d threads after Release: want %d, as before", got, threads)
		}
	}
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			if i%4 == 0 {
				Release()
				return
			}
			leave := enter(largeFlops*float64(i%2), 2)
			defer leave()
			if got, want := currentThreads(), 1+i%2; got != want {
				t.Errorf("a call finds %d threads: want %d", got, want)
			}
		})
	}
	wg.Wait()
}

// TestGateShared checks that two small calls can be inside at once, and so can large ones of a
// backend with one thread.
func TestGateShared(t *testing.T) {
	first := enter(1, 2)
	second := enter(1, 2)
	third := enter(math.Inf(1), 1)
	third()
	second()
	first()
}

// TestGateAfterPanic checks that a call that panics inside the gate leaves it, so that the next
// large call does not wait.
func TestGateAfterPanic(t *testing.T) {
	func() {
		defer func() { _ = recover() }()
		defer enter(largeFlops, 2)()
		panic("inside")
	}()
	enter(largeFlops, 2)()
}

// TestBackendsSideBySide checks that a backend's bits depend on its own threads, not on what other
// backends do at the same time.
func TestBackendsSideBySide(t *testing.T) {
	const n = 180 // 2 n^3 = 11.7e6 flops: large
	rng := rand.New(rand.NewPCG(1, 1))
	a := blas.NewMatrix(n, n)
	for i := range a.Data {
		a.Data[i] = rng.NormFloat64()
	}
	multiply := func(threads int) []float64 {
		c := blas.NewMatrix(n, n)
		New(nil, threads).Gemm(false, true, 1, a, a, 0, c)
		return c.Data
	}
	alone := [][]float64{1: multiply(1), 2: multiply(2)}
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			threads := 1 + i%2
			got := multiply(threads)
			for p, v := range alone[threads] {
				if math.Float64bits(got[p]) != math.Float64bits(v) {
					t.Errorf("%d threads: element %d is %v, was %v when alone", threads, p, got[p], v)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestTooLarge(t *testing.T) {
	big := blas.Matrix{Rows: 1, Cols: 1, Stride: math.MaxInt32 + 1, Data: []float64{1}}
	one := blas.NewMatrix(1, 1)
	b := New(nil, 1)
	for name, f := range map[string]func(){
		"Gemm":      func() { b.Gemm(false, false, 1, one, big, 0, one) },
		"Syrk":      func() { b.Syrk(false, 1, big, 0, one) },
		"Syr":       func() { b.Syr(1, []float64{1}, big) },
		"Gemv":      func() { b.Gemv(false, 1, big, []float64{1}, 0, []float64{1}) },
		"Symv":      func() { b.Symv(1, big, []float64{1}, 0, []float64{1}) },
		"Trsm":      func() { b.Trsm(true, false, one, big) },
		"Cholesky":  func() { _ = b.Cholesky(big) },
		"SymEig":    func() { _ = b.SymEig(big, []float64{0}, true) },
		"SymEigTop": func() { _ = b.SymEigTop(one, []float64{0}, big) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != errTooLarge {
					t.Errorf("panic is %v: want %q", got, errTooLarge)
				}
			}()
			f()
		})
	}
}

// TestLargeOrderPath checks, on a small order, that the eigenvectors by bisection, for orders whose
// workspace size dsyevd cannot represent, agree with those of dsyevd.
func TestLargeOrderPath(t *testing.T) {
	const n = 50
	rng := rand.New(rand.NewPCG(2, 2))
	a, v := blas.NewMatrix(n, n), blas.NewMatrix(n, n)
	for i := range a.Data {
		a.Data[i] = rng.NormFloat64()
	}
	want, got := make([]float64, n), make([]float64, n)
	if info := dsyevd(a.Clone(), want, true); info != 0 {
		t.Fatalf("dsyevd: info %d", info)
	}
	if info := dsyevr(a.Clone(), 0, got, v); info != 0 {
		t.Fatalf("dsyevr: info %d", info)
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 100*n*0x1p-52) {
			t.Errorf("eigenvalue %d is %v: want %v", i, got[i], want[i])
		}
		var residual float64 // of the symmetric matrix of a's lower triangle
		for r := range n {
			var av float64
			for c := range n {
				av += a.At(max(r, c), min(r, c)) * v.At(i, c)
			}
			residual = max(residual, math.Abs(av-got[i]*v.At(i, r)))
		}
		if !(residual <= 100*n*0x1p-52) {
			t.Errorf("eigenvector %d: residual %v", i, residual)
		}
	}
	work := func(n int) int { return 2*n*n + 6*n + 1 }
	if work(maxDivideOrder) > math.MaxInt32 || work(maxDivideOrder+1) <= math.MaxInt32 {
		t.Errorf("order %d is not the last whose workspace fits 32 bits", maxDivideOrder)
	}
}

func TestDescribe(t *testing.T) {
	if s := New(nil, 3).Describe(); !strings.Contains(s, "OpenBLAS") || !strings.Contains(s, "core") ||
		!strings.Contains(s, "threads 3") {
		t.Errorf("description is %q: want library, core and threads", s)
	}
	if got := New(nil, 0).(backend).threads; got != 1 {
		t.Errorf("New(nil, 0) has %d threads: want 1", got)
	}
}

// TestAdvice: a core older than the processor is named with what to do; others are not.
func TestAdvice(t *testing.T) {
	const dynamic, fixed = "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY", "OpenBLAS 0.3.21 NO_AFFINITY"
	for _, c := range []struct {
		library, core string
		best          asm.Level
		want          string
	}{
		{dynamic, "Haswell", asm.AVX512, "set OPENBLAS_CORETYPE=SkylakeX"},
		{dynamic, "Prescott", asm.AVX2, "set OPENBLAS_CORETYPE=Haswell"},
		{dynamic, "Zen", asm.AVX2, ""},
		{fixed, "Haswell", asm.AVX512, "DYNAMIC_ARCH"},
		{fixed, "Haswell", asm.AVX2, ""},
	} {
		if got := advice(c.library, c.core, c.best); (got == "") != (c.want == "") ||
			!strings.HasSuffix(got, c.want) {
			t.Errorf("%s on %s: %q: want %q", c.core, c.best, got, c.want)
		}
	}
	if got, want := blas.Advice(New(nil, 1)), advice(library(), core(), asm.Best()); got != want {
		t.Errorf("the advice of the backend is %q: want %q", got, want)
	}
}
