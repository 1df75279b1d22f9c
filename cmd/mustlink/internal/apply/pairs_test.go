package apply

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
)

// TestCompare: a precision that the number of pairs leaves possible for the nearest of them gives
// these, with a bound that is not below it. Where it is refused for the number of pairs, the error
// names a precision, and asking for that one is never refused.
func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	stated := regexp.MustCompile(`want at most ([0-9.]+)[:,]`)
	given, refused, nearer, errLinks := 0, 0, 0, errors.New("not supported by the links")
	for range 150 {
		const rows, matching = 120, 300
		all := rows * (rows - 1) / 2
		distance := func(match bool) float64 {
			if match {
				return .2 + .6*rng.Float64()*rng.Float64()
			}
			return 1 - .9*rng.Float64()*rng.Float64()
		}
		var distances []float64
		var must []bool
		for range 40 + rng.IntN(60) {
			distances, must = append(distances, distance(true), distance(false)), append(must, true, false)
		}
		c, err := calibration.Fit(distances, must)
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(2) == 0 { // the share is wrong
			share := matching / float64(all) * (.2 + 9*rng.Float64())
			if c, err = c.WithShare(min(.9, share)); err != nil {
				t.Fatal(err)
			}
		}
		pairs := make([]mustlink.Pair, all)
		for k := range pairs {
			pairs[k].Distance = distance(k < matching)
		}
		slices.SortFunc(pairs, func(a, b mustlink.Pair) int {
			if a.Distance < b.Distance {
				return -1
			}
			return 1
		})
		find := func(threshold float64) ([]mustlink.Pair, error) {
			for k, pair := range pairs {
				if pair.Distance > threshold {
					return pairs[:k], nil
				}
			}
			return pairs, nil
		}
		ask := func(precision float64) (*pairsReport, []mustlink.Pair, []float64, error) {
			p := &pairsCommand{Session: &session.Session{Stderr: io.Discard}, precision: precision}
			r := &pairsReport{Rows: rows}
			threshold, err := c.Threshold(precision)
			if err != nil { // the links alone do not support it: no pairs are looked for
				return r, nil, nil, errLinks
			}
			r.Distance = threshold.Distance
			first, _ := find(r.Distance)
			found, probabilities, err := p.compare(r, c, first, find)
			if err == nil && len(found) < len(first) {
				nearer++
			}
			return r, found, probabilities, err
		}
		for _, precision := range []float64{.3, .5, .8, .95} {
			r, found, probabilities, err := ask(precision)
			if err == nil {
				given++
				if r.Calibrated.Precision.Low < precision || len(found) != len(probabilities) ||
					len(found) > 0 && found[len(found)-1].Distance > r.Distance {
					t.Fatalf("precision %v: %d pairs, %d probabilities, %+v", precision, len(found),
						len(probabilities), *r.Calibrated)
				}
				continue
			}
			if errors.Is(err, errLinks) {
				continue
			}
			refused++
			if !fault.IsInput(err) {
				t.Fatal(err)
			}
			text := stated.FindStringSubmatch(err.Error())
			if text == nil {
				continue // none can be claimed
			}
			most, err := strconv.ParseFloat(text[1], 64)
			if err != nil || !(most < precision) {
				t.Fatalf("precision %v: %v %v", precision, text, err)
			}
			if most == 0 {
				continue
			}
			if _, _, _, err := ask(most); err != nil {
				t.Fatalf("precision %v is refused with %v, which is refused too: %v", precision, most, err)
			}
		}
	}
	if at := fmt.Sprint(given, refused, nearer); given == 0 || refused == 0 || nearer == 0 {
		t.Errorf("given, refused, given for the nearer pairs: %s, want some of each", at)
	}
}
