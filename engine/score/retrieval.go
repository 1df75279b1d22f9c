package score

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/mustlink/mustlink/engine/fault"
)

// RecallAtK returns the recall at each of the given k for retrieval by leave-one-out: the fraction
// of points with at least one point of their own class among their k nearest others (Jegou, Douze &
// Schmid 2011; Song, Xiang, Jegelka & Savarese, CVPR 2016). Points that are alone in their class
// have nothing to find and do not count. Of points at the same distance, the one with the lower row
// number is nearer.
//
// Input and errors are as in [JRatio]; a k outside 1..n-1 is a *fault.ParamError. A single class is
// allowed and gives 1. Cost: O(n^2 d) for all k together.
func RecallAtK[T comparable](x []float64, n, d int, labels []T, k ...int) ([]float64, error) {
	e, err := newEmbedding(x, n, d, labels)
	if err != nil {
		return nil, err
	}
	if err := e.checkK(k); err != nil {
		return nil, err
	}
	ranks, err := e.hitRanks()
	if err != nil {
		return nil, err
	}
	return recall(ranks, k), nil
}

func (e *embedding) checkK(k []int) error {
	for _, v := range k {
		if v < 1 || v >= e.n {
			return &fault.ParamError{Param: "k", Value: v, Want: fmt.Sprintf("1 to %d, the number of other points", e.n-1)}
		}
	}
	return nil
}

// NeighborAccuracy returns the leave-one-out accuracy of the nearest-neighbor classifier: the
// fraction of points whose nearest other point, ties to the lower row, has their label. Unlike
// recall@1, it counts points that are alone in their class, as errors. Input and errors are as in
// [JRatio]. Cost: O(n^2 d).
func NeighborAccuracy[T comparable](x []float64, n, d int, labels []T) (float64, error) {
	return ofEmbedding(x, n, d, labels, func(e *embedding) (float64, error) {
		ranks, err := e.hitRanks()
		if err != nil && !errors.Is(err, errNoClassmates) {
			return 0, err
		}
		return neighborAccuracy(ranks, n), nil // 0 without ranks
	})
}

var errNoClassmates = errors.New("recall is undefined: want at least two points in one class")

// hitRanks returns, for every point with others in its class, the rank of its first neighbor of
// that class (1 = the nearest). The ranks are sorted.
func (e *embedding) hitRanks() ([]int, error) {
	if e.samePairs() == 0 {
		return nil, &fault.DataError{Row: -1, Err: errNoClassmates}
	}
	var ranks []int
	e.rows(true, func(i, _ int, dist []float64) {
		if e.size[e.class[i]] < 2 {
			return
		}
		hit := -1
		for j, r := range dist {
			if j != i && e.class[j] == e.class[i] && (hit < 0 || r < dist[hit]) {
				hit = j
			}
		}
		rank := 1
		for j, r := range dist {
			if j != i && (r < dist[hit] || r == dist[hit] && j < hit) {
				rank++
			}
		}
		ranks = append(ranks, rank)
	})
	slices.Sort(ranks)
	return ranks, nil
}

// recall returns the fraction of the ascending ranks that are at most each k.
func recall(ranks, k []int) []float64 {
	out := make([]float64, len(k))
	for a, v := range k {
		out[a] = float64(sort.SearchInts(ranks, v+1)) / float64(len(ranks))
	}
	return out
}

func neighborAccuracy(ranks []int, n int) float64 {
	return float64(sort.SearchInts(ranks, 2)) / float64(n)
}
