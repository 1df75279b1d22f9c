package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type fitFlags struct {
	name        string // of the method
	data        dataFlags
	links       linkFlags
	triplets    comparisonFlags[links.Triplet]
	quadruplets comparisonFlags[links.Quadruplet]
	targets     targetFlags
	fromLabels  string
	kernel      string
	params      []string
	scaling     scalingFlags
	drop        float64 // share of links, the most suspicious
	strict      bool
	seed        uint64
	precision   precisionFlag
	out         string

	method catalog.Method      // of that name
	chosen selection.Candidate // the method with its kernel and parameters
}

func newFit(a *app) *cobra.Command {
	var fl fitFlags
	cmd := &cobra.Command{
		Use:   "fit -m METHOD -i DATA (-c LINKS | --links-from-labels N | --triplets FILE | --quadruplets FILE | --targets FILE) -o MODEL",
		Short: "learn a metric from points and links, and write the model",
		Long: `Learn a metric from points and the links between them, and write the model.

LINKS is a CSV with the columns i, j, link (two 0-based rows and must or cannot), or one
with the columns i, chunklet (rows that belong together). --links-from-labels draws N
must-links (and N cannot-links, where the method uses them) from the labels of DATA; "all"
takes every pair that they imply. Some methods learn from comparisons too (--triplets,
--quadruplets), beside links or alone. ` + strings.Join(targetMethods(), ", ") + ` learns from a number for each row (--targets) and ignores links.

A warning does not stop the fit; with --strict it does. Links that may be wrong are left out with
--drop-suspicious, 0.1 for a tenth of them.

` + methodsHelp() + `
Kernels (-k): linear, rbf:sigma=1.5, rbf:gamma=0.1, exp:width=2,
poly:degree=2,coef=1,scale=1, cosine, spectrum:k=3 (sequences); OUTER@INNER composes. A bandwidth may be a rule,
with a factor: rbf:sigma=0.5mean; the rules are ` + strings.Join(kernel.RuleNames(), ", ") + `.`,
		Example: `  mustlink fit -m krca -i data.csv -c links.csv --standardize -o model.mlk
  mustlink fit -m krca -i data.csv --links-from-labels 200 -k rbf:sigma=median -p eps_rel=1e-2 -o model.mlk
  mustlink fit -m krca -i gram.npy --gram -c chunklets.csv -o model.mlk`,
		Args: usage.Positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runFit(cmd, &fl) },
	}
	f := cmd.Flags()
	f.StringVarP(&fl.name, "method", "m", "", "`METHOD`: "+strings.Join(methodNames(), ", "))
	fl.data.add(cmd)
	fl.data.addLabels(cmd)
	fl.links.add(cmd)
	f.StringVar(&fl.fromLabels, "links-from-labels", "", "draw `N` links of each kind from the labels, or take all, in place of -c")
	fl.triplets.add(cmd, triplets())
	fl.quadruplets.add(cmd, quadruplets())
	fl.targets.add(cmd)
	f.StringVarP(&fl.kernel, "kernel", "k", "", "`KERNEL`, such as rbf:sigma=median (default: the method's)")
	f.StringArrayVarP(&fl.params, "param", "p", nil, "a parameter of the method as `name=value`; repeatable")
	fl.scaling.add(f, "", "to mean 0 and deviation 1, here and wherever the model is applied")
	f.Float64Var(&fl.drop, "drop-suspicious", 0, "leave out this `SHARE` of the links, those most likely wrong as 'inspect --suspicious' finds them: 0.1")
	usage.SeedFlag(f, &fl.seed)
	f.BoolVar(&fl.strict, "strict", false, "take warnings about data and links as errors")
	fl.precision.add(f, "the numbers in the model file; single halves it, and rounds the model to 24 bits")
	f.StringVarP(&fl.out, "output", "o", "", "the `MODEL` file to write; - for standard output")
	completeMethods(cmd)
	return cmd
}

