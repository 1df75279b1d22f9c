package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// pageFlags are the flags of `mustlink report`.
type pageFlags struct {
	data     dataFlags
	links    linkFlags
	scaling  scalingFlags
	clusters int
	seeds    int
	features int
	// suspicious is how many links to list that others speak against.
	suspicious int
	seed       uint64
	title      string
	out        string
}

func newPage(a *app) *cobra.Command {
	var p pageFlags
	cmd := &cobra.Command{
		Use:   "report [MODEL]... -i DATA [-c LINKS] -o FILE.html",
		Short: "write one page to look at: data, links and models, before and after",
		Long: `Write one HTML file about data, links and learned metrics. It needs nothing else: no network, no other
file. It shows scores without and with each metric, the points in the plane of each (coloured by label,
cluster or feature, rows named under the pointer, links shown or hidden), the links that look wrong as a
table to sort and filter, traces and spectra, parameters, warnings, and the command that makes it again.

Clusters are those of k-means with -n clusters (default: as many as there are labels), scores are means over
--seeds runs. All points are drawn; links are drawn when the page is asked to.`,
		Example: `  mustlink report model.mlk -i data.csv -c links.csv -o report.html
  mustlink report krca.mlk itml.mlk -i data.csv -c links.csv -n 3 --title "two metrics" -o report.html
  mustlink report -i data.csv -c links.csv --standardize -o before.html`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runPage(cmd, args, &p) },
	}
	f := cmd.Flags()
	p.data.add(cmd)
	p.data.addLabels(cmd)
	p.links.add(cmd)
	p.scaling.add(f, "without MODEL: ", "to mean 0 and deviation 1")
	f.IntVarP(&p.clusters, "clusters", "n", 0, "number of clusters (default: as many as there are labels)")
	f.IntVar(&p.seeds, "seeds", 5, "runs of k-means that scores are averaged over")
	f.IntVar(&p.suspicious, "suspicious", 0, "also list the `N` most suspicious links, judged by fits without them, as 'inspect' does")
	f.IntVar(&p.features, "max-features", 64, "carry at most so many features of the points")
	usage.SeedFlag(f, &p.seed)
	f.StringVar(&p.title, "title", "", "`TEXT` at the head (default the name of the data)")
	f.StringVarP(&p.out, "output", "o", "", "the `FILE` to write, .html; - for standard output")
	return cmd
}

// pageReport is what `mustlink report` prints.
type pageReport struct {
	Points   int      `json:"points"`
	Metrics  []string `json:"metrics"`
	Suspects int      `json:"suspicious_links"`
	Bytes    int      `json:"bytes"`
	Output   string   `json:"output"`
	Warnings []string `json:"warnings"`
}

func (r pageReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %s, %s\n", r.Output, fault.FormatBytes(int64(r.Bytes)), session.Plural(r.Points, "point"), strings.Join(r.Metrics, ", "))
}

// space holds the points under one metric.
type space struct {
	name   string
	fitted *catalog.Fitted // nil for the points as they are
	x      points.Points   // as the model takes them
	y      blas.Matrix
}

func (a *app) runPage(cmd *cobra.Command, args []string, p *pageFlags) error {
	if err := a.checkPage(cmd, args, p); err != nil {
		return err
	}
	eng, err := a.Engine()
	if err != nil {
		return err
	}
	r, err := a.makePage(cmd.Context(), eng, p, args)
	if err != nil {
		return err
	}
	return a.Summarize(p.out, r, r.text)
}

// makePage writes the page about models and data.
func (a *app) makePage(ctx context.Context, eng *engine.Engine, p *pageFlags, models []string) (*pageReport, error) {
	page := &pageRun{app: a, ctx: ctx, eng: eng, p: p, out: &view.Report{}}
	if err := page.read(models); err != nil {
		return nil, err
	}
	for _, step := range []func() error{page.describe, page.measure, page.points, page.suspects, page.doubts, page.models} {
		if err := errors.Join(ctx.Err(), step()); err != nil {
			return nil, fault.InFile(err, page.d.Name)
		}
	}
	page.out.Command = page.command(models)
	var b bytes.Buffer
	if err := view.WriteReport(&b, page.out); err != nil {
		return nil, err
	}
	r := &pageReport{Points: page.out.Points.Count, Suspects: len(page.out.Suspects), Bytes: b.Len(), Output: p.out, Warnings: a.Warnings()}
	for _, v := range page.views {
		r.Metrics = append(r.Metrics, v.name)
	}
	return r, a.WriteText(p.out, b.String())
}

