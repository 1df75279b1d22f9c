package logdetmetric

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// Outcome is what the header of a model states about its projections.
type Outcome struct {
	Bounds
	Residual float64 `json:"kkt"` // largest residual of the conditions of the optimum
	// Gap is the duality gap relative to the objective, at most 1; nil in files of earlier
	// versions.
	Gap     *float64 `json:"gap,omitempty"`
	Skipped int      `json:"skipped"`
	// Landmarks is the number of linked points that carry the change of the kernel, 0 for all of
	// them, and Rest the share of the kernel matrix that does not change.
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

// WarmStart holds the links and triplets of a model and their multipliers. The projections of a fit
// with more links start from these. Together with the bounds of distances they determine the
// learned matrix.
type WarmStart struct {
	Links    *links.Set
	Triplets []links.Triplet
	// Multipliers of must-links, cannot-links and triplets, in this order; 0 for those left out.
	Multipliers []float64
	Seed        uint64 // of the fit
}

// WarmStart returns the warm start that a model keeps: w with the multipliers of a result.
func (w Supervision) WarmStart(r *logdet.Result, seed uint64) *WarmStart {
	return &WarmStart{w.Links, w.Triplets, w.spread(r.Multipliers), seed}
}

// spread returns the values of the constraints for all links and triplets, 0 for those left out.
func (w Supervision) spread(values []float64) []float64 {
	out := make([]float64, w.Links.Len()+len(w.Triplets))
	must, next := len(w.Links.Must()), 0
	for at := range out {
		if at < must || !w.impossible[at-must] {
			out[at] = values[next]
			next++
		}
	}
	return out
}

// Known returns the links of t, nil for a nil t.
func (t *WarmStart) Known() *links.Set {
	if t == nil {
		return nil
	}
	return t.Links
}

// With returns the links and triplets of t together with the links of set. A nil t, that of a model
// that does not store its links, is an error, as are those of [input.AddedLinks].
func (t *WarmStart) With(eng *engine.Engine, method string, x points.Points,
	set *links.Set) (Supervision, error) {
	if t == nil {
		t = &WarmStart{}
	}
	all, err := input.AddedLinks(eng, method, x, t.Links, set)
	return Supervision{Links: all, Triplets: t.Triplets}, err
}

// Start returns the multipliers from which the projections of w start, in the order of their
// constraints. It returns nil for a nil t.
func (t *WarmStart) Start(w Supervision) *logdet.Result {
	if t == nil {
		return nil
	}
	known := map[[2]int]float64{}
	old := slices.Concat(t.Links.Must(), t.Links.Cannot())
	for at, l := range old {
		known[[2]int{l.I, l.J}] = t.Multipliers[at]
	}
	out := []float64{}
	must := len(w.Links.Must())
	for at, l := range slices.Concat(w.Links.Must(), w.Links.Cannot()) {
		if at < must || !w.impossible[at-must] {
			out = append(out, known[[2]int{l.I, l.J}])
		}
	}
	for at := range w.Triplets {
		if !w.impossible[len(w.Links.Cannot())+at] {
			out = append(out, t.Multipliers[len(old)+at])
		}
	}
	return &logdet.Result{Multipliers: out}
}

// Mismatch explains an error of projections that started from t: a *fault.DataError means that the
// points are not those of the model's fit. It returns other errors, and all errors for a nil t, as
// they are.
func (t *WarmStart) Mismatch(err error) error {
	if _, is := errors.AsType[*fault.DataError](err); t == nil || !is {
		return err
	}
	return fmt.Errorf("the multipliers of the model do not fit these points: want the points of its fit, "+
		"or a fit with all links (%w)", err)
}

// Suffixes of the tensors of a warm start. The tensors of its links have names of their own.
const (
	warmStartName     = ".taught"
	tensorTriplets    = warmStartName + ".triplets"    // [triplets, 3], rows of the points
	tensorMultipliers = warmStartName + ".multipliers" // [links + triplets]
)

// aboutWarmStart holds the members of the header that reading needs.
type aboutWarmStart struct {
	Points int    `json:"points,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`
}

// Encode stores t in f, nothing for nil, and returns the members of the header.
func (t *WarmStart) Encode(f *model.File, method string) any {
	if t == nil {
		return nil
	}
	fitted.SetLinks(f, method+warmStartName, t.Links)
	if len(t.Triplets) > 0 {
		var rows []int64
		for _, w := range t.Triplets {
			rows = append(rows, int64(w.I), int64(w.J), int64(w.K))
		}
		f.SetInt64s(method+tensorTriplets, rows, len(t.Triplets), 3)
	}
	f.SetFloat64s(method+tensorMultipliers, t.Multipliers)
	return aboutWarmStart{t.Links.N(), t.Seed}
}

// DecodeWarmStart returns the warm start that [WarmStart.Encode] stored, and nil if there is none,
// as in files of earlier versions. An unusable tensor is a *fault.DataError.
func DecodeWarmStart(f *model.File, method string) (*WarmStart, error) {
	if !fitted.HasLinks(f, method+warmStartName) {
		return nil, nil
	}
	var about aboutWarmStart
	if err := fitted.ReadExtra(f, method, &about); err != nil {
		return nil, err
	}
	if about.Points < 1 {
		return nil, fitted.InHeader(fault.Data("",
			"points is %d: want the number that the model was fitted on", about.Points))
	}
	t := &WarmStart{Seed: about.Seed}
	var err error
	if t.Links, err = fitted.ReadLinks(f, method+warmStartName, about.Points); err != nil {
		return nil, err
	}
	if f.Has(method + tensorTriplets) {
		rows, err := f.Int64s(method+tensorTriplets, -1, 3)
		if err != nil {
			return nil, err
		}
		for k := 0; k < len(rows); k += 3 {
			t.Triplets = append(t.Triplets,
				links.Triplet{I: int(rows[k]), J: int(rows[k+1]), K: int(rows[k+2])})
		}
		if err := links.CheckTriplets(about.Points, t.Triplets); err != nil {
			return nil, fault.Data("", "tensor %s: %w", method+tensorTriplets, err)
		}
	}
	if t.Multipliers, err = fitted.ReadFinite(f, method+tensorMultipliers,
		t.Links.Len()+len(t.Triplets)); err != nil {
		return nil, err
	}
	for k, v := range t.Multipliers {
		if v < 0 {
			return nil, fault.Data("", "tensor %s: element %d is %g: want a number >= 0",
				method+tensorMultipliers, k, v)
		}
	}
	return t, nil
}
