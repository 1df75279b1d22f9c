package catalog_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/catalog/catalogtest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// inputs is the number of random inputs of each method; MUSTLINK_TORTURE multiplies it.
func inputs() int { return drawstest.Count(20, 60) }

// more returns what MUSTLINK_TORTURE says, 1 without it.
func more(t testing.TB) int {
	text := os.Getenv("MUSTLINK_TORTURE")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("MUSTLINK_TORTURE is %q: want an integer >= 1", text)
	}
	return n
}

// What breaks other implementations breaks no method: each of the named inputs gives a model that
// keeps its contract, or an error of the input that says what to change.
func TestTortureNamed(t *testing.T) {
	eng, cases := enginetest.New(t, 1), named(t)
	for row, method := range racetest.Part(catalogtest.Methods()) {
		t.Run(method.Name, func(t *testing.T) {
			fits := 0
			for column, p := range racetest.Part(cases) {
				if p.large && method.Small || !drawstest.Turn(row, column, 2) {
					continue
				}
				o := try(eng, method, catalog.Config{Seed: 1}, p)
				for _, text := range o.wrong {
					t.Errorf("%s: %s", p.name, text)
				}
				if o.model != nil {
					fits++
				}
			}
			t.Logf("%d inputs, %d fits", len(cases), fits)
		})
	}
}

// The same of inputs that are drawn: any place of the points, what can be done to them, kinds of
// points and links, with any of the method's algorithms.
func TestTortureDrawn(t *testing.T) {
	eng := enginetest.New(t, 1)
	for _, method := range racetest.Part(catalogtest.Methods()) {
		t.Run(method.Name, func(t *testing.T) {
			fits, total := 0, inputs()*more(t)
			for k := range total {
				own := fnv.New64a()
				fmt.Fprint(own, method.Name)
				rng := rand.New(rand.NewPCG(uint64(k), own.Sum64()))
				p := draw(rng)
				config := drawConfig(rng, method, p)
				o := try(eng, method, config, p)
				for _, text := range o.wrong {
					t.Errorf("draw %d (%s; kernel %q, %v): %s", k, p.name, config.Kernel, config.Params, text)
				}
				if o.model != nil {
					fits++
				}
			}
			t.Logf("%d inputs, %d fits", total, fits)
		})
	}
}