// fitReport is what `mustlink fit` prints.
type fitReport struct {
	Method      string `json:"method"`
	Kernel      string `json:"kernel,omitempty"`
	N           int    `json:"n"`
	D           int    `json:"d"`
	MustLinks   int    `json:"must_links"`
	Cannot      int    `json:"cannot_links"`
	Triplets    int    `json:"triplets,omitempty"`
	Quadruplets int    `json:"quadruplets,omitempty"`
	Targets     int    `json:"targets,omitempty"`
	Chunklets   int    `json:"chunklets"`
	// Dropped are the links that were left out as suspicious.
	Dropped    []suspiciousLink `json:"dropped,omitempty"`
	Dim        int              `json:"dim"`
	Converged  bool             `json:"converged"`
	Iterations int              `json:"iterations"`
	Message    string           `json:"message,omitempty"`
	Seconds    float64          `json:"seconds"`
	Model      string           `json:"model"`
	Warnings   []string         `json:"warnings"`
	shape      string
}

func (a *app) runFit(cmd *cobra.Command, fl *fitFlags) error {
	if err := a.checkFit(cmd, fl); err != nil {
		return err
	}
	ctx := cmd.Context()
	eng, err := a.Engine()
	if err != nil {
		return err
	}
	d, set, lesson, err := a.readForFit(ctx, fl)
	if err != nil {
		return err
	}
	table, err := a.tableForFit(fl, d)
	if err != nil {
		return err
	}
	var dropped []suspiciousLink
	if fl.drop > 0 {
		if set, dropped, err = a.dropSuspicious(ctx, eng, fl, table.Data(), set); err != nil {
			return err
		}
	}
	r, err := a.fit(ctx, eng, fl, fl.chosen, table, set, lesson)
	if err != nil {
		return err
	}
	r.Dropped = dropped
	return a.Summarize(fl.out, r, r.text)
}

// checkFit finds every mistake that shows before data are read.
func (a *app) checkFit(cmd *cobra.Command, fl *fitFlags) error {
	check := a.Check(cmd)
	check.Required("method", "input", "output")
	check.Do(fl.choose)
	check.Do(func() error { return fl.targets.check(fl.method) })
	fl.checkLinks(check)
	check.Do(func() error { return fl.triplets.check(fl.method) })
	check.Do(func() error { return fl.quadruplets.check(fl.method) })
	check.Do(fl.precision.check)
	fl.scaling.check(check, false, fl.data.gram)
	checkDrop(check, fl.drop)
	fl.data.check(check)
	fl.links.check(check)
	check.Input("--triplets", fl.triplets.path)
	check.Input("--quadruplets", fl.quadruplets.path)
	check.Input("--targets", fl.targets.file())
	check.Model(fl.out)
	return check.Err
}

// choose takes the method with its parameters, and sees that they go together.
func (fl *fitFlags) choose() (err error) {
	if fl.method, err = catalog.Lookup(fl.name); err != nil {
		return usage.RenameParams(err, "method", "-m, --method")
	}
	fl.chosen = selection.Candidate{Method: fl.name, Kernel: fl.kernel}
	if fl.chosen.Params, err = parseParams(fl.params); err != nil {
		return err
	}
	_, err = fl.chosen.Learner(fl.seed, nil)
	return methodError(err, fl.chosen.Params)
}

func (fl *fitFlags) checkLinks(check *session.Checks) {
	check.Exclusive("links", "links-from-labels")
	drawn := check.Cmd.Flags().Changed("links-from-labels")
	check.Refuse(fl.links.path == "" && !drawn && fl.triplets.path == "" && fl.quadruplets.path == "" && fl.targets.from == "",
		"the links are missing: want -c LINKS or --links-from-labels N %s", usage.HelpHint(check.Cmd))
	check.Refuse(drawn && fl.fromLabels != allLabels && fl.drawn() < 1,
		"--links-from-labels is %q: want a number >= 1, or all", fl.fromLabels)
}

// allLabels as --links-from-labels takes all pairs.
const allLabels = "all"

// drawn returns the number of links to draw, 0 for what is none.
func (fl *fitFlags) drawn() int {
	n, err := strconv.Atoi(fl.fromLabels)
	if err != nil {
		return 0
	}
	return n
}

// parseParams splits name=value at the first equals sign; values may hold anything.
func parseParams(list []string) (map[string]string, error) {
	params := make(map[string]string, len(list))
	for _, p := range list {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, &fault.ParamError{Param: "-p, --param", Value: p, Want: "name=value"}
		}
		if _, twice := params[name]; twice {
			return nil, usage.Errorf("-p %s is given twice: want it once", name)
		}
		params[name] = value
	}
	return params, nil
}

