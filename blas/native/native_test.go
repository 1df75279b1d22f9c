package native_test

import (
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/blas/blastest"
	"github.com/mustlink/mustlink/blas/native"
)

func TestBackend(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		blastest.Run(t, native.New(table, 3))
	})
}
