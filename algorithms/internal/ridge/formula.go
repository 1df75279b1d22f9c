package ridge

import "github.com/mustlink/mustlink/engine/formula"

// Formula returns the regression as data.
func (e *extension) Formula() (formula.Map, error) {
	center := make([]float64, len(e.Center))
	for c, v := range e.Center {
		center[c] = -v
	}
	return &formula.Expansion{Kernel: e.regression.Kernel, Support: e.landmarks, V: e.Weights, Center: center}, nil
}
