package bandwidth_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// On the rows that rules use, mean and median equal those of all points, and the other rules are
// close.
func TestRowsAlone(t *testing.T) {
	eng := enginetest.New(t, 0)
	for _, n := range []int{100, 6000} {
		x := enginetest.Normal(rand.New(rand.NewPCG(9, uint64(n))), n, 3, 1)
		few := x.Select(bandwidth.Rows(n))
		if few.Len() != min(n, 4096) {
			t.Fatalf("%d rows of %d", few.Len(), n)
		}
		for rule, tolerance := range map[string]float64{"mean": 0, "median": 0, "lle": 2 / 4096.0, "msq": 0.02, "knn10": 0.2} {
			want, got := resolve(t, eng, "rbf:sigma="+rule, x), resolve(t, eng, "rbf:sigma="+rule, few)
			if !(math.Abs(got-want) <= tolerance*want) {
				t.Errorf("n=%d, %s is %v on these rows, %v on all", n, rule, got, want)
			}
		}
	}
	if rows := bandwidth.Rows(0); len(rows) != 0 {
		t.Errorf("rows %v of no points", rows)
	}
}
