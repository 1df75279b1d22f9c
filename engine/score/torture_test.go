package score_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/score"
)

// Scores of an embedding (J, areas and recalls) do not depend on its unit, as long as no value
// overflows or underflows.
func TestScoresAtAnyScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	const n, d = 24, 3
	x, labels := make([]float64, n*d), make([]int, n)
	for i := range x {
		x[i] = 1 + rng.Float64() // no subnormal number loses more than its last bits
	}
	for i := range labels {
		labels[i] = i % 3
	}
	all := func(x []float64) ([]float64, error) {
		j, err := score.JRatio(x, n, d, labels)
		if err != nil {
			return nil, err
		}
		auc, err := score.PairAUC(x, n, d, labels)
		if err != nil {
			return nil, err
		}
		accuracy, err := score.NeighborAccuracy(x, n, d, labels)
		if err != nil {
			return nil, err
		}
		recall, err := score.RecallAtK(x, n, d, labels, 1, 2, 5)
		return append(recall, j, auc, accuracy), err
	}
	want, err := all(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, power := range []int{-1020, -700, -500, -100, 100, 500, 700, 1015, 1022} {
		y := slices.Clone(x)
		for i, v := range y {
			y[i] = math.Ldexp(v, power)
		}
		got, err := all(y)
		if err != nil {
			if !fault.IsInput(err) || power < 1000 {
				t.Errorf("times 2^%d: error %v", power, err)
			}
			continue
		}
		for k, v := range got {
			if !(math.Abs(v-want[k]) <= 1e-9) {
				t.Errorf("times 2^%d: score %d is %g, want %g", power, k, v, want[k])
			}
		}
	}
}
