package metamorphic

import (
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestOrder checks that rows in another order, with their links in the same order or another one,
// change no distance by a millionth of the largest, for methods whose problem is convex, with their
// own tolerance: a search that ends before its optimum ends in the same place. scml draws nothing.
func TestOrder(t *testing.T) {
	fits := []struct {
		method    string
		params    []string // names and values
		neighbors bool     // are part of the method
	}{
		{"itml", nil, false},
		{"itml", []string{"prior", "covariance"}, false},
		{"itml", []string{"gamma", "10"}, false},
		{"itml", []string{"kernel", "rbf:sigma=mean"}, false},
		{"gml", nil, false},
		{"gml", []string{"outer", "5"}, false},
		{"gml", []string{"prior", "spectral"}, true},
		{"gml", []string{"prior", "datadep"}, false},
		{"scml", []string{"bases", "1000", "triplets", "100000"}, true},
	}
	for _, size := range []struct{ rows, links int }{{34, 10}, {66, 30}, {120, 100}} {
		for seed := range uint64(3) {
			plain := drawn(t, size.rows, size.links, seed+1)
			for _, p := range []*problem{plain, whole(plain)} {
				for _, fit := range racetest.Part(fits) {
					unique := !fit.neighbors || p == plain // neighbors at equal distances are not
					if !unique || fit.method == "scml" && size.rows > 34 {
						continue
					}
					q, method := p.with(), named(t, fit.method)
					q.rough = true
					for k := 0; k < len(fit.params); k += 2 {
						option := mustlink.Param(fit.params[k], fit.params[k+1])
						if fit.params[k] == "kernel" {
							option = mustlink.Kernel(fit.params[k+1])
						}
						q.options = append(q.options, option)
					}
					want := ask(method, q)
					for name, other := range map[string]*problem{
						"rows": permuted(q), "rows and links": shuffled(reversed(permuted(q))),
					} {
						got := ask(method, other)
						if want.err != nil || got.err != nil {
							t.Fatalf("%s %v: %v, %v", fit.method, fit.params, want.err, got.err)
						}
						if off := apart(want, got, false); !(off <= 1e-6) {
							t.Errorf("%s %v, %+v, seed %d, whole numbers %v, %s in another order: distances change by %.2g",
								fit.method, fit.params, size, seed, p != plain, name, off)
						}
					}
				}
			}
		}
	}
}

func named(t *testing.T, name string) catalog.Method {
	t.Helper()
	method, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return method
}
