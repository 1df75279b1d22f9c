package calibration

import (
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
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
	return fmt.Sprintf("distance %.6g: precision %v, recall %v; rests on %s", t.Distance, t.Precision, t.Recall, t.links())
}

// links counts the links up to the distance.
func (t Threshold) links() string {
	text := func(n int, kind string) string {
		if n == 1 {
			return "1 " + kind
		}
		return fmt.Sprintf("%d %ss", n, kind)
	}
	return text(t.Must, "must-link") + " and " + text(t.Cannot, "cannot-link")
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
	must, cannot := c.musts, c.cannots // up to k
	best, bestLow, links, last := 0, -1.0, [2]int64{}, len(c.distance)-1
	for k := last; k >= 0; k-- {
		// Without a cannot-link at the next distance, the bound there is no lower.
		if (k == last || c.cannot[k+1] > 0) && c.estimate(must, cannot) >= min(bestLow, precision) {
			if low := c.lower(must, cannot); low >= precision {
				return c.threshold(c.distance[k], must, cannot), nil
			} else if low > bestLow {
				best, bestLow, links = k, low, [2]int64{must, cannot}
			}
		}
		must, cannot = must-c.must[k], cannot-c.cannot[k]
	}
	t := c.threshold(c.distance[best], links[0], links[1])
	return Threshold{}, &fault.ParamError{Param: "precision", Value: precision,
		Want: fmt.Sprintf("at most %.3g, the lower bound up to distance %.6g: %s support no more", t.Precision.Low,
			t.Distance, t.links())}
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
