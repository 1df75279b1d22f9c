package page

import (
	"bytes"
	"fmt"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/mislabeled"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// points maps the points to the plane, clusters them and adds their features.
func (m *maker) points() error {
	p := &m.out.Points
	p.Count, p.IDs, p.Labels = m.Data.Points.Len(), m.Data.IDs, m.Data.Labels
	feature := func(j int) string { return pictures.FeatureName(m.Data, j) }
	for _, v := range m.Spaces {
		var s view.Scatter
		name := pictures.CoordinateName
		if v.Fitted == nil {
			name = feature
		}
		if err := pictures.SetCoordinates(m.ctx, m.Eng, &s, v.Y, nil, name); err != nil {
			return err
		}
		shown := view.Layout{Name: v.Name, XLabel: s.XLabel, YLabel: s.YLabel, X: s.X, Y: s.Y}
		if m.k >= 2 {
			c, err := m.cluster(v.Y, m.Seed)
			if err != nil {
				return err
			}
			shown.Clusters = c.Labels
		}
		p.Views = append(p.Views, shown)
	}
	if x, ok := m.Data.Points.(*points.Dense); ok {
		for j := range min(x.D, m.Features) {
			f := view.Feature{Name: feature(j), Values: make([]float64, x.N)}
			for i := range f.Values {
				f.Values[i] = x.Row(i)[j]
			}
			p.Features = append(p.Features, f)
		}
	}
	if m.Set == nil {
		return nil
	}
	if err := m.Eng.Check("all pairs of the chunklets", m.Set.Bytes(), "pass links instead of chunklets"); err != nil {
		return err
	}
	p.Must, p.Cannot = source.Pairs(m.Set.Must()), source.Pairs(m.Set.Cannot())
	return nil
}

// maxViolations is the maximum number of violated links of a metric on the page, the worst ones
// first.
const maxViolations = 5000

// listViolations lists the links that the learned metrics violate.
func (m *maker) listViolations() error {
	if m.Set == nil || m.Set.Len() == 0 {
		return nil
	}
	for _, v := range m.Spaces {
		if v.Fitted == nil {
			continue
		}
		fit, err := mislabeled.Measure(m.ctx, m.Eng, v.Fitted.Model, v.X, m.Set)
		if err != nil {
			return err
		}
		if len(fit.Violated) > maxViolations {
			m.Warnf("%d of the %d links violated under %s are on the page", maxViolations, len(fit.Violated), v.Name)
			fit.Violated = fit.Violated[:maxViolations]
		}
		for _, w := range fit.Violated {
			m.out.Violations = append(m.out.Violations, view.Violation{I: w.I, J: w.J, Link: w.Link, Line: w.Line, Metric: v.Name, Distance: w.Distance, Expected: w.Bound, Excess: excess(w)})
		}
	}
	return nil
}

// listSuspicious lists the links that other links and the points contradict.
func (m *maker) listSuspicious() error {
	if m.Suspicious == 0 || m.Set.Len() == 0 {
		return nil
	}
	x := m.Data.Points
	if len(m.Spaces) > 0 {
		x = m.Spaces[0].X
	}
	ranked, err := mislabeled.Rank(m.ctx, m.Metric, m.Data, x, m.Set, m.Links.Path, m.Seed)
	if err != nil {
		return err
	}
	for _, l := range mislabeled.First(ranked, m.Data, m.Suspicious) {
		m.out.SuspiciousLinks = append(m.out.SuspiciousLinks, view.SuspiciousLink{Rows: l.Rows(), Link: l.Link, Score: l.Score, Reason: l.Reason})
	}
	return nil
}

// excess returns the factor by which a must-link is too long, or a cannot-link too short, at most a
// million.
func excess(w mislabeled.Violation) float64 {
	const most = 1e6
	v := w.Distance / w.Bound
	if w.Link == links.Cannot.String() {
		v = w.Bound / w.Distance
	}
	if !(v <= most) {
		return most
	}
	return v
}

// models describes the models and draws their spectra and traces.
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
			add("fitted on", "data that differ from these")
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
func (m *maker) pictures(v pictures.Space) error {
	add := func(title string, l view.Lines) error {
		var b bytes.Buffer
		if err := view.Write(&b, "svg", view.Size{Width: 7, Height: 3.5}, l); err != nil {
			return err
		}
		m.out.Pictures = append(m.out.Pictures, view.Picture{Title: title, SVG: b.Bytes()})
		return nil
	}
	if s, ok := pictures.Trace(v.Fitted.Model); ok {
		s.Name = "objective"
		if err := add(v.Name+": objective", view.Lines{XLabel: "iteration", YLabel: "objective", Series: []view.Series{s}, NoLegend: true}); err != nil {
			return err
		}
	}
	if s, ok := v.Fitted.Model.(algorithms.Spectral); ok {
		lines, _ := pictures.Spectrum(s)
		if len(lines.Series) > 0 && len(lines.Series[0].X) > 1 {
			return add(v.Name+": spectrum", lines)
		}
	}
	return nil
}
