package calibration

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// Calibration is what links say about distances. It is immutable and safe for concurrent use.
type Calibration struct {
	distance     []float64 // of the links, strictly ascending
	must, cannot []int64   // number of links of each kind at each distance, at least one together
	steps        []step    // one for each distance
	musts        int64     // number of must-links, at least 1
	cannots      int64     // number of cannot-links, at least 1
	share        float64   // of matching pairs; 0 for that of the links
	near         bool      // the links are of pairs up to the last distance
}

// Fit calibrates distances on links: link k is at distances[k], and a must-link if must[k].
//
// Errors: a *fault.ShapeError unless both have the same length; a *fault.DataError, with the number
// of the link as its row, for a distance that is negative or not finite; a *fault.DataError without
// links of both kinds. Cost: O(n log n).
func Fit(distances []float64, must []bool) (*Calibration, error) {
	if len(must) != len(distances) {
		return nil, &fault.ShapeError{What: "number of kinds of links", Got: len(must), Want: fmt.Sprintf("%d, one for each distance", len(distances))}
	}
	order := make([]int, len(distances))
	for k, d := range distances {
		if !(d >= 0) || math.IsInf(d, 0) {
			return nil, &fault.DataError{Row: k, Err: fmt.Errorf("distance of the link is %v: want a finite number >= 0", d)}
		}
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case distances[a] < distances[b]:
			return -1
		case distances[a] > distances[b]:
			return 1
		}
		return a - b
	})
	var c Calibration
	for _, k := range order {
		if must[k] {
			c.add(distances[k], 1, 0)
		} else {
			c.add(distances[k], 0, 1)
		}
	}
	return c.complete()
}

// add adds links at a distance that is not below the last one.
func (c *Calibration) add(distance float64, must, cannot int64) {
	last := len(c.distance) - 1
	if last < 0 || c.distance[last] != distance {
		c.distance, c.must, c.cannot = append(c.distance, distance), append(c.must, 0), append(c.cannot, 0)
		last++
	}
	c.must[last] += must
	c.cannot[last] += cannot
	c.musts += must
	c.cannots += cannot
}

// complete computes the steps, after all links have been added.
func (c *Calibration) complete() (*Calibration, error) {
	if c.musts == 0 || c.cannots == 0 {
		return nil, fault.Data("", "%d must-links and %d cannot-links to calibrate on: want at least one of each kind", c.musts, c.cannots)
	}
	share, weight := make([]float64, len(c.distance)), make([]float64, len(c.distance))
	for k := range share {
		weight[k] = float64(c.must[k] + c.cannot[k])
		share[k] = float64(c.must[k]) / weight[k]
	}
	regression, err := optimize.Falling(share, weight)
	if err != nil {
		return nil, err
	}
	c.steps, err = c.stepsOf(regression)
	return c, err
}

// leastShare is the smallest share of matching pairs: with much smaller ones, weights underflow.
const leastShare = 1e-15

// WithShare returns the calibration for pairs of which this share matches, 0 for the share of
// must-links among the links. Errors: a *fault.ParamError for any other share below 1e-15, or not
// below 1, and for one of near pairs, which have the share of their links.
func (c *Calibration) WithShare(share float64) (*Calibration, error) {
	switch {
	case share != 0 && !(share >= leastShare && share < 1):
		return nil, &fault.ParamError{Param: "share", Value: share, Want: "a number from 1e-15 to below 1"}
	case share != 0 && c.near:
		return nil, &fault.ParamError{Param: "share", Value: share,
			Want: "none: the calibration is of near pairs, which match as often as its links"}
	}
	other := *c
	other.share = share
	return &other, nil
}

// OfNearPairs returns the calibration for links that are answers about pairs drawn at random from
// all pairs up to the farthest of them. Precision, recall and probability are then those of these
// pairs, and nothing is known of pairs that are farther apart. A share of matching pairs is
// dropped.
func (c *Calibration) OfNearPairs() *Calibration {
	other := *c
	other.near, other.share = true, 0
	return &other
}

// Near reports whether the calibration is one of [Calibration.OfNearPairs].
func (c *Calibration) Near() bool { return c.near }

// Share returns the share of matching pairs that precision and probability refer to.
func (c *Calibration) Share() float64 {
	if c.share > 0 {
		return c.share
	}
	return float64(c.musts) / float64(c.musts+c.cannots)
}

// Count returns the numbers of links that the calibration rests on.
func (c *Calibration) Count() (must, cannot int) { return int(c.musts), int(c.cannots) }

// reweighed turns a share of must-links among links into one of matching pairs among pairs.
func (c *Calibration) reweighed(p float64) float64 {
	if c.share == 0 {
		return p
	}
	return c.mixed(p/float64(c.musts), (1-p)/float64(c.cannots))
}

// mixed returns the share of matching pairs among pairs of which these shares of the matching and
// of the other pairs are left, 0 if none are.
func (c *Calibration) mixed(must, cannot float64) float64 {
	share := c.Share()
	if must = must * share; must == 0 {
		return 0
	}
	return must / (must + cannot*(1-share))
}
