package blend

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/formula"
)

// Formula returns the stages as data, each after the one that it takes coordinates from. Tables of
// training rows in stages are left out: that of the blend has all of them.
func (e *extension) Formula() (formula.Map, error) {
	inputs, all, first := []formula.Map{nil}, &formula.Sum{}, 0
	for _, s := range e.stages {
		own, err := s.Model.(algorithms.Formulas).Formula()
		if err != nil {
			return nil, fitted.NoFormula("blend", "its member "+s.Method()+" has none")
		}
		if l, is := own.(*formula.Lookup); is {
			own = l.Rest
		}
		if from := inputs[s.from]; from != nil {
			own = &formula.Chain{First: from, Then: own}
		}
		inputs = append(inputs, own)
		if s.scale == 0 {
			continue
		}
		w := blas.NewMatrix(columns(e.stages), own.Dim())
		for k := range own.Dim() {
			w.Set(first+k, k, 1/s.scale)
		}
		first += own.Dim()
		all.Terms = append(all.Terms, &formula.Chain{First: own, Then: &formula.Linear{W: w, Mean: make([]float64, own.Dim())}})
	}
	return all, nil
}
