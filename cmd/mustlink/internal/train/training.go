package train

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/topics"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// training holds the flags that fit and select share: points and links to learn from, and the model
// to write.
type training struct {
	*session.Session
	data        source.Data
	links       source.Links
	fromLabels  string // how many links to draw
	preparing   source.Preparing
	strict      bool
	seed        uint64
	precision   source.Precision
	out         string
	files       catalog.Files  // of parameters
	withVerdict bool           // the fit has a verdict
	folds       int            // of it
	leaks       []prepare.Leak // columns that decide the links, of which a warning was given
}

// endFlags defines the flags that come last.
func (t *training) endFlags(cmd *cobra.Command) {
	f := usage.FlagsOf(cmd)
	f.Seed(&t.seed)
	f.Bool(&t.strict, "strict", false, "treat warnings about data and links as errors")
}

// outputFlag defines -o.
func (t *training) outputFlag(cmd *cobra.Command) {
	usage.FlagsOf(cmd).String(&t.out, "output,o", "", "the `MODEL` file to write; - for standard output")
}

// allLabels is the value of --links-from-labels that takes all pairs.
const allLabels = "all"

// checkLinks refuses missing links, unless there is something else to learn from.
func (t *training) checkLinks(check *session.Checks, others bool) {
	drawn := check.Cmd.Flags().Changed("links-from-labels")
	check.Refuse(t.links.Path == "" && !drawn && !others,
		"the links are missing: want -c LINKS or --links-from-labels N %s", usage.HelpHint(check.Cmd))
	check.Refuse(drawn && t.fromLabels != allLabels && t.drawn() < 1,
		"--links-from-labels is %q: want a number >= 1, or all", t.fromLabels)
}

// drawn returns the number of links to draw, 0 for text that is not a number.
func (t *training) drawn() int {
	n, err := strconv.Atoi(t.fromLabels)
	if err != nil {
		return 0
	}
	return n
}

// drawLinks draws links from the labels.
func (t *training) drawLinks(d *dataset.Data, both bool) (*links.Set, error) {
	if err := source.NeedLabels(t.Session, d); err != nil {
		return nil, err
	}
	must, cannot := t.drawn(), 0
	if both {
		cannot = must
	}
	set, err := links.SampleByCount(d.Labels, must, cannot, t.seed)
	return set, usage.RenameParams(err, "must", "--links-from-labels", "cannot", "--links-from-labels")
}

// lessonFlags name what some methods learn from in addition to links or instead of them.
type lessonFlags struct {
	triplets    comparisons[links.Triplet]
	quadruplets comparisons[links.Quadruplet]
	targets     string // labelTargets, or a file
}

// labelTargets is the value of --targets that takes the labels of the data as targets.
const labelTargets = "labels"

// flags defines the flags.
func (l *lessonFlags) flags(cmd *cobra.Command) {
	l.triplets = comparisons[links.Triplet]{
		"triplets", "i,j,k, row i nearer to row j than to row k",
		func(m catalog.Method) bool {
			return m.UsesTriplets
		}, dataset.ReadTriplets, "",
	}
	l.quadruplets = comparisons[links.Quadruplet]{
		"quadruplets", "i,j,k,l, rows i and j nearer to each other than rows k and l",
		func(m catalog.Method) bool {
			return m.UsesQuadruplets
		}, dataset.ReadQuadruplets, "",
	}
	l.triplets.flag(cmd)
	l.quadruplets.flag(cmd)
	usage.FlagsOf(cmd).String(&l.targets, "targets", "",
		"targets to learn from without links: `FILE`, a CSV with a column target, one number for each row "+
			"of DATA, in the same order; or the word labels, for the labels of DATA read as numbers ("+strings.Join(
			targetMethods(), ", ")+")")
}

// targetMethods returns the names of the methods that learn from targets.
func targetMethods() []string {
	return topics.MethodsThat(func(m catalog.Method) bool { return m.UsesTargets })
}

// given reports whether any of the flags is set.
func (l *lessonFlags) given() bool {
	return l.triplets.path != "" || l.quadruplets.path != "" || l.targets != ""
}

// kinds returns a lesson of the kinds that are given, without their content.
func (l *lessonFlags) kinds() (out algorithms.Lesson) {
	if l.triplets.path != "" {
		out.Triplets = []links.Triplet{}
	}
	if l.quadruplets.path != "" {
		out.Quadruplets = []links.Quadruplet{}
	}
	if l.targets != "" {
		out.Targets = []float64{}
	}
	return out
}

