package train

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/metric"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/page"
	"github.com/mustlink/mustlink/cmd/mustlink/internal/source"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/usage"
)

// rcaName is the linear method that the demo shows next to the five.
const rcaName = baseline.RCAMethod

// demoSet is one generated set of the demo.
type demoSet struct {
	name      string
	generator string
	// kernel replaces a method's default if the parts of a class are much smaller than the whole
	// set: the default width, about the spread of the data, would blur them.
	kernel string
	width  string // likewise, for a method that learns a width from an initial one
	about  string
}

func demoSets() []demoSet {
	return []demoSet{
		{"xor", "xor", "", "", "four blobs; the classes are the two diagonals"},
		{"spiral", "double-spiral", "rbf:sigma=0.3msq", "0.25", "two arms of a spiral"},
		{"chessboard", "chessboard", "rbf:sigma=0.3msq", "0.25",
			"4 x 4 squares; the classes are their colors"},
		{"rings", "rings", "", "", "two circles, one around the other"},
	}
}

type demoCommand struct {
	*session.Session
	baselines                  bool
	points, links, repetitions int
	seed                       uint64
	out                        string
	sets                       []demoSet
}

func newDemo(s *session.Session) *cobra.Command {
	d := &demoCommand{Session: s}
	var names []string
	for _, set := range demoSets() {
		names = append(names, cobra.CompletionWithDesc(set.name, set.about))
	}
	cmd := &cobra.Command{
		Use:   "demo [xor|spiral|chessboard|rings]...",
		Short: "show how metrics learned from pairs improve clustering, on generated data",
		Long: `Generate data, learn metrics from pairs with the five methods and a linear one (with
--baselines with all), and compare k-means without and with each learned metric: on the training
rows, which the links are drawn from, and on held-out rows. The default is all four sets.

The demo writes files only with -o, which names a folder for the data, links and models of the
first repetition, to try the other commands on, and for a report page about them.`,
		Example: `  mustlink demo
  mustlink demo xor rings --links 50
  mustlink demo xor -o demo-output`,
		ValidArgs: names,
		Args:      cobra.ArbitraryArgs,
		RunE:      s.Checked(d.check, d.run),
	}
	f := usage.FlagsOf(cmd)
	f.Int(&d.points, "points", 800, "number of points; half of them are held out", usage.Range(">= 40"))
	f.Int(&d.links, "links", 400, "number of must-links, and as many cannot-links if the method uses them",
		usage.Range(">= 1"))
	f.Bool(&d.baselines, "baselines", false, "include all baselines, not only "+rcaName)
	f.Int(&d.repetitions, "repetitions", 5, "number of data sets to draw; results are averages over them",
		usage.Range(">= 1"))
	f.Seed(&d.seed)
	f.String(&d.out, "output,o", "", "a `FOLDER` to write data, links and models to")
	cmd.AddCommand(newPeople(s))
	return cmd
}

// demoReport is the result of `mustlink demo`.
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
	Set    string `json:"set"`
	Metric string `json:"metric"` // a method, or "none"
	Kernel string `json:"kernel,omitempty"`
	// Scores on the training rows and on the held-out rows, under the keys of earlier versions.
	Training demoScores `json:"seen"`
	HeldOut  demoScores `json:"unseen"`
}

// demoScores are means over the repetitions.
type demoScores struct {
	Rand         float64 `json:"rand"`
	BalancedRand float64 `json:"balanced_rand"`
	AdjustedRand float64 `json:"adjusted_rand"`
}

func (d *demoCommand) run(ctx context.Context, _ []string) error {
	begin := time.Now()
	raw, err := metric.Open(ctx, d.Session)
	if err != nil {
		return err
	}
	if err := session.MakeFolder(d.out); err != nil {
		return err
	}
	r := &demoReport{Points: d.points, Links: d.links, Repetitions: d.repetitions, Seed: d.seed}
	bar := d.Progress()
	defer bar.Done()
	for k, set := range d.sets {
		for rep := range d.repetitions {
			bar.Report(algorithms.Progress{Stage: set.name, Done: k*d.repetitions + rep,
				Total: len(d.sets) * d.repetitions, Elapsed: time.Since(begin)})
			if err := d.repetition(ctx, raw, set, rep, r); err != nil {
				return err
			}
		}
	}
	bar.Done()
	r.Seconds = time.Since(begin).Seconds()
	if d.out != "" {
		for _, set := range d.sets {
			if err := d.writePage(ctx, set); err != nil {
				return err
			}
		}
	}
	if err := d.Print(r, func(w io.Writer) { r.text(w, d.sets) }); err != nil {
		return err
	}
	if d.out != "" && !d.JSON {
		d.nextSteps(d.Stdout, d.sets[0])
	}
	return nil
}

