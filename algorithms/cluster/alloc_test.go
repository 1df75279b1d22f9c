package cluster

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
)

// An iteration of k-means allocates a few vectors at most, however many rows there are.
func TestIterationsDoNotAllocate(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := blobs(1, 3000, 10, 20, 8)
	each := enginetest.Allocations(t, 3, func(iterations int) {
		r, err := KMeans(context.Background(), eng, x,
			Params{K: 20, Seed: 1, Restarts: 1, MaxIter: iterations})
		if err != nil || r.Iterations != iterations {
			t.Fatalf("%d iterations of %d: %v", r.Iterations, iterations, err)
		}
	})
	if each > 8 {
		t.Errorf("%g allocations an iteration", each)
	}
}
