package labelnoise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/links"
)

// TestScoreOfOneKind: must-links alone are separated from random pairs by one regression, and so
// the mean probability of both is the share of links.
func TestScoreOfOneKind(t *testing.T) {
	const count, pairs = 30, 50
	rng := rand.New(rand.NewPCG(1, 2))
	r := &ranking{list: make([]links.Link, count), randomPairs: make([][2]int, pairs)}
	d := distances{links: make([]float64, count), random: make([]float64, pairs)}
	for k := range r.list {
		r.list[k], d.links[k] = links.NewLink(2*k, 2*k+1, links.Must), rng.NormFloat64()
	}
	for k := range d.random {
		d.random[k] = 1.5 + rng.NormFloat64()
	}
	r.distances = []distances{d}
	scores, share, err := r.score()
	if err != nil || share != 0.05 {
		t.Fatalf("share %v, error %v", share, err)
	}
	// The log odds are linear in the distance.
	slope := (scores[1] - scores[0]) / (d.links[1] - d.links[0])
	together := func(v float64) float64 {
		odds := math.Log(share/(1-share)) - scores[0] - slope*(v-d.links[0])
		return 1 / (1 + math.Exp(-odds))
	}
	sum := 0.0
	for k, v := range d.links {
		sum += together(v)
		if want := scores[0] + slope*(v-d.links[0]); math.Abs(scores[k]-want) > 1e-9 {
			t.Errorf("score %v at distance %v: want %v", scores[k], v, want)
		}
	}
	for _, v := range d.random {
		sum += together(v)
	}
	if !(slope > 0) || math.Abs(sum-count) > 1e-5 {
		t.Errorf("slope %v, and the probabilities add up to %v: want %d", slope, sum, count)
	}
}
