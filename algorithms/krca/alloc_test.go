package krca

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
)

// Each further link costs a fit no allocation of its own: what memory it takes is the result's, and
// the engine's scratch.
func TestFitMetricAllocations(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 1)
	l := Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: DefaultParams()}
	few, _, some := enginetest.Bands(t, 300, 4, 40, 1)
	many, _, more := enginetest.Bands(t, 300, 4, 120, 1)
	each := enginetest.Allocations(t, 40, func(pairs int) {
		x, set := few, some
		if pairs > 40 {
			x, set = many, more
		}
		if _, err := FitMetric(ctx, eng, l, x, set); err != nil {
			t.Fatal(err)
		}
	})
	if each > 0.25 {
		t.Errorf("%g allocations a link", each)
	}
}
