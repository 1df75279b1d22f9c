package krca

import (
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"pgregory.net/rapid"
)

// FuzzIncremental: any sequence of updates, some taken back, gives the learned kernel of one fit of
// the chunklets that there are in the end.
func FuzzIncremental(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		seed := make([]byte, 1024)
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(incrementalProperty(enginetest.New(f, 1))))
}
