package engine_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/gonum"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNewDefaults(t *testing.T) {
	e, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Backend() == nil || e.Workers() != runtime.GOMAXPROCS(0) || e.MemoryLimit() != 0 {
		t.Errorf("backend %v, workers %d, limit %d", e.Backend(), e.Workers(), e.MemoryLimit())
	}
}

func TestNewKeepsWhatIsGiven(t *testing.T) {
	b := gonum.New(nil)
	e := enginetest.With(t, engine.Options{Backend: b, Workers: 3, MemoryLimit: 100})
	if e.Backend().Name() != "gonum" || e.Workers() != 3 || e.MemoryLimit() != 100 {
		t.Errorf("got %s, %d, %d", e.Backend().Name(), e.Workers(), e.MemoryLimit())
	}
}

func TestNewRejects(t *testing.T) {
	for _, o := range []engine.Options{{Workers: -1}, {MemoryLimit: -1}} {
		_, err := engine.New(o)
		var p *fault.ParamError
		if !errors.As(err, &p) {
			t.Errorf("%+v: got %v, want a ParamError", o, err)
		}
	}
}

func TestCheck(t *testing.T) {
	limited := enginetest.With(t, engine.Options{MemoryLimit: 8 << 30})
	free := enginetest.New(t, 0)
	cases := []struct {
		name  string
		eng   *engine.Engine
		bytes int64
		ok    bool
	}{
		{"at the limit", limited, 8 << 30, true},
		{"above the limit", limited, 8<<30 + 1, false},
		{"overflowed", limited, math.MinInt64, false},
		{"no limit", free, 1 << 40, true},
		{"no limit but not addressable", free, engine.MatrixBytes(1<<30, 1<<30), false},
		{"no limit but overflowed", free, -1, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.eng.Check("kernel matrix", c.bytes, "use landmarks")
			var m *fault.MemoryError
			if c.ok && err != nil || !c.ok && !errors.As(err, &m) {
				t.Errorf("got %v, want ok = %v", err, c.ok)
			}
			if !c.ok && (!strings.Contains(err.Error(), "use landmarks") ||
				!strings.Contains(err.Error(), "kernel matrix")) {
				t.Errorf("message lacks the request or the hint: %v", err)
			}
		})
	}
}

func TestMatrixBytes(t *testing.T) {
	for _, c := range []struct {
		rows, cols int
		want       int64
	}{{0, 5, 0}, {3, 4, 96}, {math.MaxInt, 0, 0}, {1 << 30, 1 << 30, math.MaxInt64},
		{1 << 30, 1<<30 - 1, (1<<60 - 1<<30) * 8}} {
		if got := engine.MatrixBytes(c.rows, c.cols); got != c.want {
			t.Errorf("MatrixBytes(%d, %d) = %d, want %d", c.rows, c.cols, got, c.want)
		}
	}
	if got := engine.MatrixBytes(math.MaxInt, math.MaxInt); got < math.MaxInt {
		t.Errorf("the largest matrix has %d bytes", got)
	}
}

// A matrix past the size for huge pages must be zero, compact and writable to both ends, and
// survive collections while the advice is in force.
func TestNewMatrixHuge(t *testing.T) {
	e := enginetest.New(t, 0)
	for _, n := range []int{0, 1, 100, 723, 724, 725, 1100} { // 724^2 doubles are just below 4 MiB
		m := e.NewMatrix(n, n)
		if m.Rows != n || m.Cols != n || m.Stride != max(1, n) {
			t.Fatalf("n=%d: got %d x %d, stride %d", n, m.Rows, m.Cols, m.Stride)
		}
		for i, v := range m.Data {
			if v != 0 {
				t.Fatalf("n=%d: element %d is %v", n, i, v)
			}
			m.Data[i] = float64(i)
		}
		runtime.GC()
		for i, v := range m.Data {
			if v != float64(i) {
				t.Fatalf("n=%d: element %d became %v", n, i, v)
			}
		}
	}
}