// checkPage finds every mistake that shows before data are read.
func (a *app) checkPage(cmd *cobra.Command, args []string, p *pageFlags) error {
	check := a.Check(cmd)
	check.Required("input", "output")
	check.Least("--seeds", p.seeds, 1)
	check.Least("--suspicious", p.suspicious, 0)
	check.Refuse(p.suspicious > 0 && p.links.path == "", "--suspicious needs links: want -c")
	check.Least("--max-features", p.features, 0)
	check.Refuse(p.clusters < 0 || p.clusters == 1, "-n, --clusters is %d: want a number >= 2", p.clusters)
	check.Ending("-o, --output", p.out, "html")
	check.Refuse(len(args) == 0 && p.data.gram, "--gram is given without MODEL: a Gram matrix has no coordinates: fit a model and pass it")
	p.scaling.check(check, len(args) > 0, false)
	check.Models(args)
	p.data.check(check)
	p.links.check(check)
	check.Output("-o, --output", p.out)
	return check.Err
}

// pageRun makes a page.
type pageRun struct {
	*app
	ctx   context.Context
	eng   *engine.Engine
	p     *pageFlags
	d     *dataset.Data
	raw   points.Points // before any scaling
	set   *links.Set    // nil without links
	views []space
	k     int // clusters, 0 for none
	out   *view.Report
}

// read reads models, data and links.
func (r *pageRun) read(paths []string) error {
	var models []*metric
	first := &metric{app: r.app, eng: r.eng}
	for _, path := range paths {
		_, fitted, err := r.loadModel(r.ctx, path)
		if err != nil {
			return err
		}
		models = append(models, &metric{app: r.app, eng: r.eng, fitted: fitted})
		first = models[0]
	}
	var err error
	if r.d, err = r.readTwo(r.ctx, first.flags(&r.p.data)); err != nil {
		return err
	}
	r.raw = r.d.Points
	if r.p.links.path != "" {
		if r.set, err = r.readLinksWarning(r.ctx, &r.p.links, r.d); err != nil {
			return err
		}
	}
	for k, m := range models {
		v := space{name: nameOfMetric(models, paths, k), fitted: m.fitted}
		if v.x, err = m.points(r.d); err == nil {
			v.y, err = m.fitted.Model.Embed(r.ctx, r.eng, v.x)
		}
		if err != nil {
			return fault.InFile(err, r.d.Name)
		}
		r.views = append(r.views, v)
	}
	return r.before(first)
}

// nameOfMetric is the method of a model, with its file where another model has the same.
func nameOfMetric(models []*metric, paths []string, k int) string {
	name := models[k].name()
	for i, other := range models {
		if i != k && other.name() == name {
			return name + " (" + filepath.Base(paths[k]) + ")"
		}
	}
	return name
}

// before puts the points as they are first, scaled as the first model does; objects without coordinates are left out.
func (r *pageRun) before(first *metric) error {
	var x points.Points
	if first.fitted != nil {
		x = r.views[0].x
	} else {
		table, err := r.p.scaling.apply(r.app, r.d)
		if err != nil {
			return err
		}
		x = table.Data().Points
	}
	switch x.(type) {
	case *points.Dense, *points.CSR:
	default:
		return nil
	}
	y, err := rawMatrix(r.eng, r.d.Name, x)
	if err != nil {
		return err
	}
	r.views = append([]space{{"raw points", nil, x, y}}, r.views...)
	return nil
}

