package look

import (
	"fmt"
	"io"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/drawing"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// curvesReport is what `mustlink plot` prints of curves.
type curvesReport struct {
	Curves   []string `json:"curves"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

// plotSpectrum draws the spectrum of the model at path.
func (p *plotCommand) plotSpectrum(path string) error {
	spectral, ok := p.m.Fitted.Model.(algorithms.Spectral)
	if !ok {
		return fault.Data(path, "a model of %s has no spectrum to draw: want one of kbeta", p.m.Name())
	}
	l, curves := drawing.Spectrum(spectral)
	l.Title = fmt.Sprintf("spectrum of the %s model", p.m.Name())
	return p.writeCurves(l, curvesReport{Curves: curves}, session.Plural(len(curves), "curve"))
}

// writeCurves draws curves and reports on them; summary is the report for people.
func (p *plotCommand) writeCurves(l view.Lines, r curvesReport, summary string) error {
	l.Title, l.NoLegend = session.NameOr(p.title, l.Title), p.noLegend
	if err := p.writePicture(l); err != nil {
		return err
	}
	r.Output, r.Warnings = p.out, p.Warnings()
	return p.Summarize(p.out, r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", r.Output, summary) })
}
