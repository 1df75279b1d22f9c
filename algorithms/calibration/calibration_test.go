package calibration

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// drawn returns distances with many ties, and kinds of links, both of which occur.
func drawn(t *rapid.T) (distances []float64, must []bool) {
	n := rapid.IntRange(2, 60).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0))
	values := rapid.SampledFrom([]int{3, 20, 1 << 30}).Draw(t, "values")
	for range n {
		d := float64(rng.IntN(values)) / float64(values)
		distances, must = append(distances, d), append(must, rng.Float64() > d)
	}
	must[rng.IntN(n)] = true
	if k := slices.Index(must, true); !slices.Contains(must, false) {
		must[(k+1)%n] = false
	}
	return distances, must
}

// within counts the links up to a distance.
func within(distances []float64, must []bool, limit float64) (musts, cannots int) {
	for k, d := range distances {
		switch {
		case d > limit:
		case must[k]:
			musts++
		default:
			cannots++
		}
	}
	return musts, cannots
}

// direct is the isotonic regression at a distance by its min-max formula (Barlow, Bartholomew,
// Bremner & Brunk 1972): the smallest, over beginnings at most there, of the largest mean of the
// links from the beginning to an end at least there. A must-link counts 1 with one weight, a
// cannot-link 0 with another.
func direct(distances []float64, must []bool, at, mustWeight, cannotWeight float64) float64 {
	lowest := math.Inf(1)
	for _, from := range distances {
		if from > at {
			continue
		}
		highest := math.Inf(-1)
		for _, to := range distances {
			if to < at {
				continue
			}
			musts, cannots := 0.0, 0.0
			for k, d := range distances {
				if d >= from && d <= to && must[k] {
					musts += mustWeight
				} else if d >= from && d <= to {
					cannots += cannotWeight
				}
			}
			highest = max(highest, musts/(musts+cannots))
		}
		lowest = min(lowest, highest)
	}
	return lowest
}

// TestProbability: blocks of the direct isotonic regression have the share of their must-links
// after one more link of each kind, unless bounds or the order of blocks change it. Another share
// multiplies all odds by one factor. Probabilities fall, within their intervals, which are in [0,
// 1], and are never 0 or 1.
func TestProbability(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		distances, must := drawn(t)
		c, err := Fit(distances, must)
		if err != nil {
			t.Fatal(err)
		}
		want := smoothed(c, distances, must)
		for k, d := range c.distance {
			bound := c.steps[k].value == c.steps[k].low || c.steps[k].value == c.steps[k].high
			if !bound && slices.IsSortedFunc(want, func(a, b float64) int { return cmp.Compare(b, a) }) &&
				!(math.Abs(c.Probability(d)-want[k]) <= 1e-12) {
				t.Fatalf("probability %v at %v, by the definition %v", c.Probability(d), d, want[k])
			}
		}
		musts, cannots := within(distances, must, 2)
		share := rapid.SampledFrom([]float64{0.5, 0.01, 0.9}).Draw(t, "share")
		other, err := c.WithShare(share)
		if err != nil || other.Share() != share || c.Share() != float64(musts)/float64(musts+cannots) {
			t.Fatal(other, err)
		}
		odds := func(p float64) float64 { return p / (1 - p) }
		factor := odds(share) / odds(c.Share())
		for _, d := range distances {
			if a, b := odds(c.Probability(d))*factor, odds(other.Probability(d)); !(math.Abs(a-b) <= 1e-9*a) {
				t.Fatalf("odds %v at %v, want %v", b, d, a)
			}
		}
		even, err := other.Even()
		if first := other.Probability(0); (err != nil) != (first < 0.5) {
			t.Fatalf("probability %v at 0, error %v", first, err)
		} else if p, end := other.Probability(even.Distance), c.distance[len(c.distance)-1]; err == nil &&
			(p < 0.5-1e-9 || even.Distance < end && other.Probability(even.Distance*(1+1e-9)+1e-12) > 0.5) {
			t.Fatalf("probability %v at %v, %v behind it", p, even, other.Probability(even.Distance*(1+1e-9)))
		}
		before := Estimate{1, 1, 1}
		for _, d := range append(append([]float64{0}, grid(300)...), 5, math.MaxFloat64) {
			s := other.Interval(d)
			if !(0 <= s.Low && s.Low <= s.Value && s.Value <= s.High && s.High <= 1 && 0 < s.Value &&
				s.Value < 1) {
				t.Fatalf("probability %v at %v", s, d)
			}
			if s.Low > before.Low || s.Value > before.Value || s.High > before.High {
				t.Fatalf("the probability rises from %v to %v at %v", before, s, d)
			}
			before = s
		}
	})
}

