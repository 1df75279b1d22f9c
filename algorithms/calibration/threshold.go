package calibration

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// Estimate is an estimated share with its interval of 95 %.
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

// At returns what the links up to a distance show. Without such links the precision is 0, in the
// interval from 0 to 1. Cost: O(n).
func (c *Calibration) At(distance float64) Threshold {
	t := Threshold{Distance: distance}
	for k, d := range c.distance {
		if d > distance {
			break
		}
		t.Must += int(c.must[k])
		t.Cannot += int(c.cannot[k])
	}
	p := wilson(t.Must, t.Must+t.Cannot)
	t.Precision = Estimate{c.reweighed(p.Value), c.reweighed(p.Low), c.reweighed(p.High)}
	t.Recall = wilson(t.Must, int(c.musts))
	return t
}

// wilson returns the share of k in n with the interval of Wilson (1927) for a normal quantile of
// 1.96, which is in [0, 1] and has a width also for k = 0 and k = n.
func wilson(k, n int) Estimate {
	if n == 0 {
		return Estimate{0, 0, 1}
	}
	const z = 1.959964
	p, count := float64(k)/float64(n), float64(n)
	center := (p + z*z/(2*count)) / (1 + z*z/count)
	half := z / (1 + z*z/count) * math.Sqrt(p*(1-p)/count+z*z/(4*count*count))
	return Estimate{p, max(0, min(p, center-half)), min(1, max(p, center+half))}
}

// Threshold returns the largest distance of a link up to which at least this share of pairs
// matches, as far as the links tell: it has the largest recall of all thresholds with that
// precision. Pairs at the threshold itself are within it.
//
// The precision is an estimate from the links, and the largest distance is chosen by it, so it is
// slightly too good: see the interval.
//
// Errors: a *fault.ParamError for a precision that is not above 0 and at most 1, and for one that
// no threshold has; it states the best. Cost: O(n).
func (c *Calibration) Threshold(precision float64) (Threshold, error) {
	if err := checkShare("precision", precision); err != nil {
		return Threshold{}, err
	}
	chosen, best, highest := -1, -1, -1.0
	must, cannot := int64(0), int64(0)
	for k := range c.distance {
		must += c.must[k]
		cannot += c.cannot[k]
		p := c.reweighed(float64(must) / float64(must+cannot))
		if p >= precision {
			chosen = k
		}
		if p >= highest {
			best, highest = k, p
		}
	}
	if chosen < 0 {
		t := c.At(c.distance[best])
		return Threshold{}, &fault.ParamError{Param: "precision", Value: precision,
			Want: fmt.Sprintf("at most %.4g, the best of the calibration, up to distance %.6g with %s", t.Precision.Value, t.Distance, t.links())}
	}
	return c.At(c.distance[chosen]), nil
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
