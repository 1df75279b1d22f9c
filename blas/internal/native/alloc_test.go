package native_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/native"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestAllocations checks that small calls allocate nothing once the backend is warm.
func TestAllocations(t *testing.T) {
	if racetest.Enabled {
		t.Skip("the race detector empties pools at random")
	}
	eachVariant(t, func(t *testing.T, table *asm.Table) {
		const n = 50
		b := native.New(table, 2)
		x, c, v := blas.NewMatrix(n, n), blas.NewMatrix(n, n), make([]float64, n)
		l, work := blas.NewMatrix(n, n), blas.NewMatrix(n, n)
		for i := range n {
			l.Set(i, i, 2)
		}
		for name, call := range map[string]func(){
			"Gemm":              func() { b.Gemm(false, false, 1, x, x, 0, c) },
			"Gemm/transposed":   func() { b.Gemm(true, true, 1, x, x, 0, c) },
			"Syrk":              func() { b.Syrk(false, 1, x, 0, c) },
			"Symm":              func() { b.Symm(true, 1, x, x, 0, c) },
			"Gemv":              func() { b.Gemv(false, 1, x, v, 0, c.Row(0)) },
			"Gemv/transposed":   func() { b.Gemv(true, 1, x, v, 0, c.Row(0)) },
			"Syr":               func() { b.Syr(1, v, c) },
			"Symv":              func() { b.Symv(1, x, v, 0, c.Row(0)) },
			"Trsm":              func() { b.Trsm(true, false, l, x) },
			"Trmm":              func() { b.Trmm(false, true, l, x) },
			"Cholesky":          func() { work.CopyFrom(l); _ = b.Cholesky(work) },
			"TriangularInverse": func() { work.CopyFrom(l); _ = b.TriangularInverse(work) },
		} {
			if allocs := testing.AllocsPerRun(50, call); allocs >= 1 {
				t.Errorf("%s: %v allocations: want none", name, allocs)
			}
		}
	})
}

// TestSymEigAllocations checks that a decomposition works in borrowed memory: a warm backend
// allocates less than a matrix.
func TestSymEigAllocations(t *testing.T) {
	if racetest.Enabled {
		t.Skip("the race detector empties pools at random")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	table, err := asm.Select(asm.Best())
	if err != nil {
		t.Fatal(err)
	}
	const n, calls = 200, 5
	b := native.New(table, 1)
	a, w := blas.NewMatrix(n, n), make([]float64, n)
	decompose := func() {
		for i := range n {
			for j := range i + 1 {
				a.Set(i, j, 1/float64(1+i+j*j))
			}
		}
		if err := b.SymEig(a, w, true); err != nil {
			t.Fatal(err)
		}
	}
	decompose()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		decompose()
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / calls; bytes >= 8*n*n {
		t.Errorf("%d bytes a call: want less than a matrix, %d", bytes, 8*n*n)
	}
}
