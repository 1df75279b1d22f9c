package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/topics"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

type selectCommand struct {
	training
	methods   []string
	kernels   []string
	grid      []string
	trials    int
	incumbent string
	report    string

	options selection.Options // that the flags make
}

func newSelect(s *session.Session) *cobra.Command {
	c := &selectCommand{training: training{Session: s}, options: selection.DefaultOptions()}
	cmd := &cobra.Command{
		Use:   "select -i DATA (-c LINKS | --links-from-labels N) -o MODEL",
		Short: "choose method, kernel and parameters by held-out links",
		Long: `Fit candidates on a part of the links, score them on the held-out links, and write the model of the best
candidate, fitted on all links.

The candidates are the methods of --methods with all combinations of --grid and -k that apply to them.
Without --grid and -k, values around the defaults are tried. The linked rows are dealt into --folds
parts. The rows of a part are no part of the fit, nor are their links, so that the model embeds them as
new rows, and the links between them and the rows of the fit are the score. Criteria: ranking (held-out
must-links are shorter than held-out cannot-links: the area under the ROC curve), agreement (k-means with
-n clusters satisfies held-out links), combined (the mean of these two), labels (nearest labeled neighbors
of held-out rows), stability (k-means finds the same clusters from halves of the links). From the first
three what the rows of the fit alone give is subtracted, so that they are .5 where there is nothing to
learn. With -n the default is combined, without it ranking.

A candidate is chosen only if it is clearly better than the raw rows: by more standard errors the more
candidates there are (2.4 for seven, 3.1 for 45), since the best of many is ahead by luck. If none is, the
model is of the method raw. The gain that is printed is that of the choice on folds that it was not made by.

All candidates are scored on one fold, the better third on two more, and so on, but never fewer than three;
--halving=false scores all on every fold. --incumbent names a candidate, usually a method with its defaults, that is kept unless another
one is ahead of it by --margin standard errors on the same folds: with few links, the best of many candidates
is partly luck. By default it is blend. One that is not clearly better than the raw rows is not kept.`,
		Example: `  mustlink select -i data.csv -c links.csv --standardize -o model.mlk
  mustlink select -i data.csv -c links.csv --methods krca,itml --grid eps_rel=1e-4:1e-1:4 --grid gamma=0.3,1,3 -o model.mlk
  mustlink select -i data.csv -c links.csv -n 3 --state fits.jsonl --report trials.json -o model.mlk`,
		Args: usage.Positional(0, 0, ""),
		RunE: s.Checked(c.check, c.run),
	}
	f, o := usage.FlagsOf(cmd), &c.options
	c.data.Flags(cmd)
	c.data.LabelFlags(cmd)
	c.links.Flags(cmd)
	f.String(&c.fromLabels, "links-from-labels", "",
		"draw `N` links of each kind from the labels, instead of -c")
	f.Strings(&c.methods, "methods",
		"`METHODS` to choose from (default "+strings.Join(selection.Methods(), ",")+")")
	f.Repeated(&c.kernels, "kernel,k", "a `KERNEL` to try with kernel methods; repeatable")
	f.Repeated(&c.grid, "grid",
		"values of a parameter as `name=a,b,c` or name=from:to:count, spaced evenly on a logarithmic "+
			"scale; repeatable")
	f.Int(&c.trials, "trials", 0, "number of candidates to try, drawn at random (default all)",
		usage.Range(">= 1"))
	f.String((*string)(&o.Criterion), "criterion", "",
		"how models are scored: "+strings.Join(selection.Criteria(),
			", ")+" (default combined with -n, ranking without)")
	f.Int(&o.Folds, "folds", o.Folds, "number of parts of the links, each held out once")
	f.Int(&o.Clusters, "clusters,n", 0,
		"number of clusters that the metric is for; for the criteria agreement, combined and stability")
	f.Bool(&o.Halving, "halving", o.Halving,
		"drop losers early: score fewer and fewer candidates on more and more folds")
	f.String(&c.incumbent, "incumbent", "",
		"the `CANDIDATE` to keep unless another is clearly better, as the table writes it: a method, "+
			"name=value … (default blend, if it is among the candidates)")
	f.Float(&o.Margin, "margin", o.Margin,
		"number of standard errors by which another candidate must beat the --incumbent; 0: the best one "+
			"is taken")
	f.String(&o.State, "state", "", "`FILE` for finished fits, from which an interrupted run resumes")
	f.String(&c.report, "report", "", "a .json `FILE` for all trials")
	c.preparing.Flags(cmd, "")
	c.endFlags(cmd)
	c.outputFlag(cmd)
	usage.CompleteWith(cmd, "methods", topics.MethodsThat(func(m catalog.Method) bool {
		return !m.UsesTargets
	})...)
	usage.CompleteWith(cmd, "criterion", selection.Criteria()...)
	f.Required("input", "output")
	return cmd
}

// selectReport is the result of `mustlink select`.
type selectReport struct {
	*selection.Result
	Criterion string     `json:"criterion"`
	Folds     int        `json:"folds"`
	Incumbent string     `json:"incumbent,omitempty"`
	Margin    float64    `json:"margin,omitempty"`
	Model     *fitReport `json:"model"`
}