// TestNewMatrixOfUsedMemory: a matrix is zero also where the collector has freed another one.
func TestNewMatrixOfUsedMemory(t *testing.T) {
	e := enginetest.New(t, 0)
	for range 3 {
		for _, get := range []func(rows, cols int) blas.Matrix{e.UnclearedMatrix, e.NewMatrix} {
			m := get(1100, 1000)
			if m.Rows != 1100 || m.Cols != 1000 || m.Stride != 1000 || len(m.Data) != 1100*1000 {
				t.Fatalf("%d x %d, stride %d, %d values", m.Rows, m.Cols, m.Stride, len(m.Data))
			}
			for i := range m.Data {
				m.Data[i] = 1
			}
		}
		runtime.GC()
	}
	for i, v := range e.NewMatrix(1100, 1000).Data {
		if v != 0 {
			t.Fatalf("element %d is %v", i, v)
		}
	}
}

// TestClone: a copy has the values of a view, and memory of its own.
func TestClone(t *testing.T) {
	e := enginetest.With(t, engine.Options{Workers: 3})
	for _, n := range []int{0, 1, 50, 1100} {
		whole := e.NewMatrix(n+2, n+1)
		for i := range whole.Data {
			whole.Data[i] = float64(i)
		}
		m := whole.View(1, n+1, 1, n+1)
		c := e.Clone(m)
		clear(whole.Data)
		for i := range n {
			for j := range n {
				if want := float64((i+1)*(n+1) + j + 1); c.At(i, j) != want {
					t.Fatalf("n=%d: element %d, %d is %v: want %v", n, i, j, c.At(i, j), want)
				}
			}
		}
		if len(c.Data) != n*n {
			t.Errorf("n=%d: %d values: want a compact copy", n, len(c.Data))
		}
	}
}

// TestMirror: the upper triangle becomes the lower one, and the rest of memory stays as it is.
func TestMirror(t *testing.T) {
	for _, workers := range []int{1, 3} {
		e := enginetest.With(t, engine.Options{Workers: workers})
		for _, n := range []int{0, 1, 63, 64, 65, 130, 201} {
			m := blas.Matrix{Rows: n, Cols: n, Stride: n + 3, Data: make([]float64, n*(n+3))}
			for i := range m.Data {
				m.Data[i] = float64(i)
			}
			e.Mirror(m)
			for i, v := range m.Data {
				r, c := i/(n+3), i%(n+3)
				want := float64(i)
				if c < n && c > r {
					want = float64(c*(n+3) + r)
				}
				if v != want {
					t.Fatalf("%d workers, n=%d: element %d, %d is %v: want %v", workers, n, r, c, v, want)
				}
			}
		}
	}
}

// Every index belongs to exactly one block, and the blocks do not depend on the workers.
func TestForCovers(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		block := rapid.IntRange(1, 70).Draw(t, "block")
		e, err := engine.New(engine.Options{Workers: rapid.IntRange(1, 8).Draw(t, "workers")})
		if err != nil {
			t.Fatal(err)
		}
		count := make([]atomic.Int32, n)
		err = e.For(context.Background(), n, block, func(lo, hi int) error {
			if lo%block != 0 || hi != min(lo+block, n) {
				t.Errorf("block [%d, %d) with n = %d, block = %d", lo, hi, n, block)
			}
			for i := lo; i < hi; i++ {
				count[i].Add(1)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Each(context.Background(), n, block, func(i int) { count[i].Add(1) }); err != nil {
			t.Fatal(err)
		}
		for i := range count {
			if c := count[i].Load(); c != 2 {
				t.Fatalf("index %d was visited %d times, by For and Each: want 2", i, c)
			}
		}
	})
}

// The error is that of the lowest failing block, whatever the timing.
func TestForLowestError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, workers := range []int{1, 2, 7} {
		e := enginetest.New(t, workers)
		for range 50 {
			lowest := rng.IntN(40)
			errs := map[int]error{}
			for b := lowest; b < 60; b += 1 + rng.IntN(10) {
				errs[b] = errors.New("block failed")
			}
			err := e.For(t.Context(), 60, 1, func(lo, _ int) error {
				if errs[lo] != nil && lo%2 == 0 {
					runtime.Gosched() // let later blocks overtake
				}
				return errs[lo]
			})
			if err != errs[lowest] {
				t.Fatalf("workers=%d: got %p, want the error of block %d", workers, err, lowest)
			}
		}
	}
}

