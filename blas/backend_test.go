package blas_test

import (
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// TestBetterCore: a core older than the processor is replaced, others are not; what replaces it is
// not replaced again.
func TestBetterCore(t *testing.T) {
	for _, c := range []struct {
		core string
		best asm.Level
		want string
	}{
		{"Haswell", asm.AVX512, "SkylakeX"},
		{"Zen", asm.AVX512, "SkylakeX"},
		{"Prescott", asm.AVX512, "SkylakeX"},
		{"SkylakeX", asm.AVX512, ""},
		{"SapphireRapids", asm.AVX512, ""},
		{"Prescott", asm.AVX2, "Haswell"},
		{"Sandybridge", asm.AVX2, "Haswell"},
		{"Zen", asm.AVX2, ""},
		{"SkylakeX", asm.AVX2, ""},
		{"Prescott", asm.Generic, ""},
		{"ARMV8", asm.NEON, ""},
		{"", asm.AVX512, ""},
	} {
		got := blas.BetterCore(c.core, c.best)
		if got != c.want {
			t.Errorf("%s on %s: %q: want %q", c.core, c.best, got, c.want)
		}
		if again := blas.BetterCore(got, c.best); got != "" && again != "" {
			t.Errorf("%s on %s: %s asks for %s", c.core, c.best, got, again)
		}
	}
}
