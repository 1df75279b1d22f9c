package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/rca"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

// rcaName is the linear method that the demo shows beside the five.
const rcaName = rca.Method

// demoSet is one generated set of the demo.
type demoSet struct {
	name      string
	generator string
	// kernel replaces a method's default where the parts of a class are much smaller than
	// the whole set: the default width, about the spread of the data, would blur them.
	kernel string
	width  string // likewise, of a method that learns a width from one to begin with
	about  string
}

func demoSets() []demoSet {
	return []demoSet{
		{"xor", "xor", "", "", "four blobs; the classes are the two diagonals"},
		{"spiral", "double-spiral", "rbf:sigma=0.3msq", "0.25", "two arms of a spiral"},
		{"chessboard", "chessboard", "rbf:sigma=0.3msq", "0.25", "4 x 4 squares; the classes are their colours"},
		{"rings", "rings", "", "", "two circles, one around the other"},
	}
}

type demoFlags struct {
	baselines                  bool
	points, links, repetitions int
	seed                       uint64
	out                        string
}

func newDemo(a *app) *cobra.Command {
	var d demoFlags
	var names []string
	for _, s := range demoSets() {
		names = append(names, cobra.CompletionWithDesc(s.name, s.about))
	}
	cmd := &cobra.Command{
		Use:   "demo [xor|spiral|chessboard|rings]...",
		Short: "see metrics learned from pairs make clustering better, on generated data",
		Long: `Generate data, learn metrics from pairs with the five methods and a linear one (with
--baselines with all), and compare k-means without and with each learned metric: on the rows
that the links are about, and on rows that the methods have never seen. Without an argument
on all four sets.

Nothing is written, unless -o names a folder: it then receives the data, links and models
of the first repetition, to try the other commands on, and a page about them to look at.`,
		Example: `  mustlink demo
  mustlink demo xor rings --links 50
  mustlink demo xor -o demo-output`,
		ValidArgs: names,
		Args:      cobra.ArbitraryArgs,
		RunE:      func(cmd *cobra.Command, args []string) error { return a.runDemo(cmd, args, &d) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&d.points, "points", 800, "number of points; half of them are unseen")
	f.IntVar(&d.links, "links", 400, "number of must-links, and as many cannot-links where a method uses them")
	f.BoolVar(&d.baselines, "baselines", false, "all baselines too, not only "+rcaName)
	f.IntVar(&d.repetitions, "repetitions", 5, "data sets drawn, over which the figures are averaged")
	seedFlag(f, &d.seed)
	f.StringVarP(&d.out, "output", "o", "", "a `FOLDER` to write data, links and models to")
	return cmd
}

// demoReport is what `mustlink demo` prints.
type demoReport struct {
	Points      int       `json:"points"`
	Links       int       `json:"links"`
	Repetitions int       `json:"repetitions"`
	Seed        uint64    `json:"seed"`
	Seconds     float64   `json:"seconds"`
	Rows        []demoRow `json:"rows"`
}

// demoRow is one metric on one set.
type demoRow struct {
	Set    string     `json:"set"`
	Metric string     `json:"metric"` // a method, or "none"
	Kernel string     `json:"kernel,omitempty"`
	Seen   demoScores `json:"seen"`
	Unseen demoScores `json:"unseen"`
}

// demoScores are means over the repetitions.
type demoScores struct {
	Rand         float64 `json:"rand"`
	BalancedRand float64 `json:"balanced_rand"`
	AdjustedRand float64 `json:"adjusted_rand"`
}

func (a *app) runDemo(cmd *cobra.Command, args []string, d *demoFlags) error {
	begin := time.Now()
	sets, err := d.check(args)
	if err != nil {
		return err
	}
	eng, err := a.engine()
	if err != nil {
		return err
	}
	if err := makeFolder(d.out); err != nil {
		return err
	}
	r := &demoReport{Points: d.points, Links: d.links, Repetitions: d.repetitions, Seed: d.seed}
	bar := a.progress()
	defer bar.done()
	for k, set := range sets {
		for rep := range d.repetitions {
			bar.report(algorithms.Progress{Stage: set.name, Done: k*d.repetitions + rep, Total: len(sets) * d.repetitions, Elapsed: time.Since(begin)})
			if err := d.repetition(cmd.Context(), eng, set, rep, r); err != nil {
				return err
			}
		}
	}
	bar.done()
	r.Seconds = time.Since(begin).Seconds()
	if d.out != "" {
		for _, set := range sets {
			if err := a.demoPage(cmd.Context(), eng, d, set); err != nil {
				return err
			}
		}
	}
	if err := a.print(r, func(w io.Writer) { r.text(w, sets) }); err != nil {
		return err
	}
	if d.out != "" && !a.json {
		d.nextSteps(a.stdout, sets[0])
	}
	return nil
}

func (d *demoFlags) check(args []string) ([]demoSet, error) {
	switch {
	case d.points < 40:
		return nil, usagef("--points is %d: want a number >= 40", d.points)
	case d.links < 1:
		return nil, usagef("--links is %d: want a number >= 1", d.links)
	case d.repetitions < 1:
		return nil, usagef("--repetitions is %d: want a number >= 1", d.repetitions)
	}
	all := demoSets()
	if len(args) == 0 {
		return all, nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	var sets []demoSet
	for _, arg := range args {
		i := slices.Index(names, arg)
		if i < 0 {
			return nil, fault.Unknown("set", arg, names)
		}
		sets = append(sets, all[i])
	}
	return sets, nil
}

// makeFolder creates the output folder, but not those above it, and checks that it can be
// written to.
func makeFolder(path string) error {
	if path == "" {
		return nil
	}
	switch err := os.Mkdir(path, 0o777); {
	case errors.Is(err, os.ErrNotExist):
		return fault.Data(path, "cannot make the folder: no such folder %s: %w", filepath.Dir(path), errors.Unwrap(err))
	case err != nil && !errors.Is(err, os.ErrExist):
		return fault.Data(path, "cannot make the folder: %w", errors.Unwrap(err))
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return fault.Data(path, "it is a file: want a folder")
	}
	return nil
}

// demoHalf is one half of a generated set.
type demoHalf struct {
	points points.Points
	labels []string
}

// repetition draws one set, learns with every method and adds the scores to r.
func (d *demoFlags) repetition(ctx context.Context, eng *engine.Engine, set demoSet, rep int, r *demoReport) error {
	seed := d.seed + uint64(rep)
	data, err := dataset.Generate(set.generator, dataset.GenerateOptions{N: d.points, Seed: seed})
	if err != nil {
		return err
	}
	first, second, err := dataset.Split(d.points, 0.5, data.Labels, seed)
	if err != nil {
		return err
	}
	seen, unseen := half(data, first), half(data, second)
	classes := len(slices.Compact(slices.Sorted(slices.Values(data.Labels))))
	measure := func(x blas.Matrix, labels []string) (demoScores, error) {
		return clusterScores(ctx, eng, x, labels, cluster.Params{K: classes, Seed: seed})
	}
	if err := d.baseline(eng, set, seen, unseen, measure, r); err != nil {
		return err
	}
	for _, method := range catalog.Methods() {
		if method.Small || method.Baseline && !d.baselines && method.Name != rcaName {
			continue
		}
		m, l, err := d.learn(ctx, eng, set, method, seen, seed)
		if err != nil {
			return err
		}
		s, err := embeddedScores(ctx, eng, m, seen, measure)
		if err != nil {
			return err
		}
		u, err := embeddedScores(ctx, eng, m, unseen, measure)
		if err != nil {
			return err
		}
		r.add(demoRow{set.name, method.Name, kernelName(set, method), s, u}, d.repetitions)
		if rep == 0 && d.out != "" {
			if err := d.write(set, method, data, seen, unseen, l, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func half(d *dataset.Data, rows []int) demoHalf {
	h := demoHalf{points: d.Points.Select(rows), labels: make([]string, len(rows))}
	for k, i := range rows {
		h.labels[k] = d.Labels[i]
	}
	return h
}

func (d *demoFlags) baseline(eng *engine.Engine, set demoSet, seen, unseen demoHalf,
	measure func(blas.Matrix, []string) (demoScores, error), r *demoReport) error {
	var scores [2]demoScores
	for k, h := range []demoHalf{seen, unseen} {
		x, err := rawMatrix(eng, &dataset.Data{Points: h.points, Name: set.name})
		if err != nil {
			return err
		}
		if scores[k], err = measure(x, h.labels); err != nil {
			return err
		}
	}
	r.add(demoRow{set.name, "none", "", scores[0], scores[1]}, d.repetitions)
	return nil
}

// learn fits a method with its defaults (and the kernel of the set) to random links.
func (d *demoFlags) learn(ctx context.Context, eng *engine.Engine, set demoSet, method catalog.Method, seen demoHalf, seed uint64) (algorithms.Model, *links.Set, error) {
	cannot := 0
	if method.UsesCannotLinks {
		cannot = d.links
	}
	l, err := links.SampleByCount(seen.labels, d.links, cannot, seed)
	if err != nil {
		return nil, nil, renameParams(err, "must", "--links", "cannot", "--links")
	}
	learner, err := method.New(catalog.Config{Seed: seed, Kernel: set.kernelOf(method), Params: set.paramsOf(method)})
	if err != nil {
		return nil, nil, err
	}
	m, err := learner.Fit(ctx, eng, seen.points, l)
	return m, l, err
}

// kernelOf returns the set's own kernel for methods whose default is of its kind, "" for others.
func (s demoSet) kernelOf(method catalog.Method) string {
	kind, _, _ := strings.Cut(s.kernel, ":")
	if s.kernel == "" || !strings.HasPrefix(method.DefaultKernel, kind+":") {
		return ""
	}
	return s.kernel
}

// paramsOf returns the set's own width for methods that begin with one.
func (s demoSet) paramsOf(method catalog.Method) map[string]string {
	const width = "width"
	if s.width == "" || !slices.ContainsFunc(method.Parameters, func(p param.Field) bool { return p.Name == width }) {
		return nil
	}
	return map[string]string{width: s.width}
}

func kernelName(set demoSet, method catalog.Method) string {
	name := nameOr(set.kernelOf(method), method.DefaultKernel)
	for param, value := range set.paramsOf(method) {
		name += ", " + param + "=" + value
	}
	return name
}

func embeddedScores(ctx context.Context, eng *engine.Engine, m algorithms.Model, h demoHalf,
	measure func(blas.Matrix, []string) (demoScores, error)) (demoScores, error) {
	x, err := m.Embed(ctx, eng, h.points)
	if err != nil {
		return demoScores{}, err
	}
	return measure(x, h.labels)
}

func clusterScores(ctx context.Context, eng *engine.Engine, x blas.Matrix, labels []string, p cluster.Params) (demoScores, error) {
	c, err := cluster.KMeans(ctx, eng, x, p)
	if err != nil {
		return demoScores{}, err
	}
	var s demoScores
	for _, f := range []struct {
		to *float64
		by func([]string, []int) (float64, error)
	}{{&s.Rand, score.Rand[string, int]}, {&s.BalancedRand, score.BalancedRand[string, int]}, {&s.AdjustedRand, score.AdjustedRand[string, int]}} {
		if *f.to, err = f.by(labels, c.Labels); err != nil {
			return demoScores{}, err
		}
	}
	return s, nil
}

// add adds a repetition's share of the mean to its row.
func (r *demoReport) add(row demoRow, repetitions int) {
	i := slices.IndexFunc(r.Rows, func(o demoRow) bool { return o.Set == row.Set && o.Metric == row.Metric })
	if i < 0 {
		i = len(r.Rows)
		r.Rows = append(r.Rows, demoRow{Set: row.Set, Metric: row.Metric, Kernel: row.Kernel})
	}
	r.Rows[i].Seen.add(row.Seen, float64(repetitions))
	r.Rows[i].Unseen.add(row.Unseen, float64(repetitions))
}

func (s *demoScores) add(o demoScores, repetitions float64) {
	s.Rand += o.Rand / repetitions
	s.BalancedRand += o.BalancedRand / repetitions
	s.AdjustedRand += o.AdjustedRand / repetitions
}

func (r *demoReport) text(w io.Writer, sets []demoSet) {
	for _, s := range sets {
		fmt.Fprintf(w, "%s: %s\n", s.name, s.about)
	}
	fmt.Fprintf(w, "\n%d points, half of them unseen; %s within the seen half; mean of %s of k-means\n\n",
		r.Points, plural(r.Links, "must-link"), plural(r.Repetitions, "repetition"))
	fmt.Fprintf(w, "set\tlearned metric\tkernel\tseen: Rand\tbalanced\tARI\tunseen: Rand\tbalanced\tARI\n")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", row.Set, row.Metric, nameOr(row.Kernel, "-"),
			row.Seen.Rand, row.Seen.BalancedRand, row.Seen.AdjustedRand,
			row.Unseen.Rand, row.Unseen.BalancedRand, row.Unseen.AdjustedRand)
	}
	fmt.Fprintf(w, "\n%s\n", shortTime(r.Seconds))
}

// write leaves one repetition as files.
func (d *demoFlags) write(set demoSet, method catalog.Method, data *dataset.Data, seen, unseen demoHalf, l *links.Set, m algorithms.Model) error {
	at := func(name string) string { return filepath.Join(d.out, set.name+"-"+name) }
	for _, h := range []struct {
		name string
		half demoHalf
	}{{"seen.csv", seen}, {"unseen.csv", unseen}} {
		part := &dataset.Data{Points: h.half.points, Labels: h.half.labels, Features: data.Features}
		if err := dataset.WriteData(at(h.name), part, dataset.WriteOptions{}); err != nil {
			return err
		}
	}
	if err := dataset.WriteLinks(at(method.Name+"-links.csv"), l, nil, dataset.WriteOptions{}); err != nil {
		return err
	}
	return catalog.Save(at(method.Name+".mlk"), &catalog.Fitted{
		Model: m, Features: data.Features, Fingerprint: dataset.Fingerprint(seen.points),
	})
}

// demoPage writes the report about the five methods on the seen rows of a set, with the links of one that uses both kinds.
func (a *app) demoPage(ctx context.Context, eng *engine.Engine, d *demoFlags, set demoSet) error {
	at := func(name string) string { return filepath.Join(d.out, set.name+"-"+name) }
	p := &pageFlags{data: dataFlags{path: at("seen.csv")}, links: linkFlags{by: dataset.ByRow}, seeds: 5, features: 2, seed: d.seed,
		title: set.name + ": " + set.about, out: at("report.html")}
	var models []string
	for _, m := range catalog.Methods() {
		if !m.Baseline {
			models = append(models, at(m.Name+".mlk"))
			if m.UsesCannotLinks {
				p.links.path = at(m.Name + "-links.csv")
			}
		}
	}
	_, err := a.makePage(ctx, eng, p, models)
	return err
}

// nextSteps shows commands for the files just written.
func (d *demoFlags) nextSteps(w io.Writer, set demoSet) {
	method := catalog.Methods()[0].Name
	at := func(name string) string { return filepath.Join(d.out, set.name+"-"+name) }
	fmt.Fprintf(w, "\nWritten to %s. Open %s in a browser, and try:\n", d.out, at("report.html"))
	fmt.Fprintf(w, "  mustlink inspect %s -i %s -c %s\n", at(method+".mlk"), at("seen.csv"), at(method+"-links.csv"))
	fmt.Fprintf(w, "  mustlink cluster %s -i %s -n 2 -o clusters.csv\n", at(method+".mlk"), at("unseen.csv"))
}
