package catalog_test

import (
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// Every method fits every kind of points with its defaults, but for parts of a Gram matrix: a part
// of its rows has no matrix of its own.
func TestEveryMethodTakesEveryKind(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, labels := blobs(40, 5, 12)
	set := enginetest.Drawn(t, labels, 40, 40, 1)
	for _, m := range racetest.Part(catalogtest.Methods()) {
		for _, p := range []points.Points{x, enginetest.Sparse(x), words(t, 40),
			products(t, eng, "rbf:sigma=2", x)} {
			l, err := m.New(catalog.Config{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, gram := p.(*points.Gram)
			_, err = l.Fit(t.Context(), eng, p, set)
			if refused := m.Name == "parts" && gram; refused != fault.IsInput(err) || !refused && err != nil {
				t.Errorf("%s of %T: error %v", m.Name, p, err)
			}
		}
	}
}
