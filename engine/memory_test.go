package engine_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// large is a number of values beyond those of small buffers.
const large = 1 << 16

// A returned buffer is used again, small or large, for a matrix of a similar size and not for a
// much smaller one, and is not handed out twice.
func TestScratchIsReused(t *testing.T) {
	e := enginetest.New(t, 0)
	for _, rows := range []int{10, large / 10} {
		// Another processor has other small buffers, and under the race detector a sync.Pool drops some.
		reused := false
		for range 100 {
			a := e.GetMatrix(rows, 10)
			first := &a.Data[0]
			e.PutMatrix(a)
			b := e.GetMatrix(9, rows)
			if b.Rows != 9 || b.Cols != rows || b.Stride != rows || len(b.Data) != 9*rows {
				t.Fatalf("the wrong shape: %+v", b)
			}
			if c := e.GetMatrix(9, rows); &c.Data[0] == &b.Data[0] {
				t.Fatal("one buffer was handed out twice")
			}
			if reused = &b.Data[0] == first; reused {
				e.PutMatrix(b)
				if c := e.GetMatrix(1, 2); len(c.Data) != 2 || &c.Data[0] == first {
					t.Errorf("a buffer of %d values was used for 2", 10*rows)
				}
				break
			}
		}
		if !reused {
			t.Errorf("%d x 10: a fitting buffer was never reused", rows)
		}
	}
}

// An engine with a limit leaves no more than an eighth of it in the process between requests.
func TestScratchWithinLimit(t *testing.T) {
	const n = 1 << 20
	for _, eighth := range []int64{8 * n, 8*n - 1} {
		e := enginetest.With(t, engine.Options{MemoryLimit: 8 * eighth})
		a := blas.MatrixOf(1, n, make([]float64, n))
		e.PutMatrix(a)
		b := e.GetMatrix(1, n)
		if kept := &b.Data[0] == &a.Data[0]; kept != (eighth == 8*n) {
			t.Errorf("limit %d: a buffer of %d bytes is kept: %v", 8*eighth, 8*n, kept)
		}
	}
}

// Matrices of all shapes have their length, also at the ends of the classes of sizes, and matrices
// that came from elsewhere may be returned too.
func TestScratchShapes(t *testing.T) {
	e := enginetest.New(t, 0)
	for _, n := range []int{0, 1, 2, 3, 4, 5, 127, 128, 129, 1<<15 - 1, 1 << 15, 1<<15 + 1, 1 << 16} {
		for range 3 {
			m, other := e.GetMatrix(1, n), blas.NewMatrix(1, n)
			if m.Rows != 1 || m.Cols != n || len(m.Data) != n {
				t.Fatalf("%d values: %d x %d, %d values", n, m.Rows, m.Cols, len(m.Data))
			}
			for i := range m.Data {
				m.Data[i], other.Data[i] = 1, 2
			}
			for i := range m.Data {
				if m.Data[i] != 1 {
					t.Fatalf("%d values: a buffer shares its memory", n)
				}
			}
			e.PutMatrix(m)
			e.PutMatrix(other)
		}
	}
}

func TestScratchDoesNotAllocate(t *testing.T) {
	if racetest.Enabled {
		t.Skip("under the race detector a sync.Pool drops some buffers")
	}
	e := enginetest.New(t, 0)
	for _, n := range []int{50, 300} {
		e.PutMatrix(e.GetMatrix(n, n))
		allocations := testing.AllocsPerRun(100, func() { e.PutMatrix(e.GetMatrix(n, n)) })
		if allocations != 0 {
			t.Errorf("%d x %d: %v allocations a call, want 0", n, n, allocations)
		}
	}
}

// At most 32 large buffers are kept, for all engines together.
func TestScratchIsBounded(t *testing.T) {
	e, other := enginetest.New(t, 0), enginetest.New(t, 1)
	var all []blas.Matrix
	for range 100 {
		all = append(all, e.GetMatrix(1, large))
	}
	for _, m := range all {
		e.PutMatrix(m)
	}
	seen := map[*float64]bool{}
	for _, m := range all {
		seen[&m.Data[0]] = true
	}
	reused := 0
	for range 100 {
		if m := other.GetMatrix(1, large); seen[&m.Data[0]] {
			reused++
		}
	}
	if reused == 0 || reused > 32 {
		t.Errorf("%d of 100 buffers were kept, want 1 to 32", reused)
	}
}

// Small buffers that nobody uses are gone after two collections.
func TestSmallScratchIsCollected(t *testing.T) {
	e := enginetest.New(t, 0)
	collected := make(chan bool, 100)
	for range 100 {
		m := e.GetMatrix(1, 1000)
		runtime.AddCleanup(&m.Data[0], func(c chan bool) { c <- true }, collected)
		e.PutMatrix(m)
	}
	for range 3 {
		runtime.GC()
	}
	<-collected // or the test runs out of time
}

// Matrices in use at the same time are different ones, on any number of goroutines.
func TestScratchIsNotShared(t *testing.T) {
	e := enginetest.New(t, 0)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range racetest.Fewer(2000) {
				m, o := e.GetMatrix(1+i%7, 100), e.GetMatrix(1+i%5, 120)
				for k := range m.Data {
					m.Data[k] = float64(g)
				}
				for k := range o.Data {
					o.Data[k] = -1
				}
				if slices.ContainsFunc(m.Data, func(v float64) bool { return v != float64(g) }) {
					t.Error("another goroutine wrote to a matrix in use")
					return
				}
				e.PutMatrix(o)
				e.PutMatrix(m)
			}
		})
	}
	wg.Wait()
}
