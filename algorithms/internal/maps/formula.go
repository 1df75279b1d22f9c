package maps

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
)

// Formula returns the map as data. A map without a formula for new rows, such as one that searches
// for their neighbors, is a *fault.ParamError.
func (m *Map) Formula() (formula.Map, error) { return m.formula(m.method) }

// Formulated is implemented by extensions and functions with a formula.
type Formulated interface{ Formula() (formula.Map, error) }

// NoFormula is the error of a map of the named method without a formula.
func NoFormula(method, why string) error {
	return &fault.ParamError{Param: "method of the model", Value: method,
		Want: "one with a formula for new rows (" + why + "), such as blend, lleratio, krca or itml"}
}

func (l *linear) formula(string) (formula.Map, error) {
	return &formula.Linear{W: l.w, Mean: l.mean}, nil
}

func (e *expansion) formula(string) (formula.Map, error) {
	return formula.Centered(&formula.Expansion{Kernel: e.kernel, Support: e.support, V: e.turned(nil), Center: e.center})
}

func (s *sum) formula(method string) (formula.Map, error) {
	flat, _ := s.linear.formula(method) // these two have no errors
	bent, _ := s.expansion.formula(method)
	return &formula.Sum{Terms: []formula.Map{flat, bent}}, nil
}

func (c composed) formula(method string) (formula.Map, error) {
	first, _ := c.first.formula(method) // an expansion has no error
	then, err := c.then.formula(method)
	return &formula.Chain{First: first, Then: then}, err
}

func (f function) formula(method string) (formula.Map, error) {
	if own, is := f.Function.(Formulated); is {
		return own.Formula()
	}
	return nil, NoFormula(method, method+" sends rows through trees")
}

func (t *table) formula(method string) (formula.Map, error) {
	if e, is := t.ext.(Formulated); is {
		rest, err := e.Formula()
		if err != nil || t.coordinates.Data == nil {
			return rest, err
		}
		return &formula.Lookup{Rows: t.support, Coordinates: t.coordinates, Rest: rest}, nil
	}
	return nil, NoFormula(method, method+" takes those of new rows from the training rows nearest to them")
}

// formula is the sum of the members, each with its axes behind it.
func (t turned) formula(method string) (formula.Map, error) {
	all, first := &formula.Sum{}, 0
	for _, m := range t.members {
		own, err := m.form.formula(method)
		if err != nil {
			return nil, err
		}
		w := blas.NewMatrix(t.axes.Cols, own.Dim())
		for i := range own.Dim() {
			for c, v := range t.axes.Row(first + i) {
				w.Set(c, i, v)
			}
		}
		first += own.Dim()
		all.Terms = append(all.Terms, &formula.Chain{First: own, Then: &formula.Linear{W: w, Mean: make([]float64, own.Dim())}})
	}
	return all, nil
}