func (c *selectCommand) run(ctx context.Context, _ []string) error {
	o := &c.options
	eng, err := c.Engine()
	if err != nil {
		return err
	}
	d, set, err := c.read(ctx)
	if err != nil {
		return err
	}
	table, err := c.table(ctx, d, set)
	if err != nil {
		return err
	}
	if o.Criterion == selection.Labels {
		if err := source.NeedLabels(c.Session, d); err != nil {
			return err
		}
		o.Labels = d.Labels
	}
	bar := c.Progress()
	defer bar.Done()
	bar.Part(0.9)
	chosen, err := c.search(ctx, eng, table, set, *o)
	if err != nil {
		return fault.InFile(usage.RenameParams(err, "clusters", "-n, --clusters", "folds", "--folds",
			"margin", "--margin", "candidate", "--incumbent"), d.Name)
	}
	bar.Part(1)
	r := &selectReport{Result: chosen, Criterion: string(o.Criterion), Folds: o.Folds}
	if o.Incumbent != nil {
		r.Incumbent, r.Margin = o.Incumbent.String(), o.Margin
	}
	if r.Model, err = c.learn(ctx, eng, chosen.Best, table, set, algorithms.Lesson{},
		chosen.Verdict()); err != nil {
		return err
	}
	bar.Done()
	if c.report != "" {
		if err := c.WriteJSON(c.report, r); err != nil {
			return err
		}
	}
	return c.Summarize(c.out, r, r.text)
}

// check finds mistakes that do not require the data.
func (c *selectCommand) check(check *session.Checks, _ []string) {
	o := &c.options
	o.Seed = c.seed
	if o.Criterion == "" {
		o.Criterion = selection.DefaultCriterion(o.Clusters)
	}
	check.Refuse(c.fromLabels == allLabels,
		"--links-from-labels is %q: want a number, all links would leave nothing to hold out", c.fromLabels)
	check.Do(func() (err error) {
		o.Candidates, err = c.candidates()
		return usage.RenameParams(err, "method", "--methods", "grid", "--grid")
	})
	if c.trials > 0 {
		o.Candidates = selection.Sample(o.Candidates, c.trials, c.seed)
	}
	check.Do(func() error { return c.keep(check.Cmd) })
	c.checkLinks(check, false)
	c.preparing.Check(check, false, &c.data)
	c.data.Check(check)
	c.links.Check(check)
	check.State(o.State)
	if c.report != "" && !session.HasEnding(c.report, "json") {
		check.Do(func() error {
			return fault.Param("--report", c.report, "a name that ends in .json")
		})
	}
	check.Output("--report", c.report)
	check.Model(c.out)
}

// candidates returns those of the given grid, or the methods' own.
func (c *selectCommand) candidates() ([]selection.Candidate, error) {
	if len(c.grid) == 0 && len(c.kernels) == 0 {
		return selection.Defaults(c.methods)
	}
	var axes []selection.Axis
	if len(c.kernels) > 0 {
		axes = append(axes, selection.Axis{Name: "kernel", Values: c.kernels})
	}
	for _, text := range c.grid {
		axis, err := parseAxis(text)
		if err != nil {
			return nil, err
		}
		axes = append(axes, axis)
	}
	methods := c.methods
	if len(methods) == 0 {
		methods = selection.Methods()
	}
	return selection.Grid(methods, axes)
}

// keep sets the incumbent, which is always a candidate.
func (c *selectCommand) keep(cmd *cobra.Command) error {
	o := &c.options
	if c.incumbent == "" {
		o.Incumbent = selection.FirstChoice(o.Candidates)
		if o.Incumbent == nil && cmd.Flags().Changed("margin") {
			return usage.Errorf(
				"--margin is given without --incumbent, and blend is not among the candidates: want both, " +
					"or neither")
		}
		return nil
	}
	kept, err := selection.Parse(c.incumbent)
	if err != nil {
		return usage.RenameParams(err, "candidate", "--incumbent", "method", "--incumbent")
	}
	o.Incumbent, o.Candidates = &kept, selection.Including(o.Candidates, kept)
	return nil
}

// parseAxis reads name=a,b,c and name=from:to:count.
func parseAxis(text string) (selection.Axis, error) {
	bad := func(want string) error { return &fault.ParamError{Param: "--grid", Value: text, Want: want} }
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" || values == "" {
		return selection.Axis{}, bad("name=a,b,c or name=from:to:count")
	}
	parts := strings.Split(values, ":")
	if len(parts) == 1 {
		return selection.Axis{Name: name, Values: strings.Split(values, ",")}, nil
	}
	const range3 = "from:to:count with 0 < from < to and a count of 2 to 1000"
	if len(parts) != 3 {
		return selection.Axis{}, bad(range3)
	}
	from, err1 := strconv.ParseFloat(parts[0], 64)
	to, err2 := strconv.ParseFloat(parts[1], 64)
	count, err3 := strconv.Atoi(parts[2])
	const most = 1000
	if errors.Join(err1, err2, err3) != nil || !(from > 0 && from < to && to <= math.MaxFloat64) ||
		count < 2 || count > most {
		return selection.Axis{}, bad(range3)
	}
	axis := selection.Axis{Name: name}
	for k := range count {
		part := float64(k) / float64(count-1)
		v := math.Pow(from, 1-part) * math.Pow(to, part) // to/from could overflow
		axis.Values = append(axis.Values, strconv.FormatFloat(v, 'g', 4, 64))
	}
	return axis, nil
}

