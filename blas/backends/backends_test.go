package backends

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

func TestOpen(t *testing.T) {
	for _, name := range Names() {
		for _, threads := range []int{0, 1, 3} {
			b, err := Open(Options{Name: name, Threads: threads, SIMD: "generic"})
			if err != nil || b.Name() != name {
				t.Errorf("Open(%s): %v, error %v", name, b, err)
			}
		}
	}
	b, err := Open(Options{})
	if err != nil || b.Name() != Default() || !slices.Contains(Names(), Default()) {
		t.Errorf("Open with no name: %v, error %v: want %s", b, err, Default())
	}
	want := "native"
	if slices.Contains(Names(), "netlib") {
		want = "netlib"
	}
	if Default() != want {
		t.Errorf("default is %s: want %s", Default(), want)
	}
	b, err = Open(Options{Name: "native"})
	if cores := fmt.Sprintf("workers %d", runtime.GOMAXPROCS(0)); err != nil ||
		!strings.Contains(b.Describe(), cores) {
		t.Errorf("description of native is %q, error %v: want %s", b.Describe(), err, cores)
	}
}

// TestOpenErrors checks that every refusal is an input error that lists the accepted values.
func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		o     Options
		wants []string
	}{
		{Options{Name: "atlas"}, append(Names(), "backend", `"atlas"`)},
		{Options{Name: "Native"}, Names()},
		{Options{SIMD: "sse"}, []string{`"sse"`, "generic", "avx2", "avx512", "neon"}},
		{Options{SIMD: "neon", Name: "gonum"}, []string{"generic", "this build and CPU"}},
		{Options{Threads: -1}, []string{"threads", "-1", ">= 0"}},
		{Options{Name: "netlib"}, []string{"gonum, native", "-tags netlib", "OpenBLAS"}},
	} {
		if c.o.SIMD != "" {
			if level, err := asm.ParseLevel(c.o.SIMD); err == nil && slices.Contains(asm.Supported(), level) {
				continue
			}
		}
		if slices.Contains(Names(), c.o.Name) && c.o.SIMD == "" {
			continue // netlib, in its own build
		}
		b, err := Open(c.o)
		if err == nil || b != nil {
			t.Errorf("Open(%+v) = %v, error %v: want an error alone", c.o, b, err)
			continue
		}
		// What fault.IsInput asks for; that package is on a floor above.
		if in := interface {
			error
			InputFault()
		}(nil); !errors.As(err, &in) {
			t.Errorf("Open(%+v): %v: want an input fault", c.o, err)
		}
		for _, want := range c.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Open(%+v): message %q: want it to say %q", c.o, err, want)
			}
		}
	}
}

// agree fails the test unless a and b agree within tol in every element.
func agree(t *testing.T, what string, a, b []float64, tol float64) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%s: lengths %d and %d", what, len(a), len(b))
	}
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= tol) {
			t.Fatalf("%s: element %d is %v and %v: want them within %.3g", what, i, a[i], b[i], tol)
		}
	}
}

// All backends of the build give the same products, factors, solutions, eigenvalues and
// eigenprojectors, to n eps times the condition of each.
func TestBackendsAgree(t *testing.T) {
	const n, k, eps = 150, 70, 0x1p-52
	rng := rand.New(rand.NewPCG(1, 1))
	x := blas.NewMatrix(n, k)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	type result struct {
		gram, factor, solution, values, projector []float64
	}
	run := func(b blas.Backend) (r result) {
		a := blas.NewMatrix(n, n)
		b.Gemm(false, true, 1.0/k, x, x, 0, a)
		for i := range n {
			a.Set(i, i, a.At(i, i)+1) // eigenvalues between 1 and about 7
		}
		r.gram = slices.Clone(a.Data)
		l, y, w := a.Clone(), x.Clone(), make([]float64, n)
		if err := errors.Join(b.Cholesky(l), b.SymEig(a, w, true)); err != nil {
			t.Fatalf("%s: %v", b.Name(), err)
		}
		b.Trsm(true, false, l, y)
		b.Trsm(true, true, l, y)
		for i := range n {
			clear(l.Row(i)[i+1:])
		}
		// The k-dimensional range of x x' has the k largest eigenvalues; its projector is
		// unique where the vectors are so only up to sign.
		p := blas.NewMatrix(n, n)
		b.Gemm(true, false, 1, a.View(n-k, n, 0, n), a.View(n-k, n, 0, n), 0, p)
		r.factor, r.solution, r.values, r.projector = l.Data, y.Data, w, p.Data
		return r
	}
	var first result
	for i, name := range Names() {
		b, err := Open(Options{Name: name, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		got := run(b)
		if i == 0 {
			first = got
			continue
		}
		agree(t, name+": A", got.gram, first.gram, 10*k*eps)
		agree(t, name+": L", got.factor, first.factor, 30*n*eps)
		agree(t, name+": A^-1 X", got.solution, first.solution, 100*n*eps)
		agree(t, name+": eigenvalues", got.values, first.values, 50*n*eps)
		agree(t, name+": projector", got.projector, first.projector, 1000*n*eps)
	}
}

func ExampleOpen() {
	backend, err := Open(Options{Name: "native", Threads: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := blas.MatrixOf(2, 2, []float64{4, 0, 2, 10}) // lower triangle
	if err := backend.Cholesky(a); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Data)
	// Output: [2 0 1 3]
}
