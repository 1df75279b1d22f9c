// Package verdict (engine room: may change) says whether a learned metric is better than the points
// without learning, by links that fits did not use.
package verdict

import (
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// Verdict compares a learned metric with the distance of the prepared points without learning, on
// held-out links: those of points that were no part of the fit.
type Verdict struct {
	// AUC is the probability that a held-out must-link is shorter than a held-out cannot-link in the
	// learned metric, from 0 to 1; Raw is that in the distance without learning.
	AUC float64 `json:"auc"`
	Raw float64 `json:"raw"`
	// The standard errors of AUC, and of AUC - Raw on the same links.
	Error     float64 `json:"error"`
	GainError float64 `json:"gain_error"`
	Must      int     `json:"must"`   // held-out must-links
	Cannot    int     `json:"cannot"` // held-out cannot-links
	Fits      int     `json:"fits"`   // fits that held links out
	// Missing says why nothing could be judged, "" for a verdict. All other fields are then 0.
	Missing string `json:"missing,omitempty"`
	// Reasons are the likely reasons for a metric that is not better, with what to try.
	Reasons []string `json:"reasons,omitempty"`
}

// Finding is the sense of a verdict.
type Finding string

// The findings. A difference counts if it exceeds Clear standard errors.
const (
	Better  Finding = "better"  // than the points without learning
	Similar Finding = "similar" // the links do not tell which is better
	Worse   Finding = "worse"
	Unknown Finding = "unknown" // nothing could be judged
)

// Clear is the number of standard errors by which a metric must be ahead to be called better.
const Clear = 1.645

// Gain returns AUC - Raw.
func (v *Verdict) Gain() float64 { return v.AUC - v.Raw }

// Finding returns whether the learned metric is better.
func (v *Verdict) Finding() Finding {
	switch gain := v.Gain(); {
	case v.Missing != "":
		return Unknown
	case gain > Clear*v.GainError:
		return Better
	case gain < -Clear*v.GainError:
		return Worse
	}
	return Similar
}

// String returns the verdict as a line of text.
func (v *Verdict) String() string {
	figures := fmt.Sprintf("AUC %.2f ± %.2f (raw %.2f)", v.AUC, v.Error, v.Raw)
	switch v.Finding() {
	case Better:
		return figures + ": the learned metric is better"
	case Similar:
		return figures + ": no clear difference"
	case Worse:
		return figures + ": no better than raw"
	}
	return "not judged: " + v.Missing
}

// Validate returns an error for a verdict of a file that no fit can have made.
func (v *Verdict) Validate() error {
	for _, x := range []float64{v.AUC, v.Raw} {
		if !(x >= 0 && x <= 1) {
			return fault.Data("", "an AUC is %v: want 0 to 1", x)
		}
	}
	for _, x := range []float64{v.Error, v.GainError} {
		if !(x >= 0) || math.IsInf(x, 1) {
			return fault.Data("", "a standard error is %v: want a finite number >= 0", x)
		}
	}
	if v.Must < 0 || v.Cannot < 0 || v.Fits < 0 {
		return fault.Data("", "%d must-links, %d cannot-links and %d fits: want numbers >= 0", v.Must, v.Cannot, v.Fits)
	}
	return nil
}
