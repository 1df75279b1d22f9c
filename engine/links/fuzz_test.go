package links

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// FuzzSet: components, chunklets, closure and conflicts of any links agree with the algorithm of
// Floyd and Warshall.
func FuzzSet(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		seed := make([]byte, 1024)
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, property := range []func(*rapid.T){componentsProperty, chunkletsProperty, closureProperty, conflictsProperty} {
			rapid.MakeFuzz(property)(t, input)
		}
	})
}
