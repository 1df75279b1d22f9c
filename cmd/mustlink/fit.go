package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
)

type fitFlags struct {
	method      string
	data        dataFlags
	links       linkFlags
	triplets    comparisonFlags[links.Triplet]
	quadruplets comparisonFlags[links.Quadruplet]
	fromLabels  string
	kernel      string
	params      []string
	scaling     scalingFlags
	drop        float64 // share of links, the most suspicious
	strict      bool
	seed        uint64
	precision   precisionFlag
	out         string
}

func newFit(a *app) *cobra.Command {
	var fl fitFlags
	cmd := &cobra.Command{
		Use:   "fit -m METHOD -i DATA (-c LINKS | --links-from-labels N | --triplets FILE | --quadruplets FILE) -o MODEL",
		Short: "learn a metric from points and links, and write the model",
		Long: `Learn a metric from points and the links between them, and write the model.

LINKS is a CSV with the columns i, j, link (two 0-based rows and must or cannot), or one
with the columns i, chunklet (rows that belong together). --links-from-labels draws N
must-links (and N cannot-links, where the method uses them) from the labels of DATA; "all"
takes every pair that they imply. Some methods learn from comparisons too (--triplets,
--quadruplets), beside links or alone.

A warning does not stop the fit; with --strict it does. Links that may be wrong are left out with
--drop-suspicious, 0.1 for a tenth of them.

` + methodsHelp() + `
Kernels (-k): linear, rbf:sigma=1.5, rbf:gamma=0.1, exp:width=2,
poly:degree=2,coef=1,scale=1, cosine, spectrum:k=3 (sequences); OUTER@INNER composes. A bandwidth may be a rule,
with a factor: rbf:sigma=0.5mean; the rules are ` + strings.Join(kernel.RuleNames(), ", ") + `.`,
		Example: `  mustlink fit -m krca -i data.csv -c links.csv --standardize -o model.mlk
  mustlink fit -m krca -i data.csv --links-from-labels 200 -k rbf:sigma=median -p eps_rel=1e-2 -o model.mlk
  mustlink fit -m krca -i gram.npy --gram -c chunklets.csv -o model.mlk`,
		Args: positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runFit(cmd, &fl) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&fl.method, "method", "m", "", "`METHOD`: "+strings.Join(methodNames(), ", "))
	fl.data.add(cmd)
	fl.data.addLabels(cmd)
	fl.links.add(cmd)
	f.StringVar(&fl.fromLabels, "links-from-labels", "", "draw `N` links of each kind from the labels, or take all, in place of -c")
	fl.triplets.add(cmd, triplets())
	fl.quadruplets.add(cmd, quadruplets())
	f.StringVarP(&fl.kernel, "kernel", "k", "", "`KERNEL`, such as rbf:sigma=median (default: the method's)")
	f.StringArrayVarP(&fl.params, "param", "p", nil, "a parameter of the method as `name=value`; repeatable")
	fl.scaling.add(f, "", "to mean 0 and deviation 1, here and wherever the model is applied")
	f.Float64Var(&fl.drop, "drop-suspicious", 0, "leave out this `SHARE` of the links, those most likely wrong as 'inspect --suspicious' finds them: 0.1")
	seedFlag(f, &fl.seed)
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
	learn, err := a.checkFit(cmd, fl)
	if err != nil {
		return err
	}
	eng, err := a.engine()
	if err != nil {
		return err
	}
	d, set, lesson, err := a.readForFit(cmd.Context(), fl)
	if err != nil {
		return err
	}
	fitted, r, err := a.fit(cmd.Context(), eng, fl, learn, d, set, lesson)
	if err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := a.saveModel(fl.out, fitted); err != nil {
		return err
	}
	return a.summarise(fl.out, r, r.text)
}

// checkFit finds every mistake that shows before data are read, and returns what makes the
// learner.
func (a *app) checkFit(cmd *cobra.Command, fl *fitFlags) (func(algorithms.ProgressFunc) (algorithms.Learner, error), error) {
	if err := required(cmd, "method", "input", "output"); err != nil {
		return nil, err
	}
	method, err := catalog.Lookup(fl.method)
	if err != nil {
		return nil, renameParams(err, "method", "-m, --method")
	}
	params, err := parseParams(fl.params)
	if err != nil {
		return nil, err
	}
	learn := func(p algorithms.ProgressFunc) (algorithms.Learner, error) {
		return method.New(catalog.Config{Kernel: fl.kernel, Params: params, Seed: fl.seed, Progress: p})
	}
	if _, err := learn(nil); err != nil {
		return nil, methodError(err, params)
	}
	if err := fl.checkLinks(cmd); err != nil {
		return nil, err
	}
	if err := cmp.Or(fl.triplets.check(method), fl.quadruplets.check(method)); err != nil {
		return nil, err
	}
	if err := fl.precision.check(); err != nil {
		return nil, err
	}
	if err := fl.scaling.check(false, fl.data.gram); err != nil {
		return nil, err
	}
	if err := checkDrop(fl.drop); err != nil {
		return nil, err
	}
	if err := a.useData(&fl.data); err != nil {
		return nil, err
	}
	if fl.links.path != "" {
		if err := a.useInput("-c, --links", fl.links.path); err != nil {
			return nil, err
		}
	}
	if err := fl.triplets.use(a); err != nil {
		return nil, err
	}
	if err := fl.quadruplets.use(a); err != nil {
		return nil, err
	}
	if fl.out == stream && isTerminal(a.stdout) {
		return nil, usagef("-o, --output is \"-\", but a model is binary and standard output is a terminal: want a file or a pipe")
	}
	return learn, a.checkOutput("-o, --output", fl.out)
}

