package score

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/mustlink/mustlink/engine/fault"
)

// JRatio returns J = mean distance between points of different classes / mean distance between
// points of one class, over unordered pairs, with Euclidean distances that are not squared (Yeung,
// Chang & Dai 2008). Larger is better; J does not depend on the scale of x.
//
// x is n x d, row-major and compact. Wrong sizes are a *fault.ShapeError; a value that is not
// finite, labels without a pair of either kind, and classes whose points all coincide (mean
// distance 0) are a *fault.DataError. Cost: O(n^2 d) time and O(n) memory.
func JRatio[T comparable](x []float64, n, d int, labels []T) (float64, error) {
	return ofEmbedding(x, n, d, labels, (*embedding).jRatio)
}

func (e *embedding) jRatio() (float64, error) {
	if err := e.bothKinds("J"); err != nil {
		return 0, err
	}
	// With one partial sum per row, the rounding error grows with n, not with the number of pairs.
	within, between := 0.0, 0.0
	e.rows(false, func(i, from int, dist []float64) {
		w, b := 0.0, 0.0
		for k, r := range dist {
			if e.class[from+k] == e.class[i] {
				w += r
			} else {
				b += r
			}
		}
		within += w
		between += b
	})
	within /= float64(e.samePairs())
	between /= float64(e.differentPairs())
	if within == 0 {
		return 0, fault.Data("", "J is undefined, as the mean distance within classes is 0: want a class with different points")
	}
	j := between / within
	if math.IsInf(j, 0) || math.IsNaN(j) {
		return 0, fault.Data("", "J is out of range, with mean distance %g between classes and %g within: want values of similar magnitude", between, within)
	}
	return j, nil
}

// maxDistances bounds the number of stored distances in PairAUC: 2^27 distances take 1 GiB.
const maxDistances = 1 << 27

// PairAUC returns the probability that a random pair of one class is closer than a random pair of
// different classes, where ties count half: the area under the ROC curve of the distance as a test
// of "same class". 1 is perfect, 1/2 is chance.
//
// Input and errors are as in [JRatio], except that coinciding points are allowed. It stores the
// distances of the rarer kind of pair; more than 2^27 are a *fault.MemoryError. Cost: O(n^2 (d +
// log n)).
func PairAUC[T comparable](x []float64, n, d int, labels []T) (float64, error) {
	return ofEmbedding(x, n, d, labels, (*embedding).pairAUC)
}

func (e *embedding) pairAUC() (float64, error) {
	if err := e.bothKinds("the AUC of pairs"); err != nil {
		return 0, err
	}
	same, different := e.samePairs(), e.differentPairs()
	storeSame := same <= different
	if rarer := min(same, different); rarer > maxDistances {
		return 0, &fault.MemoryError{What: fmt.Sprintf("the AUC of pairs of %d points", e.n), Need: int64(rarer) * 8, Limit: maxDistances * 8,
			Hint: "score a sample of the points"}
	}
	stored := make([]float64, 0, min(same, different))
	e.rows(false, func(i, from int, dist []float64) {
		for k, r := range dist {
			if (e.class[from+k] == e.class[i]) == storeSame {
				stored = append(stored, r)
			}
		}
	})
	slices.Sort(stored)
	var twice uint64 // 2 #(stored < other) + #(stored = other)
	e.rows(false, func(i, from int, dist []float64) {
		for k, r := range dist {
			if (e.class[from+k] == e.class[i]) != storeSame {
				twice += halfRank(stored, r)
			}
		}
	})
	storedBelow := float64(twice) / 2 / (float64(same) * float64(different))
	if storeSame {
		return storedBelow, nil
	}
	return 1 - storedBelow, nil
}

// halfRank returns #(a < x) + #(a <= x) for ascending a.
func halfRank(a []float64, x float64) uint64 {
	below := sort.SearchFloat64s(a, x)
	upTo := below
	if upTo < len(a) && a[upTo] == x {
		upTo += sort.Search(len(a)-below, func(k int) bool { return a[below+k] > x })
	}
	return uint64(below) + uint64(upTo)
}
