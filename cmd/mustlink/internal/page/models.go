package page

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/pictures"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/engine/score"
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
		"%.3g of 100 cases, and the rows as they are in %.3g.", 100*out.AUC, 100*out.Raw)
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
	return slices.ContainsFunc(m.Spaces, func(v pictures.Space) bool { return v.InSample(m.Data) })
}

// Limits of the bars: those of a model, the columns that are permuted, the links that these are
// measured on, of each kind, and the permutations of a column.
const (
	maxBars      = 15
	maxPermuted  = 64
	maxLinks     = 500
	permutations = 3
)

// weight is the importance of a column.
type weight struct {
	name  string
	value float64
}

// importance returns the bars of a model, nil if it has no columns to compare, or no links to
// measure them on.
func (m *maker) importance(v pictures.Space) (*view.Importance, error) {
	x, ok := v.X.(*points.Dense)
	if !ok || x.D < 2 {
		return nil, nil
	}
	names := m.origins(v.Fitted, x.D)
	if linear, is := v.Fitted.Model.(interface {
		Transform() (blas.Matrix, []float64)
	}); is {
		if w, _ := linear.Transform(); w.Cols == x.D {
			note := "Share of the mean squared distance of two rows that a column contributes, as if only " +
				"one column differed: its variance times the squared length of its column of the linear " +
				"map, divided by " +
				"the sum over all columns."
			return bars(exact(x, w, names), note, func(w float64) string {
				return fmt.Sprintf("%.1f %%", 100*w)
			}), nil
		}
	}
	set, what := m.HeldOutSet, "held-out links"
	if set == nil {
		if set, what = m.Set, "the given links"; v.InSample(m.Data) {
			what = "the links the model learned from (in-sample)"
		}
	}
	if !bothKinds(set) || len(slices.Compact(slices.Clone(names))) > maxPermuted {
		return nil, nil
	}
	list, err := m.permuted(v, x, set, names)
	note := fmt.Sprintf("Loss of AUC on %s when a column is permuted among their rows, mean of %s.", what,
		fault.Count(permutations, "permutation"))
	return bars(list, note, func(w float64) string { return fmt.Sprintf("%.3f", w) }), err
}

// origins names the column of the table of each of the d columns that the model takes.
func (m *maker) origins(f *catalog.Fitted, d int) []string {
	names := f.Features
	if by := prepare.ByColumn(f.Scaling); by != nil {
		names = by.Origins()
	}
	if len(names) == d {
		return names
	}
	names = make([]string, d)
	for j := range names {
		names[j] = pictures.FeatureName(m.Data, j)
	}
	return names
}

// grouped returns the columns of x of each name, which are next to each other.
func grouped(names []string) (out []group) {
	for j, name := range names {
		if k := len(out) - 1; k >= 0 && out[k].name == name {
			out[k].to = j + 1
			continue
		}
		out = append(out, group{name, j, j + 1})
	}
	return out
}

// group is a column of the table, and the columns from (included) to (excluded) that it becomes.
type group struct {
	name     string
	from, to int
}

// exact returns the share of every column: var(x_j) |w_j|^2 over the sum of these, where w_j is
// column j of w.
func exact(x *points.Dense, w blas.Matrix, names []string) (list []weight) {
	column, total := make([]float64, x.N), 0.0
	for _, g := range grouped(names) {
		sum := 0.0
		for j := g.from; j < g.to; j++ {
			for i := range column {
				column[i] = x.Row(i)[j]
			}
			square := 0.0
			for r := range w.Rows {
				square += w.At(r, j) * w.At(r, j)
			}
			sum += stat.PopVariance(column, nil) * square
		}
		list, total = append(list, weight{g.name, sum}), total+sum
	}
	for k := range list {
		if total > 0 {
			list[k].value /= total
		}
	}
	return list
}

// permuted returns the loss of AUC of links for every column.
func (m *maker) permuted(v pictures.Space, x *points.Dense, set *links.Set,
	names []string) (list []weight, err error) {
	rng := rand.New(rand.NewPCG(m.Seed, 44))
	rows, pairs, must := some(set, rng)
	part := &points.Dense{N: len(rows), D: x.D}
	for _, i := range rows {
		part.Data = append(part.Data, x.Row(i)...)
	}
	auc := func(x *points.Dense) (float64, error) {
		lengths, err := v.Fitted.Model.Distances(m.ctx, m.Eng, x, pairs)
		if err != nil {
			return 0, err
		}
		for k := range lengths {
			lengths[k] = -lengths[k]
		}
		return score.AUC(lengths, must)
	}
	whole, err := auc(part)
	if err != nil {
		return nil, err
	}
	for _, g := range grouped(names) {
		w := weight{name: g.name}
		for range permutations {
			changed := &points.Dense{N: part.N, D: part.D, Data: slices.Clone(part.Data)}
			for i, from := range rng.Perm(part.N) {
				copy(changed.Row(i)[g.from:g.to], part.Row(from)[g.from:g.to])
			}
			without, err := auc(changed)
			if err != nil {
				return nil, err
			}
			w.value += (whole - without) / permutations
		}
		list = append(list, w)
	}
	return list, nil
}

// some returns at most maxLinks links of each kind, as pairs of numbers of rows, and their rows.
func some(set *links.Set, rng *rand.Rand) (rows []int, pairs [][2]int, must []bool) {
	number := map[int]int{}
	at := func(i int) int {
		k, known := number[i]
		if !known {
			k, number[i] = len(rows), len(rows)
			rows = append(rows, i)
		}
		return k
	}
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, k := range rng.Perm(len(list))[:min(len(list), maxLinks)] {
			l := list[k]
			pairs = append(pairs, [2]int{at(l.I), at(l.J)})
			must = append(must, l.Sign == links.Must)
		}
	}
	return rows, pairs, must
}

// bars returns the largest weights as bars, relative to the largest.
func bars(list []weight, note string, text func(float64) string) *view.Importance {
	if len(list) < 2 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b weight) int { return cmp.Compare(b.value, a.value) })
	out := &view.Importance{Note: note}
	if more := len(list) - maxBars; more > 1 {
		out.Note += fmt.Sprintf(" %d more columns contribute less.", more)
		list = list[:maxBars]
	}
	for _, w := range list {
		length := 0.0
		if list[0].value > 0 {
			length = w.value / list[0].value
		}
		out.Bars = append(out.Bars, view.Bar{Name: session.Clip(w.name, session.LongName),
			Length: max(0, length), Value: text(w.value)})
	}
	return out
}
