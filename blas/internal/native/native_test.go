package native_test

import (
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/blas/internal/blastest"
	"github.com/mustlink/mustlink/blas/internal/native"
	"github.com/mustlink/mustlink/internal/racetest"
)

func TestBackend(t *testing.T) {
	eachVariant(t, func(t *testing.T, table *asm.Table) {
		blastest.Run(t, native.New(table, 3))
	})
}

// eachVariant is asmtest.EachVariant, but for the race detector, which makes the tests ten
// times slower and looks at goroutines rather than at kernels: there it takes the fastest.
func eachVariant(t *testing.T, f func(t *testing.T, table *asm.Table)) {
	t.Helper()
	if !racetest.Enabled {
		asmtest.EachVariant(t, f)
		return
	}
	table, err := asm.Select(asm.Best())
	if err != nil {
		t.Fatal(err)
	}
	f(t, table)
}
