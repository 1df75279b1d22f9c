// Package train provides the commands that learn metrics.
package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/parts"
	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/topics"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
	"github.com/mustlink/mustlink/internal/view"
)

// Commands returns fit, select, suggest, label, update, calibrate and demo.
func Commands(s *session.Session) []*cobra.Command {
	return []*cobra.Command{newFit(s), newSelect(s), newSuggest(s), newLabel(s), newUpdate(s),
		newCalibrate(s), newDemo(s)}
}

type fitCommand struct {
	training
	lesson lessonFlags
	name   string // of the method
	kernel string
	params []string
	drop   float64 // share of links, the most suspicious
	curve  string  // file of the learning curve
	how    string  // of the search among methods before the fit, "" for none

	noVerdict  bool
	force      bool // keep a metric that the verdict finds worse
	embeddings bool // the rows are

	choice catalog.Choice      // of that name, or the one that suits the flags until links are known
	chosen selection.Candidate // the method with its kernel and parameters
}

func newFit(s *session.Session) *cobra.Command {
	c := &fitCommand{training: training{Session: s}}
	cmd := &cobra.Command{
		SuggestFor: []string{"train", "learn"},
		Use: "fit [-m METHOD] -i DATA (-c LINKS | --links-from-labels N | --triplets FILE | " +
			"--quadruplets FILE | --targets FILE) -o MODEL",
		Short: "learn a metric from points and links, and write the model",
		Long: `Learn a metric from points and the links between them, and write the model.

LINKS is a CSV with the columns i, j, link (two 0-based rows and must or cannot), or one
with the columns i, chunklet (rows that belong together). --links-from-labels draws N
must-links (and N cannot-links, if the method uses them) from the labels of DATA; "all"
takes every pair that the labels imply. Some methods also learn from comparisons (--triplets,
--quadruplets), with links or without. ` + strings.Join(targetMethods(), ", ") + ` learns from a number for each row (--targets) and ignores links.

Without -m the method is chosen by what there is to learn from: adapt for must-links between embeddings,
blend for links of both kinds, krca for must-links alone, itml for cannot-links alone or triplets,
lsml for quadruplets, mlkr for targets.

Five further fits, each without a fifth of the linked rows, assess the metric, as far as they take no
more than ten seconds together: how often a must-link of a row that the fit does not know is shorter
than a cannot-link of one (AUC), less what the rows of the fit alone give, in comparison with the
prepared rows without learning (raw). It is .5 where there is nothing to learn. --folds 5 makes all
five fits, --folds 1 one, --no-verdict none. If nobody named a method or kernel, and they find the metric
worse than raw (by 1.6 standard errors, and the partners of must-links not clearly more often), the
model is raw; --force keeps the metric. --search first compares methods by held-out links, and
takes the raw rows if none is clearly better.

A warning names a column that agrees on all must-links and differs on all cannot-links: if it is the
label, the verdict is worthless, so leave it out (--label or --drop).

A warning does not stop the fit, unless --strict is given. --drop-suspicious 0.1 leaves out a tenth of
the links: those most likely mislabeled. The verdict is of fits to all links, and judged by all: with
those that remain any metric agrees.

` + topics.MethodList() + `
Kernels (-k): linear, rbf:sigma=1.5, rbf:gamma=0.1, exp:width=2,
poly:degree=2,coef=1,scale=1, cosine, spectrum:k=3 (sequences); OUTER@INNER composes two
kernels. A bandwidth may be a rule with a factor: rbf:sigma=0.5mean; the rules are ` + strings.Join(kernel.RuleNames(), ", ") + `.
Linear methods learn in the leading principal coordinates of a kernel, up to 100, if -k names one,
and if DATA are no dense rows (then the default is linear, and spectrum:k=3 for sequences).`,
		Example: `  mustlink fit -i data.csv -c links.csv -o model.mlk
  mustlink fit -m krca -i data.csv --links-from-labels 200 -k rbf:sigma=median -p eps_rel=1e-2 -o model.mlk
  mustlink fit -m krca -i gram.npy --gram -c chunklets.csv -o model.mlk`,
		Args: usage.Positional(0, 0, ""),
		RunE: metric.Checked(s, c.check, c.run),
	}
	f := usage.FlagsOf(cmd)
	f.String(&c.name, "method,m", "",
		"`METHOD`: "+strings.Join(topics.MethodNames(), ", ")+" (default: chosen by the links)")
	c.data.Flags(cmd)
	c.data.LabelFlags(cmd)
	c.links.Flags(cmd)
	f.String(&c.fromLabels, "links-from-labels", "",
		"draw `N` links of each kind from the labels, or take all, instead of -c")
	c.lesson.flags(cmd)
	f.String(&c.kernel, "kernel,k", "", "`KERNEL`, such as rbf:sigma=median (default: the method's)")
	f.Repeated(&c.params, "param,p", "a parameter of the method as `name=value`; repeatable")
	c.preparing.Flags(cmd, "")
	f.Bool(&c.embeddings, "embeddings", false,
		"take the rows of DATA, which are complete numbers, for embeddings of texts or pictures: nothing is "+
			"done with columns, and without -m the method is adapt, which scales rows to unit length",
		usage.Excludes(append(source.EmbeddingsExclude(), "kernel")...))
	f.Float(&c.drop, "drop-suspicious", 0,
		"leave out this `SHARE` of the links, such as 0.1: the most suspicious ones, as 'inspect "+
			"--suspicious' ranks them")
	c.endFlags(cmd)
	f.String(&c.how, "search", "",
		"choose by held-out links among several methods (short), or also kernels and parameters as "+
			"'mustlink select' does (long)")
	f.Lookup("search").NoOptDefVal = shortSearch
	usage.CompleteWith(cmd, "search", shortSearch, longSearch)
	f.Bool(&c.noVerdict, "no-verdict", false,
		"do not assess the metric on held-out links, which takes up "+
			"to five more fits")
	f.Bool(&c.force, "force", false,
		"keep the metric of the method that the fit chooses also if held-out links find it worse than raw",
		usage.Excludes("method", "kernel", "search", "no-verdict"))
	f.Int(&c.folds, "folds", 0,
		"parts of the linked rows that the verdict holds out, each from a fit; 1: "+
			"one fit without a fifth of them (default: 5 parts, as many as ten seconds allow)",
		usage.Range(fmt.Sprintf(">= 1, <= %d", verdict.MaxFolds)))
	f.String(&c.curve, "curve", "",
		"a picture (.png, .svg, .pdf) or .json `FILE`: AUC of held-out links after an eighth, a quarter, "+
			"half and all of the others, which takes up to four more fits")
	c.precision.Flag(f, "the numbers in the model file; single halves it, and rounds the model to 24 bits")
	c.outputFlag(cmd)
	topics.CompleteMethod(cmd)
	f.Required("input", "output")
	return cmd
}

