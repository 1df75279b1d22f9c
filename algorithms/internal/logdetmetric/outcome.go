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
}

// Outcome returns the outcome for a result with the bounds b and the constraints of w.
func (b Bounds) Outcome(w Supervision, r *logdet.Result, check logdet.KKT) Outcome {
	gap := r.RelativeGap()
	return Outcome{b, check.Largest(), &gap, w.Dropped() + len(r.Skipped)}
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
	return append(out, algorithms.Statistic{Name: "links between points in one place", Value: o.Skipped})
}
