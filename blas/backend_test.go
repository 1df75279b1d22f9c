package blas_test

import (
	"slices"
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
	two := func(a, b int) []int { return []int{a, b} }
	for name, c := range map[string]struct {
		check func() []int
		want  []int // nil for a panic
	}{
		"syrk":                {func() []int { return two(blas.CheckSyrk(false, m(3, 2), m(3, 3))) }, two(3, 2)},
		"syrk, transposed":    {func() []int { return two(blas.CheckSyrk(true, m(3, 2), m(2, 2))) }, two(2, 3)},
		"syrk of other order": {func() []int { return two(blas.CheckSyrk(true, m(3, 2), m(3, 3))) }, nil},
		"syrk not square":     {func() []int { return two(blas.CheckSyrk(false, m(3, 2), m(3, 4))) }, nil},
		"symv":                {func() []int { return []int{blas.CheckSymv(m(3, 3), v(3), v(3))} }, []int{3}},
		"symv, short x":       {func() []int { return []int{blas.CheckSymv(m(3, 3), v(2), v(3))} }, nil},
		"symv, short y":       {func() []int { return []int{blas.CheckSymv(m(3, 3), v(3), v(2))} }, nil},
		"symv not square":     {func() []int { return []int{blas.CheckSymv(m(3, 2), v(3), v(3))} }, nil},
		"syr":                 {func() []int { return []int{blas.CheckSyr(v(3), m(3, 3))} }, []int{3}},
		"syr, long x":         {func() []int { return []int{blas.CheckSyr(v(4), m(3, 3))} }, nil},
		"symm":                {func() []int { return two(blas.CheckSymm(true, m(3, 3), m(3, 2), m(3, 2))) }, two(3, 2)},
		"symm, right":         {func() []int { return two(blas.CheckSymm(false, m(2, 2), m(3, 2), m(3, 2))) }, two(3, 2)},
		"symm, other order":   {func() []int { return two(blas.CheckSymm(true, m(2, 2), m(3, 2), m(3, 2))) }, nil},
		"symm, other result":  {func() []int { return two(blas.CheckSymm(true, m(3, 3), m(3, 2), m(3, 3))) }, nil},
		"trsm":                {func() []int { return two(blas.CheckTrsm(true, m(3, 3), m(3, 2))) }, two(3, 2)},
		"trsm, right":         {func() []int { return two(blas.CheckTrsm(false, m(2, 2), m(3, 2))) }, two(2, 3)},
		"trsm, other order":   {func() []int { return two(blas.CheckTrsm(true, m(2, 2), m(3, 2))) }, nil},
		"eigenvalues":         {func() []int { return []int{blas.CheckSymEig(m(3, 3), v(3))} }, []int{3}},
		"few eigenvalues":     {func() []int { return []int{blas.CheckSymEig(m(3, 3), v(2))} }, nil},
		"top":                 {func() []int { return two(blas.CheckSymEigTop(m(3, 3), v(2), m(2, 3))) }, two(3, 2)},
		"more than all":       {func() []int { return two(blas.CheckSymEigTop(m(3, 3), v(4), m(4, 3))) }, nil},
		"too few vectors":     {func() []int { return two(blas.CheckSymEigTop(m(3, 3), v(2), m(1, 3))) }, nil},
		"qr":                  {func() []int { return two(blas.CheckQR(m(4, 3), m(3, 3))) }, two(4, 3)},
		"qr of a wide matrix": {func() []int { return two(blas.CheckQR(m(2, 3), m(3, 3))) }, nil},
		"qr, other order":     {func() []int { return two(blas.CheckQR(m(4, 3), m(2, 2))) }, nil},
	} {
		func() {
			var got []int
			defer func() {
				if failed := recover() != nil; failed != (c.want == nil) || !slices.Equal(got, c.want) {
					t.Errorf("%s: %v, panic %t: want %v", name, got, failed, c.want)
				}
			}()
			got = c.check()
		}()
	}
}