func (c *fitCommand) run(ctx context.Context, raw *metric.Metric, _ []string) error {
	d, set, lesson, err := c.read(ctx)
	if err != nil {
		return err
	}
	table, err := c.table(ctx, d, set)
	if err != nil {
		return err
	}
	bar := c.Progress()
	defer bar.Done()
	all, dropped := set, []metric.SuspiciousLink(nil)
	if c.drop > 0 {
		bar.Part(0.5)
		if set, dropped, err = c.dropSuspicious(ctx, raw, table.Data(), set); err != nil {
			return err
		}
	}
	if c.name == "" {
		if err := c.chooseFor(set, lesson); err != nil {
			return err
		}
	}
	if c.how != "" {
		bar.Part(0.9)
	}
	found, err := c.searched(ctx, raw.Eng, table, all)
	if err != nil {
		return err
	}
	c.withVerdict = found == nil && !c.noVerdict
	if bar.Part(1); c.curve != "" { // of the fits of four verdicts
		bar.Resize(0.25)
	}
	var judged *mustlink.Verdict // by the search
	if found != nil && !c.noVerdict {
		judged = found.Verdict()
	}
	r, err := c.learn(ctx, raw.Eng, c.chosen, table, set, lesson, judged, c.asked(found, all)...)
	if err != nil {
		return err
	}
	r.Search = found
	bar.Part(1)
	if r.Curve, err = c.growth(ctx, raw.Eng, r.Method, table, all); err != nil {
		return err
	}
	bar.Done()
	r.Dropped = dropped
	return c.Summarize(c.out, r, r.text)
}

