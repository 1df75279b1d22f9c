package compare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/bench/statistics"
	"github.com/mustlink/mustlink/bench/system"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Pairs says how well metrics find rows of the same class in many dimensions, from few links.
type Pairs struct {
	Systems []string          `json:"systems"`
	Budgets []int             `json:"budgets"` // must-links, and as many cannot-links
	Results [][]*paper.Result `json:"results"` // by budget and data set: rows are systems
	Missing []string          `json:"missing,omitempty"`
	// Failures are rows without values.
	Failures []Failure   `json:"failures,omitempty"`
	Build    paper.Build `json:"build"`
	Seconds  float64     `json:"seconds"`
}

// Budgets returns the numbers of must-links of [RunPairs].
func Budgets() []int { return []int{30, 100, 500, 2000} }

// The systems that only [RunPairs] knows.
const (
	centered  = "centered unit"
	infoNCE   = "adapter"
	shrunkLDA = "components LDA"
	standard  = "default"
)

// linear is the linear part of the default for embeddings.
const linear = baseline.AdaptMethod

// pairSystems are the systems of [RunPairs].
func pairSystems() []string {
	return []string{Raw, centered, "covariance", infoNCE, shrunkLDA, "xrca", "xrca shrink=true", "itml",
		linear, standard}
}

// pairSets are the sets of [RunPairs]: those with at least 256 features.
func pairSets() []Set {
	sets := []Set{intents()}
	for _, s := range Sets() {
		if s.kind == texts || slices.Contains([]string{"coil20", "isolet-1560", "mnist", "usps"}, s.Name) {
			sets = append(sets, s)
		}
	}
	return sets
}

// PairSetNames returns the names of the data sets of [RunPairs].
func PairSetNames() (names []string) {
	for _, s := range pairSets() {
		names = append(names, s.Name)
	}
	return names
}

const (
	pairRepetitions = 3
	// pairRows is the maximum number of rows of a set that are no embeddings, queryRows that of the
	// held-out rows that are queries, and pairSample that of pairs of either kind for the AUC.
	pairRows, queryRows, pairSample = 2000, 2500, 10000
)

// The values of a system.
const (
	pairAUC = iota
	nearest
	nearest10
	meanPrecision
	pairSeconds
	pairMeasures
)

func pairNames() []string { return []string{"AUC", "P@1", "P@10", "MAP", "fit, s"} }

// RunPairs fits metrics to half of the rows of every set with few links, and scores searches among
// the other half. If budgets is nil, they are those of [Budgets].
func RunPairs(ctx context.Context, eng *engine.Engine, o Options, budgets []int) (*Pairs, error) {
	if budgets == nil {
		budgets = Budgets()
	}
	for _, b := range budgets {
		if b < 1 {
			return nil, &fault.ParamError{Param: "budgets", Value: b,
				Want: "numbers of must-links, from 1 on"}
		}
	}
	var missing []string
	if o.Sets == nil {
		for _, s := range pairSets() {
			switch there, err := s.there(o.Data); {
			case err != nil:
				return nil, err
			case there:
				o.Sets = append(o.Sets, s.Name)
			default:
				missing = append(missing, s.Name)
			}
		}
		if o.Sets == nil {
			return nil, &fault.ParamError{Param: "folder of data sets", Value: o.Data,
				Want: "the folder that holds " + intents().Files[0] + " and others"}
		}
	}
	if o.Systems == nil {
		o.Systems = pairSystems()
	}
	o.rivals = []string{centered, infoNCE, shrunkLDA, standard}
	p, report := &Pairs{Systems: o.Systems, Budgets: budgets, Missing: missing}, o.Progress
	var failed failures
	for k, budget := range budgets {
		o.Progress = func(q algorithms.Progress) {
			q.Done, q.Total = q.Done+k*q.Total, q.Total*len(budgets)
			report.Report(q)
		}
		results, _, err := o.run(ctx, eng, pairRepetitions, func(s Set, systems []string) paper.Table {
			return pairTable(s, systems, budget, &failed)
		})
		if err != nil {
			return nil, err
		}
		p.Results, p.Build = append(p.Results, results), results[0].Build
		for _, r := range results {
			p.Seconds += r.Seconds
		}
	}
	p.Failures = failed.list
	return p, nil
}