// describe writes what data and links are.
func (r *pageRun) describe() error {
	r.out.Title = session.NameOr(r.p.title, filepath.Base(r.d.Name))
	fact := func(name, format string, v ...any) view.Fact {
		return view.Fact{Name: name, Value: fmt.Sprintf(format, v...)}
	}
	r.out.Data = append(r.out.Data, fact("file", "%s", r.d.Name), fact("points", "%s", shapeOf(r.raw)), fact("fingerprint", "%s", dataset.Fingerprint(r.raw)))
	classes := map[string]int{}
	for _, l := range r.d.Labels {
		classes[l]++
	}
	if r.k = r.p.clusters; r.k == 0 {
		r.k = len(classes)
	}
	if r.k > r.raw.Len() {
		return &fault.ParamError{Param: "-n, --clusters", Value: r.k, Want: fmt.Sprintf("at most %d, the number of points", r.raw.Len())}
	}
	if len(classes) > 0 {
		r.out.Data = append(r.out.Data, fact("labels", "%d different ones", len(classes)))
	}
	if r.set == nil {
		return nil
	}
	must, cannot := r.set.Count()
	largest := 0
	groups := r.set.Chunklets()
	for _, g := range groups {
		largest = max(largest, len(g))
	}
	r.out.Links = append(r.out.Links, fact("file", "%s", r.p.links.path), fact("must-links", "%d, joining points in %s, the largest of %d", must, session.Plural(len(groups), "component"), largest),
		fact("cannot-links", "%d", cannot), fact("given twice", "%d", r.set.Duplicates()))
	if conflicts := r.set.Conflicts(); len(conflicts) > 0 {
		r.out.Links = append(r.out.Links, fact("contradictions", "%d, the first: %s", len(conflicts), conflicts[0]))
		r.Warnf("%d cannot-links join points that must-links join, the first: %s", len(conflicts), conflicts[0])
	}
	return nil
}

// mostNeighbors is how many points the accuracy of neighbours looks at.
const mostNeighbors = 10_000

// measure scores every metric.
func (r *pageRun) measure() error {
	s := &r.out.Scores
	labelled := r.d.Labels != nil && r.k >= 2
	if labelled {
		s.Columns = append(s.Columns, "balanced Rand", "adjusted Rand", "NMI", "5-NN accuracy")
		s.Note = fmt.Sprintf("k-means with %d clusters, the best of %s, mean and deviation over %d seeds; accuracy of a vote of the 5 nearest other points.", r.k, session.Plural(restartsFor(r.raw.Len()), "start"), r.p.seeds)
	}
	ranked := false
	if r.set != nil {
		must, cannot := r.set.Count()
		ranked = must > 0 && cannot > 0
	}
	if ranked {
		s.Columns = append(s.Columns, "links in order (AUC)")
		s.Note += " Links in order: how likely a must-link is shorter than a cannot-link; links that a model was fitted on are no test of it."
	}
	if len(s.Columns) == 0 {
		return nil
	}
	for _, v := range r.views {
		row := view.Row{Name: v.name}
		if labelled {
			scores, err := r.clusterScores(v.y)
			if err != nil {
				return err
			}
			accuracy, err := r.neighborScore(v.y)
			if err != nil {
				return err
			}
			row.Scores = append(scores, accuracy)
		}
		if ranked {
			auc, err := r.linkScore(v)
			if err != nil {
				return err
			}
			row.Scores = append(row.Scores, auc)
		}
		s.Rows = append(s.Rows, row)
	}
	return nil
}

// clusterScores are balanced and adjusted Rand index and mutual information over several starts.
func (r *pageRun) clusterScores(y blas.Matrix) ([]view.Score, error) {
	measures := []func([]string, []int) (float64, error){score.BalancedRand[string, int], score.AdjustedRand[string, int], score.NMI[string, int]}
	values := make([][]float64, len(measures))
	for start := range r.p.seeds {
		c, err := cluster.KMeans(r.ctx, r.eng, y, cluster.Params{K: r.k, Restarts: restartsFor(y.Rows), Seed: r.p.seed + uint64(start)*1000})
		if err != nil {
			return nil, err
		}
		for k, measure := range measures {
			v, err := measure(r.d.Labels, c.Labels)
			if err != nil {
				return nil, err
			}
			values[k] = append(values[k], v)
		}
	}
	var out []view.Score
	for _, v := range values {
		out = append(out, spreadOf(v))
	}
	return out, nil
}

// restartsFor is the number of starts of which k-means keeps the best; of many rows one has to do.
func restartsFor(rows int) int {
	const few = 5000
	if rows > few {
		return 1
	}
	return 10
}

func spreadOf(values []float64) view.Score {
	mean, sd := stat.MeanStdDev(values, nil)
	return view.Score{Mean: mean, SD: sd}
}

