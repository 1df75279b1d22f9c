package logdetmetric

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// Targets are what is asked of distances.
type Targets struct {
	Links      *links.Set
	Triplets   []links.Triplet
	impossible map[int]bool // cannot-links, and after them triplets, by their number
}

// Check returns what is wrong with the wishes of a method for n points: none at all, or triplets of
// rows that there are not.
func (w Targets) Check(method string, n int) error {
	if w.Links.Len() == 0 && len(w.Triplets) == 0 {
		return input.NoLinks(method)
	}
	return links.CheckTriplets(n, w.Triplets)
}

// Drop leaves out what no metric can do: cannot-links between points in one place, and triplets
// whose far point is in the place of the first, in the feature space of k. It returns a notice that
// names them, none if there are none.
func (w *Targets) Drop(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) ([]string, error) {
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
	return []string{fmt.Sprintf("%d cannot-links or triplets ask points in one place to be apart, which no metric can do, and are left out: rows %s", len(w.impossible), strings.Join(named, ", "))}, nil
}

// Dropped returns how many wishes [Wishes.Drop] has left out.
func (w Targets) Dropped() int { return len(w.impossible) }

// Linked returns the points that are named, ascending.
func (w Targets) Linked() []int {
	seen := map[int]bool{}
	for _, list := range [][]links.Link{w.Links.Must(), w.Links.Cannot()} {
		for _, l := range list {
			seen[l.I], seen[l.J] = true, true
		}
	}
	for _, t := range w.Triplets {
		seen[t.I], seen[t.J], seen[t.K] = true, true, true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Constraints are those of the links, at the bounds unless a link has its own, with their weights,
// and of the triplets; place gives rows their numbers, nil leaves them.
func (b Bounds) Constraints(w Targets, place map[int]int) []logdet.Constraint {
	var out []logdet.Constraint
	add := func(l links.Link, kind logdet.Kind, otherwise float64) {
		c := logdet.Constraint{Kind: kind, I: l.I, J: l.J, Bound: l.Bound, Weight: l.Weight}
		if math.IsNaN(l.Bound) {
			c.Bound = otherwise
		}
		out = append(out, c)
	}
	for _, l := range w.Links.Must() {
		add(l, logdet.AtMost, b.Upper)
	}
	cannot := w.Links.Cannot()
	for at, l := range cannot {
		if !w.impossible[at] {
			add(l, logdet.AtLeast, b.Lower)
		}
	}
	for at, t := range w.Triplets {
		if !w.impossible[len(cannot)+at] {
			out = append(out, logdet.Constraint{Kind: logdet.Nearer, I: t.I, J: t.J, K: t.K, Bound: b.Margin, Weight: 1})
		}
	}
	for n := range out {
		if c := &out[n]; place != nil {
			c.I, c.J, c.K = place[c.I], place[c.J], place[c.K]
		}
	}
	return out
}
