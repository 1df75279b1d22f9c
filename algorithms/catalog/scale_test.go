package catalog_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/racetest"
)

// times returns the points in other units.
func times(x *points.Dense, c float64) *points.Dense {
	out := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
	for i := range out.Data {
		out.Data[i] *= c
	}
	return out
}

// TestUnits: in units of a millionth and of a million, powers of 2 whose products are exact, every
// method and setting takes as many steps to the same metric, but for a factor. Widths and
// tolerances follow the points; those that do not are in the table.
func TestUnits(t *testing.T) {
	inUnits := map[string]string{"llma": "adds one ridge to unknowns of different units",
		"llma kernel=rbf:sigma=mean": "the same"}
	eng := enginetest.New(t, 1)
	for _, p := range racetest.Part(everywhere(t, 40)) {
		if inUnits[p.method.Name] != "" {
			continue
		}
		t.Run(p.method.Name, func(t *testing.T) {
			var first []float64
			steps := 0
			for _, exponent := range []int{0, -20, 20} {
				q, c := p, math.Ldexp(1, exponent)
				q.x, q.fresh = times(p.x, c), times(p.fresh, c)
				m, err := q.fit(context.Background(), eng, nil)
				if err != nil {
					t.Fatalf("times 2^%d: %v", exponent, err)
				}
				distances, err := m.Distances(context.Background(), eng, q.fresh, chain(q.fresh.N))
				if err != nil {
					t.Fatalf("times 2^%d: %v", exponent, err)
				}
				largest := slices.Max(distances)
				for k := range distances {
					distances[k] /= largest
				}
				status := m.(interface{ Status() algorithms.Status }).Status()
				if first == nil {
					first, steps = distances, status.Iterations
					continue
				}
				if status.Iterations != steps {
					t.Errorf("times 2^%d: %d steps: want %d", exponent, status.Iterations, steps)
				}
				worst := 0.0
				for k, v := range distances {
					worst = max(worst, math.Abs(v-first[k]))
				}
				if !(worst <= 1e-9) {
					t.Errorf("times 2^%d: distances differ by %.2g of the largest", exponent, worst)
				}
			}
		})
	}
}
