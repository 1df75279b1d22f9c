package calibration

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// Estimate is an estimated share with its interval. Low is at most the true share, and High at
// least, each at all distances at once for 95 % of all samples of as many links: so also at a
// distance that was chosen by them.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// String returns "0.95 (0.84 to 0.99)".
func (e Estimate) String() string { return fmt.Sprintf("%.3g (%.3g to %.3g)", e.Value, e.Low, e.High) }

// Threshold says what links show about the pairs of rows up to a distance.
type Threshold struct {
	Distance  float64  `json:"distance"`
	Must      int      `json:"must"`      // must-links up to the distance
	Cannot    int      `json:"cannot"`    // cannot-links up to the distance
	Precision Estimate `json:"precision"` // share of matching pairs among those up to the distance
	Recall    Estimate `json:"recall"`    // share of those up to the distance among matching pairs
}

// String returns a line for people: the precision with the links that it rests on, and the recall.
func (t Threshold) String() string {
	return fmt.Sprintf("distance %.6g: precision %v, recall %v; rests on %s", t.Distance, t.Precision,
		t.Recall, links.Numbers(t.Must, t.Cannot))
}

// At returns what the links up to a distance show. Cost: O(n).
func (c *Calibration) At(distance float64) Threshold {
	var must, cannot int64
	for k, d := range c.distance {
		if d > distance {
			break
		}
		must, cannot = must+c.must[k], cannot+c.cannot[k]
	}
	return c.threshold(distance, must, cannot)
}

// threshold returns what these numbers of links up to a distance show.
func (c *Calibration) threshold(distance float64, must, cannot int64) Threshold {
	low, high := newRate(c.musts).bounds(must)
	t := Threshold{
		Distance: distance, Must: int(must), Cannot: int(cannot),
		Precision: Estimate{c.estimate(must, cannot), c.lower(must, cannot), c.upper(must, cannot)},
		Recall:    Estimate{float64(must) / float64(c.musts), low, high},
	}
	if c.beyond(distance) {
		t.Precision.Low, t.Precision.High, t.Recall.High = 0, 1, 1
	}
	return t
}

// lower returns the lower bound of the precision with these numbers of links up to a distance. If
// the mix of links is that of pairs, it is one of the share of must-links among them; otherwise it
// combines bounds of both kinds, which were drawn apart.
func (c *Calibration) lower(must, cannot int64) float64 {
	if c.share == 0 {
		return upTo(must+cannot, c.musts+c.cannots).low(must)
	}
	return c.mixed(newRate(c.musts).low(must), newRate(c.cannots).high(cannot))
}

// upper returns the upper bound.
func (c *Calibration) upper(must, cannot int64) float64 {
	if c.share == 0 {
		return upTo(must+cannot, c.musts+c.cannots).high(must)
	}
	return c.mixed(newRate(c.musts).high(must), newRate(c.cannots).low(cannot))
}

// estimate returns the precision with these numbers of links up to a distance. It counts a
// cannot-link more than there are, as thresholds are chosen before the next one.
func (c *Calibration) estimate(must, cannot int64) float64 {
	return c.mixed(float64(must)/float64(c.musts), min(1, float64(cannot+1)/float64(c.cannots+1)))
}

// Threshold returns the largest distance of a link up to which at least this share of pairs
// matches with a probability of 95 %: the lower bound of its precision is at least this share. It
// has the largest recall of all thresholds with that bound. Pairs at the threshold itself are
// within it.
//
// Errors: a *fault.ParamError for a precision that is not above 0 and at most 1, and for one that
// the links do not support; it states the largest that they support. Cost: O(n).
func (c *Calibration) Threshold(precision float64) (Threshold, error) {
	if err := checkShare("precision", precision); err != nil {
		return Threshold{}, err
	}
	t, supported := c.surest(precision)
	if supported {
		return t, nil
	}
	return Threshold{}, &fault.ParamError{Param: "precision", Value: precision,
		Want: fmt.Sprintf("at most %v, the lower bound up to distance %.6g: %s support no more",
			RoundDown(t.Precision.Low), t.Distance, links.Numbers(t.Must, t.Cannot))}
}

// Surest returns the threshold whose precision has the largest lower bound. Cost: O(n).
func (c *Calibration) Surest() Threshold {
	t, _ := c.surest(2)
	return t
}

// Even returns the largest distance at which two rows belong together with a probability of 1/2 at
// least. It is a *fault.ParamError if they do at none. Cost: O(n).
func (c *Calibration) Even() (Threshold, error) {
	at := func(k int) float64 { return c.Probability(c.distance[k]) - 0.5 }
	k := sort.Search(len(c.distance), func(k int) bool { return at(k) < 0 })
	if k == 0 {
		return Threshold{}, &fault.ParamError{Param: "threshold", Value: 0,
			Want: fmt.Sprintf("a distance, as no pair matches with a probability above %.3g", at(0)+0.5)}
	}
	d := c.distance[k-1]
	if k < len(c.distance) {
		d += (c.distance[k] - d) * (at(k-1) / (at(k-1) - at(k)))
	}
	return c.At(d), nil
}

