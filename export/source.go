package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Limits bounds what an export takes. The zero value has no limits but those of the format.
type Limits struct {
	Memory int64 // bytes, 0 for none
}

// check returns a *fault.MemoryError for more than the limit.
func (l Limits) check(what string, need, format float64) error {
	limit := format
	if l.Memory > 0 {
		limit = min(limit, float64(l.Memory))
	}
	if need <= limit {
		return nil
	}
	return &fault.MemoryError{What: what, Need: int64(min(need, 1<<62)), Limit: int64(limit), Hint: "fit with fewer landmarks, or raise the memory limit"}
}

// source is a model to export.
type source struct {
	*catalog.Fitted
	formula   formula.Map
	condition float64        // of the formula
	rules     []prepare.Rule // of the columns that the model takes
	strict    bool           // a gap is an error
	terms     []float64      // weights of the terms of a tf-idf, nil for none
}

// mostCondition is the [formula.Condition] up to which double precision leaves 1e-5 of the largest
// coordinate: the error was at most twice the condition in units of 2^-52, in Embed too.
const mostCondition = 1e10

// newSource returns the parts of a model that exports need. A model without a formula for new rows,
// or with a preparation that cannot be exported, is a *fault.ParamError; one whose coordinates are
// rounding errors is a *fault.DataError.
func newSource(m *mustlink.Model) (*source, error) {
	f := m.Record()
	if f == nil || f.Model == nil {
		return nil, &fault.ParamError{Param: "model", Value: nil, Want: "a model made by Fit or Load"}
	}
	s := &source{Fitted: f}
	with, is := f.Model.(algorithms.Formulas)
	if !is {
		return nil, &fault.ParamError{Param: "method of the model", Value: f.Model.Method(), Want: "one with a formula for new rows"}
	}
	if a, is := f.Model.(interface{ Alphabet() string }); is && a.Alphabet() != "" {
		return nil, noVectors("sequences")
	}
	var err error
	if s.formula, err = with.Formula(); err != nil {
		return nil, err
	}
	if err := checkVectors(s.formula); err != nil {
		return nil, err
	}
	if s.condition = formula.Condition(s.formula); s.condition > mostCondition && !math.IsInf(s.condition, 1) {
		return nil, fault.Data("", "the terms of the model exceed its coordinates %.0e times, so that rounding errors exceed 1e-5 of the coordinates: want a fit on scaled features", s.condition)
	}
	return s, s.prepared()
}

func noVectors(got string) error {
	return &fault.ParamError{Param: "points of the model", Value: got, Want: "vectors: fit a model to the features of the rows"}
}

// kernels are those that graphs have nodes for, besides the linear one.
var kernels = []string{"rbf", "exp", "poly", "cosine", "sigmoid"}

// checkVectors refuses support points that are not vectors, and kernels of others.
func checkVectors(m formula.Map) error {
	for part := range formula.All(m) {
		var support points.Points
		var k kernel.Kernel
		switch part := part.(type) {
		case *formula.Expansion:
			support, k = part.Support, part.Kernel
		case *formula.Residual:
			support, k = part.Support, part.Kernel
		case *formula.Lookup:
			support = part.Rows
		}
		switch support.(type) {
		case *points.Gram:
			return noVectors("rows of a Gram matrix")
		case *points.Sequences:
			return noVectors("sequences")
		}
		for _, s := range k.Steps() {
			if !slices.Contains(kernels, s.Name) {
				return &fault.ParamError{Param: "kernel of the model", Value: k.String(), Want: "one of linear, " + strings.Join(kernels, ", ") + ", or a composition of them"}
			}
		}
	}
	return nil
}

// prepared sets the rules of the preparation.
func (s *source) prepared() error {
	switch t := s.Scaling.(type) {
	case nil:
		s.rules = plainRules(s.inputs(s.InputDim()))
	case *dataset.Scaling:
		s.rules = plainRules(s.inputs(len(t.Mean)))
		for j := range s.rules {
			s.rules[j].Mean, s.rules[j].Scale = t.Mean[j], t.Scale[j]
		}
		s.strict = true
	case *dataset.TFIDF:
		s.rules = plainRules(s.inputs(t.Features()))
		s.terms = termWeights(t)
	case *prepare.Preparation:
		s.rules, s.strict = t.Rules(), t.Strict()
		for _, r := range s.rules {
			if r.Kind == prepare.Date || r.Kind == prepare.Text {
				return &fault.ParamError{Param: fmt.Sprintf("column %q", r.Name), Value: string(r.Kind),
					Want: "numbers, booleans or categories: make numbers of it before the fit, or leave it out with --type " + r.Name + "=drop"}
			}
		}
	default:
		return &fault.ParamError{Param: "preparation of the model", Value: fmt.Sprintf("%T", t), Want: "one of numbers, booleans or categories"}
	}
	return nil
}

// inputs returns the names of the columns that the model takes, their numbers if they have none.
func (s *source) inputs(n int) []string {
	if s.Features != nil {
		return s.Features
	}
	names := make([]string, n)
	for j := range names {
		names[j] = fmt.Sprint(j)
	}
	return names
}

// plainRules returns the rules of numbers that are taken as they are.
func plainRules(names []string) []prepare.Rule {
	rules := make([]prepare.Rule, len(names))
	for j, name := range names {
		rules[j] = prepare.Rule{Name: name, Kind: prepare.Number, Scale: 1, Width: 1}
	}
	return rules
}

// termWeights returns the weights of all terms.
func termWeights(t *dataset.TFIDF) []float64 {
	if t.Column == nil {
		return t.Weight
	}
	all := make([]float64, t.Terms)
	for j := range all {
		all[j] = t.Other
	}
	for k, c := range t.Column {
		all[c] = t.Weight[k]
	}
	return all
}

// dense returns support points as dense vectors.
func dense(x points.Points) *points.Dense {
	if x, is := x.(*points.Dense); is {
		return x
	}
	sparse := x.(*points.CSR)
	out := &points.Dense{N: sparse.N, D: sparse.D, Data: make([]float64, sparse.N*sparse.D)}
	for i := range sparse.N {
		copy(out.Row(i), formula.Vector(sparse, i))
	}
	return out
}
