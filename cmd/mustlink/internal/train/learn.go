package train

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// table transforms features as the flags ask.
func (t *training) table(ctx context.Context, d *dataset.Data) (*mustlink.Table, error) {
	table, err := t.preparing.Apply(ctx, t.Session, d)
	if err != nil {
		return nil, err
	}
	return table, t.stopIfStrict()
}

// checkFeatures refuses links that were made from a feature of the table, and warns about features
// that decide them alone.
func (t *training) checkFeatures(d *dataset.Data, table *mustlink.Table, set *links.Set) (err error) {
	if t.leaks, err = t.links.Leaks(t.Session, d, table, set); err != nil {
		return err
	}
	return t.stopIfStrict()
}

// notices returns those of a model that no warning gave before.
func (t *training) notices(m *mustlink.Model) []string {
	return slices.DeleteFunc(slices.Clone(m.Describe().Notices), func(notice string) bool {
		return slices.ContainsFunc(t.leaks, func(l prepare.Leak) bool { return l.Notice() == notice })
	})
}

// stopIfStrict returns an error with --strict if there were warnings.
func (t *training) stopIfStrict() error {
	if !t.strict || len(t.Warnings()) == 0 {
		return nil
	}
	return usage.Errorf("%s with --strict: want none", fault.Count(len(t.Warnings()), "warning"))
}

// learn fits the chosen candidate, writes the model and reports. judged is the verdict of a search,
// nil for none.
func (t *training) learn(ctx context.Context, eng *engine.Engine, chosen selection.Candidate,
	table *mustlink.Table, set *links.Set, lesson algorithms.Lesson, judged *mustlink.Verdict,
	more ...mustlink.Option) (*fitReport, error) {
	begin := time.Now()
	bar := t.Progress()
	defer bar.Done()
	bar.Part(1)
	judging := !t.withVerdict
	progress := func(p mustlink.Progress) {
		switch {
		case judging:
		case p.Stage == verdict.Stage:
			judging = true
			bar.Part(1)
		default:
			all := p.Elapsed * time.Duration(p.Total) / time.Duration(max(1, p.Done))
			bar.Resize(1 / (1 + verdict.Options{Folds: t.folds}.Fits(all)))
		}
		bar.Report(p)
	}
	options := append(more,
		mustlink.Method(chosen.Method), mustlink.Kernel(chosen.Kernel), mustlink.Seed(t.seed),
		mustlink.OnProgress(progress),
		mustlink.Engine(eng), mustlink.ParamFiles(&t.files))
	if lesson.Triplets != nil {
		options = append(options, mustlink.Triplets(lesson.Triplets))
	}
	if lesson.Quadruplets != nil {
		options = append(options, mustlink.Quadruplets(lesson.Quadruplets))
	}
	if lesson.Targets != nil {
		options = append(options, mustlink.Targets(lesson.Targets))
	}
	if table.Transform() == nil {
		options = append(options, mustlink.Unprepared()) // as the flags ask
	}
	for name, value := range chosen.Params {
		options = append(options, mustlink.Param(name, value))
	}
	if t.precision == source.Single {
		options = append(options, mustlink.SinglePrecision())
	}
	m, err := mustlink.Fit(ctx, table, set, options...)
	if err != nil {
		return nil, err
	}
	bar.Done()
	if judged != nil {
		m.Record().Verdict = judged
	}
	r := reportOf(m, table.Data().Points, set, lesson, time.Since(begin))
	r.Model, r.Columns = t.out, source.Columns(table.Summary())
	t.WarnOf("", t.notices(m))
	if !r.Converged {
		t.Warnf("%s did not converge: %s", r.Method, r.Message)
	}
	if err := t.stopIfStrict(); err != nil {
		return nil, err
	}
	r.Warnings = t.Warnings()
	if err := metric.Save(ctx, t.Session, t.out, m); err != nil {
		return nil, err
	}
	if info, err := os.Stat(t.out); err == nil && info.Mode().IsRegular() {
		r.Bytes = info.Size()
	}
	return r, nil
}

