package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
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

// TestProbability compares the probability at the links with the direct definition, for the share
// of the links and for another one: weights of links and the factor of the odds agree. Elsewhere
// it is between those of its neighbors.
func TestProbability(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		distances, must := drawn(t)
		c, err := Fit(distances, must)
		if err != nil {
			t.Fatal(err)
		}
		musts, cannots := within(distances, must, 2)
		mustWeight, cannotWeight := 1.0, 1.0
		if share := rapid.SampledFrom([]float64{0, 0.5, 0.01, 0.9}).Draw(t, "share"); share > 0 {
			if c, err = c.WithShare(share); err != nil || c.Share() != share {
				t.Fatal(c, err)
			}
			mustWeight, cannotWeight = share/float64(musts), (1-share)/float64(cannots)
		} else if want := float64(musts) / float64(musts+cannots); c.Share() != want {
			t.Fatalf("share %v, want %v", c.Share(), want)
		}
		for _, d := range distances {
			if got, want := c.Probability(d), direct(distances, must, d, mustWeight, cannotWeight); !(math.Abs(got-want) <= 1e-12) {
				t.Fatalf("probability %v at %v, by the definition %v", got, d, want)
			}
		}
		before := 1.0
		for _, d := range append([]float64{0, 5, math.MaxFloat64}, grid(200)...) {
			if p := c.Probability(d); !(p >= 0 && p <= 1) {
				t.Fatalf("probability %v at %v", p, d)
			}
		}
		for _, d := range grid(500) {
			p := c.Probability(d)
			if p > before {
				t.Fatalf("the probability rises to %v at %v", p, d)
			}
			before = p
		}
	})
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
		share := rapid.SampledFrom([]float64{0, 0.02}).Draw(t, "share")
		precisionAt := func(d float64) float64 {
			m, n := within(distances, must, d)
			if share == 0 {
				return float64(m) / float64(m+n)
			}
			hits, misses := share*float64(m)/float64(allMust), (1-share)*float64(n)/float64(allCannot)
			return hits / (hits + misses)
		}
		if c, err = c.WithShare(share); err != nil {
			t.Fatal(err)
		}
		level := rapid.Float64Range(0.001, 1).Draw(t, "level")
		farthest, best, nearest := -1.0, -1.0, math.Inf(1)
		for _, d := range distances {
			p := precisionAt(d)
			best = max(best, p)
			if p >= level+1e-12 {
				farthest = max(farthest, d)
			}
			if m, _ := within(distances, must, d); float64(m)/float64(allMust) >= level {
				nearest = min(nearest, d)
			}
		}
		got, err := c.Threshold(level)
		switch {
		case math.Abs(best-level) < 1e-12: // rounding decides
		case best < level:
			if e, ok := err.(*fault.ParamError); !ok || e.Param != "precision" {
				t.Fatalf("precision %v: threshold %v, error %v, but the best is %v", level, got, err, best)
			}
		case err != nil || got.Distance < farthest || !(got.Precision.Value >= level) || !(math.Abs(got.Precision.Value-precisionAt(got.Distance)) < 1e-12):
			t.Fatalf("precision %v: threshold %v, error %v, want %v", level, got, err, farthest)
		}
		got, err = c.ThresholdForRecall(level)
		if m, n := within(distances, must, nearest); err != nil || got.Distance != nearest || got.Must != m || got.Cannot != n || got.Recall.Value != float64(m)/float64(allMust) {
			t.Fatalf("recall %v: threshold %+v, error %v, want %v with %d and %d links", level, got, err, nearest, m, n)
		}
		for _, e := range []Estimate{got.Precision, got.Recall} {
			if !(0 <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= 1 && e.Low < e.High) {
				t.Fatalf("interval %v", e)
			}
		}
	})
}

// TestInterval: the bounds of an interval solve the equation that defines it (Wilson 1927): the
// observed share is 1.96 standard deviations from them.
func TestInterval(t *testing.T) {
	for _, c := range [][2]int{{38, 40}, {1, 3}, {500, 900}} {
		e, n := wilson(c[0], c[1]), float64(c[1])
		for _, bound := range []float64{e.Low, e.High} {
			if z := math.Abs(e.Value-bound) / math.Sqrt(bound*(1-bound)/n); !(math.Abs(z-1.959964) < 1e-9) {
				t.Errorf("%v of %v: bound %v is %v standard deviations away", c[0], c[1], bound, z)
			}
		}
	}
	if e := wilson(0, 0); e != (Estimate{0, 0, 1}) {
		t.Errorf("of no links: %v", e)
	}
	if e := wilson(7, 7); e.High != 1 || !(e.Low > 0.5 && e.Low < 0.8) {
		t.Errorf("all of 7 links: %v", e)
	}
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
