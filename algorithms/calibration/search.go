package calibration

import (
	"errors"
	"fmt"
	"sort"

	"github.com/mustlink/mustlink/engine/fault"
)

// Matches are the pairs of rows that a search found up to a threshold, as a calibration judges
// them.
type Matches struct {
	Found
	Distance float64 // the threshold, which is smaller than the given one if the precision asks for it
	Pairs    int     // the nearest of the pairs that were found, within the distance
}

// Matches compares the number of pairs that a search among rows found up to a threshold with that
// of the matching pairs, as [Calibration.OfFound] does. A precision, unless it is 0, that this
// makes impossible for all of them is given by the nearer ones. distances are those of the pairs,
// ascending; find searches for those up to another threshold.
//
// Errors: a *fault.ParamError for a precision that the nearer ones do not have either; it states
// one that is possible. Those of find, unless they are bad input.
func (c *Calibration) Matches(threshold, precision float64, rows int, complete bool, distances []float64,
	find func(threshold float64) ([]float64, error)) (Matches, error) {
	all := float64(rows) * float64(rows-1) / 2
	m := Matches{c.OfFound(threshold, distances, all, complete), threshold, len(distances)}
	first, asked := m.Doubt, precision
	for m.Precision.Low < asked {
		// With the share that is left, fewer of the pairs have the precision.
		possible := c
		if m.Share != c.Share() {
			var err error
			if possible, err = c.WithShare(m.Share); err != nil {
				return m, err
			}
		}
		t, err := possible.Threshold(asked)
		if err == nil && t.Distance < m.Distance {
			distances = distances[:countWithin(distances, t.Distance)]
			m = Matches{possible.OfFound(t.Distance, distances, all, complete), t.Distance, len(distances)}
			continue
		}
		// Those up to a larger threshold may say still more: what the error states must be so.
		if asked = m.Precision.Low; err != nil {
			asked = possible.Surest().Precision.Low
		}
		asked = RoundDown(asked)
		if asked <= 0 {
			break
		}
		if t, err = c.Threshold(asked); err != nil {
			return m, err
		}
		if distances, err = find(t.Distance); fault.IsInput(err) {
			break // too many pairs, which is the error for this precision
		} else if err != nil {
			return m, err
		}
		m = Matches{c.OfFound(t.Distance, distances, all, complete), t.Distance, len(distances)}
	}
	m.Doubt = first
	if asked < precision {
		want := "none, as the calibration does not fit these rows"
		if asked > 0 {
			want = fmt.Sprintf("at most %v", asked)
		}
		return m, &fault.ParamError{Param: "precision", Value: precision, Want: want + ": " + first}
	}
	return m, nil
}

// countWithin returns the number of ascending distances up to a limit.
func countWithin(distances []float64, limit float64) int {
	return sort.Search(len(distances), func(k int) bool { return !(distances[k] <= limit) })
}

// Summary describes a calibration by its thresholds for usual precisions, as far as it has them,
// and recalls.
type Summary struct {
	Must       int         `json:"must_links"`
	Cannot     int         `json:"cannot_links"`
	Share      float64     `json:"share"` // of matching pairs, that precisions refer to
	Near       bool        `json:"near"`  // these are pairs up to the farthest link
	Precisions []Threshold `json:"thresholds_of_precision"`
	// what is supported if no usual precision is
	Most    string      `json:"most_precision,omitempty"`
	Recalls []Threshold `json:"thresholds_of_recall"`
}

// Summary returns that of the calibration, nil for nil. Cost: O(n).
func (c *Calibration) Summary() *Summary {
	if c == nil {
		return nil
	}
	r := &Summary{Share: c.Share(), Near: c.Near(), Precisions: []Threshold{}, Recalls: []Threshold{}}
	r.Must, r.Cannot = c.Count()
	for _, p := range []float64{0.99, 0.95, 0.9, 0.8, 0.5} {
		t, err := c.Threshold(p)
		refused, is := errors.AsType[*fault.ParamError](err)
		switch {
		case is:
			r.Most = refused.Want
		case len(r.Precisions) == 0 || r.Precisions[len(r.Precisions)-1] != t:
			r.Precisions, r.Most = append(r.Precisions, t), ""
		}
	}
	for _, p := range []float64{0.5, 0.9, 0.99} {
		if t, err := c.ThresholdForRecall(p); err == nil {
			r.Recalls = append(r.Recalls, t)
		}
	}
	return r
}