// smoothed returns, for each distance, the share of must-links, after one more link of each kind,
// among all links at which the isotonic regression is as there.
func smoothed(c *Calibration, distances []float64, must []bool) (out []float64) {
	var regression []float64
	for _, d := range c.distance {
		regression = append(regression, direct(distances, must, d, 1, 1))
	}
	for _, here := range regression {
		musts, cannots := int64(0), int64(0)
		for k, v := range regression {
			if math.Abs(v-here) <= 1e-9 {
				musts, cannots = musts+c.must[k], cannots+c.cannot[k]
			}
		}
		m := float64(musts+1) / float64(c.musts+2) * float64(c.musts)
		n := float64(cannots+1) / float64(c.cannots+2) * float64(c.cannots)
		out = append(out, m/(m+n))
	}
	return out
}

// grid returns numbers from 0 to 1.2.
func grid(n int) (d []float64) {
	for k := range n {
		d = append(d, 1.2*float64(k)/float64(n-1))
	}
	return d
}

// TestThresholds compares with a search over all distances of links.
func TestThresholds(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		distances, must := drawn(t)
		c, err := Fit(distances, must)
		if err != nil {
			t.Fatal(err)
		}
		allMust, allCannot := within(distances, must, 2)
		share := rapid.SampledFrom([]float64{0, 0.02, 0.999}).Draw(t, "share")
		if c, err = c.WithShare(share); err != nil {
			t.Fatal(err)
		}
		level := rapid.Float64Range(0.001, 1).Draw(t, "level")
		farthest, best, nearest := -1.0, -1.0, math.Inf(1)
		for k, d := range distances {
			at := c.At(d)
			if m, n := within(distances, must, d); at.Must != m || at.Cannot != n ||
				at.Recall.Value != float64(m)/float64(allMust) {
				t.Fatalf("%+v at %v: want %d and %d links", at, d, m, n)
			} else if at.Recall.Value >= level {
				nearest = min(nearest, d)
			}
			if k < 3 {
				if low := lowest(share, at.Must, allMust, at.Cannot,
					allCannot); !(math.Abs(at.Precision.Low-low) <= 1e-6*low) {
					t.Fatalf("%v at %v: want the lower bound %v", at, d, low)
				}
			}
			if best = max(best, at.Precision.Low); at.Precision.Low >= level {
				farthest = max(farthest, d)
			}
			for _, e := range []Estimate{at.Precision, at.Recall} {
				if !(0 <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= 1 && e.Low < e.High) {
					t.Fatalf("interval %v", e)
				}
			}
		}
		got, err := c.Threshold(level)
		switch {
		case best < level:
			var most float64
			e, ok := err.(*fault.ParamError)
			if !ok || e.Param != "precision" {
				t.Fatalf("precision %v: error %v", level, err)
			}
			// What is stated is supported, and no more than its last digit below the best.
			if _, err := fmt.Sscanf(e.Want, "at most %g,", &most); err != nil || most > best ||
				most < best-math.Max(.01*best, 1e-9) {
				t.Fatalf("precision %v: threshold %v, error %v, but the best is %v", level, got, err, best)
			}
		case err != nil || got.Distance != farthest || got != c.At(farthest):
			t.Fatalf("precision %v: threshold %v, error %v, want %v", level, got, err, farthest)
		}
		if s := c.Surest(); s != c.At(s.Distance) || s.Precision.Low != best {
			t.Fatalf("the surest threshold is %+v: the largest lower bound is %v", s, best)
		}
		if got, err = c.ThresholdForRecall(level); err != nil || got != c.At(nearest) {
			t.Fatalf("recall %v: threshold %+v, error %v, want %v", level, got, err, nearest)
		}
	})
}

