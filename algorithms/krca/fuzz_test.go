package krca

import (
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/propertytest"
	"pgregory.net/rapid"
)

// FuzzIncremental: any sequence of updates, some taken back, gives the learned kernel of one fit of
// the chunklets that there are in the end.
func FuzzIncremental(f *testing.F) {
	for _, seed := range propertytest.Inputs(rand.New(rand.NewPCG(1, 2)), 1024) {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(incrementalProperty(enginetest.New(f, 1))))
}