// check sets the sets that are named, or all if none is.
func (d *demoCommand) check(check *session.Checks, args []string) {
	var names []string
	for _, set := range demoSets() {
		names = append(names, set.name)
		if len(args) == 0 {
			d.sets = append(d.sets, set)
		}
	}
	for _, arg := range args {
		if check.OneOf("set", arg, names); check.Err == nil {
			d.sets = append(d.sets, demoSets()[slices.Index(names, arg)])
		}
	}
}

// repetition draws one set, learns with every method and adds the scores to r.
func (d *demoCommand) repetition(ctx context.Context, raw *metric.Metric, set demoSet, rep int,
	r *demoReport) error {
	seed := d.seed + uint64(rep)
	training, heldOut, err := d.draw(set, seed)
	if err != nil {
		return err
	}
	add := func(m *metric.Metric, name, kernel string) error {
		row := demoRow{Set: set.name, Metric: name, Kernel: kernel}
		if row.Training, err = clusterScores(ctx, m, training, seed); err == nil {
			row.HeldOut, err = clusterScores(ctx, m, heldOut, seed)
		}
		r.add(row, d.repetitions)
		return err
	}
	if err := add(raw, "none", ""); err != nil {
		return err
	}
	for _, method := range catalog.Methods() {
		if method.Small || method.UsesTargets || method.Baseline && !d.baselines && method.Name != rcaName {
			continue
		}
		written := rep == 0 && d.out != ""
		m, l, err := d.learn(ctx, raw.Eng, set, method, training, seed, written && method.Name == usual())
		if err != nil {
			return err
		}
		if err := add(metric.Of(d.Session, raw.Eng, m.Record()), method.Name,
			kernelName(set, method)); err != nil {
			return err
		}
		if written {
			if err := d.write(set, method, training, heldOut, l, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw draws a set and divides it into training and held-out rows.
func (d *demoCommand) draw(set demoSet, seed uint64) (training, heldOut *mustlink.Table, err error) {
	data, err := dataset.Generate(set.generator, dataset.GenerateOptions{N: d.points, Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	first, second, err := dataset.Split(d.points, 0.5, data.Labels, seed)
	if err != nil {
		return nil, nil, err
	}
	table := mustlink.FromData(data)
	if training, err = table.Select(first); err == nil {
		heldOut, err = table.Select(second)
	}
	return training, heldOut, err
}

// usual returns the method that fit would choose for links of both kinds.
func usual() string {
	choice, err := catalog.Choose(nil, algorithms.Lesson{})
	if err != nil {
		return "" // the catalog has its own default, as its tests show
	}
	return choice.Method.Name
}

// learn fits a method with its defaults (and the kernel of the set) to random links, with a verdict
// if it is to be judged.
func (d *demoCommand) learn(ctx context.Context, eng *engine.Engine, set demoSet, method catalog.Method,
	training *mustlink.Table, seed uint64, judged bool) (*mustlink.Model, *links.Set, error) {
	cannot := 0
	if method.UsesCannotLinks {
		cannot = d.links
	}
	l, err := training.SampleLinks(d.links, cannot, seed)
	if err != nil {
		return nil, nil, usage.RenameParams(err, "must", "--links", "cannot", "--links")
	}
	options := []mustlink.Option{mustlink.Method(method.Name), mustlink.Kernel(set.kernelOf(method)),
		mustlink.Seed(seed), mustlink.Engine(eng)}
	for name, value := range set.paramsOf(method) {
		options = append(options, mustlink.Param(name, value))
	}
	if judged {
		options = append(options, mustlink.HoldOut(0))
	}
	m, err := mustlink.Fit(ctx, training, l, options...)
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

// paramsOf returns the set's own width for methods that start from one.
func (s demoSet) paramsOf(method catalog.Method) map[string]string {
	const width = "width"
	if s.width == "" || !slices.ContainsFunc(method.Parameters, func(p param.Field) bool {
		return p.Name == width
	}) {
		return nil
	}
	return map[string]string{width: s.width}
}

func kernelName(set demoSet, method catalog.Method) string {
	name := session.NameOr(set.kernelOf(method), method.DefaultKernel)
	for param, value := range set.paramsOf(method) {
		name += ", " + param + "=" + value
	}
	return name
}

// clusterScores runs k-means with as many clusters as there are labels, and scores the clusters.
func clusterScores(ctx context.Context, m *metric.Metric, t *mustlink.Table,
	seed uint64) (s demoScores, err error) {
	c, err := m.Model.Cluster(ctx, t, source.Classes(t.Labels()), mustlink.Seed(seed))
	if err != nil {
		return s, err
	}
	r, err := mustlink.Score(t, c.Labels)
	if err != nil {
		return s, err
	}
	return demoScores{*r.Rand, *r.BalancedRand, *r.AdjustedRand}, nil
}

// add adds a repetition's share of the mean to its row.
func (r *demoReport) add(row demoRow, repetitions int) {
	i := slices.IndexFunc(r.Rows, func(o demoRow) bool { return o.Set == row.Set && o.Metric == row.Metric })
	if i < 0 {
		i = len(r.Rows)
		r.Rows = append(r.Rows, demoRow{Set: row.Set, Metric: row.Metric, Kernel: row.Kernel})
	}
	r.Rows[i].Training.add(row.Training, float64(repetitions))
	r.Rows[i].HeldOut.add(row.HeldOut, float64(repetitions))
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
	fmt.Fprintf(w, "\n%d points, half of them held out; %s between training rows; mean of %s of k-means\n\n",
		r.Points, fault.Count(r.Links, "must-link"), fault.Count(r.Repetitions, "repetition"))
	fmt.Fprintf(w, "set\tlearned metric\tkernel\ttraining rows: Rand\tbalanced\tARI\theld-out rows: "+
		"Rand\tbalanced\tARI\n")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", row.Set, row.Metric,
			session.NameOr(row.Kernel, "-"),
			row.Training.Rand, row.Training.BalancedRand, row.Training.AdjustedRand,
			row.HeldOut.Rand, row.HeldOut.BalancedRand, row.HeldOut.AdjustedRand)
	}
	fmt.Fprintf(w, "\n%s\n", session.ShortTime(r.Seconds))
	r.conclude(w)
}

// conclude says what learning brought, by the method that fit would choose.
func (r *demoReport) conclude(w io.Writer) {
	var sets, raw, learned float64
	for _, row := range r.Rows {
		switch row.Metric {
		case "none":
			sets, raw = sets+1, raw+row.HeldOut.BalancedRand
		case usual():
			learned += row.HeldOut.BalancedRand
		}
	}
	fmt.Fprintf(w, "clustering of held-out rows: %.0f %% -> %.0f %% of pairs are right, without learning and with "+
		"%s, the default (balanced Rand, mean of %s)\n", 100*raw/sets, 100*learned/sets, usual(),
		fault.Count(int(sets), "set"))
}

// write writes one repetition to files.
func (d *demoCommand) write(set demoSet, method catalog.Method, training, heldOut *mustlink.Table,
	l *links.Set, m *mustlink.Model) error {
	if err := dataset.WriteData(d.at(set, "seen.csv"), training.Data(), dataset.WriteOptions{}); err != nil {
		return err
	}
	if err := dataset.WriteData(d.at(set, "unseen.csv"), heldOut.Data(), dataset.WriteOptions{}); err != nil {
		return err
	}
	if err := dataset.WriteLinks(d.at(set, method.Name+"-links.csv"), l, nil,
		dataset.WriteOptions{}); err != nil {
		return err
	}
	return m.Save(d.at(set, method.Name+".mlk"))
}

// at returns the path of a file about a set.
func (d *demoCommand) at(set demoSet, name string) string {
	return filepath.Join(d.out, set.name+"-"+name)
}

// writePage writes the report about the methods on the training rows of a set, with the links of a
// method that uses both kinds. The default, which has a verdict, comes first.
func (d *demoCommand) writePage(ctx context.Context, set demoSet) error {
	o := &page.Options{Seeds: 5, Features: 2, Seed: d.seed, Title: set.name + ": " + set.about,
		Output: d.at(set, "report.html")}
	o.Data.Path, o.Links.By = d.at(set, "seen.csv"), dataset.ByRow
	var models []string
	for _, m := range catalog.Methods() {
		if !m.Baseline {
			models = append(models, d.at(set, m.Name+".mlk"))
			if m.Name == usual() {
				last := len(models) - 1
				models[0], models[last] = models[last], models[0]
			}
			if m.UsesCannotLinks {
				o.Links.Path = d.at(set, m.Name+"-links.csv")
			}
		}
	}
	_, err := page.Write(ctx, d.Session, o, models)
	return err
}

// nextSteps shows commands for the files just written.
func (d *demoCommand) nextSteps(w io.Writer, set demoSet) {
	fmt.Fprintf(w, "\nWritten to %s. Open %s in a browser: it shows the rows before and after learning.\n"+
		"Then try the same on files of your own, or on these:\n", d.out, d.at(set, "report.html"))
	training, heldOut := d.at(set, "seen.csv"), d.at(set, "unseen.csv")
	fmt.Fprintf(w, "  mustlink links make -i %s --pairs 150 -o links.csv\n", training)
	fmt.Fprintf(w, "  mustlink fit -i %s -c links.csv -o model.mlk\n", training)
	fmt.Fprintf(w, "  mustlink cluster model.mlk -i %s -n 2 -o clusters.csv\n", heldOut)
}

type peopleCommand struct {
	*session.Session
	records int
	seed    uint64
	out     string
}

func newPeople(s *session.Session) *cobra.Command {
	p := &peopleCommand{Session: s}
	cmd := &cobra.Command{
		Use:   "people -o DATA",
		Short: "generate records of people, some of them several times, to try 'mustlink entities' on",
		Long: `Write a CSV of records of people from three sources, with typing errors, initials, former addresses,
gaps, and relatives at one address. The column person is the truth: a person has one to three records, at most
one a source.`,
		Example: "  mustlink demo people --records 10000 -o people.csv",
		Args:    usage.Positional(0, 0, ""),
		RunE: s.Checked(func(check *session.Checks, _ []string) { check.Output("-o, --output", p.out) },
			p.run),
	}
	f := usage.FlagsOf(cmd)
	f.Int(&p.records, "records", 10000, "number of records", usage.Range(">= 2, <= 10000000"))
	f.Seed(&p.seed)
	f.String(&p.out, "output,o", "", "the file of `DATA` to write; - for standard output")
	f.Required("output")
	return cmd
}

// peopleReport is the result of `mustlink demo people`.
type peopleReport struct {
	Records int    `json:"records"`
	People  int    `json:"people"`
	Output  string `json:"output"`
}

func (r peopleReport) text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s of %d people\n", r.Output, fault.Count(r.Records, "record"), r.People)
}

func (p *peopleCommand) run(ctx context.Context, _ []string) error {
	eng, err := p.Engine()
	if err != nil {
		return err
	}
	const recordBytes = 640 // its texts, and the columns made of them
	if err := eng.Check("a table of "+fault.Count(p.records, "record"), recordBytes*int64(p.records),
		"use fewer --records"); err != nil {
		return err
	}
	d, err := dataset.People(p.records, p.seed)
	if err != nil {
		return err
	}
	columns := d.Points.(*points.Mixed).Columns
	row := make([]string, len(columns)+2)
	err = dataset.WriteTable(p.out, slices.Concat([]string{"id"}, d.Features, []string{"person"}),
		func(yield func([]string, error) bool) {
			for i, id := range d.IDs {
				row[0], row[len(row)-1] = id, d.Labels[i]
				for c := range columns {
					row[c+1] = ""
					if code := columns[c].Codes[i]; code >= 0 {
						row[c+1] = columns[c].Levels[code]
					}
				}
				if !yield(row, ctx.Err()) {
					return
				}
			}
		}, p.WritingText())
	if err != nil {
		return err
	}
	people := slices.Clone(d.Labels)
	slices.Sort(people)
	r := peopleReport{p.records, len(slices.Compact(people)), p.out}
	return p.Summarize(p.out, r, r.text)
}
