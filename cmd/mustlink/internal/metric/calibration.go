package metric

import (
	"errors"
	"fmt"
	"io"

	"github.com/mustlink/mustlink/algorithms/calibration"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
)

// Calibration describes the calibration of a model.
type Calibration struct {
	Must       int                     `json:"must_links"`
	Cannot     int                     `json:"cannot_links"`
	Share      float64                 `json:"share"` // of matching pairs, that precisions refer to
	Near       bool                    `json:"near"`  // these are pairs up to the farthest link
	Precisions []calibration.Threshold `json:"thresholds_of_precision"`
	Most       string                  `json:"most_precision,omitempty"` // what is supported if no usual precision is
	Recalls    []calibration.Threshold `json:"thresholds_of_recall"`
}

// CalibrationOf describes a calibration by its thresholds for usual precisions, as far as it has
// them, and recalls. It is nil for nil.
func CalibrationOf(c *calibration.Calibration) *Calibration {
	if c == nil {
		return nil
	}
	r := &Calibration{Share: c.Share(), Near: c.Near(), Precisions: []calibration.Threshold{},
		Recalls: []calibration.Threshold{}}
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

// Text writes the calibration for people.
func (c *Calibration) Text(w io.Writer) {
	of := "pairs"
	if c.Near {
		of = "near pairs"
	}
	fmt.Fprintf(w, "calibration\t%s, %s; a share of %.4g of %s matches\n", session.Plural(c.Must, "must-link"),
		session.Plural(c.Cannot, "cannot-link"), c.Share, of)
	if c.Most != "" {
		fmt.Fprintf(w, "by precision\t%s\n", c.Most)
	}
	for _, t := range c.Precisions {
		fmt.Fprintf(w, "by precision\t%v\n", t)
	}
	for _, t := range c.Recalls {
		fmt.Fprintf(w, "by recall\t%v\n", t)
	}
}
