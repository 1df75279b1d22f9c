package page

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// models describes the models and draws their spectra and traces.
func (m *maker) models() error {
	for _, v := range m.Spaces {
		if v.Fitted == nil {
			continue
		}
		info, err := m.model(v)
		if err != nil {
			return err
		}
		m.out.Models = append(m.out.Models, info)
		if err := m.pictures(v); err != nil {
			return err
		}
	}
	m.out.Warnings = m.Warnings()
	return nil
}

func (m *maker) model(v pictures.Space) (info view.Model, err error) {
	file, err := catalog.Encode(v.Fitted)
	if err != nil {
		return info, err
	}
	about := mustlink.NewModel(v.Fitted, m.Eng).Describe()
	info = view.Model{Name: v.Name, About: sentences(about), Verdict: judged(v.Fitted.Verdict),
		Notices: about.Notices}
	if info.Importance, err = m.importance(v); err != nil {
		return info, err
	}
	add := func(name, value string) {
		if value != "" {
			info.Facts = append(info.Facts, view.Fact{Name: name, Value: value})
		}
	}
	add("method", about.Method)
	add("parameters", metric.Params(about.Method, file.Header.Params, about.Statistics))
	add("scaling", about.Preparation)
	add("embedding", fault.Count(about.Dim, "dimension"))
	add("status", metric.Status(about.Converged, 0, about.Message))
	add("time of the fit", session.ShortTime(about.Elapsed.Seconds()))
	add("made by", "mustlink "+file.Header.LibraryVersion+", "+file.Header.Build)
	rows := "other rows than these"
	if v.InSample(m.Data) {
		rows = "these rows"
	}
	add("fitted on", rows)
	if about.Statistics == nil {
		add("kernel", file.Header.Kernel)
	}
	for _, f := range about.Statistics {
		add(f.Name, fmt.Sprint(f.Value))
	}
	add("fingerprint of the training rows", about.Fingerprint)
	return info, nil
}

// judged returns the verdict for the page, nil for a fit that was not judged.
func judged(v *verdict.Verdict) *view.Verdict {
	if v == nil {
		return nil
	}
	out := &view.Verdict{Finding: string(v.Finding()), AUC: v.AUC, Error: v.Error, Raw: v.Raw,
		Reasons: v.Reasons, Judged: true}
	out.AUC, out.Raw = min(1, max(0, out.AUC)), min(1, max(0, out.Raw))
	ranks := fmt.Sprintf("on rows that no fit saw, it tells a pair that belongs together from one that does not in "+
		"%.0f of 100 cases, and the rows as they are in %.0f.", 100*out.AUC, 100*out.Raw)
	switch v.Finding() {
	case verdict.Better:
		out.Headline = "The learned metric is better: " + ranks
	case verdict.Worse:
		out.Headline = "The learned metric is worse: " + ranks
	case verdict.Similar:
		out.Headline = "No clear difference: " + ranks
	default:
		out.Headline, out.Judged = v.String(), false
		return out
	}
	for _, detail := range v.Details() {
		out.Note += strings.ToUpper(detail[:1]) + detail[1:] + ". "
	}
	return out
}

// sentences says in two sentences what the method did.
func sentences(d mustlink.Description) string {
	first := d.Method
	if m, err := catalog.Lookup(d.Method); err == nil {
		first = m.Title + ": " + m.Summary
	}
	from := "objects"
	if d.Columns >= 0 {
		from = fault.Count(d.Columns, "column")
	}
	second := fmt.Sprintf("It maps %s to %s", from, fault.Count(d.Dim, "coordinate"))
	if d.Kernel != "" && !strings.HasPrefix(d.Kernel, "linear") {
		second += ", with the kernel " + kernelText(d.Kernel)
	}
	switch {
	case !d.Converged:
		second += "; the fit did not converge"
	case d.Iterations > 0:
		second += fmt.Sprintf("; the fit converged in %s", fault.Count(d.Iterations, "iteration"))
	}
	return strings.TrimSuffix(first, ".") + ". " + second + "."
}

// kernelText returns a kernel with its width to four digits: "exp:width=3.984".
func kernelText(kernel string) string {
	name, number, ok := strings.Cut(kernel, "=")
	var width float64
	if _, err := fmt.Sscan(number, &width); !ok || err != nil || strings.Contains(number, ",") {
		return kernel
	}
	return fmt.Sprintf("%s=%.4g", name, width)
}

// pictures draws the trace and the spectra of a model.
func (m *maker) pictures(v pictures.Space) error {
	add := func(title string, l view.Lines) error {
		drawing, err := picture(title, l)
		m.out.Pictures = append(m.out.Pictures, drawing)
		return err
	}
	if s, ok := pictures.Trace(v.Fitted.Model); ok {
		s.Name = "objective"
		if err := add(v.Name+": objective",
			view.Lines{XLabel: "iteration", YLabel: "objective", Series: []view.Series{s},
				NoLegend: true}); err != nil {
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

// picture draws lines for the page.
func picture(title string, l view.Lines) (view.Picture, error) {
	var b bytes.Buffer
	err := view.Write(&b, "svg", view.Size{Width: 7, Height: 3.5}, l)
	return view.Picture{Title: title, SVG: b.Bytes()}, err
}

// curves draws how well distances tell near from far.
func (m *maker) curves() error {
	add := func(title string, l view.Lines, draw func(pictures.Space) (view.Series, error)) error {
		for _, v := range m.Spaces {
			s, err := draw(v)
			if _, data := err.(*fault.DataError); data { // pairs of one kind only
				return nil
			}
			if err != nil {
				return err
			}
			l.Series = append(l.Series, s)
		}
		l.Title = ""
		drawing, err := picture(title, l)
		m.out.Curves = append(m.out.Curves, drawing)
		return err
	}
	if bothKinds(m.HeldOutSet) {
		if err := add("ROC of held-out links", pictures.LinkCurves(),
			func(v pictures.Space) (view.Series, error) {
				return pictures.LinkCurve(v, m.HeldOutSet)
			}); err != nil {
			return err
		}
	}
	if bothKinds(m.Set) {
		title := "ROC of the given links"
		if m.inSample() {
			title = "ROC of the links the model learned from (in-sample)"
		}
		if err := add(title, pictures.LinkCurves(), func(v pictures.Space) (view.Series, error) {
			return pictures.LinkCurve(v, m.Set)
		}); err != nil {
			return err
		}
	}
	if m.Data.Labeled() < 2 {
		return nil
	}
	title := "ROC of pairs of rows: the same label or not"
	if m.inSample() {
		title += " (training rows, in-sample)"
	}
	return add(title, pictures.LabelCurves(), func(v pictures.Space) (view.Series, error) {
		return pictures.LabelCurve(v, m.Data.Labels, m.Seed)
	})
}

// inSample reports whether a model learned from the rows of the page.
func (m *maker) inSample() bool {
	for _, v := range m.Spaces {
		if v.InSample(m.Data) {
			return true
		}
	}
	return false
}
