// Package calibration (internal: may change) tells from a distance whether two rows belong
// together: with which probability, and below which threshold.
//
// It learns from the distances of links that the metric did not learn from. The probability is an
// isotonic regression of must-link against cannot-link on distance. Thresholds come from the counts
// of both kinds of links within a distance.
//
// # What the links must be
//
// Links are seldom drawn like pairs of rows: of a million rows, far fewer than one pair in a
// thousand matches, but half of the links may be must-links. Precision and probability are those
// of the mix of the links, unless [Calibration.WithShare] gives the share of matching pairs among
// those to judge. Must-links are then a random sample of the matching pairs, cannot-links of the
// others, and must-links weigh share/(1-share) times as much against cannot-links. This multiplies
// the odds of all probabilities by one factor, because the blocks of an isotonic regression depend
// on the order of such ratios only. Recall does not change. Cannot-links that were chosen because
// they are near lower precisions and probabilities. To learn of near pairs, draw links at random
// from those up to a distance: [Calibration.OfNearPairs].
//
// # What few links support
//
// The shares of matching and of other pairs up to a distance have bounds that are right at all
// distances at once (Berk and Jones). The lower bound of a precision combines the lower one of the
// first and the upper one of the second; for the mix of the links it is that of their share. It is
// wrong at any distance for one sample of links in twenty, so a threshold may be chosen by it. A
// block of the regression has bounds by its counts, carried monotonically to its neighbors, and its
// value counts one more link of each kind. [Calibration.OfFound] compares the number of pairs that
// a search finds with the number of matching pairs, which bounds the precision from both sides.
package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
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
		return nil, fault.Shape("number of kinds of links", len(must), "%d, one for each distance",
			len(distances))
	}
	order := points.UpTo(len(distances))
	for k, d := range distances {
		if !(d >= 0) || math.IsInf(d, 0) {
			return nil, fault.Row(k, "distance of the link is %v: want a finite number >= 0", d)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distances[a], distances[b]) })
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
		return nil, fault.Data("",
			"%s to calibrate on: want at least one of each kind", links.Numbers(int(c.musts), int(c.cannots)))
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

// Found is what a calibration says of the pairs that a search found up to a distance, after their
// number was compared with that of the matching pairs.
type Found struct {
	Threshold // with the precision that the number of pairs leaves possible
	// Doubt says what the number of pairs contradicts, "" if nothing.
	Doubt         string
	Share         float64   // of matching pairs among all, as the number leaves it possible
	Probabilities []float64 // of the pairs
}

// OfFound judges the pairs at these ascending distances, all up to a threshold, out of a number of
// pairs of rows. Complete means that no pair up to the threshold is left out.
//
// The matching pairs up to a distance are the share of matching pairs, times the recall, times all
// pairs. If complete pairs are fewer than the least that this can be, at the distance of any link,
// the share is lowered to the largest possible one. The precision is at most the most that it can
// be, over the number of pairs; if the mean of the probabilities is above, all odds are divided by
// one factor. Nothing of this applies to near pairs. Cost: O(log n) for each pair and each link.
func (c *Calibration) OfFound(threshold float64, distances []float64, all float64, complete bool) Found {
	f := Found{Probabilities: make([]float64, 0, len(distances))}
	if complete && !c.near {
		c, f.Doubt = c.possible(threshold, distances, all)
	}
	f.Threshold, f.Share = c.At(threshold), c.Share()
	for _, d := range distances {
		f.Probabilities = append(f.Probabilities, c.Probability(d))
	}
	count := float64(len(distances))
	most := c.Share() * f.Recall.High * all
	if !c.near && most < count && f.limit(most/count) && f.Doubt == "" {
		f.Doubt = fmt.Sprintf("if a share of %.2g of all pairs matches, at most %.0f matching pairs are as near, "+
			"but there are %d pairs: at most %.3g of them match", c.Share(), most, len(distances), most/count)
	}
	return f
}

// possible returns the calibration for a share that leaves no more matching pairs up to any
// distance than there are pairs, and what is wrong with its own share, "" if nothing.
func (c *Calibration) possible(threshold float64, distances []float64, all float64) (*Calibration, string) {
	rate, must, share, doubt := newRate(c.musts), int64(0), c.Share(), ""
	for k, d := range c.distance {
		if d > threshold {
			break
		}
		must += c.must[k]
		there := countWithin(distances, d)
		recall := rate.low(must)
		if most := max(1, float64(there)) / all; share*recall > most {
			share = max(leastShare, most/recall)
			doubt = fmt.Sprintf(
				"if a share of %.2g of all pairs matched, at least %.0f matching pairs would be "+
					"within distance %.6g, but there are %d pairs: the share is at most "+
					"%.2g", c.Share(), c.Share()*recall*all, d, there, share)
		}
	}
	if doubt == "" {
		return c, ""
	}
	other := *c
	other.share = share
	return &other, doubt
}