// pairTable returns the table of a set and a number of links.
func pairTable(s Set, systems []string, budget int, failed *failures) paper.Table {
	t := paper.Table{
		Name: fmt.Sprintf("pairs-%s-%d", s.Name, budget), Label: "Pairs",
		Caption: fmt.Sprintf("%d must-links and as many cannot-links on %s", budget, s.Name),
		Columns: pairNames(), Data: s.Files, Steps: len(systems), Decimals: 3, Gaps: true,
		Repetitions: pairRepetitions, Setup: pairSetup(), Revision: 1,
		Prepare: func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) {
			return s.read(t.Path)
		},
		Trial: func(ctx context.Context, eng *engine.Engine, t paper.Trial) ([][]float64, error) {
			return pairTrial(ctx, eng, t, s, systems, budget, failed)
		},
	}
	for _, name := range systems {
		t.Rows = append(t.Rows, paper.Row{Name: name, Printed: paper.Unprinted(len(t.Columns))})
	}
	return t
}

func pairSetup() []string {
	a := defaultAdapter()
	return []string{
		fmt.Sprintf("Rows: embeddings are taken as they are, all rows. Of another set at most %d are drawn; "+
			"words are weighted by inverse document frequency, and the %d leading principal coordinates of "+
			"the training rows replace features. Half of the rows, drawn again in every repetition, are "+
			"training rows. Links are drawn from all pairs of them.", pairRows, fewFeatures),
		fmt.Sprintf("Scores: of the held-out rows, at most %d, and at most two fifths, are queries; they "+
			"search the others. P@1 and P@10 are the shares of their class among the nearest one and the ten "+
			"nearest, MAP is the mean average precision. AUC: at most %d pairs of held-out rows of the same "+
			"class against as many of different classes.", queryRows, pairSample),
		"Input: adapt and the default get the rows. All others get embeddings minus the mean, at unit " +
			"length; the adapter gets all sets so. Covariance is whitening.",
		fmt.Sprintf("adapter: a matrix that begins at the identity, coordinates of unit length, "+
			"temperature %g, batches of %d must-links, Adam with rate %g, at most %d epochs, stopped after "+
			"%d without progress on a fifth of the links.", a.Temperature, a.Batch, a.Rate, a.Epochs, a.Patience),
		"components LDA: linear discriminant analysis whose classes are the components of the " +
			"must-links, with the shrinkage of Ledoit and Wolf.",
	}
}

// pairTrial is a repetition. All numbers of links have the same halves.
func pairTrial(ctx context.Context, eng *engine.Engine, t paper.Trial, s Set, systems []string, budget int,
	failed *failures) ([][]float64, error) {
	r, limit := t.Shared.(*rows), pairRows
	if r.kind == embeddings {
		limit = r.x.Len()
	}
	training, heldOut, err := r.halves(ctx, eng, limit, t.Seed(0))
	if err != nil {
		return nil, err
	}
	same, different := pairsOf(training.labels)
	set, err := links.SampleByCount(training.labels, min(budget, same), min(budget, different), t.Seed(1))
	if err != nil {
		return nil, err
	}
	p := &problem{training, heldOut, set, t.Seed(2)}
	values := make([][]float64, len(systems))
	for i, name := range systems {
		values[i] = slices.Repeat([]float64{math.NaN()}, pairMeasures)
		y, seconds, err := p.searched(ctx, eng, name, r.kind)
		if err == nil {
			err = p.searches(ctx, eng, y, values[i])
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed.add(s.Name, name, t.Number, err)
		}
		values[i][pairSeconds] = seconds
		t.Step()
	}
	return values, nil
}

