package measure

import (
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// TestBestCore: the first core that is too old is replaced, unless the environment chooses one.
func TestBestCore(t *testing.T) {
	const old, older = "Prescott", "Nehalem"
	t.Setenv(blas.CoreVariable, "")
	best := blas.BetterCore(old, asm.Best())
	got := BestCore("", best, old, older)
	switch {
	case best == "" && got != nil:
		t.Errorf("%q for a processor without better kernels", got)
	case best != "" && (len(got) != 1 || got[0] != blas.CoreVariable+"="+best):
		t.Errorf("%q: want the core %s", got, best)
	}
	if got := BestCore("", best); got != nil {
		t.Errorf("%q for the best core", got)
	}
	t.Setenv(blas.CoreVariable, older)
	if got := BestCore(old); got != nil {
		t.Errorf("%q: want what the environment chose", got)
	}
}