// limit lowers the precision, and the mean of the probabilities, to this share. It reports whether
// one of them was above it by more than 5 %, or the lower bound was.
func (f *Found) limit(most float64) bool {
	p := &f.Precision
	const little = 1.05
	above := p.Low > most || p.Value > little*most
	p.Value, p.Low, p.High = min(p.Value, most), min(p.Low, most), min(p.High, most)
	mean := func(factor float64) (sum float64) {
		for _, v := range f.Probabilities {
			sum += lowered(v, factor)
		}
		return sum / float64(len(f.Probabilities))
	}
	before := mean(1)
	if !(before > most) {
		return above
	}
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; mean(middle) <= most {
			low = middle
		} else {
			high = middle
		}
	}
	for k, v := range f.Probabilities {
		f.Probabilities[k] = lowered(v, low)
	}
	return above || before > little*most
}

// lowered returns the probability whose odds are those of p times a factor.
func lowered(p, factor float64) float64 { return p * factor / (1 - p + p*factor) }

// Names of the tensors of a calibration. A share is stored if it is not that of the links.
const (
	tensorDistance = "calibration.distance"
	tensorMust     = "calibration.must"
	tensorCannot   = "calibration.cannot"
	tensorShare    = "calibration.share"
	tensorNear     = "calibration.near" // 1 of near pairs
)

// mostLinks bounds the number of links of each kind that a file may claim.
const mostLinks = 1 << 31

// Encode writes the calibration into a model file: the distances of links, and how many links of
// each kind are at each.
func (c *Calibration) Encode(file *model.File) {
	file.SetFloat64s(tensorDistance, c.distance)
	file.SetInt64s(tensorMust, c.must)
	file.SetInt64s(tensorCannot, c.cannot)
	if c.share > 0 {
		file.SetFloat64s(tensorShare, []float64{c.share})
	}
	if c.near {
		file.SetInt64s(tensorNear, []int64{1})
	}
}

// Decode reads what Encode wrote, nil for nothing. A calibration that Encode cannot have written is
// a *fault.DataError. Distances that single precision made equal are one.
func Decode(file *model.File) (*Calibration, error) {
	if !file.Has(tensorDistance) {
		return nil, nil
	}
	distance, err := file.Float64s(tensorDistance, -1)
	if err != nil {
		return nil, err
	}
	must, err := file.Int64s(tensorMust, len(distance))
	if err != nil {
		return nil, err
	}
	cannot, err := file.Int64s(tensorCannot, len(distance))
	if err != nil {
		return nil, err
	}
	var c Calibration
	for k, d := range distance {
		if !(d >= 0) || math.IsInf(d, 0) || k > 0 && d < distance[k-1] {
			return nil, fault.Data("", "tensor %s: element %d is %g: want finite ascending numbers >= 0",
				tensorDistance, k, d)
		}
		if must[k] < 0 || cannot[k] < 0 || must[k] > mostLinks-c.musts || cannot[k] > mostLinks-c.cannots ||
			must[k]+cannot[k] == 0 {
			return nil, fault.Data("",
				"calibration: %d must-links and %d cannot-links at distance %g: want numbers >= 0, not "+
					"both 0, and at most %d of all distances", must[k], cannot[k], d, mostLinks)
		}
		c.add(d, must[k], cannot[k])
	}
	if c.share, err = decodeShare(file); err != nil {
		return nil, err
	}
	if c.near, err = decodeNear(file); err != nil {
		return nil, err
	}
	return c.complete()
}

func decodeShare(file *model.File) (float64, error) {
	if !file.Has(tensorShare) {
		return 0, nil
	}
	share, err := file.Float64s(tensorShare, 1)
	if err != nil {
		return 0, err
	}
	if !(share[0] >= leastShare/2 && share[0] < 1) { // half, for rounding to single precision
		return 0, fault.Data("", "tensor %s: %g: want a number from 1e-15 to below 1", tensorShare, share[0])
	}
	return share[0], nil
}

func decodeNear(file *model.File) (bool, error) {
	if !file.Has(tensorNear) {
		return false, nil
	}
	near, err := file.Int64s(tensorNear, 1)
	if err != nil {
		return false, err
	}
	if near[0] != 1 || file.Has(tensorShare) {
		return false, fault.Data("", "tensor %s: %d: want 1, and no %s", tensorNear, near[0], tensorShare)
	}
	return true, nil
}
