package heldout

import (
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine/links"
)

// mostAmong is the maximum number of points of a fold whose pairs count.
const mostAmong = 200

// addPairs sets the pairs among the points of each fold.
//
// Chunklets stay together, so nearly all held-out must-links join two points of the fold, which are
// new to the model, and most held-out cannot-links join one to a point of the fit. A model that
// draws all new points to the middle would rank these links well. Pairs of two new points are
// compared with their like.
func addPairs(folds []Fold, set *links.Set, seed uint64) {
	component, apart := set.Components(), map[[2]int]bool{}
	for _, l := range set.Cannot() {
		i, j := component[l.I], component[l.J]
		apart[[2]int{min(i, j), max(i, j)}] = true
	}
	r := rand.New(rand.NewPCG(seed, streamAmong))
	for f := range folds {
		folds[f].Among = among(sampled(folds[f].Points, mostAmong, r), component, apart)
	}
}

// sampled returns the points, or count of them at random if there are more, in their order.
func sampled(points []int, count int, r *rand.Rand) []int {
	if len(points) <= count {
		return points
	}
	at := r.Perm(len(points))[:count]
	slices.Sort(at)
	for k, i := range at {
		at[k] = points[i]
	}
	return at
}

// among returns the pairs of points in one component, and those in components that a cannot-link
// separates.
func among(points, component []int, apart map[[2]int]bool) Pairs {
	var must, cannot [][2]int
	for k, j := range points {
		for _, i := range points[:k] {
			a, b := component[i], component[j]
			switch {
			case a == b:
				must = append(must, [2]int{i, j})
			case apart[[2]int{min(a, b), max(a, b)}]:
				cannot = append(cannot, [2]int{i, j})
			}
		}
	}
	if len(must) == 0 || len(cannot) == 0 {
		return Pairs{}
	}
	return Pairs{append(must, cannot...), len(must)}
}