// methodError names the flag behind a parameter or a kernel that is refused.
func methodError(err error, params map[string]string) error {
	pe, ok := errors.AsType[*fault.ParamError](err)
	if !ok {
		return err
	}
	if _, given := params[pe.Param]; given {
		return usage.RenameParams(err, pe.Param, "-p "+pe.Param)
	}
	return usage.RenameParams(err, "kernel", "-k, --kernel")
}

// readForFit reads data, links and what else to learn from, and warns about what is odd in them.
func (a *app) readForFit(ctx context.Context, fl *fitFlags) (d *dataset.Data, set *links.Set, lesson catalog.Lesson, err error) {
	if d, err = a.readTwo(ctx, &fl.data); err != nil {
		return nil, nil, lesson, err
	}
	if set, err = a.linksForFit(ctx, fl, d); err != nil {
		return nil, nil, lesson, err
	}
	if lesson.Triplets, err = fl.triplets.from(ctx, a, &fl.links, d); err != nil {
		return nil, nil, lesson, err
	}
	if lesson.Quadruplets, err = fl.quadruplets.from(ctx, a, &fl.links, d); err != nil {
		return nil, nil, lesson, err
	}
	if lesson.Targets, err = a.readTargets(ctx, &fl.targets, d); err != nil {
		return nil, nil, lesson, err
	}
	a.warnOfLinks(fl.links.path, set)
	return d, set, lesson, nil
}

func (a *app) linksForFit(ctx context.Context, fl *fitFlags, d *dataset.Data) (*links.Set, error) {
	if fl.links.path != "" {
		set, err := a.readLinks(ctx, &fl.links, d)
		if err != nil {
			return nil, err
		}
		return set, needLinks(fl.links.path, set, fl.method)
	}
	if fl.fromLabels == "" {
		return links.New(d.Points.Len(), nil) // comparisons or targets alone
	}
	if fl.fromLabels != allLabels {
		return fl.drawLinks(d, fl.method.UsesCannotLinks)
	}
	if err := needLabels(d); err != nil {
		return nil, err
	}
	return linksOfAll(d, fl.method)
}

// drawLinks draws links from the labels.
func (fl *fitFlags) drawLinks(d *dataset.Data, both bool) (*links.Set, error) {
	if err := needLabels(d); err != nil {
		return nil, err
	}
	must, cannot := fl.drawn(), 0
	if both {
		cannot = must
	}
	set, err := links.SampleByCount(d.Labels, must, cannot, fl.seed)
	return set, usage.RenameParams(err, "must", "--links-from-labels", "cannot", "--links-from-labels")
}

// linksOfAll returns what all labels say: every pair for a method that learns from pairs, classes for others.
func linksOfAll(d *dataset.Data, method catalog.Method) (*links.Set, error) {
	set, err := links.FromLabels(d.Labels)
	if err != nil || !method.Pairwise {
		return set, err
	}
	set, err = set.Closure()
	if _, tooMany := errors.AsType[*fault.MemoryError](err); tooMany {
		return nil, usage.Errorf("--links-from-labels all: the pairs of %d rows are too many for %s, which learns from every one: want a number of links", d.Points.Len(), method.Name)
	}
	return set, err
}

// needLinks reports a file without a link that the method can learn from.
func needLinks(path string, set *links.Set, method catalog.Method) error {
	must, cannot := set.Count()
	switch {
	case must+cannot == 0:
		return fault.Data(path, "it has no pair of rows that belong together or apart: want at least one")
	case must == 0 && !method.UsesCannotLinks && !method.UsesTargets:
		return fault.Data(path, "it has no must-link, only %s: want one, as %s learns from must-links", session.Plural(cannot, "cannot-link"), method.Name)
	}
	return nil
}

// tableForFit changes features as the flags ask.
func (a *app) tableForFit(fl *fitFlags, d *dataset.Data) (*mustlink.Table, error) {
	table, err := fl.scaling.apply(a, d)
	if err != nil {
		return nil, err
	}
	return table, a.stopIfStrict(fl.strict)
}

