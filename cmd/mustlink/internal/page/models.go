package page

import (
	"bytes"
	"fmt"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/drawing"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// models describes the models and draws what they keep.
func (m *maker) models() error {
	for _, v := range m.Spaces {
		if v.Fitted == nil {
			continue
		}
		file, err := catalog.Encode(v.Fitted)
		if err != nil {
			return err
		}
		about := mustlink.NewModel(v.Fitted, m.Eng).Describe()
		info := view.Model{Name: v.Name, Notices: about.Notices}
		add := func(name, value string) {
			if value != "" {
				info.Facts = append(info.Facts, view.Fact{Name: name, Value: value})
			}
		}
		add("method", about.Method)
		add("parameters", metric.Params(file.Header.Params))
		add("scaling", about.Preparation)
		add("embedding", session.Plural(about.Dim, "dimension"))
		add("status", metric.Status(about.Converged, 0, about.Message))
		add("time of the fit", session.ShortTime(about.Elapsed.Seconds()))
		add("made by", "mustlink "+file.Header.LibraryVersion+", "+file.Header.Build)
		if about.Fingerprint != dataset.Fingerprint(m.Data.Points) {
			add("fitted on", "other data than these")
		}
		if about.Statistics == nil {
			add("kernel", file.Header.Kernel)
		}
		for _, f := range about.Statistics {
			add(f.Name, fmt.Sprint(f.Value))
		}
		m.out.Models = append(m.out.Models, info)
		if err := m.pictures(v); err != nil {
			return err
		}
	}
	m.out.Warnings = m.Warnings()
	return nil
}

// pictures draws the trace and the spectra of a model.
func (m *maker) pictures(v drawing.Space) error {
	add := func(title string, l view.Lines) error {
		var b bytes.Buffer
		if err := view.Write(&b, "svg", view.Size{Width: 7, Height: 3.5}, l); err != nil {
			return err
		}
		m.out.Pictures = append(m.out.Pictures, view.Picture{Title: title, SVG: b.Bytes()})
		return nil
	}
	if s, ok := drawing.Trace(v.Fitted.Model); ok {
		s.Name = "objective"
		if err := add(v.Name+": objective", view.Lines{XLabel: "iteration", YLabel: "objective", Series: []view.Series{s}, NoLegend: true}); err != nil {
			return err
		}
	}
	if s, ok := v.Fitted.Model.(algorithms.Spectral); ok {
		lines, _ := drawing.Spectrum(s)
		if len(lines.Series) > 0 && len(lines.Series[0].X) > 1 {
			return add(v.Name+": spectrum", lines)
		}
	}
	return nil
}
