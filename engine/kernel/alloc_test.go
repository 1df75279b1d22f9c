package kernel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
)

// A kernel matrix written to existing memory makes the same number of allocations for many points
// and for few.
func TestGramAllocations(t *testing.T) {
	eng := enginetest.New(t, 1)
	few, many := enginetest.Normal(rand.New(rand.NewPCG(1, 1)), 300, 7, 0), enginetest.Normal(rand.New(rand.NewPCG(1, 2)), 900, 7, 0)
	dst := eng.NewMatrix(900, 900)
	for _, text := range []string{"linear", "rbf:sigma=5", "exp:width=5", "poly:degree=3"} {
		k := enginetest.Kernel(t, text)
		each := enginetest.Allocations(t, 300, func(n int) {
			var x points.Points = few
			if n > 300 {
				x = many
			}
			if err := k.GramTo(t.Context(), eng, dst.View(0, n, 0, n), x); err != nil {
				t.Fatal(err)
			}
		})
		if each > 0.1 {
			t.Errorf("%s: %g allocations a row", text, each)
		}
	}
}