// searched searches for the candidate to fit, if the flags ask for it; otherwise it returns nil.
func (c *fitCommand) searched(ctx context.Context, eng *engine.Engine, table *mustlink.Table,
	set *links.Set) (*searchReport, error) {
	if c.how == "" {
		return nil, nil
	}
	var names []string
	if c.name != "" {
		names = []string{c.name}
	}
	o, err := c.options(c.seed, names)
	if err != nil {
		return nil, err
	}
	if c.folds > 0 {
		o.Folds = c.folds
	}
	r, err := c.search(ctx, eng, table, set, o)
	if err != nil {
		return nil, fault.InFile(err, table.Data().Name)
	}
	c.chosen = r.Best
	return &searchReport{r, c.how}, nil
}

// asked returns the options for the choice and the verdict, if no search has made them.
func (c *fitCommand) asked(found *searchReport, all *links.Set) []mustlink.Option {
	if found != nil {
		return nil
	}
	options := []mustlink.Option{mustlink.Chosen(c.choice)}
	if c.embeddings {
		options = append(options, mustlink.Embeddings())
	}
	if !c.noVerdict {
		options = append(options, mustlink.HoldOut(c.folds), mustlink.JudgedBy(all))
	}
	if c.force {
		options = append(options, mustlink.KeepWorse())
	}
	return options
}

// check finds every mistake that shows before data are read.
func (c *fitCommand) check(check *session.Checks, _ []string) {
	check.Do(c.choose)
	check.Do(func() error { return c.lesson.checkTargets(c.choice.Method) })
	c.checkLinks(check, c.lesson.given() || c.choice.Method.LinksOptional)
	check.Do(func() error { return c.lesson.triplets.check(c.choice.Method) })
	check.Do(func() error { return c.lesson.quadruplets.check(c.choice.Method) })
	c.preparing.Check(check, false, &c.data)
	if c.embeddings {
		c.preparing.TakeEmbeddings(&c.data)
	}
	check.Refuse(!(c.drop >= 0 && c.drop < 1),
		"--drop-suspicious is %v: want the share of links to leave out, 0 to below 1", c.drop)
	check.Refuse(c.how != "" && c.folds == 1, "--folds is 1 with --search: want a number >= 2")
	check.Do(c.checkSearch)
	c.checkGrowth(check)
	check.Refuse(c.noVerdict && check.Cmd.Flags().Changed("folds"),
		"--no-verdict and --folds are both given: want one of them")
	c.data.Check(check)
	c.links.Check(check)
	c.lesson.inputs(check)
	check.Model(c.out)
}

// checkSearch refuses flags that do not go with a search.
func (c *fitCommand) checkSearch() error {
	switch {
	case c.how == "":
		return nil
	case len(c.params) > 0 || c.kernel != "":
		return usage.Errorf(
			"--search is given with -p or -k: want it alone, or 'mustlink select' with --grid and -k")
	case c.lesson.given():
		return usage.Errorf(
			"--search is given with comparisons or targets: want links alone, of which it can hold some out")
	}
	_, err := c.options(c.seed, nil)
	return err
}

