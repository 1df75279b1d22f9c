package drawing

import (
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/internal/view"
)

// Spectrum draws the curves of a model over its directions, each relative to its largest value
// so that they share an axis. Zeros, which a logarithmic axis does not have, are left out.
func Spectrum(m algorithms.Spectral) (l view.Lines, curves []string) {
	l = view.Lines{XLabel: "direction", YLabel: "relative to the largest", LogY: true}
	for _, c := range m.Spectra() {
		s, most := view.Series{Name: c.Name, Markers: len(c.Values) <= 60}, slices.Max(c.Values)
		for i, v := range c.Values {
			if y := v / most; y >= 1e-300 {
				s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, y)
			}
		}
		if len(s.X) > 0 {
			l.Series, curves = append(l.Series, s), append(curves, c.Name)
		}
	}
	return l, curves
}

// Trace returns the objective of a model over its iterations, if it has kept two values or more.
func Trace(m algorithms.Model) (s view.Series, ok bool) {
	t, ok := m.(algorithms.Trace)
	if !ok || len(t.Trace()) < 2 {
		return s, false
	}
	s.Name = m.Method()
	for k, v := range t.Trace() {
		s.X, s.Y = append(s.X, float64(k)), append(s.Y, v)
	}
	return s, true
}
