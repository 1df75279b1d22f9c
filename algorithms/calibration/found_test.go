package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/engine/model"
)

// TestOfFound: where all pairs are known, the precision and the mean of the probabilities of the
// pairs that were found are never above what the number of matching pairs makes possible, whether
// the share is right, too large or too small by much; and with the right share the interval has the
// true precision.
func TestOfFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	wrong, draws := 0, 0
	for _, shape := range [][2][2]int{{{2, 6}, {6, 2}}, {{2, 3}, {5, 2}}, {{3, 3}, {3, 3}}} {
		for range 40 {
			const all, matching = 20000, 200
			p := population{shape[0], shape[1], matching / float64(all)}
			pairs, match := p.pairs(rng, all, matching)
			for _, share := range []float64{0, p.share, 20 * p.share, p.share / 20} {
				c, err := p.draw(t, rng, 60, 60).WithShare(share)
				if err != nil {
					t.Fatal(err)
				}
				threshold := 0.1 + 0.5*rng.Float64()
				count, right := 0, 0
				for count < all && pairs[count] <= threshold {
					if match[count] {
						right++
					}
					count++
				}
				f := c.OfFound(threshold, pairs[:count], all, true)
				mean := 0.0
				for k, v := range f.Probabilities {
					if mean += v / float64(count); !(v >= 0 && v < 1) || k > 0 && v > f.Probabilities[k-1] {
						t.Fatalf("probability %v of pair %d", v, k)
					}
				}
				most := min(1, max(c.Share(), p.share)*all/float64(max(1, count)))
				if f.Precision.Value > most || !(mean <= f.Precision.High+1e-9) ||
					len(f.Probabilities) != count {
					t.Fatalf("share %v: %d pairs, precision %v, mean probability %v: want at most %v", share,
						count,
						f.Precision, mean, most)
				}
				if share == 0 && threshold > 0.3 && shape[0] != shape[1] && f.Doubt == "" {
					t.Errorf("no doubt of a share of a half with %d pairs", count)
				}
				at := c.At(threshold).Precision.Value
				if f.Doubt != "" && f.Share == c.Share() && f.Precision.Value == at &&
					(count == 0 || f.Probabilities[0] == c.Probability(pairs[0])) {
					t.Errorf("share %v, %d pairs: nothing is lowered, but %q", share, count, f.Doubt)
				}
				if draws++; share == p.share && count > 0 &&
					(float64(right)/float64(count) < f.Precision.Low) {
					wrong++
				}
			}
		}
	}
	if most := 0.05 * float64(draws) / 4; float64(wrong) > most+3*math.Sqrt(most) {
		t.Errorf("%d of %d precisions are below their interval", wrong, draws/4)
	}
}

// pairs returns the ascending distances of all pairs, and which match.
func (p population) pairs(rng *rand.Rand, all, matching int) (distances []float64, match []bool) {
	type pair struct {
		distance float64
		match    bool
	}
	var list []pair
	for k := range all {
		of := p.cannot
		if k < matching {
			of = p.must
		}
		list = append(list, pair{drawnFrom(of, rng), k < matching})
	}
	slices.SortFunc(list, func(a, b pair) int {
		if a.distance < b.distance {
			return -1
		}
		return 1
	})
	for _, v := range list {
		distances, match = append(distances, v.distance), append(match, v.match)
	}
	return distances, match
}

// TestNearPairs: near pairs have the share of their links, claim nothing beyond the farthest, keep
// this in their file, and take no other share.
func TestNearPairs(t *testing.T) {
	distances, must := []float64{1, 2, 3, 4}, []bool{true, true, true, false}
	c, err := Fit(distances, must)
	if err != nil {
		t.Fatal(err)
	}
	near := c.OfNearPairs()
	if _, err := near.WithShare(0.1); err == nil || c.Near() || !near.Near() || near.Share() != 0.75 {
		t.Errorf("near pairs have the share %v, error of another one %v", near.Share(), err)
	}
	if a, b := near.At(4), c.At(4); a != b {
		t.Errorf("%v, want %v", a, b)
	}
	if at := near.At(4.5); at.Precision.Low != 0 || at.Precision.High != 1 || at.Recall.High != 1 ||
		near.Interval(4.5).Low != 0 {
		t.Errorf("beyond the farthest link: %v", at)
	}
	if f := near.OfFound(4, distances, 1e6, true); f.Doubt != "" || f.Threshold != near.At(4) ||
		f.Probabilities[0] != near.Probability(1) {
		t.Errorf("%+v", f)
	}
	file := &model.File{}
	near.Encode(file)
	if again, err := Decode(file); err != nil || !again.Near() {
		t.Errorf("the file has %+v, error %v", again, err)
	}
}