// neighborScore is the accuracy of the nearest other points, of a part of the rows where there are many.
func (r *pageRun) neighborScore(y blas.Matrix) (view.Score, error) {
	labels := r.d.Labels
	if y.Rows > mostNeighbors {
		rows := make([]int, mostNeighbors)
		labels = nil
		for k := range rows {
			rows[k] = k * y.Rows / mostNeighbors
			labels = append(labels, r.d.Labels[rows[k]])
		}
		y = y.Select(rows)
	}
	const votes = 5
	found, err := neighbors.LeaveOneOut(r.ctx, r.eng, y, labels, min(votes, y.Rows-1))
	if err != nil {
		return view.Score{}, err
	}
	v, err := score.Accuracy(labels, found)
	return view.Score{Mean: v, SD: math.NaN()}, err
}

// linkScore is the probability that a must-link is shorter than a cannot-link.
func (r *pageRun) linkScore(v space) (view.Score, error) {
	var lengths []float64
	var must []bool
	for _, list := range [][]links.Link{r.set.Must(), r.set.Cannot()} {
		for _, l := range list {
			lengths = append(lengths, -points.SquaredDistance(v.y.Row(l.I), v.y.Row(l.J)))
			must = append(must, l.Sign == links.Must)
		}
	}
	auc, err := score.AUC(lengths, must)
	return view.Score{Mean: auc, SD: math.NaN()}, err
}

// points places the points, clusters them and carries their features.
func (r *pageRun) points() error {
	p := &r.out.Points
	p.Count, p.IDs, p.Labels = r.raw.Len(), r.d.IDs, r.d.Labels
	feature := func(j int) string { return featureName(r.d, j) }
	for _, v := range r.views {
		var s view.Scatter
		name := coordinateName
		if v.fitted == nil {
			name = feature
		}
		if err := place(r.ctx, r.eng, &s, v.y, nil, name); err != nil {
			return err
		}
		shown := view.Layout{Name: v.name, XLabel: s.XLabel, YLabel: s.YLabel, X: s.X, Y: s.Y}
		if r.k >= 2 {
			c, err := cluster.KMeans(r.ctx, r.eng, v.y, cluster.Params{K: r.k, Restarts: restartsFor(v.y.Rows), Seed: r.p.seed})
			if err != nil {
				return err
			}
			shown.Clusters = c.Labels
		}
		p.Views = append(p.Views, shown)
	}
	if x, ok := r.raw.(*points.Dense); ok {
		for j := range min(x.D, r.p.features) {
			f := view.Feature{Name: feature(j), Values: make([]float64, x.N)}
			for i := range f.Values {
				f.Values[i] = x.Row(i)[j]
			}
			p.Features = append(p.Features, f)
		}
	}
	if r.set == nil {
		return nil
	}
	if err := r.eng.Check("all pairs of the chunklets", r.set.Bytes(), "give links in place of chunklets"); err != nil {
		return err
	}
	p.Must, p.Cannot = pairsOf(r.set.Must()), pairsOf(r.set.Cannot())
	return nil
}

// mostSuspects is how many suspicious links of a metric the page holds, the worst ones.
const mostSuspects = 5000

// suspects lists the links that the learned metrics do not respect.
func (r *pageRun) suspects() error {
	if r.set == nil || r.set.Len() == 0 {
		return nil
	}
	for _, v := range r.views {
		if v.fitted == nil {
			continue
		}
		var fit linkFit
		if err := fit.measure(r.ctx, r.eng, v.fitted.Model, v.x, r.set); err != nil {
			return err
		}
		if len(fit.Violated) > mostSuspects {
			r.Warnf("%d of the %d links that look wrong under %s are in the page", mostSuspects, len(fit.Violated), v.name)
			fit.Violated = fit.Violated[:mostSuspects]
		}
		for _, w := range fit.Violated {
			r.out.Suspects = append(r.out.Suspects, view.Suspect{I: w.I, J: w.J, Link: w.Link, Line: w.Line, Metric: v.name, Distance: w.Distance, Expected: w.Bound, Excess: times(w)})
		}
	}
	return nil
}