func (fl *fitFlags) checkLinks(cmd *cobra.Command) error {
	if err := exclusive(cmd, "links", "links-from-labels"); err != nil {
		return err
	}
	drawn := cmd.Flags().Changed("links-from-labels")
	switch {
	case fl.links.path == "" && !drawn && fl.triplets.path == "" && fl.quadruplets.path == "":
		return usagef("the links are missing: want -c LINKS or --links-from-labels N %s", helpHint(cmd))
	case drawn && fl.fromLabels != allLabels && fl.drawn() < 1:
		return usagef("--links-from-labels is %q: want a number >= 1, or all", fl.fromLabels)
	}
	return fl.links.check()
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
			return nil, usagef("-p %s is given twice: want it once", name)
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
		return renameParams(err, pe.Param, "-p "+pe.Param)
	}
	return renameParams(err, "kernel", "-k, --kernel")
}

// readForFit reads data, links and comparisons and warns about what is odd in them.
func (a *app) readForFit(ctx context.Context, fl *fitFlags) (d *dataset.Data, set *links.Set, lesson catalog.Lesson, err error) {
	if d, err = a.readData(ctx, &fl.data); err != nil {
		return nil, nil, lesson, err
	}
	if err := d.AtLeast(2); err != nil {
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
	for _, w := range set.Warnings() {
		if fl.links.path != "" {
			w = fl.links.path + ": " + w
		}
		a.warn("%s", w)
	}
	return d, set, lesson, nil
}

func (a *app) linksForFit(ctx context.Context, fl *fitFlags, d *dataset.Data) (*links.Set, error) {
	method, err := catalog.Lookup(fl.method)
	if err != nil {
		return nil, err
	}
	if fl.links.path != "" {
		set, err := a.readLinks(ctx, &fl.links, d)
		if err != nil {
			return nil, err
		}
		return set, needLinks(fl.links.path, set, method)
	}
	if fl.fromLabels == "" {
		return links.New(d.Points.Len(), nil) // comparisons alone
	}
	if err := needLabels(d); err != nil {
		return nil, err
	}
	if fl.fromLabels == allLabels {
		return linksOfAll(d, method)
	}
	must, cannot := fl.drawn(), 0
	if method.UsesCannotLinks {
		cannot = must
	}
	set, err := links.SampleByCount(d.Labels, must, cannot, fl.seed)
	return set, renameParams(err, "must", "--links-from-labels", "cannot", "--links-from-labels")
}

// linksOfAll returns what all labels say: every pair for a method that learns from pairs, classes for others.
func linksOfAll(d *dataset.Data, method catalog.Method) (*links.Set, error) {
	set, err := links.FromLabels(d.Labels)
	if err != nil || !method.Pairwise {
		return set, err
	}
	set, err = set.Closure()
	if _, tooMany := errors.AsType[*fault.MemoryError](err); tooMany {
		return nil, usagef("--links-from-labels all: the pairs of %d rows are too many for %s, which learns from every one: want a number of links", d.Points.Len(), method.Name)
	}
	return set, err
}

// needLinks reports a file without a link that the method can learn from.
func needLinks(path string, set *links.Set, method catalog.Method) error {
	must, cannot := set.Count()
	switch {
	case must+cannot == 0:
		return fault.Data(path, "it has no pair of rows that belong together or apart: want at least one")
	case must == 0 && !method.UsesCannotLinks:
		return fault.Data(path, "it has no must-link, only %s: want one, as %s learns from must-links", plural(cannot, "cannot-link"), method.Name)
	}
	return nil
}

// fit scales, learns and reports.
func (a *app) fit(ctx context.Context, eng *engine.Engine, fl *fitFlags, learn func(algorithms.ProgressFunc) (algorithms.Learner, error),
	d *dataset.Data, set *links.Set, lesson catalog.Lesson) (*catalog.Fitted, *fitReport, error) {
	fitted, err := a.scaled(eng, fl, d)
	if err != nil {
		return nil, nil, err
	}
	var dropped []suspiciousLink
	if fl.drop > 0 {
		if set, dropped, err = a.dropSuspicious(ctx, eng, fl, d, set); err != nil {
			return nil, nil, err
		}
	}
	r, err := a.learned(ctx, eng, fl, learn, fitted, d, set, lesson)
	if r != nil {
		r.Dropped = dropped
	}
	return fitted, r, err
}

// scaled changes the features of d and returns a model without its metric.
func (a *app) scaled(eng *engine.Engine, fl *fitFlags, d *dataset.Data) (*catalog.Fitted, error) {
	fitted := &catalog.Fitted{Features: d.Features, Fingerprint: dataset.Fingerprint(d.Points), Build: buildText(eng), Single: fl.precision == single}
	var err error
	if fitted.Scaling, err = fl.scaling.apply(a, d); err != nil {
		return nil, err
	}
	return fitted, a.stopIfStrict(fl.strict)
}

// learned fits the metric of a model to points that are scaled, and reports.
func (a *app) learned(ctx context.Context, eng *engine.Engine, fl *fitFlags, learn func(algorithms.ProgressFunc) (algorithms.Learner, error),
	fitted *catalog.Fitted, d *dataset.Data, set *links.Set, lesson catalog.Lesson) (*fitReport, error) {
	begin := time.Now()
	bar := a.progress()
	defer bar.done()
	learner, err := learn(bar.report)
	if err != nil {
		return nil, err
	}
	if learner, err = catalog.Teach(learner, lesson); err != nil {
		return nil, err
	}
	m, err := learner.Fit(ctx, eng, d.Points, set)
	if err != nil {
		return nil, inFile(d.Name, err)
	}
	bar.done()
	fitted.Model = m
	r := fitSummary(m, d, set, time.Since(begin))
	r.Model, r.Triplets, r.Quadruplets = fl.out, len(lesson.Triplets), len(lesson.Quadruplets)
	for _, notice := range m.Status().Notices {
		a.warn("%s", notice)
	}
	if !r.Converged {
		a.warn("%s did not converge: %s", r.Method, r.Message)
	}
	if err := a.stopIfStrict(fl.strict); err != nil {
		return nil, err
	}
	r.Warnings = a.allWarnings()
	return r, nil
}

// stopIfStrict makes an error of the warnings so far.
func (a *app) stopIfStrict(strict bool) error {
	if !strict || len(a.warnings) == 0 {
		return nil
	}
	return usagef("%s with --strict: want none", plural(len(a.warnings), "warning"))
}

// buildText says what computes a model: backend, platform and Go version.
func buildText(eng *engine.Engine) string {
	return fmt.Sprintf("%s, %s/%s, %s", eng.Backend().Name(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func fitSummary(m algorithms.Model, d *dataset.Data, set *links.Set, took time.Duration) *fitReport {
	status := m.Status()
	r := &fitReport{
		Method:     m.Method(),
		Kernel:     kernelOf(m),
		N:          d.Points.Len(),
		D:          d.Points.Dim(),
		Chunklets:  len(set.Chunklets()),
		Dim:        m.Dim(),
		Converged:  status.Converged,
		Iterations: status.Iterations,
		Message:    status.Message,
		Seconds:    took.Seconds(),
		shape:      shapeOf(d.Points),
	}
	r.MustLinks, r.Cannot = set.Count()
	return r
}

// kernelOf returns the resolved kernel of a model that has one.
func kernelOf(m algorithms.Model) string {
	if k, ok := m.(interface{ Kernel() kernel.Kernel }); ok {
		return k.Kernel().String()
	}
	return ""
}

func (r *fitReport) text(w io.Writer) {
	fmt.Fprintf(w, "method\t%s\n", r.Method)
	if r.Kernel != "" {
		fmt.Fprintf(w, "kernel\t%s\n", r.Kernel)
	}
	fmt.Fprintf(w, "points\t%s\n", r.shape)
	fmt.Fprintf(w, "links\t%d must, %d cannot; %s\n", r.MustLinks, r.Cannot, plural(r.Chunklets, "chunklet"))
	if len(r.Dropped) > 0 {
		fmt.Fprintf(w, "left out\t%s, the first: %s-link %s\n", plural(len(r.Dropped), "suspicious link"), r.Dropped[0].Link, r.Dropped[0].rows())
	}
	if r.Triplets > 0 {
		fmt.Fprintf(w, "triplets\t%d\n", r.Triplets)
	}
	if r.Quadruplets > 0 {
		fmt.Fprintf(w, "quadruplets\t%d\n", r.Quadruplets)
	}
	fmt.Fprintf(w, "embedding\t%s\n", plural(r.Dim, "dimension"))
	status := "converged"
	if !r.Converged {
		status = "not converged"
	}
	if r.Iterations > 0 {
		status += " in " + plural(r.Iterations, "iteration")
	}
	if r.Message != "" {
		status += "; " + r.Message
	}
	fmt.Fprintf(w, "status\t%s\n", status)
	fmt.Fprintf(w, "time\t%s\n", shortTime(r.Seconds))
	fmt.Fprintf(w, "model\t%s\n", r.Model)
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
