package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// spectrumReport is what `mustlink plot --spectrum` prints.
type spectrumReport struct {
	Curves   []string `json:"curves"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

// spectrumLines draws the curves of a model over its directions, each relative to its largest value
// so that they share an axis. Zeros, which a logarithmic axis does not have, are left out.
func spectrumLines(m algorithms.Spectral) (l view.Lines, curves []string) {
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

// plotSpectrum draws the curves of a model.
func (m *metric) plotSpectrum(path string, p *plotFlags) error {
	spectral, ok := m.fitted.Model.(algorithms.Spectral)
	if !ok {
		return fault.Data(path, "a model of %s has no spectrum to draw: want one of kbeta", m.name())
	}
	l, curves := spectrumLines(spectral)
	l.Title, l.NoLegend = session.NameOr(p.title, fmt.Sprintf("spectrum of the %s model", m.name())), p.noLegend
	r := spectrumReport{Curves: curves, Output: p.out, Warnings: m.Warnings()}
	if err := m.writePicture(p, l); err != nil {
		return err
	}
	return m.Summarize(p.out, r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", r.Output, session.Plural(len(r.Curves), "curve")) })
}
