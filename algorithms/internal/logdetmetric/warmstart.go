package logdetmetric

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// WarmStart is what a model has learned from, with the multipliers that its matrix has: the
// projections of a fit with more links go on from there. With the bounds of distances the matrix is
// determined.
type WarmStart struct {
	Links    *links.Set
	Triplets []links.Triplet
	// Multipliers are those of must-links, cannot-links and triplets, in this order; 0 for what was
	// left out.
	Multipliers []float64
	Seed        uint64 // of the fit
}

// WarmStart returns what a model keeps of the wishes and the result of their constraints.
func (w Targets) WarmStart(r *logdet.Result, seed uint64) *WarmStart {
	return &WarmStart{w.Links, w.Triplets, w.spread(r.Multipliers), seed}
}

// spread gives all wishes the values of their constraints.
func (w Targets) spread(values []float64) []float64 {
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

// With returns the wishes of the model, nil for one that does not hold them, and of more links.
// Errors are those of [input.AddedLinks].
func (t *WarmStart) With(eng *engine.Engine, method string, x points.Points, set *links.Set) (Targets, error) {
	if t == nil {
		t = &WarmStart{}
	}
	all, err := input.AddedLinks(eng, method, x, t.Links, set)
	return Targets{Links: all, Triplets: t.Triplets}, err
}

// Start returns what the projections of the wishes go on from, in the order of their constraints;
// nil without a model.
func (t *WarmStart) Start(w Targets) *logdet.Result {
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

// Unfit says of an error of the projections that go on from t, not nil, that the model and the
// points are not of one fit, if that is what it is.
func (t *WarmStart) Unfit(err error) error {
	if _, is := errors.AsType[*fault.DataError](err); t == nil || !is {
		return err
	}
	return fmt.Errorf("the multipliers of the model do not go with these points: want those that it was fitted on, or a fit with all links (%w)", err)
}

// Ends of the names of the tensors that hold what a model has learned from, beside those of links.
const (
	warmStartName     = ".taught"
	tensorTriplets    = warmStartName + ".triplets"    // [triplets, 3], rows of the points
	tensorMultipliers = warmStartName + ".multipliers" // [links + triplets]
)

// aboutWarmStart is what the header has to hold to read it.
type aboutWarmStart struct {
	Points int    `json:"points,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`
}

// Encode stores it in f, nothing for nil, and returns what the header has to hold.
func (t *WarmStart) Encode(f *model.File, method string) any {
	if t == nil {
		return nil
	}
	stored.SetLinks(f, method+warmStartName, t.Links)
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

// DecodeWarmStart returns what [Taught.Encode] stored, nil if it stored nothing, as versions before
// did. A tensor that cannot be used is a *fault.DataError.
func DecodeWarmStart(f *model.File, method string) (*WarmStart, error) {
	if !stored.HasLinks(f, method+warmStartName) {
		return nil, nil
	}
	var about aboutWarmStart
	if err := stored.Extra(f, method, &about); err != nil {
		return nil, err
	}
	if about.Points < 1 {
		return nil, stored.InHeader(fault.Data("", "points is %d: want the number that the model was fitted on", about.Points))
	}
	t := &WarmStart{Seed: about.Seed}
	var err error
	if t.Links, err = stored.Links(f, method+warmStartName, about.Points); err != nil {
		return nil, err
	}
	if f.Has(method + tensorTriplets) {
		rows, err := f.Int64s(method+tensorTriplets, -1, 3)
		if err != nil {
			return nil, err
		}
		for k := 0; k < len(rows); k += 3 {
			t.Triplets = append(t.Triplets, links.Triplet{I: int(rows[k]), J: int(rows[k+1]), K: int(rows[k+2])})
		}
		if err := links.CheckTriplets(about.Points, t.Triplets); err != nil {
			return nil, fault.Data("", "tensor %s: %w", method+tensorTriplets, err)
		}
	}
	if t.Multipliers, err = stored.Finite(f, method+tensorMultipliers, t.Links.Len()+len(t.Triplets)); err != nil {
		return nil, err
	}
	for k, v := range t.Multipliers {
		if v < 0 {
			return nil, fault.Data("", "tensor %s: element %d is %g: want a number >= 0", method+tensorMultipliers, k, v)
		}
	}
	return t, nil
}
