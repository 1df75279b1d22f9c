package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// The AUC is that of package score, ties included, and the effects of each kind of link sum to 0.
func TestRanks(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		must, cannot := rapid.IntRange(1, 20).Draw(t, "must"), rapid.IntRange(1, 20).Draw(t, "cannot")
		d, near, is := make([]float64, must+cannot), make([]float64, must+cannot), make([]bool, must+cannot)
		for k := range d {
			d[k] = float64(rapid.IntRange(0, 9).Draw(t, "distance"))
			near[k], is[k] = -d[k], k < must
		}
		r := newRanks(d, must)
		want, err := score.AUC(near, is)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.auc-want) > 1e-14 {
			t.Fatalf("AUC %v, want %v", r.auc, want)
		}
		var sum [2]float64
		for k := range d {
			if k < must {
				sum[0] += r.effect(k)
			} else {
				sum[1] += r.effect(k)
			}
		}
		for _, s := range sum {
			if math.Abs(s) > 1e-14 {
				t.Fatalf("effects sum to %v: want 0", sum)
			}
		}
	})
}

// The spread is the root of the sum of all products of terms whose pairs have a common point.
func TestSpread(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		var e effects
		terms := map[[2]int]float64{}
		for range rapid.IntRange(1, 30).Draw(t, "pairs") {
			i := rapid.IntRange(0, 8).Draw(t, "i")
			pair := [2]int{i, rapid.IntRange(i+1, 9).Draw(t, "j")}
			v := rapid.Float64Range(-1, 1).Draw(t, "term")
			e.add(pair, v)
			terms[pair] += v
		}
		joint, own := 0.0, 0.0
		for a, x := range terms {
			own += x * x
			for b, y := range terms {
				if a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1] {
					joint += x * y
				}
			}
		}
		if got, want := e.spread(), math.Sqrt(max(joint, own)); math.Abs(got-want) > 1e-7*(1+want) {
			t.Fatalf("spread %v, want %v", got, want)
		}
	})
}

// Over many draws, the standard error is the spread of the AUC: where all links are independent,
// and where each point has several of them and a part of its own in their lengths.
func TestStandardErrorIsTheSpread(t *testing.T) {
	const draws, points = 600, 60
	for _, shared := range []float64{0, 0.7} {
		rng := rand.New(rand.NewPCG(5, 7))
		var sum, squares, claimed float64
		for range draws {
			part := make([]float64, 2*points)
			for i := range part {
				part[i] = shared * rng.NormFloat64()
			}
			var pairs [][2]int
			var d []float64
			for k := range 2 * points { // a ring of must-links, and one of cannot-links on other points
				i, j := k%points, (k+1)%points
				first := k / points * points
				pairs = append(pairs, [2]int{first + min(i, j), first + max(i, j)})
				d = append(d, rng.NormFloat64()+part[first+i]+part[first+j]+float64(k/points))
			}
			r := newRanks(d, points)
			var e effects
			for k, pair := range pairs {
				e.add(pair, r.effect(k))
			}
			sum += r.auc
			squares += r.auc * r.auc
			claimed += e.spread() / draws
		}
		mean := sum / draws
		spread := math.Sqrt(squares/draws - mean*mean)
		if ratio := claimed / spread; math.Abs(ratio-1) > 0.12 { // its own standard error is .03
			t.Errorf("shared part %v: standard error %v, spread %v", shared, claimed, spread)
		}
	}
}
