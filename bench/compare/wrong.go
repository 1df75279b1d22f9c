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

// Wrong says how well wrong links are found, and what leaving them out gives back.
type Wrong struct {
	Systems  []string        `json:"systems"`
	Measures []string        `json:"measures"`
	Share    float64         `json:"share"`   // of links that are wrong
	Results  []*paper.Result `json:"results"` // one a data set: systems are rows, measures columns
	Missing  []string        `json:"missing,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Build    paper.Build     `json:"build"`
	Seconds  float64         `json:"seconds"`
}

const (
	wrongShare       = 0.1
	wrongRepetitions = 3
)

// wrongSystems are those that learn from pairs of both kinds, without others.
func wrongSystems() []string { return []string{"npkl", "itml", "gml"} }

// The figures of a system: how many of the first links, as many as are wrong, are; how many links
// are more likely wrong than not, for each that is; and balanced Rand indices of seen and unseen
// rows for five sets of links.
const (
	precision = iota
	likely
	firstRand
)

// The sets of links, in the order of the figures.
const (
	cleanLinks = iota
	wrongLinks
	withoutMost
	withoutLikely
	reweighted
	linkSets
)

func setNames() []string {
	return []string{"all right", "some wrong", "without the most suspicious", "without the likely wrong", "weighed"}
}

// WrongMeasures names the figures of [RunWrong].
func WrongMeasures() []string {
	out := []string{"precision", "likely wrong, of wrong"}
	for _, name := range setNames() {
		out = append(out, name+", seen", name+", unseen")
	}
	return out
}

// RunWrong gives a tenth of the links the other sign, asks which they are, and learns with and
// without them. Without o.Systems it takes npkl, itml and gml.
func RunWrong(ctx context.Context, eng *engine.Engine, o Options) (*Wrong, error) {
	if o.Systems == nil {
		o.Systems = wrongSystems()
	}
	var failed failures
	results, missing, err := o.run(ctx, eng, wrongRepetitions, func(s Set, systems []string) paper.Table { return wrongTable(s, systems, &failed) })
	if err != nil {
		return nil, err
	}
	w := &Wrong{Systems: o.Systems, Measures: WrongMeasures(), Share: wrongShare, Results: results, Missing: missing, Failures: failed.list, Build: results[0].Build}
	for _, r := range results {
		w.Seconds += r.Seconds
	}
	return w, nil
}

// wrongTable is the part of one set.
func wrongTable(s Set, systems []string, failed *failures) paper.Table {
	t := paper.Table{
		Name: "wrong-" + s.Name, Label: "Wrong links", Caption: "suspicious links of " + s.Name, Columns: WrongMeasures(),
		Data: s.Files, Steps: 1 + len(systems), Decimals: 3, Gaps: true, Repetitions: wrongRepetitions, Setup: append(setup(systems), wrongSetup()), Revision: 2,
		Prepare: func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) { return s.read(t.Path) },
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
	return fmt.Sprintf("%g %% of either kind of links, rounded, have the other sign; they are judged by %s (defaults, but for twice the neighbors of npkl), each link by fits without it (ten folds, divided twice; three rounds, the later ones without what was most suspicious). The most suspicious are as many as are wrong; precision is how many of them are.", 100*wrongShare, strings.Join(labelnoise.Metrics(), ", "))
}

// wrongTrial is a repetition: the same halves and pairs for all sets of links and systems.
func wrongTrial(ctx context.Context, eng *engine.Engine, t paper.Trial, s Set, systems []string, failed *failures) ([][]float64, error) {
	seen, unseen, err := t.Shared.(*rows).halves(ctx, eng, mostRows, t.Seed(0))
	if err != nil {
		return nil, err
	}
	found, sets, err := sortOut(ctx, eng, seen, t)
	if err != nil {
		return nil, err
	}
	t.Step()
	values := make([][]float64, len(systems))
	for i, system := range systems {
		values[i] = append(values[i], found...)
		for _, set := range sets {
			p := &problem{seen, unseen, set, t.Seed(2)}
			v, err := p.noted(ctx, eng, system, s.Name, t.Number, failed)
			if err != nil {
				return nil, err
			}
			values[i] = append(values[i], v[seenRand:seenRand+perDraw]...)
		}
		t.Step()
	}
	return values, nil
}

// sortOut draws links with wrong ones, judges them and returns what was found, and the sets of
// links to learn from.
func sortOut(ctx context.Context, eng *engine.Engine, seen half, t paper.Trial) (found []float64, sets []*links.Set, err error) {
	sets = make([]*links.Set, linkSets)
	total := int(linksPerRow*float64(seen.x.N) + 0.5)
	for k, share := range map[int]float64{cleanLinks: 0, wrongLinks: wrongShare} {
		if sets[k], err = drawLinks(seen.labels, total, share, t.Seed(1)); err != nil {
			return nil, nil, err
		}
	}
	o, err := labelnoise.DefaultOptions(t.Seed(3))
	if err != nil {
		return nil, nil, err
	}
	r, err := labelnoise.Rank(ctx, eng, seen.x, sets[wrongLinks], o)
	if err != nil {
		return nil, nil, err
	}
	against := func(list []labelnoise.RankedLink) (count int) {
		for _, s := range list {
			if (seen.labels[s.Link.I] == seen.labels[s.Link.J]) != (s.Link.Sign == links.Must) {
				count++
			}
		}
		return count
	}
	wrong := against(r.Links)
	found = []float64{math.NaN(), math.NaN()}
	if wrong > 0 {
		found = []float64{float64(against(r.Links[:wrong])) / float64(wrong), float64(r.Likely()) / float64(wrong)}
	}
	if sets[withoutMost], err = r.Without(wrong); err != nil {
		return nil, nil, err
	}
	if sets[withoutLikely], err = r.Without(min(r.Likely(), len(r.Links)-1)); err != nil {
		return nil, nil, err
	}
	sets[reweighted], err = r.Reweighted()
	return found, sets, err
}

// randColumn is the column of the balanced Rand index of a set of links.
func randColumn(set int, unseen bool) int { return firstRand + column(set, unseen) }

// mean returns the mean of a column over the sets on which the system did not fail.
func (w *Wrong) mean(system, col int) float64 { return columnMean(w.Results, system, col) }

// columnMean returns the mean of a column over the sets on which the system did not fail.
func columnMean(results []*paper.Result, system, col int) float64 {
	return setMean(results, func(r *paper.Result) float64 { return r.Ours[system][col].Mean })
}

// setMean returns the mean of a figure over the sets that have it; on the others it is NaN.
func setMean(results []*paper.Result, figure func(*paper.Result) float64) float64 {
	sum, count := 0.0, 0
	for _, r := range results {
		if v := figure(r); !math.IsNaN(v) {
			sum, count = sum+v, count+1
		}
	}
	return sum / float64(count)
}

// Markdown returns the page.
func (w *Wrong) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Wrong links: %g %% of them, found and left out\n\n", 100*w.Share)
	fmt.Fprintf(&b, "Means over %d data sets, repetitions: %d. Of the most suspicious links, as many as are wrong, %.3f are wrong (median over the sets %.3f; drawn at random %g would be); for every wrong link %.2f are called likely wrong.\n\n",
		len(w.Results), w.Results[0].Repetitions, w.mean(0, precision), w.median(precision), w.Share, w.mean(0, likely))
	for _, unseen := range []bool{true, false} {
		name := "seen"
		if unseen {
			name = "unseen"
		}
		fmt.Fprintf(&b, "## Balanced Rand index of %s rows\n\n| system | %s |\n| --- |%s\n", name, strings.Join(setNames(), " | "), strings.Repeat(" ---: |", linkSets))
		for i, system := range w.Systems {
			fmt.Fprintf(&b, "| %s |", system)
			for k := range linkSets {
				fmt.Fprintf(&b, " %s |", number(w.mean(i, randColumn(k, unseen)), false))
			}
			b.WriteByte('\n')
		}
		b.WriteString("\nShare of what wrong links cost that comes back:\n\n| system | " + strings.Join(setNames()[withoutMost:], " | ") + " |\n| --- |" + strings.Repeat(" ---: |", linkSets-withoutMost) + "\n")
		for i, system := range w.Systems {
			fmt.Fprintf(&b, "| %s |", system)
			lost := w.mean(i, randColumn(cleanLinks, unseen)) - w.mean(i, randColumn(wrongLinks, unseen))
			for k := withoutMost; k < linkSets; k++ {
				fmt.Fprintf(&b, " %.2f |", (w.mean(i, randColumn(k, unseen))-w.mean(i, randColumn(wrongLinks, unseen)))/lost)
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	w.bySet(&b)
	provenance(&b, "wrong", w.Results, w.Missing, w.Build, w.Seconds)
	return b.String()
}

// bySet writes precision and indices of unseen rows of every set: all right, some wrong, without
// the most suspicious.
func (w *Wrong) bySet(b *strings.Builder) {
	fmt.Fprintf(b, "## By data set\n\nUnseen rows, links all right / some wrong / without the most suspicious.\n\n| set | precision | %s |\n| --- | ---: |%s\n", strings.Join(w.Systems, " | "), strings.Repeat(" ---: |", len(w.Systems)))
	for _, r := range w.Results {
		fmt.Fprintf(b, "| %s | %s |", strings.TrimPrefix(r.Table.Name, "wrong-"), number(r.Ours[0][precision].Mean, false))
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

// median is that of a column of the first system over the sets.
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