// Joining returns the threshold up to which groups of rows merge: that of a precision, or with 0
// [Calibration.Even]. Errors are those of the two.
func (c *Calibration) Joining(precision float64) (Threshold, error) {
	if precision == 0 {
		return c.Even()
	}
	return c.Threshold(precision)
}

// Choose returns c for pairs of which a share matches (see [Calibration.WithShare]; 0 leaves c as
// it is), and the distance of a threshold: that of a precision > 0, of a recall > 0, or else the
// given one. A nil c, that of a model without a calibration, has a given distance alone: for others
// the error is a *fault.DataError. Further errors are those of WithShare, Threshold and
// ThresholdForRecall.
func Choose(c *Calibration, share, precision, recall, distance float64) (*Calibration, float64, error) {
	if c == nil && share+precision+recall != 0 {
		return nil, 0, fault.Data("", "the model is not calibrated: want a threshold alone, or a calibrated "+
			"model")
	}
	var err error
	if share != 0 {
		if c, err = c.WithShare(share); err != nil {
			return nil, 0, err
		}
	}
	t := Threshold{Distance: distance}
	switch {
	case precision != 0:
		t, err = c.Threshold(precision)
	case recall != 0:
		t, err = c.ThresholdForRecall(recall)
	}
	return c, t.Distance, err
}

// RoundDown returns a precision with three digits, so that what a message shows is not above what
// links support.
func RoundDown(precision float64) float64 {
	if !(precision > 0) {
		return 0
	}
	scale := math.Pow10(2 - int(math.Floor(math.Log10(precision))))
	rounded := math.Floor(precision*scale) / scale
	if rounded > precision {
		rounded = (math.Floor(precision*scale) - 1) / scale
	}
	return rounded
}

// surest returns the largest threshold whose precision has a lower bound of at least this much, or
// else the one with the largest.
func (c *Calibration) surest(precision float64) (_ Threshold, supported bool) {
	must, cannot := c.musts, c.cannots // up to k
	best, bestLow, links, last := 0, -1.0, [2]int64{}, len(c.distance)-1
	for k := last; k >= 0; k-- {
		// Without a cannot-link at the next distance, the bound there is no lower.
		if (k == last || c.cannot[k+1] > 0) && c.estimate(must, cannot) >= min(bestLow, precision) {
			if low := c.lower(must, cannot); low >= precision {
				return c.threshold(c.distance[k], must, cannot), true
			} else if low > bestLow {
				best, bestLow, links = k, low, [2]int64{must, cannot}
			}
		}
		must, cannot = must-c.must[k], cannot-c.cannot[k]
	}
	return c.threshold(c.distance[best], links[0], links[1]), false
}

// ThresholdForRecall returns the smallest distance of a link within which at least this share of
// must-links lies. Errors: a *fault.ParamError for a recall that is not above 0 and at most 1.
// Cost: O(n).
func (c *Calibration) ThresholdForRecall(recall float64) (Threshold, error) {
	if err := checkShare("recall", recall); err != nil {
		return Threshold{}, err
	}
	must := int64(0)
	k := slices.IndexFunc(c.must, func(more int64) bool {
		must += more
		return float64(must)/float64(c.musts) >= recall
	})
	return c.At(c.distance[k]), nil // the last one has recall 1
}

func checkShare(param string, v float64) error {
	if !(v > 0 && v <= 1) {
		return &fault.ParamError{Param: param, Value: v, Want: "a number > 0 and <= 1"}
	}
	return nil
}

// missed is the probability that a lower bound, or an upper one, is wrong at any distance.
const missed = 0.05

// rate bounds shares of a population from counts in a sample of it.
type rate struct {
	n     float64 // size of the sample
	ratio float64 // logarithm of the largest ratio of likelihoods
}

// newRate returns the bounds for a sample of n: the shares under which the sample is not less
// likely than under its own by more than a ratio. With this ratio all n lower bounds of the shares
// up to a distance, and all n upper bounds, are right together with the probability 1 - missed
// (Berk & Jones, Zeitschrift für Wahrscheinlichkeitstheorie 47, 1979). It is a fit from above to
// that of n from 1 to 20,000; its slope is that of large n.
//
// A quotient of bounds of two samples is wrong no more often: where it is, the two likelihoods
// together are at least as small as that of one sample where its own bound is.
func newRate(n int64) rate { return rate{float64(n), ratioOf(n)} }

// upTo returns bounds of the share of must-links among the nearest n of all links.
func upTo(n, all int64) rate { return rate{float64(n), ratioOf(all)} }

func ratioOf(n int64) float64 { return 3.05 + 1.1*math.Log(math.Log(float64(n)+2)) }

// bounds returns bounds of the share of which k of n are a sample.
func (r rate) bounds(k int64) (low, high float64) { return r.low(k), r.high(k) }

// low returns the lower bound.
func (r rate) low(k int64) float64 { return 1 - r.above(r.n-float64(k)) }

