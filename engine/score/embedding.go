package score

import (
	"fmt"
	"math"
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
		return nil, &fault.ShapeError{What: "number of points", Got: n, Want: "2 to 2^31 - 1, as the score is over pairs"}
	case d < 1:
		return nil, &fault.ShapeError{What: "number of coordinates", Got: d, Want: "at least 1"}
	case len(x)/d != n || len(x)%d != 0:
		return nil, &fault.ShapeError{What: "number of values", Got: len(x), Want: fmt.Sprintf("%d x %d", n, d)}
	case len(labels) != n:
		return nil, &fault.ShapeError{What: "number of labels", Got: len(labels), Want: fmt.Sprintf("%d, one for each point", n)}
	}
	for k, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, &fault.DataError{Row: k / d, Column: strconv.Itoa(k % d), Err: fmt.Errorf("value is %v: want a finite number", v)}
		}
	}
	e := &embedding{x: x, n: n, d: d}
	e.class, e.size = number(labels)
	return e, nil
}

// ofEmbedding computes a score of points with their classes.
func ofEmbedding[T comparable](x []float64, n, d int, labels []T, score func(*embedding) (float64, error)) (float64, error) {
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
		return fault.Data("", "%s is undefined, as all %d points are in one class: want at least two classes", what, e.n)
	}
	return nil
}
