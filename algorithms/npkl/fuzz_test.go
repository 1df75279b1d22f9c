package npkl

import (
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/internal/propertytest"
	"pgregory.net/rapid"
)

// FuzzAddLinks checks that adding links to a model leads to the optimum of a fit of all links.
func FuzzAddLinks(f *testing.F) {
	for _, seed := range propertytest.Inputs(rand.New(rand.NewPCG(1, 2)), 256) {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(addLinksProperty))
}