// lowest is the lower bound of a precision: bounds of both shares are found by halving where links
// are as much less likely as they may be.
func lowest(share float64, must, allMust, cannot, allCannot int) float64 {
	likely := func(k, n int, p float64) bool {
		if q := float64(k) / float64(n); p != q {
			ratio := math.Pow(p/q, float64(k)) * math.Pow((1-p)/(1-q), float64(n-k))
			return ratio > math.Exp(-newRate(int64(n)).ratio)
		}
		return true
	}
	if share == 0 {
		return halved(func(p float64) bool {
			ratio := math.Pow(p*float64(must+cannot)/float64(must),
				float64(must)) * math.Pow((1-p)/(1-float64(must)/float64(must+cannot)), float64(cannot))
			return must > 0 && p < float64(must)/float64(must+cannot) && ratio <= math.Exp(-upTo(1,
				int64(allMust+allCannot)).ratio)
		})
	}
	m := halved(func(p float64) bool {
		return p < float64(must)/float64(allMust) && !likely(must, allMust, p)
	})
	n := halved(func(p float64) bool {
		return p < float64(cannot)/float64(allCannot) || likely(cannot, allCannot,
			p)
	})
	return share * m / (share*m + (1-share)*n)
}

// halved returns the largest number in [0, 1] up to which a condition holds.
func halved(holds func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// atMost returns the probability of at most k of n.
func atMost(k, n int, p float64) (sum float64) {
	for j := range k + 1 {
		all, _ := math.Lgamma(float64(n + 1))
		in, _ := math.Lgamma(float64(j + 1))
		out, _ := math.Lgamma(float64(n - j + 1))
		sum += math.Exp(all-in-out) * math.Pow(p, float64(j)) * math.Pow(1-p, float64(n-j))
	}
	return sum
}

// TestRates: all bounds of the share up to a distance, for n uniform numbers, are right together as
// often as promised.
func TestRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct{ n, draws int }{{1, 4000}, {2, 4000}, {5, 4000}, {20, 4000}, {100, 4000}, {500,
		2000}, {5000, 1000}} {
		r, wrong := newRate(int64(c.n)), 0
		lows, highs := make([]float64, c.n+1), make([]float64, c.n+1)
		for k := range lows {
			lows[k], highs[k] = r.bounds(int64(k))
		}
		u := make([]float64, c.n)
		for range c.draws {
			for k := range u {
				u[k] = rng.Float64()
			}
			slices.Sort(u)
			for k := range c.n { // just before u[k] there are k, and at it k + 1
				if u[k] > highs[k] {
					wrong++
					break
				}
			}
		}
		if most := missed * float64(c.draws); !(float64(wrong) <= most+3*math.Sqrt(most)) ||
			!(float64(wrong) >= most/2-3*math.Sqrt(most)) {
			t.Errorf("%d numbers: %d of %d draws have a wrong bound, want about %v", c.n, wrong, c.draws,
				most)
		}
		for k := range lows { // a single bound is wrong less often
			if c.n > 100 || k == 0 || k == c.n {
				continue
			}
			below, above := 1-atMost(k-1, c.n, lows[k]), atMost(k, c.n, highs[k])
			if !(max(below, above) <= math.Exp(-r.ratio)+1e-9) {
				t.Fatalf("%d of %d: as many have the probability %v at the lower bound, as few %v at the "+
					"upper", k, c.n,
					below, above)
			}
		}
	}
}

// population has distances of matching and of other pairs with these parameters of Beta
// distributions, and this share of matching pairs.
type population struct {
	must, cannot [2]int
	share        float64
}

// drawnFrom returns a number with a Beta distribution: one of some uniform numbers in order.
func drawnFrom(beta [2]int, rng *rand.Rand) float64 {
	u := make([]float64, beta[0]+beta[1]-1)
	for j := range u {
		u[j] = rng.Float64()
	}
	slices.Sort(u)
	return u[beta[0]-1]
}