// fit learns with what is chosen, writes the model and reports.
func (a *app) fit(ctx context.Context, eng *engine.Engine, fl *fitFlags, chosen selection.Candidate,
	table *mustlink.Table, set *links.Set, lesson catalog.Lesson) (*fitReport, error) {
	begin := time.Now()
	bar := a.Progress()
	defer bar.Done()
	options := []mustlink.Option{
		mustlink.Method(chosen.Method), mustlink.Kernel(chosen.Kernel), mustlink.Triplets(lesson.Triplets), mustlink.Quadruplets(lesson.Quadruplets),
		mustlink.Targets(lesson.Targets), mustlink.Seed(fl.seed), mustlink.OnProgress(bar.Report), mustlink.Engine(eng),
	}
	for name, value := range chosen.Params {
		options = append(options, mustlink.Param(name, value))
	}
	if fl.precision == single {
		options = append(options, mustlink.SinglePrecision())
	}
	m, err := mustlink.Fit(ctx, table, set, options...)
	if err != nil {
		return nil, err
	}
	bar.Done()
	r := fitSummary(m, table.Data().Points, set, time.Since(begin))
	r.Model, r.Triplets, r.Quadruplets, r.Targets = fl.out, len(lesson.Triplets), len(lesson.Quadruplets), len(lesson.Targets)
	for _, notice := range m.Describe().Notices {
		a.Warnf("%s", notice)
	}
	if !r.Converged {
		a.Warnf("%s did not converge: %s", r.Method, r.Message)
	}
	if err := a.stopIfStrict(fl.strict); err != nil {
		return nil, err
	}
	r.Warnings = a.Warnings()
	return r, a.saveModel(ctx, fl.out, m)
}

// stopIfStrict makes an error of the warnings so far.
func (a *app) stopIfStrict(strict bool) error {
	if !strict || len(a.Warnings()) == 0 {
		return nil
	}
	return usage.Errorf("%s with --strict: want none", session.Plural(len(a.Warnings()), "warning"))
}

func fitSummary(m *mustlink.Model, x points.Points, set *links.Set, took time.Duration) *fitReport {
	about := m.Describe()
	r := &fitReport{
		Method:     about.Method,
		Kernel:     about.Kernel,
		N:          x.Len(),
		D:          x.Dim(),
		Chunklets:  len(set.Chunklets()),
		Dim:        about.Dim,
		Converged:  about.Converged,
		Iterations: about.Iterations,
		Message:    about.Message,
		Seconds:    took.Seconds(),
		shape:      shapeOf(x),
	}
	r.MustLinks, r.Cannot = set.Count()
	return r
}

func (r *fitReport) text(w io.Writer) {
	fmt.Fprintf(w, "method\t%s\n", r.Method)
	if r.Kernel != "" {
		fmt.Fprintf(w, "kernel\t%s\n", r.Kernel)
	}
	fmt.Fprintf(w, "points\t%s\n", r.shape)
	fmt.Fprintf(w, "links\t%d must, %d cannot; %s\n", r.MustLinks, r.Cannot, session.Plural(r.Chunklets, "chunklet"))
	if len(r.Dropped) > 0 {
		fmt.Fprintf(w, "left out\t%s, the first: %s-link %s\n", session.Plural(len(r.Dropped), "suspicious link"), r.Dropped[0].Link, r.Dropped[0].rows())
	}
	if r.Triplets > 0 {
		fmt.Fprintf(w, "triplets\t%d\n", r.Triplets)
	}
	if r.Quadruplets > 0 {
		fmt.Fprintf(w, "quadruplets\t%d\n", r.Quadruplets)
	}
	if r.Targets > 0 {
		fmt.Fprintf(w, "targets\t%d\n", r.Targets)
	}
	fmt.Fprintf(w, "embedding\t%s\n", session.Plural(r.Dim, "dimension"))
	fmt.Fprintf(w, "status\t%s\n", statusText(r.Converged, r.Iterations, r.Message))
	fmt.Fprintf(w, "time\t%s\n", shortTime(r.Seconds))
	fmt.Fprintf(w, "model\t%s\n", r.Model)
}

// statusText says how a fit ended; 0 iterations are not told.
func statusText(converged bool, iterations int, message string) string {
	text := "converged"
	if !converged {
		text = "not converged"
	}
	if iterations > 0 {
		text += " in " + session.Plural(iterations, "iteration")
	}
	if message != "" {
		text += "; " + message
	}
	return text
}

// shortTime writes a duration with about three digits.
func shortTime(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(roundTo(seconds)).String()
}

func roundTo(seconds float64) time.Duration {
	switch {
	case seconds < 0.01:
		return 10 * time.Microsecond
	case seconds < 1:
		return time.Millisecond
	}
	return 10 * time.Millisecond
}