// doubts lists the links that other links and the points speak against.
func (r *pageRun) doubts() error {
	if r.p.suspicious == 0 || r.set.Len() == 0 {
		return nil
	}
	x := r.d.Points
	if len(r.views) > 0 {
		x = r.views[0].x
	}
	ranked, err := r.judged(r.ctx, r.eng, r.d, x, r.set, r.p.links.path, r.p.seed)
	if err != nil {
		return err
	}
	for _, l := range mostSuspicious(ranked, r.d, r.p.suspicious) {
		r.out.Doubts = append(r.out.Doubts, view.Doubt{Rows: l.rows(), Link: l.Link, Score: l.Score, Reason: l.Reason})
	}
	return nil
}

// times says how many times too long a must-link is, or too short a cannot-link; a million stands for more.
func times(w wrongLink) float64 {
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

// models describes the models and draws what they keep.
func (r *pageRun) models() error {
	for _, v := range r.views {
		if v.fitted == nil {
			continue
		}
		file, err := catalog.Encode(v.fitted)
		if err != nil {
			return err
		}
		about := mustlink.NewModel(v.fitted, r.eng).Describe()
		info := view.Model{Name: v.name, Notices: about.Notices}
		add := func(name, value string) {
			if value != "" {
				info.Facts = append(info.Facts, view.Fact{Name: name, Value: value})
			}
		}
		add("method", about.Method)
		add("parameters", compact(file.Header.Params))
		add("scaling", about.Preparation)
		add("embedding", session.Plural(about.Dim, "dimension"))
		add("status", statusText(about.Converged, 0, about.Message))
		add("time of the fit", shortTime(about.Elapsed.Seconds()))
		add("made by", "mustlink "+file.Header.LibraryVersion+", "+file.Header.Build)
		if about.Fingerprint != dataset.Fingerprint(r.raw) {
			add("fitted on", "other data than these")
		}
		if about.Statistics == nil {
			add("kernel", file.Header.Kernel)
		}
		for _, f := range about.Statistics {
			add(f.Name, fmt.Sprint(f.Value))
		}
		r.out.Models = append(r.out.Models, info)
		if err := r.pictures(v); err != nil {
			return err
		}
	}
	r.out.Warnings = r.Warnings()
	r.out.Versions = []view.Fact{{Name: "mustlink", Value: catalog.Version()}, {Name: "build", Value: catalog.BuildOf(r.eng)}}
	return nil
}

// pictures draws the trace and the spectra of a model.
func (r *pageRun) pictures(v space) error {
	add := func(title string, l view.Lines) error {
		var b bytes.Buffer
		if err := view.Write(&b, "svg", view.Size{Width: 7, Height: 3.5}, l); err != nil {
			return err
		}
		r.out.Pictures = append(r.out.Pictures, view.Picture{Title: title, SVG: b.Bytes()})
		return nil
	}
	if s, ok := traceOf(v.fitted.Model); ok {
		s.Name = "objective"
		if err := add(v.name+": objective", view.Lines{XLabel: "iteration", YLabel: "objective", Series: []view.Series{s}, NoLegend: true}); err != nil {
			return err
		}
	}
	if s, ok := v.fitted.Model.(algorithms.Spectral); ok {
		lines, _ := spectrumLines(s)
		if len(lines.Series) > 0 && len(lines.Series[0].X) > 1 {
			return add(v.name+": spectrum", lines)
		}
	}
	return nil
}

// command is what makes the page again.
func (r *pageRun) command(models []string) string {
	words := append([]string{"mustlink", "report"}, models...)
	words = append(words, "-i", r.p.data.path)
	if r.p.links.path != "" {
		words = append(words, "-c", r.p.links.path)
	}
	if r.p.scaling.any() {
		words = append(words, r.p.scaling.name())
	}
	if r.p.clusters > 0 {
		words = append(words, "-n", strconv.Itoa(r.p.clusters))
	}
	if r.p.suspicious > 0 {
		words = append(words, "--suspicious", strconv.Itoa(r.p.suspicious))
	}
	words = append(words, "--seeds", strconv.Itoa(r.p.seeds), "--seed", strconv.FormatUint(r.p.seed, 10))
	if r.p.title != "" {
		words = append(words, "--title", r.p.title)
	}
	words = append(words, "-o", r.p.out)
	for i, w := range words {
		if strings.ContainsAny(w, " \t\n\"'\\$&|;<>(){}*?#~`") || w == "" {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
