package npkl

import (
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestFailures: what fails on the way fails a fit and an embedding, with its error.
func TestFailures(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 24, 3, 6, 2)
	for _, change := range []func(*Params){func(*Params) {}, func(p *Params) { p.Plan = Boundary },
		func(p *Params) { p.Extension = Ridge }} {
		l := Learner{Params: DefaultParams()}
		change(&l.Params)
		fittest.Fails(t, l, x, set, 100)
	}
}
