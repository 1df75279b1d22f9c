package blas

import (
	"slices"

	"github.com/mustlink/mustlink/asm"
)

// CoreVariable is the environment variable that chooses the kernels of OpenBLAS, before a program
// starts.
const CoreVariable = "OPENBLAS_CORETYPE"

// Core returns the core whose kernels OpenBLAS runs, "" for a backend without OpenBLAS.
func Core(b Backend) string {
	if c, ok := b.(interface{ Core() string }); ok {
		return c.Core()
	}
	return ""
}

// BetterCore returns the value of [CoreVariable] that makes OpenBLAS use the vectors of a processor
// whose best kernels are of that level, "" if the core that OpenBLAS chose does so already, and for
// the core "". OpenBLAS chooses an old core on processors that are newer than itself.
func BetterCore(core string, best asm.Level) string {
	wide := []string{"SkylakeX", "Cooperlake", "SapphireRapids"}
	middle := []string{"Haswell", "Zen", "Excavator"}
	switch {
	case core == "":
	case best == asm.AVX512 && !slices.Contains(wide, core):
		return wide[0]
	case best == asm.AVX2 && !slices.Contains(slices.Concat(wide, middle), core):
		return middle[0]
	}
	return ""
}
