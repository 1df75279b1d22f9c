package logdetmetric

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Supervision holds the links and triplets that a method learns from.
type Supervision struct {
	Links      *links.Set
	Triplets   []links.Triplet
	impossible map[int]bool // indices of cannot-links, followed by triplets, that no metric can satisfy
}

// Check returns an error if there are neither links nor triplets, or if a triplet has a row that is
// not among n points.
func (w Supervision) Check(method string, n int) error {
	if w.Links.Len() == 0 && len(w.Triplets) == 0 {
		return input.NoLinks(method)
	}
	return links.CheckTriplets(n, w.Triplets)
}

// Drop leaves out what no metric can satisfy: cannot-links between points at distance 0 in the
// feature space of k, and triplets whose far point is at distance 0 from the first. It returns a
// notice that names their rows, if there are any.
func (w *Supervision) Drop(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) ([]string, error) {
	var pairs [][2]int
	for _, l := range w.Links.Cannot() {
		pairs = append(pairs, [2]int{l.I, l.J})
	}
	for _, t := range w.Triplets {
		pairs = append(pairs, [2]int{t.I, t.K})
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	squared, err := k.Squared().Pairs(ctx, eng, x, pairs)
	if err != nil {
		return nil, err
	}
	largest := slices.Max(squared)
	var named []string
	w.impossible = map[int]bool{}
	for at, d := range squared {
		if d > rounding*largest {
			continue
		}
		w.impossible[at] = true
		if len(named) < 5 {
			named = append(named, fmt.Sprintf("%d and %d", pairs[at][0], pairs[at][1]))
		}
	}
	switch count := len(w.impossible); {
	case count == 0:
		return nil, nil
	case count > len(named):
		named = append(named, "…")
	}
	return []string{fmt.Sprintf(
		"%d cannot-links or triplets are left out, since no metric separates points at distance 0: rows %s",
		len(w.impossible), strings.Join(named, ", "))}, nil
}

// Dropped returns the number of links and triplets that [Supervision.Drop] has left out.
func (w Supervision) Dropped() int { return len(w.impossible) }

// Linked returns the rows that occur in links or triplets, ascending.
func (w Supervision) Linked() []int {
	linked := map[int]bool{}
	for _, list := range [][]links.Link{w.Links.Must(), w.Links.Cannot()} {
		for _, l := range list {
			linked[l.I], linked[l.J] = true, true
		}
	}
	for _, t := range w.Triplets {
		linked[t.I], linked[t.J], linked[t.K] = true, true, true
	}
	return slices.Sorted(maps.Keys(linked))
}