// mix returns a calibration on pairs drawn at random, nil if they are all of one kind.
func (p population) mix(t *testing.T, rng *rand.Rand, n int) *Calibration {
	t.Helper()
	musts := 0
	for range n {
		if rng.Float64() < p.share {
			musts++
		}
	}
	if musts == 0 || musts == n {
		return nil
	}
	c, err := p.draw(t, rng, musts, n-musts).WithShare(0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// draw returns a calibration on links of both kinds.
func (p population) draw(t *testing.T, rng *rand.Rand, musts, cannots int) *Calibration {
	t.Helper()
	var distances []float64
	var must []bool
	for k := range musts + cannots {
		of := p.must
		if k >= musts {
			of = p.cannot
		}
		distances, must = append(distances, drawnFrom(of, rng)), append(must, k < musts)
	}
	c, err := Fit(distances, must)
	if err == nil {
		c, err = c.WithShare(p.share)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// precision returns that of all pairs between two distances.
func (p population) precision(from, to float64) float64 {
	part := func(of [2]int) float64 {
		a, b := float64(of[0]), float64(of[1])
		return mathext.RegIncBeta(a, b, to) - mathext.RegIncBeta(a, b, from)
	}
	return p.share * part(p.must) / (p.share*part(p.must) + (1-p.share)*part(p.cannot))
}

// TestCoverage: where the truth is known, a threshold has the precision that it claims, and its
// precision is in its interval, in 95 % of draws at least, though it was chosen by them. If must-
// and cannot-links do not differ, more than the share is claimed in at most 5 %. Mean probabilities
// of the pairs up to a threshold are in the intervals of their steps.
func TestCoverage(t *testing.T) {
	tries := drawstest.Count(25, 100)
	most := 0.05*float64(tries) + 3*math.Sqrt(0.05*0.95*float64(tries))
	rng := rand.New(rand.NewPCG(6, 3))
	claims, tried, failed := 0, 0, 0
	for _, shapes := range [][2][2]int{{{2, 6}, {6, 2}}, {{2, 3}, {5, 2}}, {{1, 8}, {8, 1}},
		{{3, 3}, {3, 3}}} {
		for _, share := range []float64{1e-4, 0.02, 0.5} {
			for _, count := range [][2]int{{20, 20}, {100, 100}, {30, 2000}, {2000, 30}} {
				p := population{shapes[0], shapes[1], share}
				wrong, above, apart := 0, 0, 0
				for range tries {
					c := p.draw(t, rng, count[0], count[1])
					bad, high, off := false, false, false
					for _, claim := range []float64{0.5, 0.8, 0.9, 0.95, 1.3 * share} {
						at, err := c.Threshold(claim)
						if err != nil {
							continue
						}
						claims++
						truth := p.precision(0, at.Distance)
						bad, high = bad || truth < claim, high || truth > at.Precision.High
					}
					for _, q := range []float64{0.2, 0.5, 0.8} {
						from, to, s := c.stepAround(q)
						truth := p.precision(from, to)
						off = off || truth < s.Low || truth > s.High
					}
					for _, b := range []struct {
						count *int
						is    bool
					}{{&wrong, bad}, {&above, high}, {&apart, off}} {
						if b.is {
							*b.count++
						}
					}
				}
				tried, failed = tried+tries, failed+wrong
				if float64(max(wrong, above, apart)) > most {
					t.Errorf("%+v, %v links: of %d draws %d claim too much, %d have a lower interval, and "+
						"%d steps "+
						"another probability", p, count, tries, wrong, above, apart)
				}
			}
		}
	}
	t.Logf("%d of %d calibrations claim too much, by some of %d thresholds", failed, tried, claims)
	tried, failed = 0, 0
	for _, shapes := range [][2][2]int{{{2, 6}, {6, 2}}, {{2, 3}, {5, 2}}, {{3, 3}, {3, 3}}} {
		for _, share := range []float64{0.03, 0.2, 0.5, 0.8} {
			for _, n := range []int{30, 100, 1000} {
				p, wrong, above := population{shapes[0], shapes[1], share}, 0, 0
				for range tries {
					c := p.mix(t, rng, n)
					if c == nil {
						continue
					}
					bad, high := false, false
					for _, d := range []float64{0.1, 0.2, 0.3, 0.5, 0.7, 1} {
						at := c.At(d)
						bad, high = bad || p.precision(0, d) < at.Precision.Low, high ||
							p.precision(0, d) > at.Precision.High
					}
					for _, claim := range []float64{0.5, 0.8, 0.9, 0.95, 1.1 * share} {
						if at, err := c.Threshold(min(1, claim)); err == nil {
							bad = bad || p.precision(0, at.Distance) < claim
						}
					}
					if bad {
						wrong++
					}
					if high {
						above++
					}
				}
				tried, failed = tried+tries, failed+wrong
				if float64(max(wrong, above)) > most {
					t.Errorf("%+v, %d pairs: of %d draws %d claim too much, %d too little", p, n, tries,
						wrong, above)
				}
			}
		}
	}
	t.Logf("%d of %d calibrations on a mix claim too much", failed, tried)
	if claims < 10*tries {
		t.Errorf("only %d claims", claims)
	}
}

// stepAround returns the ends of the step around a distance, halfway to the next steps, and its
// interval.
func (c *Calibration) stepAround(distance float64) (from, to float64, e Estimate) {
	k, _ := slices.BinarySearch(c.distance, distance)
	k = min(k, len(c.distance)-1)
	first, last := k, k
	for first > 0 && c.steps[first-1] == c.steps[k] {
		first--
	}
	for last < len(c.steps)-1 && c.steps[last+1] == c.steps[k] {
		last++
	}
	from, to = 0, 1
	if first > 0 {
		from = (c.distance[first-1] + c.distance[first]) / 2
	}
	if last < len(c.steps)-1 {
		to = (c.distance[last] + c.distance[last+1]) / 2
	}
	return from, to, c.Interval(c.distance[k])
}

func TestRefuses(t *testing.T) {
	both := []bool{true, false}
	for name, err := range map[string]error{
		"lengths":        second(Fit([]float64{1}, both)),
		"negative":       second(Fit([]float64{1, -1}, both)),
		"NaN":            second(Fit([]float64{1, math.NaN()}, both)),
		"infinite":       second(Fit([]float64{1, math.Inf(1)}, both)),
		"must-links":     second(Fit([]float64{1, 2}, []bool{true, true})),
		"cannot-links":   second(Fit([]float64{1, 2}, []bool{false, false})),
		"no links":       second(Fit(nil, nil)),
		"share of 1":     shared(t, 1),
		"negative share": shared(t, -0.1),
		"share of NaN":   shared(t, math.NaN()),
		"tiny share":     shared(t, 1e-300),
	} {
		if !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	c, err := Fit([]float64{1, 2}, both)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{0, -1, 1.5, math.NaN()} {
		if _, err := c.Threshold(v); !fault.IsInput(err) {
			t.Errorf("precision %v: error %v", v, err)
		}
		if _, err := c.ThresholdForRecall(v); !fault.IsInput(err) {
			t.Errorf("recall %v: error %v", v, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func shared(t *testing.T, share float64) error {
	c, err := Fit([]float64{1, 2}, []bool{true, false})
	if err != nil {
		t.Fatal(err)
	}
	return second(c.WithShare(share))
}

// TestChoose: a model without a calibration has a threshold that is given, and nothing that needs
// one; with it, a share changes the precision of a threshold, and precision goes before recall.
func TestChoose(t *testing.T) {
	if c, d, err := Choose(nil, 0, 0, 0, 2.5); c != nil || d != 2.5 || err != nil {
		t.Errorf("a distance alone: %v, %v, %v", c, d, err)
	}
	for k := range 3 {
		given := [3]float64{}
		given[k] = 0.5
		if _, _, err := Choose(nil, given[0], given[1], given[2], 1); !fault.IsInput(err) {
			t.Errorf("without a calibration, %v: error %v", given, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 7))
	distances, must := make([]float64, 200), make([]bool, 200)
	for i := range distances {
		must[i] = i%2 == 0
		distances[i] = rng.Float64() + map[bool]float64{false: 0.6}[must[i]]
	}
	c, err := Fit(distances, must)
	if err != nil {
		t.Fatal(err)
	}
	rare, err := c.WithShare(0.02)
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range [][4]float64{{0, 0, 0, 0.3}, {0, 0.8, 0, 0}, {0, 0, 0.7, 0}, {0, 0.8, 0.7, 9},
		{0.02, 0.1, 0, 0}, {0.02, 0, 0.7, 0}} {
		from := c
		if given[0] != 0 {
			from = rare
		}
		want := Threshold{Distance: given[3]}
		switch {
		case given[1] != 0:
			want, err = from.Threshold(given[1])
		case given[2] != 0:
			want, err = from.ThresholdForRecall(given[2])
		}
		got, d, wrong := Choose(c, given[0], given[1], given[2], given[3])
		if (err != nil) != (wrong != nil) || d != want.Distance {
			t.Errorf("%v: distance %v, error %v: want %v, %v", given, d, wrong, want.Distance, err)
		} else if got.At(0.4) != from.At(0.4) {
			t.Errorf("%v: rates %+v: want %+v", given, got.At(0.4), from.At(0.4))
		}
	}
}