// choose looks the method up and checks that its parameters go together.
func (c *fitCommand) choose() (err error) {
	if c.name == "" {
		if len(c.params) > 0 {
			return usage.Errorf("-p is given without -m: want -m METHOD, as parameters belong to a method")
		}
		return c.chooseFor(nil, c.lesson.kinds())
	}
	if c.choice.Method, err = catalog.Lookup(c.name); err != nil {
		return usage.RenameParams(err, "method", "-m, --method")
	}
	return c.candidate()
}

// chooseFor chooses the method for links and other lessons.
func (c *fitCommand) chooseFor(set *links.Set, lesson algorithms.Lesson) (err error) {
	if c.choice, err = catalog.Choose(set, lesson); err != nil {
		return err
	}
	return c.candidate()
}

// candidate checks that the parameters go with the method.
func (c *fitCommand) candidate() (err error) {
	c.chosen = selection.Candidate{Method: c.choice.Method.Name, Kernel: c.kernel}
	if c.chosen.Params, err = parseParams(c.params); err != nil {
		return err
	}
	_, err = c.chosen.Learner(catalog.Config{Seed: c.seed, Files: &c.files,
		MemoryLimit: int64(c.MemoryLimit)})
	return methodError(err, c.chosen.Params)
}

// parseParams splits name=value at the first equals sign; a value may contain others.
func parseParams(list []string) (map[string]string, error) {
	params := make(map[string]string, len(list))
	for _, p := range list {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, fault.Param("-p, --param", p, "name=value")
		}
		if _, twice := params[name]; twice {
			return nil, usage.Errorf("-p %s is given twice: want it once", name)
		}
		params[name] = value
	}
	return params, nil
}

// methodError renames a refused parameter or kernel to its flag.
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

// read reads data, links and comparisons, and warns about what is odd in them.
func (c *fitCommand) read(ctx context.Context) (d *dataset.Data, set *links.Set, lesson algorithms.Lesson,
	err error) {
	if d, err = c.data.ReadAtLeastTwo(ctx, c.Session); err != nil {
		return nil, nil, lesson, err
	}
	if set, err = c.readLinks(ctx, d); err != nil {
		return nil, nil, lesson, err
	}
	if lesson, err = c.lesson.read(ctx, c.Session, &c.links, d); err != nil {
		return nil, nil, lesson, err
	}
	c.WarnOf(c.links.Path, set.Warnings())
	return d, set, lesson, nil
}

// readLinks reads the links, or draws them from the labels of d.
func (c *fitCommand) readLinks(ctx context.Context, d *dataset.Data) (*links.Set, error) {
	if c.links.Path != "" {
		c.links.Begun = c.choice.Method.LinksOptional || c.lesson.given()
		set, err := c.links.Read(ctx, c.Session, d)
		if err != nil {
			return nil, err
		}
		return set, c.needLinks(set)
	}
	if c.fromLabels == "" {
		return links.New(d.Points.Len(), nil) // comparisons or targets alone, or a method without links
	}
	if c.fromLabels != allLabels {
		return c.drawLinks(d, c.choice.Method.UsesCannotLinks)
	}
	if err := source.NeedLabels(c.Session, d); err != nil {
		return nil, err
	}
	return linksOfAll(d, c.choice.Method)
}

// linksOfAll returns all links that the labels imply: every pair for a method that learns from
// pairs, classes for others.
func linksOfAll(d *dataset.Data, method catalog.Method) (*links.Set, error) {
	set, err := links.FromLabels(d.Labels)
	if err != nil || !method.Pairwise {
		return set, err
	}
	set, err = set.Closure()
	if _, tooMany := errors.AsType[*fault.MemoryError](err); tooMany {
		return nil, usage.Errorf(
			"--links-from-labels all: all pairs of %d rows are too many for %s: want a number of links",
			d.Points.Len(), method.Name)
	}
	return set, err
}

