package verdict

import (
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/points"
)

// The hint about scales is given where they differ, wherever the columns are; a column that does
// not vary is on no scale.
func TestScalesDiffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		scale, origin [3]float64
		want          bool
	}{
		"one scale":             {[3]float64{1, 1, 1}, [3]float64{}, false},
		"near scales":           {[3]float64{1, 4, 2}, [3]float64{1e6, -1e6, 0}, false},
		"a larger column":       {[3]float64{1, 1, 30}, [3]float64{}, true},
		"the same, far away":    {[3]float64{1, 1, 30}, [3]float64{1e6, -1e6, 3e6}, true},
		"a column of one value": {[3]float64{1, 1, 0}, [3]float64{0, 0, 1e6}, false},
	} {
		x := &points.Dense{N: 200, D: 3, Data: make([]float64, 600)}
		for k := range x.Data {
			x.Data[k] = c.origin[k%3] + c.scale[k%3]*rng.NormFloat64()
		}
		if got := scalesDiffer(x); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