// searched returns the coordinates of the held-out rows by a system, and the seconds of its fit.
func (p *problem) searched(ctx context.Context, eng *engine.Engine, name string,
	of kind) (y blas.Matrix, seconds float64, err error) {
	x := []*points.Dense{p.training.x, p.heldOut.x}
	if name == infoNCE || name == centered || of == embeddings && !slices.Contains([]string{Raw, linear,
		standard}, name) {
		x = centeredUnit(x[0], x...)
	}
	start := time.Now()
	var model algorithms.Model
	switch name {
	case Raw, centered:
		return blas.MatrixOf(x[1].N, x[1].D, x[1].Data), 0, nil
	case infoNCE:
		w, err := defaultAdapter().learn(ctx, eng.Backend(), x[0], p.links.Must(), p.seed)
		return mapped(eng, x[1], w, true), time.Since(start).Seconds(), err
	case shrunkLDA:
		w, err := componentsLDA(ctx, eng, x[0], p.links)
		if err != nil {
			return w, 0, err
		}
		return mapped(eng, x[1], w, false), time.Since(start).Seconds(), nil
	case standard:
		model, err = p.byDefault(ctx, eng)
	default:
		l, e := learner(name, p.seed, classes(p.training.labels))
		if e != nil {
			return y, 0, e
		}
		model, err = l.Fit(ctx, eng, x[0], p.links)
	}
	if err != nil {
		return y, 0, err
	}
	seconds = time.Since(start).Seconds()
	y, err = model.Embed(ctx, eng, x[1])
	return y, seconds, err
}

// byDefault fits the method that is chosen when nobody names one.
func (p *problem) byDefault(ctx context.Context, eng *engine.Engine) (algorithms.Model, error) {
	c, err := catalog.Choose(p.links, algorithms.Lesson{})
	if err != nil {
		return nil, err
	}
	c = c.Among(eng, p.training.x, p.links, false)
	l, err := system.Learner(c.Method.Name, c.Params, p.seed)
	if err != nil {
		return nil, err
	}
	return l.Fit(ctx, eng, p.training.x, p.links)
}

// searches writes the quality of searches among the held-out rows.
func (p *problem) searches(ctx context.Context, eng *engine.Engine, y blas.Matrix, out []float64) error {
	labels := p.heldOut.labels
	same, different := pairsOf(labels)
	n := min(pairSample, same, different)
	set, err := links.SampleByCount(labels, n, n, p.seed)
	if err != nil {
		return err
	}
	var distances []float64
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		distances = append(distances, points.SquaredDistance(y.Row(l.I), y.Row(l.J)))
	}
	if at := slices.IndexFunc(distances, math.IsNaN); at >= 0 {
		return fault.Data("", "a distance is not a number")
	}
	sum := 0.0 // of the ranks of different classes
	for _, rank := range statistics.Ranks(distances)[n:] {
		sum += rank
	}
	out[pairAUC] = (sum/float64(n) - float64(n+1)/2) / float64(n)

	order := rand.New(rand.NewPCG(p.seed, 1)).Perm(y.Rows)
	queries := order[:min(queryRows, 2*y.Rows/5)]
	found := make([][precisions]float64, len(queries))
	answered := make([]float64, len(queries))
	err = eng.Each(ctx, len(queries), 16, func(k int) {
		var near, far []float64
		i := queries[k]
		for _, j := range order[len(queries):] {
			if d := points.SquaredDistance(y.Row(i), y.Row(j)); labels[i] == labels[j] {
				near = append(near, d)
			} else {
				far = append(far, d)
			}
		}
		if len(near) > 0 {
			found[k], answered[k] = retrieved(near, far), 1
		}
	})
	total := 0.0
	for k := range found {
		total += answered[k]
	}
	for m := range precisions {
		out[nearest+m] = 0
		for k := range found {
			out[nearest+m] += found[k][m] / max(total, 1)
		}
	}
	return err
}

