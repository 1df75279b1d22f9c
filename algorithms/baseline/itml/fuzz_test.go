package itml

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// FuzzAddLinks checks that adding links to a model leads to the optimum of a fit of all links.
func FuzzAddLinks(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		seed := make([]byte, 512)
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(addLinksProperty))
}
