// Package queries measures how many queries active learning saves: the labels answer the queries,
// and metrics learned from suggested pairs are compared with metrics learned from random pairs.
package queries

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/activelearning"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/bench/system"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
	"github.com/mustlink/mustlink/engine/score"
)

// Options are the settings of a measurement.
type Options struct {
	Data        string   // folder of the data sets
	Sets        []string // the names of the data sets; nil: Sets
	System      string   // a method, with parameters that differ from its defaults; "": npkl
	Classes     bool     // active learning gets the number of classes, as clustering does
	Repetitions int      // 0: 5
	Seed        uint64
	Progress    algorithms.ProgressFunc
}

// Sets returns the names of the small sets.
func Sets() []string {
	return []string{"iris", "wine", "ionosphere", "glass", "sonar", "heart", "protein", "soybean-small"}
}

const (
	// linksPerRow times the rows of a set is the number of random pairs, half of them within a
	// class if the set has that many.
	linksPerRow = 1.2
	// steps is the number of parts into which the queries are divided; there is a score after each.
	steps              = 20
	defaultRepetitions = 5
	defaultSystem      = "npkl"
	restarts           = 10
)

// Curve is the result for one set: balanced Rand indices of k-means on all rows, as means over the
// repetitions.
type Curve struct {
	Set       string    `json:"set"`
	Rows      int       `json:"rows"`
	Classes   int       `json:"classes"`
	Questions int       `json:"questions"` // the number of random pairs
	Random    float64   `json:"random"`
	Uniform   float64   `json:"uniform"`   // for as many pairs, drawn from all
	Suggested []float64 `json:"suggested"` // after 1/20, 2/20, ... of the queries
	// share of queries after which suggested pairs are as good as random ones; 2 for more than all
	Needed float64 `json:"needed"`
}

// Result is the result for all sets.
type Result struct {
	System      string  `json:"system"`
	Classes     bool    `json:"classes_known"`
	Repetitions int     `json:"repetitions"`
	Curves      []Curve `json:"curves"`
	Seconds     float64 `json:"seconds"`
}

// never stands for a share of queries that is unknown because all queries are not enough.
const never = 2

// Run measures all sets. It fails for unknown methods, for files that it cannot read, and where the
// method fails.
func Run(ctx context.Context, eng *engine.Engine, o Options) (*Result, error) {
	if o.Sets == nil {
		o.Sets = Sets()
	}
	if o.System == "" {
		o.System = defaultSystem
	}
	if o.Repetitions == 0 {
		o.Repetitions = defaultRepetitions
	}
	begin := time.Now()
	r := &Result{System: o.System, Classes: o.Classes, Repetitions: o.Repetitions}
	for k, name := range o.Sets {
		set, err := read(filepath.Join(o.Data, name+".csv"))
		if err != nil {
			return nil, err
		}
		c := Curve{Set: name, Rows: set.x.N, Classes: set.classes,
			Questions: int(linksPerRow*float64(set.x.N) + 0.5), Suggested: make([]float64, steps)}
		for repetition := range o.Repetitions {
			t := &trial{set, eng, o, o.Seed + uint64(repetition)}
			if err := t.add(ctx, &c); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			o.Progress.Report(algorithms.Progress{Stage: name, Done: k*o.Repetitions + repetition + 1,
				Total: len(o.Sets) * o.Repetitions, Elapsed: time.Since(begin)})
		}
		c.Needed = needed(c.Random, c.Suggested)
		r.Curves = append(r.Curves, c)
	}
	r.Seconds = time.Since(begin).Seconds()
	return r, nil
}

// needed returns the first share of queries at which a curve reaches a score.
func needed(score float64, curve []float64) float64 {
	at := slices.IndexFunc(curve, func(v float64) bool { return v >= score })
	if at < 0 {
		return never
	}
	return float64(at+1) / float64(len(curve))
}

// data is a set in memory, standardized.
type data struct {
	x       *points.Dense
	labels  []string
	classes int
}