// needLinks refuses a file without a link that the method can learn from.
func (c *fitCommand) needLinks(set *links.Set) error {
	path, method := c.links.Path, c.choice.Method
	must, cannot := set.Count()
	switch {
	case method.LinksOptional, must+cannot == 0 && c.lesson.given():
		return nil
	case must+cannot == 0:
		return fault.Data(path, "it has no links: want at least one")
	case must == 0 && !method.UsesCannotLinks && !method.UsesTargets:
		return fault.Data(path, "it has no must-links, only %s: want at least one, %s learns from must-links",
			fault.Count(cannot, "cannot-link"), method.Name)
	}
	return nil
}

// dropSuspicious leaves out the most suspicious links.
func (c *fitCommand) dropSuspicious(ctx context.Context, raw *metric.Metric, d *dataset.Data,
	set *links.Set) (*links.Set, []metric.SuspiciousLink, error) {
	r, err := raw.RankLinks(ctx, d, d.Points, set, c.links.Path, c.seed)
	if err != nil {
		return nil, nil, err
	}
	count := int(math.Round(c.drop * float64(set.Len())))
	kept, err := r.Without(min(count, set.Len()-1))
	return kept, metric.FirstLinks(r, d, count), err
}

// checkGrowth refuses a curve that cannot be written or measured.
func (c *fitCommand) checkGrowth(check *session.Checks) {
	if c.curve == "" {
		return
	}
	check.Refuse(c.lesson.given(),
		"--curve is given with comparisons or targets: want links alone, of which it can hold some out")
	if session.HasEnding(c.curve, "json") {
		check.Output("--curve", c.curve)
		return
	}
	check.Do(func() error {
		if _, err := view.FormatOf(c.curve); err != nil {
			return fault.Param("--curve", c.curve, "a name that ends in .png, .svg, .pdf or .json")
		}
		return nil
	})
	check.Output("--curve", c.curve)
}

// growth measures the learning curve of the method, and writes it to the file of --curve.
func (c *fitCommand) growth(ctx context.Context, eng *engine.Engine, method string, table *mustlink.Table,
	set *links.Set) (*verdict.Curve, error) {
	if c.curve == "" {
		return nil, nil
	}
	candidate := c.chosen
	if candidate.Method = method; method == parts.Method { // the base, which fits parts of the links whole
		candidate.Method = c.choice.Method.Name
	}
	learner, err := candidate.Learner(catalog.Config{Seed: c.seed, Files: &c.files, Rows: table.Rows()})
	if err != nil {
		return nil, err
	}
	bar := c.Progress()
	defer bar.Done()
	curve, err := verdict.Grow(ctx, eng, learner, table.Data().Points, set,
		verdict.Options{Folds: c.folds, Each: c.choice.Duration(table.Data().Points, set), Seed: c.seed,
			Progress: bar.Report})
	if err != nil || curve.Missing != "" {
		return curve, err
	}
	if session.HasEnding(c.curve, "json") {
		return curve, c.WriteJSON(c.curve, curve)
	}
	format, err := view.FormatOf(c.curve)
	if err != nil {
		return nil, err
	}
	return curve, c.WriteFile(c.curve, func(w io.Writer) error {
		return view.Write(w, format, view.Size{}, drawn(curve, method))
	})
}

// drawn returns the picture of a learning curve.
func drawn(c *verdict.Curve, method string) view.Lines {
	learned, raw := view.Series{Name: method, Bars: true, Markers: true}, view.Series{Name: "raw"}
	for _, s := range c.Steps {
		x := float64(s.Links)
		learned.X, learned.Y = append(learned.X, x), append(learned.Y, s.AUC)
		learned.Low, learned.High = append(learned.Low, s.AUC-s.Error), append(learned.High, s.AUC+s.Error)
		raw.X, raw.Y = append(raw.X, x), append(raw.Y, c.Raw)
	}
	return view.Lines{Title: "held-out links", XLabel: "links that the fit learned from",
		YLabel: "AUC of held-out links", LogX: true, Series: []view.Series{learned, raw}}
}