// Markdown returns the page.
func (p *Pairs) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Pairs on embeddings and in many dimensions\n\nMetrics from few links, scored by searches "+
		"among rows that no fit has seen: means of %d draws of rows and links, with standard errors. "+
		"\"m + m links\" are m must-links and m cannot-links.\n\n", p.Results[0][0].Repetitions)
	p.summary(&b)
	for s, r := range p.Results[0] {
		fmt.Fprintf(&b, "## %s\n\n", pairSet(r))
		for k, budget := range p.Budgets {
			p.table(&b, p.Results[k][s], budget)
		}
	}
	for _, f := range p.Failures {
		fmt.Fprintf(&b, "- %s failed on %s: %s\n", f.System, f.Set, f.Error)
	}
	var sets []string
	for _, r := range p.Results[0] {
		sets = append(sets, pairSet(r))
	}
	provenance(&b, "pairs --sets "+strings.Join(sets, ","), slices.Concat(p.Results...), p.Missing,
		p.Build, p.Seconds)
	return b.String()
}

// pairSet returns the name of the set of a result.
func pairSet(r *paper.Result) string {
	name := strings.TrimPrefix(r.Table.Name, "pairs-")
	return name[:strings.LastIndexByte(name, '-')]
}

func (p *Pairs) table(b *strings.Builder, r *paper.Result, budget int) {
	fmt.Fprintf(b, "| %d + %d links | %s |\n| --- |%s\n", budget, budget, strings.Join(pairNames(), " | "),
		strings.Repeat(" ---: |", pairMeasures))
	for i, system := range p.Systems {
		fmt.Fprintf(b, "| %s |", system)
		for m := range pairMeasures {
			v := r.Ours[i][m]
			fmt.Fprintf(b, " %s", number(v.Mean, m == pairSeconds))
			if m < pairSeconds && !math.IsNaN(v.SD) {
				fmt.Fprintf(b, " ± %.3f", v.SD/math.Sqrt(float64(r.Repetitions)))
			}
			b.WriteString(" |")
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// summary says in three sentences how the default compares with the rows and with the adapter.
func (p *Pairs) summary(b *strings.Builder) {
	at := func(name string) int { return slices.Index(p.Systems, name) }
	raw, rival, part, ours := at(Raw), at(infoNCE), at(linear), at(standard)
	if min(raw, rival, part, ours) < 0 {
		return
	}
	cells, harmed, means, ahead := 0, 0, 0, 0
	for k := range p.Budgets {
		for _, r := range p.Results[k] {
			for m := range pairSeconds {
				cells++
				if !(r.Ours[ours][m].Mean >= max(r.Ours[raw][m].Mean, r.Ours[rival][m].Mean)-.005) {
					harmed++
				}
			}
			means++
			if r.Ours[part][meanPrecision].Mean > r.Ours[rival][meanPrecision].Mean {
				ahead++
			}
		}
	}
	fmt.Fprintf(b, "Over all sets, numbers of links and four measures, the default is more than .005 below the "+
		"better of the rows and the adapter in %d of %d means. The linear part, adapt, is ahead of the adapter "+
		"in MAP in %d of %d. MAP of raw points; adapter / default:\n\n| set | raw points |", harmed, cells, ahead,
		means)
	for _, budget := range p.Budgets {
		fmt.Fprintf(b, " %d + %d links |", budget, budget)
	}
	b.WriteString("\n| --- | ---: |" + strings.Repeat(" ---: |", len(p.Budgets)) + "\n")
	for s, r := range p.Results[0] {
		score := func(k, system int) string {
			return number(p.Results[k][s].Ours[system][meanPrecision].Mean, false)
		}
		fmt.Fprintf(b, "| %s | %s |", pairSet(r), score(0, raw)) // no link changes it
		for k := range p.Budgets {
			fmt.Fprintf(b, " %s / %s |", score(k, rival), score(k, ours))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}
