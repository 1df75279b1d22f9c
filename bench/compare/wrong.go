package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms/labelnoise"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

// Wrong measures how well wrong links are found, and how much quality comes back without them.
type Wrong struct {
	Systems  []string `json:"systems"`
	Measures []string `json:"measures"`
	Share    float64  `json:"share"` // of links that are wrong
	// one for each data set: a row for each system, a column for each measure
	Results  []*paper.Result `json:"results"`
	Missing  []string        `json:"missing,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Build    paper.Build     `json:"build"`
	Seconds  float64         `json:"seconds"`
}

const (
	wrongShare       = 0.1
	wrongRepetitions = 3
)

// wrongSystems are systems that learn from must-links and cannot-links alone.
func wrongSystems() []string { return []string{"npkl", "itml", "gml"} }

// The values of a system. With w wrong links: the share of wrong links among the w most suspicious;
// the number of links that are more likely wrong than not, divided by w; and the balanced Rand
// indices of training rows and held-out rows for five sets of links.
const (
	precision = iota
	likely
	firstRand
)

// The sets of links, in the order of the values.
const (
	cleanLinks = iota
	wrongLinks
	withoutMost
	withoutLikely
	reweighted
	linkSets
)

func setNames() []string {
	return []string{"all right", "some wrong", "without the most suspicious", "without the likely wrong",
		"weighted"}
}

// WrongMeasures returns the names of the columns of [RunWrong].
func WrongMeasures() []string {
	out := []string{"precision", "likely wrong, of wrong"}
	for _, name := range setNames() {
		out = append(out, name+", training", name+", held-out")
	}
	return out
}

// RunWrong gives a tenth of the links the other sign, ranks all links by how suspicious they are,
// and fits with and without suspicious links. If o.Systems is nil, the systems are npkl, itml and
// gml.
func RunWrong(ctx context.Context, eng *engine.Engine, o Options) (*Wrong, error) {
	if o.Systems == nil {
		o.Systems = wrongSystems()
	}
	var failed failures
	results, missing, err := o.run(ctx, eng, wrongRepetitions, func(s Set, systems []string) paper.Table {
		return wrongTable(s, systems, &failed)
	})
	if err != nil {
		return nil, err
	}
	w := &Wrong{Systems: o.Systems, Measures: WrongMeasures(), Share: wrongShare, Results: results,
		Missing: missing, Failures: failed.list, Build: results[0].Build}
	for _, r := range results {
		w.Seconds += r.Seconds
	}
	return w, nil
}

// wrongTable returns the table of a set.
func wrongTable(s Set, systems []string, failed *failures) paper.Table {
	t := paper.Table{
		Name: "wrong-" + s.Name, Label: "Wrong links", Caption: "suspicious links of " + s.Name,
		Columns: WrongMeasures(),
		Data:    s.Files, Steps: 1 + len(systems), Decimals: 3, Gaps: true, Repetitions: wrongRepetitions,
		Setup: append(setup(systems, Links{}), wrongSetup()), Revision: 2,
		Prepare: func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) {
			return s.read(t.Path)
		},
		Trial: func(ctx context.Context, eng *engine.Engine, t paper.Trial) ([][]float64, error) {
			return wrongTrial(ctx, eng, t, s, systems, failed)
		},
	}
	for _, name := range systems {
		t.Rows = append(t.Rows, paper.Row{Name: name, Printed: paper.Unprinted(len(t.Columns))})
	}
	return t
}

func wrongSetup() string {
	return fmt.Sprintf("%g %% of the links of each kind, rounded, have the other sign. The links are "+
		"scored by %s (with defaults, but twice the neighbors for npkl), each link by fits without it (ten "+
		"folds, "+
		"divided twice; three rounds, the later ones without the links that were most suspicious). \"The "+
		"most "+
		"suspicious\" are as many links as are wrong; precision is the share of wrong links among them.",
		100*wrongShare, strings.Join(labelnoise.Metrics(), ", "))
}

// wrongTrial is a repetition: all sets of links and all systems have the same halves and pairs.
func wrongTrial(ctx context.Context, eng *engine.Engine, t paper.Trial, s Set, systems []string,
	failed *failures) ([][]float64, error) {
	training, heldOut, err := t.Shared.(*rows).halves(ctx, eng, maxRows, t.Seed(0))
	if err != nil {
		return nil, err
	}
	found, sets, err := sortOut(ctx, eng, training, t)
	if err != nil {
		return nil, err
	}
	t.Step()
	values := make([][]float64, len(systems))
	for i, system := range systems {
		values[i] = append(values[i], found...)
		for _, set := range sets {
			p := &problem{training, heldOut, set, t.Seed(2)}
			v, err := p.measured(ctx, eng, system, s.Name, t.Number, failed)
			if err != nil {
				return nil, err
			}
			values[i] = append(values[i], v[trainingRand:trainingRand+perDraw]...)
		}
		t.Step()
	}
	return values, nil
}

// sortOut draws links of which some are wrong, and ranks them. It returns the precision and the
// number of likely wrong links, and the sets of links to learn from.
func sortOut(ctx context.Context, eng *engine.Engine, training half,
	t paper.Trial) (found []float64, sets []*links.Set, err error) {
	sets = make([]*links.Set, linkSets)
	total := int(linksPerRow*float64(training.x.N) + 0.5)
	for k, share := range map[int]float64{cleanLinks: 0, wrongLinks: wrongShare} {
		if sets[k], err = drawLinks(training.labels, total, share, t.Seed(1)); err != nil {
			return nil, nil, err
		}
	}
	o, err := labelnoise.DefaultOptions(t.Seed(3))
	if err != nil {
		return nil, nil, err
	}
	r, err := labelnoise.Rank(ctx, eng, training.x, sets[wrongLinks], o)
	if err != nil {
		return nil, nil, err
	}
	against := func(list []labelnoise.RankedLink) (count int) {
		for _, s := range list {
			if (training.labels[s.Link.I] == training.labels[s.Link.J]) != (s.Link.Sign == links.Must) {
				count++
			}
		}
		return count
	}
	wrong, likely := against(r.Links), 0
	for _, s := range r.Links {
		if s.Score > 0 { // more likely wrong than right
			likely++
		}
	}
	found = []float64{math.NaN(), math.NaN()}
	if wrong > 0 {
		found = []float64{float64(against(r.Links[:wrong])) / float64(wrong),
			float64(likely) / float64(wrong)}
	}
	if sets[withoutMost], err = r.Without(wrong); err != nil {
		return nil, nil, err
	}
	if sets[withoutLikely], err = r.Without(min(likely, len(r.Links)-1)); err != nil {
		return nil, nil, err
	}
	sets[reweighted], err = r.Reweighted()
	return found, sets, err
}

// randColumn returns the column of the balanced Rand index for a set of links.
func randColumn(set int, heldOut bool) int { return firstRand + column(set, heldOut) }

// mean returns the mean of a column over the sets on which the system did not fail.
func (w *Wrong) mean(system, col int) float64 { return columnMean(w.Results, system, col) }

// columnMean returns the mean of a column over the sets on which the system did not fail.
func columnMean(results []*paper.Result, system, col int) float64 {
	return setMean(results, func(r *paper.Result) float64 { return r.Ours[system][col].Mean })
}

// setMean returns the mean of a value over the sets on which it is not NaN.
func setMean(results []*paper.Result, value func(*paper.Result) float64) float64 {
	sum, count := 0.0, 0
	for _, r := range results {
		if v := value(r); !math.IsNaN(v) {
			sum, count = sum+v, count+1
		}
	}
	return sum / float64(count)
}

// Markdown returns the page.
func (w *Wrong) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Wrong links: %g %% of them, found and left out\n\n", 100*w.Share)
	fmt.Fprintf(&b, "Means over %d data sets, repetitions: %d. Of the most suspicious links, as many as "+
		"there are wrong links, a share of %.3f is wrong (median over the sets %.3f; at random it would be "+
		"%g). "+
		"For every wrong link, %.2f links are reported as likely wrong.\n\n",
		len(w.Results), w.Results[0].Repetitions, w.mean(0, precision), w.median(precision), w.Share,
		w.mean(0, likely))
	for _, heldOut := range []bool{true, false} {
		name := "training"
		if heldOut {
			name = "held-out"
		}
		fmt.Fprintf(&b, "## Balanced Rand index of %s rows\n\n| system | %s |\n| --- |%s\n", name,
			strings.Join(setNames(), " | "), strings.Repeat(" ---: |", linkSets))
		for i, system := range w.Systems {
			fmt.Fprintf(&b, "| %s |", system)
			for k := range linkSets {
				fmt.Fprintf(&b, " %s |", number(w.mean(i, randColumn(k, heldOut)), false))
			}
			b.WriteByte('\n')
		}
		b.WriteString("\nShare of the loss from wrong links that comes back:\n\n| system | " +
			strings.Join(setNames()[withoutMost:], " | ") + " |\n| --- |" +
			strings.Repeat(" ---: |", linkSets-withoutMost) + "\n")
		for i, system := range w.Systems {
			fmt.Fprintf(&b, "| %s |", system)
			lost := w.mean(i, randColumn(cleanLinks, heldOut)) - w.mean(i, randColumn(wrongLinks, heldOut))
			for k := withoutMost; k < linkSets; k++ {
				fmt.Fprintf(&b, " %.2f |",
					(w.mean(i, randColumn(k, heldOut))-w.mean(i, randColumn(wrongLinks, heldOut)))/lost)
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	w.bySet(&b)
	provenance(&b, "wrong", w.Results, w.Missing, w.Build, w.Seconds)
	return b.String()
}

// bySet writes the precision and the indices of held-out rows for every set, with the links all
// right, some wrong, and without the most suspicious.
func (w *Wrong) bySet(b *strings.Builder) {
	fmt.Fprintf(b, "## By data set\n\nHeld-out rows, links all right / some wrong / without the most "+
		"suspicious.\n\n| set | precision | %s |\n| --- | ---: |%s\n", strings.Join(w.Systems, " | "),
		strings.Repeat(" ---: |", len(w.Systems)))
	for _, r := range w.Results {
		fmt.Fprintf(b, "| %s | %s |", strings.TrimPrefix(r.Table.Name, "wrong-"),
			number(r.Ours[0][precision].Mean, false))
		for i := range w.Systems {
			var parts []string
			for _, k := range []int{cleanLinks, wrongLinks, withoutMost} {
				parts = append(parts, number(r.Ours[i][randColumn(k, true)].Mean, false))
			}
			fmt.Fprintf(b, " %s |", strings.Join(parts, " / "))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// median returns the median of a column of the first system over the sets.
func (w *Wrong) median(col int) float64 {
	var values []float64
	for _, r := range w.Results {
		if v := r.Ours[0][col].Mean; !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	if len(values) == 0 {
		return math.NaN()
	}
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
