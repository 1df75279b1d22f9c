// Package asmtest (internal: may change) runs tests on every kernel table that this build and
// CPU have.
package asmtest

import (
	"testing"

	"github.com/mustlink/mustlink/asm"
)

// EachVariant calls f once for each supported level, in a subtest of its name, the
// fastest first and [asm.Generic] last.
func EachVariant(t *testing.T, f func(t *testing.T, table *asm.Table)) {
	t.Helper()
	levels := asm.Supported()
	for i := len(levels) - 1; i >= 0; i-- {
		t.Run(levels[i].String(), func(t *testing.T) {
			table, err := asm.Select(levels[i])
			if err != nil {
				t.Fatal(err)
			}
			f(t, table)
		})
	}
}
