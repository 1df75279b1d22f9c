package logdetmetric

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// Outcome is what the header of a model states about its projections.
type Outcome struct {
	Bounds
	Residual float64 `json:"kkt"` // largest residual of the conditions of the optimum
	// Gap is the duality gap relative to the objective, at most 1; nil in files of earlier versions.
	Gap     *float64 `json:"gap,omitempty"`
	Skipped int      `json:"skipped"`
	// Landmarks is the number of linked points that carry the change of the kernel, 0 for all of them,
	// and Rest the share of the kernel matrix that does not change.
	Landmarks int     `json:"landmarks,omitempty"`
	Rest      float64 `json:"rest,omitempty"`
}

// Outcome returns the outcome for a result with the bounds b and the constraints of w.
func (b Bounds) Outcome(w Supervision, r *logdet.Result, check logdet.KKT) Outcome {
	gap := r.RelativeGap()
	return Outcome{Bounds: b, Residual: check.Largest(), Gap: &gap, Skipped: w.Dropped() + len(r.Skipped)}
}

// On states the landmarks of the reduced form r; nothing for nil.
func (o *Outcome) On(r *Reduced) {
	if r != nil {
		o.Landmarks, o.Rest = r.G.Cols, r.Rest
	}
}

// Describe returns the statistics of the outcome.
func (o Outcome) Describe() []algorithms.Statistic {
	out := []algorithms.Statistic{
		{Name: "bound of must-links", Value: o.Upper},
		{Name: "bound of cannot-links", Value: o.Lower},
		{Name: "residual of the optimum's conditions", Value: o.Residual},
	}
	if o.Gap != nil {
		out = append(out, algorithms.Statistic{Name: "duality gap", Value: *o.Gap})
	}
	if o.Landmarks > 0 {
		out = append(out, algorithms.Statistic{Name: "landmarks", Value: o.Landmarks},
			algorithms.Statistic{Name: "share of the kernel matrix that they leave", Value: o.Rest})
	}
	return append(out, algorithms.Statistic{Name: "links between points in one place", Value: o.Skipped})
}
