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

// TestChecks: shapes that agree pass, with their sizes; one that differs panics.
func TestChecks(t *testing.T) {
	m, v := blas.NewMatrix, func(n int) []float64 { return make([]float64, n) }
	right := func(what string, got, want [2]int) {
		if got != want {
			t.Errorf("%s: sizes %v, want %v", what, got, want)
		}
	}
	two := func(a, b int) [2]int { return [2]int{a, b} }
	right("syrk", two(blas.CheckSyrk(false, m(3, 2), m(3, 3))), two(3, 2))
	right("syrk, transposed", two(blas.CheckSyrk(true, m(3, 2), m(2, 2))), two(2, 3))
	right("symv, syr", two(blas.CheckSymv(m(3, 3), v(3), v(3)), blas.CheckSyr(v(2), m(2, 2))), two(3, 2))
	right("symm", two(blas.CheckSymm(true, m(3, 3), m(3, 2), m(3, 2))), two(3, 2))
	right("symm, right", two(blas.CheckSymm(false, m(2, 2), m(3, 2), m(3, 2))), two(3, 2))
	right("trsm", two(blas.CheckTrsm(true, m(3, 3), m(3, 2))), two(3, 2))
	right("trsm, right", two(blas.CheckTrsm(false, m(2, 2), m(3, 2))), two(2, 3))
	right("eigenvalues", two(blas.CheckSymEigTop(m(3, 3), v(2), m(2, 3))), two(3, 2))
	right("qr", two(blas.CheckQR(m(4, 3), m(3, 3))), two(4, 3))
	for what, check := range map[string]func(){
		"syrk of other order":   func() { blas.CheckSyrk(true, m(3, 2), m(3, 3)) },
		"syrk not square":       func() { blas.CheckSyrk(false, m(3, 2), m(3, 4)) },
		"symv, short x":         func() { blas.CheckSymv(m(3, 3), v(2), v(3)) },
		"symv, short y":         func() { blas.CheckSymv(m(3, 3), v(3), v(2)) },
		"symv not square":       func() { blas.CheckSymv(m(3, 2), v(3), v(3)) },
		"syr, long x":           func() { blas.CheckSyr(v(4), m(3, 3)) },
		"symm of other order":   func() { blas.CheckSymm(true, m(2, 2), m(3, 2), m(3, 2)) },
		"symm, other result":    func() { blas.CheckSymm(true, m(3, 3), m(3, 2), m(3, 3)) },
		"trsm of other order":   func() { blas.CheckTrsm(true, m(2, 2), m(3, 2)) },
		"too few eigenvalues":   func() { blas.CheckSymEig(m(3, 3), v(2)) },
		"too many eigenvalues":  func() { blas.CheckSymEigTop(m(3, 3), v(4), m(4, 3)) },
		"too few eigenvectors":  func() { blas.CheckSymEigTop(m(3, 3), v(2), m(1, 3)) },
		"qr of a wide matrix":   func() { blas.CheckQR(m(2, 3), m(3, 3)) },
		"qr with another order": func() { blas.CheckQR(m(4, 3), m(2, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s passes", what)
				}
			}()
			check()
		}()
	}
}