func read(path string) (*data, error) {
	d, err := dataset.Read(path, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	if d.Labels == nil {
		return nil, fault.Data(path, "no labels: want a column label")
	}
	scaling, _, err := prepare.Standardize(d.Points)
	if err != nil {
		return nil, err
	}
	x, err := scaling.Apply(d.Points)
	if err != nil {
		return nil, err
	}
	dense, ok := x.(*points.Dense)
	if !ok {
		return nil, fault.Data(path, "rows are %T: want vectors of numbers", x)
	}
	classes := slices.Compact(slices.Sorted(slices.Values(d.Labels)))
	return &data{dense, d.Labels, len(classes)}, nil
}

// trial is one repetition on one set.
type trial struct {
	*data
	eng  *engine.Engine
	o    Options
	seed uint64
}

// add adds the part of the trial to the means.
func (t *trial) add(ctx context.Context, c *Curve) error {
	part := 1 / float64(t.o.Repetitions)
	for _, arm := range []struct {
		draw func(int) (*links.Set, error)
		mean *float64
	}{{t.halves, &c.Random}, {t.uniform, &c.Uniform}} {
		set, err := arm.draw(c.Questions)
		if err != nil {
			return err
		}
		v, err := t.score(ctx, set)
		if err != nil {
			return err
		}
		*arm.mean += part * v
	}
	none, err := links.New(t.x.N, nil)
	if err != nil {
		return err
	}
	options := activelearning.Options{Seed: t.seed}
	if t.o.Classes {
		options.Classes = t.classes
	}
	session, err := activelearning.New(blas.MatrixOf(t.x.N, t.x.D, t.x.Data), none, options)
	if err != nil {
		return err
	}
	asked := 0
	for k := range steps {
		for ; asked < (k+1)*c.Questions/steps; asked++ {
			q, ok := session.Next()
			if !ok {
				break
			}
			if err := session.Answer(t.link(q.I, q.J)); err != nil {
				return err
			}
		}
		set, err := links.New(t.x.N, session.Links())
		if err != nil {
			return err
		}
		v, err := t.score(ctx, set)
		if err != nil {
			return err
		}
		c.Suggested[k] += part * v
	}
	return nil
}

// link returns the link between two rows that their labels imply.
func (t *trial) link(i, j int) links.Link {
	if t.labels[i] == t.labels[j] {
		return links.NewLink(i, j, links.Must)
	}
	return links.NewLink(i, j, links.Cannot)
}

// halves draws pairs, half of them within a class.
func (t *trial) halves(count int) (*links.Set, error) {
	count = min(count, t.x.N*(t.x.N-1)/2)
	return links.SampleByCount(t.labels, (count+1)/2, count/2, t.seed)
}

// uniform draws from all pairs.
func (t *trial) uniform(count int) (*links.Set, error) {
	one := make([]string, t.x.N)
	for i := range one {
		one[i] = "row"
	}
	pairs, err := links.SampleByCount(one, count, 0, t.seed)
	if err != nil {
		return nil, err
	}
	var list []links.Link
	for _, p := range pairs.Must() {
		list = append(list, t.link(p.I, p.J))
	}
	return links.New(t.x.N, list)
}

// score fits with the closure of links, and returns the balanced Rand index of k-means on all rows.
func (t *trial) score(ctx context.Context, set *links.Set) (float64, error) {
	closed, err := set.Closure()
	if err != nil {
		return 0, err
	}
	method, values, err := system.Parse(t.o.System)
	if err != nil {
		return 0, err
	}
	learner, err := system.Learner(method, values, t.seed)
	if err != nil {
		return 0, err
	}
	m, err := learner.Fit(ctx, t.eng, t.x, closed)
	if err != nil {
		return 0, err
	}
	y, err := m.Embed(ctx, t.eng, t.x)
	if err != nil {
		return 0, err
	}
	r, err := cluster.KMeans(ctx, t.eng, y, cluster.Params{K: t.classes, Restarts: restarts, Seed: t.seed})
	if err != nil {
		return 0, err
	}
	return score.BalancedRand(t.labels, r.Labels)
}

// Median returns the median over the sets of the share of queries that active learning needs.
func (r *Result) Median() float64 {
	var all []float64
	for _, c := range r.Curves {
		all = append(all, c.Needed)
	}
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// Markdown returns the page.
func (r *Result) Markdown() string {
	var b strings.Builder
	known := "not known"
	if r.Classes {
		known = "known"
	}
	fmt.Fprintf(&b, "# Queries that active learning saves: %s, number of classes %s\n\n", r.System, known)
	fmt.Fprintf(&b, "Active learning needs %s of the queries (median over %d sets, means of %d "+
		"repetitions) to be as good as %g random pairs per row, half of them within a class. ",
		share(r.Median()), len(r.Curves), r.Repetitions, linksPerRow)
	b.WriteString("Balanced Rand index of k-means on all rows; both fit with the closure of their links. " +
		"Uniform pairs are drawn from all pairs.\n\n")
	b.WriteString("| set | rows | classes | random | uniform | 20 % | 30 % | 40 % | 50 % | 75 % | 100 % | " +
		"needed |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, c := range r.Curves {
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %.3f |", c.Set, c.Rows, c.Classes, c.Random, c.Uniform)
		for _, percent := range []int{20, 30, 40, 50, 75, 100} {
			fmt.Fprintf(&b, " %.3f |", c.Suggested[percent*steps/100-1])
		}
		fmt.Fprintf(&b, " %s |\n", share(c.Needed))
	}
	return b.String()
}

// share returns a share of the queries as text.
func share(v float64) string {
	if v > 1 {
		return "more than all"
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}
