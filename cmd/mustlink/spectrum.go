package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/figure"
	"github.com/mustlink/mustlink/engine/fault"
)

// spectrumReport is what `mustlink plot --spectrum` prints.
type spectrumReport struct {
	Curves   []string `json:"curves"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

// plotSpectrum draws the curves of a model over its directions, each relative to its largest value
// so that they share an axis. Zeros, which a logarithmic axis does not have, are left out.
func (a *app) plotSpectrum(path string, fitted *catalog.Fitted, p *plotFlags) error {
	m, ok := fitted.Model.(algorithms.Spectral)
	if !ok {
		return fault.Data(path, "a model of %s has no spectrum to draw: want one of kbeta", fitted.Model.Method())
	}
	l := figure.Lines{Title: p.title, XLabel: "direction", YLabel: "relative to the largest", LogY: true, NoLegend: p.noLegend}
	if l.Title == "" {
		l.Title = fmt.Sprintf("spectrum of the %s model", fitted.Model.Method())
	}
	r := spectrumReport{Output: p.out, Warnings: a.allWarnings()}
	for _, c := range m.Spectra() {
		s, most := figure.Series{Name: c.Name, Markers: len(c.Values) <= 60}, slices.Max(c.Values)
		for i, v := range c.Values {
			if y := v / most; y >= 1e-300 {
				s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, y)
			}
		}
		if len(s.X) > 0 {
			l.Series, r.Curves = append(l.Series, s), append(r.Curves, c.Name)
		}
	}
	if err := a.writePicture(p, l); err != nil {
		return err
	}
	return a.summarise(p.out, r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", r.Output, plural(len(r.Curves), "curve")) })
}