// fitReport is the result of `mustlink fit`.
type fitReport struct {
	Method string `json:"method"`
	Why    string `json:"why,omitempty"` // the method was chosen
	// Verdict is nil for a fit that was not judged.
	Verdict     *mustlink.Verdict `json:"verdict,omitempty"`
	Search      *searchReport     `json:"search,omitempty"`
	Curve       *verdict.Curve    `json:"curve,omitempty"`
	Kernel      string            `json:"kernel,omitempty"`
	N           int               `json:"n"`
	D           int               `json:"d"`
	MustLinks   int               `json:"must_links"`
	Cannot      int               `json:"cannot_links"`
	Triplets    int               `json:"triplets,omitempty"`
	Quadruplets int               `json:"quadruplets,omitempty"`
	Targets     int               `json:"targets,omitempty"`
	Chunklets   int               `json:"chunklets"`
	// Dropped are the suspicious links that were left out.
	Dropped    []metric.SuspiciousLink `json:"dropped,omitempty"`
	Columns    []source.Column         `json:"columns,omitempty"`
	Dim        int                     `json:"dim"`
	Converged  bool                    `json:"converged"`
	Iterations int                     `json:"iterations"`
	Message    string                  `json:"message,omitempty"`
	Seconds    float64                 `json:"seconds"`     // of all
	FitSeconds float64                 `json:"fit_seconds"` // of the fit, without its verdict
	Model      string                  `json:"model"`
	Bytes      int64                   `json:"bytes"` // of the file
	Updatable  bool                    `json:"updatable"`
	Updating   string                  `json:"updating,omitempty"` // what an update learns
	Warnings   []string                `json:"warnings"`
	shape      string
}

// reportOf describes a fit and its input.
func reportOf(m *mustlink.Model, x points.Points, set *mustlink.Links, lesson algorithms.Lesson,
	took time.Duration) *fitReport {
	about := m.Describe()
	r := &fitReport{
		Method:      about.Method,
		Why:         about.Chosen,
		Verdict:     m.Verdict(),
		Kernel:      about.Kernel,
		N:           x.Len(),
		D:           x.Dim(),
		Triplets:    len(lesson.Triplets),
		Quadruplets: len(lesson.Quadruplets),
		Targets:     len(lesson.Targets),
		Chunklets:   len(set.Chunklets()),
		Dim:         about.Dim,
		Converged:   about.Converged,
		Iterations:  about.Iterations,
		Message:     about.Message,
		Seconds:     took.Seconds(),
		FitSeconds:  about.Elapsed.Seconds(),
		Updatable:   about.Updatable,
		Updating:    about.Updating,
		shape:       source.Shape(x),
	}
	r.MustLinks, r.Cannot = set.Count()
	return r
}

func (r *fitReport) text(w io.Writer) {
	if prepared(r.Columns) {
		source.WriteColumns(w, r.Columns)
		fmt.Fprintln(w)
	}
	switch {
	case r.Why == "":
		fmt.Fprintf(w, "method\t%s\n", r.Method)
	case r.Verdict != nil && r.Verdict.Rejected != "":
		fmt.Fprintf(w, "method\t%s, chosen since %s; --force keeps %s\n", r.Method, r.Why, r.Verdict.Rejected)
	default:
		fmt.Fprintf(w, "method\t%s, chosen since %s; --search compares it with others\n", r.Method, r.Why)
	}
	if r.Search != nil {
		r.Search.text(w)
	}
	if r.Kernel != "" {
		fmt.Fprintf(w, "kernel\t%s\n", r.Kernel)
	}
	fmt.Fprintf(w, "points\t%s\n", r.shape)
	fmt.Fprintf(w, "links\t%d must, %d cannot; %s\n", r.MustLinks, r.Cannot,
		fault.Count(r.Chunklets, "chunklet"))
	if len(r.Dropped) > 0 {
		fmt.Fprintf(w, "left out\t%s, the first: %s-link %s\n",
			fault.Count(len(r.Dropped), "suspicious link"), r.Dropped[0].Link, r.Dropped[0].Rows())
	}
	for _, other := range []struct {
		name  string
		count int
	}{{"triplets", r.Triplets}, {"quadruplets", r.Quadruplets}, {"targets", r.Targets}} {
		if other.count > 0 {
			fmt.Fprintf(w, "%s\t%d\n", other.name, other.count)
		}
	}
	fmt.Fprintf(w, "embedding\t%s\n", fault.Count(r.Dim, "dimension"))
	fmt.Fprintf(w, "status\t%s\n", metric.Status(r.Converged, r.Iterations, r.Message))
	fmt.Fprintf(w, "time\t%s", session.ShortTime(r.Seconds))
	if r.Verdict != nil {
		fmt.Fprintf(w, ", the fit alone %s", session.ShortTime(r.FitSeconds))
	}
	fmt.Fprintf(w, "\nmodel\t%s", r.Model)
	if r.Bytes > 0 {
		fmt.Fprintf(w, ", %s", fault.FormatBytes(r.Bytes))
	}
	fmt.Fprintf(w, "\nupdate\t%s\n", cmp.Or(r.Updating, "new links need a new fit"))
	metric.WriteVerdict(w, r.Verdict)
	if r.Curve != nil {
		fmt.Fprintf(w, "learning curve: %s\n", r.Curve)
	}
}

// prepared reports whether something is done with a column.
func prepared(columns []source.Column) bool {
	return slices.ContainsFunc(columns, func(c source.Column) bool { return c.Does != "as it is" })
}
