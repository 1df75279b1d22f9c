package bandwidth_test

import (
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// FuzzResolve: any kernel text on any few points gives an input error, or a kernel without rules
// whose text parses to itself and which is the same for dense and sparse points. A single rule of
// distances has the value of its definition.
func FuzzResolve(f *testing.F) {
	for k, text := range []string{"rbf:sigma=0.5mean", "rbf:median", "exp:width=2knn10", "rbf:sigma=msq", "exp:lle", "rbf:median@poly:degree=2", "exp:width=3lle@rbf:sigma=0.5mean@cosine",
		"rbf:sigma=1e300mean", "rbf:gamma=mean", "linear", "rbf:sigma=-1mean", "rbf:sigma=1e-160median", "cosine@rbf:mean"} {
		f.Add(text, []byte{byte(7 * k), byte(k), byte(k % 5), byte(3 * k), byte(k), 1, 2})
	}
	eng := enginetest.New(f, 1)
	f.Fuzz(func(t *testing.T, text string, input []byte) {
		spec, err := kernel.Parse(text)
		if err != nil {
			return // FuzzParse covers this
		}
		b := asmtest.NewBytes(input)
		n, d := 1+b.Below(14), 1+b.Below(4)
		x := &points.Dense{N: n, D: d, Data: b.Tames(n * d)}
		if b.Below(8) == 0 {
			x.Data = b.Values(n * d)
		}
		got, err := bandwidth.Resolve(t.Context(), eng, spec, x)
		if err != nil {
			if !fault.IsInput(err) {
				t.Fatalf("%s: error %v is not an input error", spec, err)
			}
			return
		}
		again, err := kernel.Parse(got.String())
		if got.NeedsData() || err != nil || again != got {
			t.Fatalf("%s resolves to %s, which parses to %s, error %v", spec, got, again, err)
		}
		rule, inner, open := spec.Open()
		if open && inner == kernel.Linear().Spec() && !strings.Contains(text, "@") {
			want := rule.Factor * naive(rule.Name, n, euclid(x))
			if v := outermost(t, got); !(math.Abs(v-want) <= 1e-12*want) && want > 1e-140 && want < 1e140 {
				t.Fatalf("%s of %d points is %v: want %v", spec, n, v, want)
			}
			sparse, err := bandwidth.Resolve(t.Context(), eng, spec, enginetest.Sparse(x))
			if err != nil {
				t.Fatalf("%s of sparse points: %v", spec, err)
			}
			if v := outermost(t, sparse); !(math.Abs(v-want) <= 1e-12*want) && want > 1e-140 && want < 1e140 {
				t.Fatalf("%s of %d sparse points is %v: want %v", spec, n, v, want)
			}
		}
	})
}