func TestForCancel(t *testing.T) {
	for _, workers := range []int{1, 4} {
		e := enginetest.New(t, workers)
		ctx, cancel := context.WithCancel(t.Context())
		var ran atomic.Int32
		err := e.For(ctx, 1000, 1, func(int, int) error {
			if ran.Add(1) == 10 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("workers=%d: got %v, want context.Canceled", workers, err)
		}
		if n := ran.Load(); n > 10+int32(workers) {
			t.Errorf("workers=%d: %d blocks ran after the cancel at 10", workers, n-10)
		}
		if err := e.For(ctx, 1, 1, func(int, int) error {
			t.Error("ran although canceled")
			return nil
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// A panic of a worker reaches the caller with its value and the worker's stack, also through
// nested loops and with a single worker.
func TestForPanic(t *testing.T) {
	cause := errors.New("the cause")
	for _, workers := range []int{1, 3} {
		e := enginetest.New(t, workers)
		func() {
			defer func() {
				p, ok := recover().(*engine.Panic)
				if !ok || p.Value != any(cause) || !errors.Is(p, cause) {
					t.Errorf("workers=%d: recovered %v", workers, p)
				}
				if ok && !strings.Contains(p.String(), "blowUp") {
					t.Errorf("workers=%d: the stack does not name the function:\n%s", workers, p)
				}
			}()
			_ = e.For(t.Context(), 5, 1, func(lo, _ int) error {
				return e.For(t.Context(), 5, 1, func(int, int) error { blowUp(cause); return nil })
			})
			t.Error("did not panic")
		}()
	}
}

//go:noinline
func blowUp(v any) { panic(v) }

func TestForGoexit(t *testing.T) {
	e := enginetest.New(t, 2)
	defer func() {
		if p, ok := recover().(*engine.Panic); !ok || !strings.Contains(p.Error(), "Goexit") {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = e.For(t.Context(), 4, 1, func(int, int) error { runtime.Goexit(); return nil })
	t.Error("did not panic")
}

func TestForBlockPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("block = 0 was accepted")
		}
	}()
	_ = enginetest.New(t, 0).For(t.Context(), 1, 0, nil)
}

// What the caller holds leaves less to a request once there is more of it than three quarters of
// the limit, also in engines with another cache.
func TestHeldMemory(t *testing.T) {
	var held atomic.Int64
	e := enginetest.With(t, engine.Options{MemoryLimit: 400, Held: &held})
	other, err := e.WithCache(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ held, most int64 }{{0, 400}, {300, 400}, {301, 399}, {500, 200}, {700, 0},
		{900, 0}} {
		held.Store(c.held)
		for _, e := range []*engine.Engine{e, other} {
			if !e.Allows(c.most) || e.Allows(c.most+1) {
				t.Errorf("%d bytes held: want %d more, and no more", c.held, c.most)
			}
			var me *fault.MemoryError
			err := e.Check("rows", c.most+1, "")
			if !errors.As(err, &me) || me.Need != c.most+1 || me.Limit != c.most ||
				strings.Contains(me.What, "next to") != (c.most < 400) {
				t.Errorf("%d bytes held: %v", c.held, err)
			}
		}
	}
}

// The factorizations call the backend and add checks of ctx and memory.
func TestFactorizations(t *testing.T) {
	e := enginetest.With(t, engine.Options{MemoryLimit: 1000})
	a := blas.MatrixOf(2, 2, []float64{4, 0, 2, 5})
	if err := e.Cholesky(t.Context(), a); err != nil || a.At(0, 0) != 2 || a.At(1, 0) != 1 ||
		a.At(1, 1) != 2 {
		t.Errorf("Cholesky of [4 2; 2 5]: %v, %v", a, err)
	}
	bad := blas.MatrixOf(2, 2, []float64{1, 0, 2, 1})
	var notPD *blas.NotPositiveDefiniteError
	if err := e.Cholesky(t.Context(), bad); !errors.As(err, &notPD) || notPD.Pivot != 1 {
		t.Errorf("got %v, want pivot 1", err)
	}
	w := make([]float64, 2)
	s := blas.MatrixOf(2, 2, []float64{2, 0, 1, 2})
	if err := e.SymEig(t.Context(), s.Clone(), w, true); err != nil || math.Abs(w[0]-1) > 1e-14 ||
		math.Abs(w[1]-3) > 1e-14 {
		t.Errorf("eigenvalues of [2 1; 1 2]: %v, %v", w, err)
	}
	for k, count := range []int{2, 1, 2, 2} { // all for 0, and above the order
		w, v, err := e.SymEigTop(t.Context(), s.Clone(), k)
		if err != nil || len(w) != count || v.Rows != count || math.Abs(w[0]-3) > 1e-14 ||
			math.Abs(v.At(0, 0)-v.At(0, 1)) > 1e-14 {
			t.Errorf("top eigenpairs of [2 1; 1 2], %d of them: %v %v, %v", k, w, v.Data, err)
		}
	}

	var m *fault.MemoryError
	big := blas.NewMatrix(20, 20)
	if err := e.SymEig(t.Context(), big, make([]float64, 20), true); !errors.As(err, &m) {
		t.Errorf("got %v, want a MemoryError", err)
	}
	if err := e.SymEig(t.Context(), big, make([]float64, 20), false); err != nil {
		t.Errorf("without vectors: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, top := e.SymEigTop(ctx, s, 1)
	for name, err := range map[string]error{
		"Cholesky": e.Cholesky(ctx, a), "SymEig": e.SymEig(ctx, s, w, false), "SymEigTop": top,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", name, err)
		}
	}
}

func BenchmarkFirstTouch(b *testing.B) {
	e := enginetest.New(b, 0)
	for _, c := range []struct {
		name string
		make func(r, c int) blas.Matrix
	}{{"plain", blas.NewMatrix}, {"huge", e.NewMatrix}} {
		b.Run("n=4000/pages="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := c.make(4000, 4000)
				for i := range m.Data {
					m.Data[i] = 1
				}
			}
		})
	}
}

// TestShare: parts have equal workers and memory, at least one of each, and one part is the whole.
func TestShare(t *testing.T) {
	e, err := engine.New(engine.Options{Workers: 4, MemoryLimit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for parts, want := range map[int]struct {
		workers int
		limit   int64
	}{1: {4, 1000}, 2: {2, 500}, 3: {1, 333}, 2000: {1, 1}} {
		part, err := e.Share(parts)
		if err != nil || part.Workers() != want.workers || part.MemoryLimit() != want.limit ||
			part.Backend() != e.Backend() {
			t.Errorf("%d parts: %d workers, limit %d, error %v", parts, part.Workers(), part.MemoryLimit(),
				err)
		}
	}
	if unlimited, err := engine.New(engine.Options{Workers: 2}); err != nil {
		t.Error(err)
	} else if part, err := unlimited.Share(2); err != nil || part.MemoryLimit() != 0 {
		t.Errorf("a part of no limit has the limit %d, error %v", part.MemoryLimit(), err)
	}
	if _, err := e.Share(0); !fault.IsInput(err) {
		t.Errorf("no part: error %v", err)
	}
}