// read reads data and links and warns about what is odd in them.
func (c *selectCommand) read(ctx context.Context) (*dataset.Data, *links.Set, error) {
	d, err := c.data.ReadAtLeastTwo(ctx, c.Session)
	if err != nil {
		return nil, nil, err
	}
	var set *links.Set
	if c.links.Path != "" {
		set, err = c.links.Read(ctx, c.Session, d)
	} else {
		set, err = c.drawLinks(d, true)
	}
	if err != nil {
		return nil, nil, err
	}
	c.WarnOf("", set.Warnings())
	return d, set, nil
}

// text writes the candidates, best first, and the model.
func (r *selectReport) text(w io.Writer) {
	fmt.Fprintf(w, "candidate\t%s\tgain\tfolds\ttime\n", r.Criterion)
	const most = 20
	for k, t := range r.Trials {
		if k == most && len(r.Trials) > most+1 {
			fmt.Fprintf(w, "... and %d more\n", len(r.Trials)-most)
			break
		}
		if t.Error != "" {
			fmt.Fprintf(w, "%s\tfailed: %s\t\t\t\n", t.Candidate, t.Error)
			continue
		}
		writeTrial(w, t)
	}
	if r.Raw != nil {
		writeTrial(w, *r.Raw)
	}
	fmt.Fprintf(w, "%s in %s\n", fault.Count(r.Fits, "fit"), session.ShortTime(r.Seconds))
	r.verdict(w)
	fmt.Fprintln(w)
	r.Model.text(w)
}

// writeTrial writes a line of the table.
func writeTrial(w io.Writer, t selection.Trial) {
	score, gain := fmt.Sprintf("%.4f", t.Mean), ""
	if t.Gain != nil {
		gain = fmt.Sprintf("%+.4f ± %.4f", *t.Gain, *t.GainError)
	}
	took := "" // for the points without learning
	if t.Seconds > 0 {
		took = session.ShortTime(t.Seconds)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", t.Candidate, score, gain, len(t.Scores), took)
}

// verdict explains the choice, and says what it gained.
func (r *selectReport) verdict(w io.Writer) {
	if r.Best.Method == selection.Raw {
		fmt.Fprintf(w, "raw stays: no candidate is ahead by %.2f standard errors, which the best of %d "+
			"needs\n", r.Needed, len(r.Trials))
		return
	}
	if r.Raw != nil {
		fmt.Fprintf(w, "the choice gained %+.4f ± %.4f over raw on folds that it was not made by\n", r.Gain,
			r.GainError)
	}
	if r.Incumbent == "" {
		return
	}
	if r.Best.String() == r.Incumbent {
		fmt.Fprintf(w, "%s stays: no candidate is ahead by more than %g standard errors\n", r.Best, r.Margin)
		return
	}
	for _, t := range r.Trials {
		if t.Candidate.String() == r.Best.String() && t.Ahead != nil {
			fmt.Fprintf(w, "%s is ahead of %s by %.2f standard errors\n", r.Best, r.Incumbent, *t.Ahead)
		}
	}
}

// The values of --search.
const (
	shortSearch = "short" // the defaults of each method
	longSearch  = "long"  // the grids of `mustlink select`
)

// searchReport is the result of a search before a fit.
type searchReport struct {
	*selection.Result
	how string
}

// search selects a candidate by held-out links.
func (t *training) search(ctx context.Context, eng *engine.Engine, table *mustlink.Table, set *links.Set,
	o selection.Options) (*selection.Result, error) {
	if err := o.Among(eng, table.Data().Points, set); err != nil {
		return nil, err
	}
	bar := t.Progress()
	defer bar.Done()
	o.Progress, o.Files = bar.Report, &t.files
	return selection.Select(ctx, eng, table.Data().Points, set, o)
}

// text writes the result on a line, and what a longer search would take.
func (r *searchReport) text(w io.Writer) {
	const most = 3
	fmt.Fprintf(w, "search\t%s, %s in %s;", fault.Count(len(r.Trials), "candidate"),
		fault.Count(r.Fits, "fit"), session.ShortTime(r.Seconds))
	for k, t := range r.Trials {
		if k < most && t.Error == "" {
			fmt.Fprintf(w, " %s %.3f,", t.Candidate, t.Mean)
		}
	}
	if r.Raw != nil {
		fmt.Fprintf(w, " raw %.3f", r.Raw.Mean)
	}
	if r.Best.Method == selection.Raw {
		fmt.Fprintf(w, "; none is clearly better than raw")
	}
	if r.how == shortSearch {
		all, err := selection.Defaults(nil)
		if err == nil {
			fmt.Fprintf(w, "; --search=long tries %d", len(all))
		}
	}
	fmt.Fprintln(w)
}