// high returns the upper bound.
func (r rate) high(k int64) float64 { return r.above(float64(k)) }

// above returns the largest share p with k log(k/np) + (n-k) log((n-k)/(n-np)) <= ratio. The sum
// is convex in p, so Newton's steps fall to p from two simple bounds of it.
func (r rate) above(k float64) float64 {
	own, rest := k/r.n, r.n-k
	switch {
	case rest == 0: // of none, too
		return 1
	case k == 0:
		return -math.Expm1(-r.ratio / r.n)
	}
	p := min(own+math.Sqrt(r.ratio/(2*r.n)), 1-(1-own)*math.Exp(-(r.ratio-k*math.Log(own))/rest))
	for range 50 {
		excess := k*math.Log(own/p) + rest*math.Log((1-own)/(1-p)) - r.ratio
		next := p - excess*p*(1-p)/(r.n*p-k)
		if !(next < p && next > own) {
			break
		}
		p = next
	}
	return p
}

// laplace returns the expected share if all shares were equally likely before k of n was seen.
func (r rate) laplace(k int64) float64 { return (float64(k) + 1) / (r.n + 2) }

// step is what the links say about pairs at a distance, in the mix of the links. All three fall
// with the distance.
type step struct{ value, low, high float64 }

// equal is the difference of two values of the regression that are equal but for rounding.
const equal = 1e-9

// stepsOf returns the step of each distance. The distances with one value of the isotonic
// regression are a block. The value of a block is its share of must-links after one more link of
// each kind: a block of five must-links has not shown that no cannot-link is as near. Its bounds
// are those of the counts of both kinds. A lower bound of a block is one of all nearer blocks, an
// upper bound one of all farther blocks, as the probability falls.
func (c *Calibration) stepsOf(regression []float64) ([]step, error) {
	var blocks []step
	var values, weights []float64
	length := []int{}
	must, cannot := newRate(c.musts), newRate(c.cannots)
	for from := 0; from < len(regression); {
		var m, n int64
		to := from
		for ; to < len(regression) && regression[from]-regression[to] <= equal; to++ {
			m, n = m+c.must[to], n+c.cannot[to]
		}
		mLow, mHigh := must.bounds(m)
		nLow, nHigh := cannot.bounds(n)
		blocks = append(blocks, step{low: c.ofLinks(mLow, nHigh), high: c.ofLinks(mHigh, nLow)})
		values = append(values, c.ofLinks(must.laplace(m), cannot.laplace(n)))
		weights, length = append(weights, float64(m+n)), append(length, to-from)
		from = to
	}
	values, err := optimize.Falling(values, weights)
	if err != nil {
		return nil, err
	}
	for b := range blocks[1:] {
		blocks[b+1].high = min(blocks[b+1].high, blocks[b].high)
	}
	for b := len(blocks) - 2; b >= 0; b-- {
		blocks[b].low = max(blocks[b].low, blocks[b+1].low)
	}
	var steps []step
	for b, s := range blocks {
		s.value = min(s.high, max(s.low, values[b]))
		steps = append(steps, slices.Repeat([]step{s}, length[b])...)
	}
	return steps, nil
}

// ofLinks returns the share of must-links among links of which these shares of both kinds are left.
func (c *Calibration) ofLinks(must, cannot float64) float64 {
	must *= float64(c.musts)
	return must / (must + cannot*float64(c.cannots))
}

// Probability returns the probability that two rows at this distance belong together. It is
// above 0 and below 1, and does not rise with the distance: the isotonic regression at the
// distances of the links, as far as their counts support it, linear between them and constant
// beyond. See [Calibration.Interval]. Cost: O(log n).
func (c *Calibration) Probability(distance float64) float64 {
	return c.between(distance, func(s step) float64 { return s.value })
}

// Interval returns the probability at a distance with an interval of 95 % for the mean probability
// of the pairs at the distances of its step. Cost: O(log n).
func (c *Calibration) Interval(distance float64) Estimate {
	e := Estimate{
		c.Probability(distance),
		c.between(distance, func(s step) float64 { return s.low }),
		c.between(distance, func(s step) float64 { return s.high }),
	}
	if c.beyond(distance) {
		e.Low = 0
	}
	return e
}

// beyond reports whether nothing is known of pairs at this distance.
func (c *Calibration) beyond(distance float64) bool {
	return c.near && distance > c.distance[len(c.distance)-1]
}

// between returns a part of the steps at a distance, for the share of matching pairs.
func (c *Calibration) between(distance float64, part func(step) float64) float64 {
	at := func(k int) float64 { return c.reweighed(part(c.steps[k])) }
	k, found := slices.BinarySearch(c.distance, distance)
	last := len(c.distance) - 1
	switch {
	case found || k == 0:
		return at(k)
	case k > last:
		return at(last)
	}
	before, after := at(k-1), at(k)
	t := (distance - c.distance[k-1]) / (c.distance[k] - c.distance[k-1])
	return min(before, max(after, before+(after-before)*t))
}
