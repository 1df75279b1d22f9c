package heldout

import (
	"slices"

	"github.com/mustlink/mustlink/engine/score"
)

// Ranked returns the pairs that the ranking needs.
func (held Fold) Ranked() [][2]int { return slices.Concat(held.Links.List, held.Among.List) }

// Ranking returns the mean of the AUC of the held-out links and that of the pairs among held-out
// points, by the distances of the ranked pairs, which it overwrites.
func (held Fold) Ranking(d []float64) (float64, error) {
	links, err := held.Links.auc(d[:len(held.Links.List)])
	if err != nil || len(held.Among.List) == 0 {
		return links, err
	}
	among, err := held.Among.auc(d[len(held.Links.List):])
	return (links + among) / 2, err
}

// auc returns the AUC of the pairs by their distances, which it overwrites.
func (p Pairs) auc(d []float64) (float64, error) {
	must := make([]bool, len(d))
	for k := range d {
		d[k], must[k] = -d[k], k < p.Must
	}
	return score.AUC(d, must)
}
