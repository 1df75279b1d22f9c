package score

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// embedding is n points with d coordinates and their classes.
type embedding struct {
	x     []float64
	n, d  int
	class []int32
	size  []uint64 // of each class
}

func newEmbedding[T comparable](x []float64, n, d int, labels []T) (*embedding, error) {
	switch {
	case n < 2 || n > math.MaxInt32:
		return nil, fault.Shape("number of points", n, "2 to 2^31 - 1, as the score is over pairs")
	case d < 1:
		return nil, fault.Shape("number of coordinates", d, "at least 1")
	case len(x)/d != n || len(x)%d != 0:
		return nil, fault.Shape("number of values", len(x), "%d x %d", n, d)
	case len(labels) != n:
		return nil, fault.Shape("number of labels", len(labels), "%d, one for each point", n)
	}
	for k, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fault.Cell(k/d, strconv.Itoa(k%d), "value is %v: want a finite number", v)
		}
	}
	e := &embedding{x: x, n: n, d: d}
	e.class, e.size = number(labels)
	return e, nil
}

// ofEmbedding computes a score of points with their classes.
func ofEmbedding[T comparable](x []float64, n, d int, labels []T,
	score func(*embedding) (float64, error)) (float64, error) {
	e, err := newEmbedding(x, n, d, labels)
	if err != nil {
		return 0, err
	}
	return score(e)
}

func (e *embedding) point(i int) []float64 { return e.x[i*e.d : (i+1)*e.d] }

// rows calls f for each i with the distances from point i to the points from..n-1, where from is
// i+1, or 0 if all is set; dist[j-from] is the distance to point j. dist is reused.
func (e *embedding) rows(all bool, f func(i, from int, dist []float64)) {
	buffer := make([]float64, e.n)
	for i := range e.n {
		from := i + 1
		if all {
			from = 0
		}
		dist := buffer[:e.n-from]
		p := e.point(i)
		for k := range dist {
			dist[k] = distance(p, e.point(from+k))
		}
		f(i, from, dist)
	}
}

// distance returns the Euclidean distance, bit-identical for either order. It scales coordinates
// whose squares overflow or vanish.
func distance(p, q []float64) float64 {
	// Four sums run in parallel; a single sum would wait for each addition to finish.
	var s0, s1, s2, s3 float64
	q = q[:len(p)]
	k := 0
	for ; k+4 <= len(p); k += 4 {
		a, b, c, d := p[k]-q[k], p[k+1]-q[k+1], p[k+2]-q[k+2], p[k+3]-q[k+3]
		s0, s1, s2, s3 = s0+a*a, s1+b*b, s2+c*c, s3+d*d
	}
	for ; k < len(p); k++ {
		a := p[k] - q[k]
		s0 += a * a
	}
	s := (s0 + s1) + (s2 + s3)
	if s > 1e-280 && s < math.MaxFloat64 {
		return math.Sqrt(s)
	}
	return scaledDistance(p, q)
}

func scaledDistance(p, q []float64) float64 {
	r := 0.0
	for k, v := range p {
		r = math.Hypot(r, v-q[k])
	}
	return r
}

// samePairs and differentPairs count the unordered pairs within and between classes.
func (e *embedding) samePairs() uint64 {
	var k uint64
	for _, q := range e.size {
		k += choose2(q)
	}
	return k
}

func (e *embedding) differentPairs() uint64 { return choose2(uint64(e.n)) - e.samePairs() }

// bothKinds returns an error if there is no pair within a class or none between classes.
func (e *embedding) bothKinds(what string) error {
	if e.samePairs() == 0 {
		return fault.Data("", "%s is undefined: want at least two of %d points in one class", what, e.n)
	}
	if e.differentPairs() == 0 {
		return fault.Data("", "%s is undefined, as all %d points are in one class: want at least two classes",
			what, e.n)
	}
	return nil
}

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
		return 0, fault.Data("",
			"J is undefined, as the mean distance within classes is 0: want a class with different points")
	}
	j := between / within
	if math.IsInf(j, 0) || math.IsNaN(j) {
		return 0, fault.Data("",
			"J is out of range, with mean distance %g between classes and %g within: want values of "+
				"similar magnitude", between, within)
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
		return 0, &fault.MemoryError{What: fmt.Sprintf("the AUC of pairs of %d points", e.n),
			Need: int64(rarer) * 8, Limit: maxDistances * 8,
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
			return fault.Param("k", v, "1 to %d, the number of other points", e.n-1)
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

// AUC returns the area under the ROC curve of scores that should be larger for the positive
// objects: the probability that a random positive object has a higher score than a random negative
// one, where a tie counts half (Mann and Whitney's U over its maximum; Hanley & McNeil 1982,
// Radiology 143:29-36). Infinite scores are legal.
//
// Lengths that differ are a *fault.ShapeError; a NaN, no positive object or no negative object is a
// *fault.DataError. Cost: O(n log n).
func AUC(scores []float64, positive []bool) (float64, error) {
	if len(scores) != len(positive) {
		return 0, fault.Shape("number of scores", len(scores), "%d, the number of classes", len(positive))
	}
	var yes, no []float64
	for i, s := range scores {
		if math.IsNaN(s) {
			return 0, fault.Row(i, "score is NaN: want a number")
		}
		if positive[i] {
			yes = append(yes, s)
		} else {
			no = append(no, s)
		}
	}
	if len(yes) == 0 || len(no) == 0 {
		return 0, fault.Data("",
			"%d objects are positive and %d negative: want at least one of each for the AUC", len(yes),
			len(no))
	}
	slices.Sort(no)
	var twice uint64 // 2 #(no < yes) + #(no = yes), at most 2 |no| |yes| < 2^63
	for _, s := range yes {
		twice += halfRank(no, s)
	}
	return float64(twice) / 2 / (float64(len(no)) * float64(len(yes))), nil
}