// checkTargets refuses targets that the method does not learn from, and missing targets for a
// method that requires them.
func (l *lessonFlags) checkTargets(m catalog.Method) error {
	switch {
	case l.targets != "" && !m.UsesTargets:
		return notFor("targets", m, targetMethods())
	case l.targets == "" && m.UsesTargets:
		return usage.Errorf(
			"the targets are missing: %s learns from targets, want --targets FILE or --targets %s", m.Name,
			labelTargets)
	}
	return nil
}

// notFor returns the error for a flag that the method does not use.
func notFor(flag string, m catalog.Method, have []string) error {
	return usage.Errorf("--%s is given, but %s does not learn from them: want -m %s", flag, m.Name,
		strings.Join(have, " or -m "))
}

// inputs notes the files to read.
func (l *lessonFlags) inputs(check *session.Checks) {
	check.Input("--triplets", l.triplets.path)
	check.Input("--quadruplets", l.quadruplets.path)
	if l.targets != labelTargets {
		check.Input("--targets", l.targets)
	}
}

// read reads the comparisons and targets about the rows of d.
func (l *lessonFlags) read(ctx context.Context, s *session.Session, by *source.Links,
	d *dataset.Data) (out algorithms.Lesson, err error) {
	if out.Triplets, err = l.triplets.readFor(ctx, s, by, d); err != nil {
		return out, err
	}
	if out.Quadruplets, err = l.quadruplets.readFor(ctx, s, by, d); err != nil {
		return out, err
	}
	out.Targets, err = l.readTargets(ctx, s, d)
	return out, err
}

func (l *lessonFlags) readTargets(ctx context.Context, s *session.Session,
	d *dataset.Data) ([]float64, error) {
	if l.targets == "" {
		return nil, nil
	}
	return session.Await(ctx, func() ([]float64, error) {
		if l.targets == labelTargets {
			return d.LabelTargets()
		}
		return d.ReadTargets(s.Input(l.targets), int64(s.MemoryLimit))
	})
}

// comparisons describe a file of comparisons of rows; it names rows as files of links do.
type comparisons[T any] struct {
	name  string // of the flag
	means string // columns of the file, and what they say
	used  func(catalog.Method) bool
	read  func(in dataset.Input, c dataset.LinkContext) ([]T, error)
	path  string
}

func (c *comparisons[T]) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.path, c.name, "",
		"`FILE` of "+c.name+" to learn from, with links or without: a CSV "+c.means+" ("+strings.Join(
			topics.MethodsThat(c.used), ", ")+")")
}

// check refuses a method that does not learn from the comparisons.
func (c *comparisons[T]) check(m catalog.Method) error {
	if c.path != "" && !c.used(m) {
		return notFor(c.name, m, topics.MethodsThat(c.used))
	}
	return nil
}

// readFor reads the comparisons of rows of d; without a file there are none.
func (c *comparisons[T]) readFor(ctx context.Context, s *session.Session, by *source.Links,
	d *dataset.Data) ([]T, error) {
	if c.path == "" {
		return nil, nil
	}
	return source.ReadRows(ctx, s, by, c.path, d, c.read)
}

// options returns the search among the methods of the names, or among the usual ones.
func (c *fitCommand) options(seed uint64, names []string) (o selection.Options, err error) {
	o = selection.DefaultOptions()
	o.Seed = seed
	switch c.how {
	case shortSearch:
		if len(names) == 0 {
			names = selection.Methods()
		}
		o.Candidates, err = selection.Grid(names, nil)
	case longSearch:
		o.Candidates, err = selection.Defaults(names)
	default:
		err = fault.Unknown("--search", c.how, []string{shortSearch, longSearch})
	}
	o.Incumbent = selection.FirstChoice(o.Candidates)
	return o, err
}

// table transforms features as the flags ask. It refuses links that were made from a feature, and
// warns about features that decide them alone.
func (t *training) table(ctx context.Context, d *dataset.Data, set *links.Set) (*mustlink.Table, error) {
	table, err := t.preparing.Apply(ctx, t.Session, d)
	if err == nil {
		err = t.stopIfStrict()
	}
	if err != nil {
		return nil, err
	}
	if t.leaks, err = t.links.Leaks(t.Session, d, table, set); err != nil {
		return nil, err
	}
	return table, t.stopIfStrict()
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
		mustlink.OnProgress(progress), mustlink.Engine(eng), mustlink.ParamFiles(&t.files))
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
	if slices.ContainsFunc(r.Columns, func(c source.Column) bool { return c.Does != "as it is" }) {
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
