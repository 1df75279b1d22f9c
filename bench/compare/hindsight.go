package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
)

// Hindsight compares the candidates that selection rules choose with the best of all candidates on
// the held-out rows.
type Hindsight struct {
	Candidates []string `json:"candidates"`
	Systems    []string `json:"systems"`
	// Results has one result for each data set: a row for each system, then one for each candidate.
	// The columns are those of [HindsightMeasures].
	Results  []*paper.Result `json:"results"`
	Missing  []string        `json:"missing,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Build    paper.Build     `json:"build"`
	Seconds  float64         `json:"seconds"`
}

// hindsightMethods are the methods whose default grids give the candidates.
func hindsightMethods() []string { return []string{"blend", "krca", "lleratio", "itml"} }

const hindsightRepetitions = 3

// hindsightSystems are the selection rules, and methods with their defaults, which select nothing.
func hindsightSystems() []string {
	rule := selects + " methods=" + strings.Join(hindsightMethods(), "+")
	var out []string
	for _, criterion := range []string{"ranking", "combined", "combined margin=0"} {
		out = append(out, rule+" criterion="+criterion)
	}
	return append(out, hindsightMethods()...)
}

// The columns.
const (
	chosenRand = iota
	bestRand
	withinOne
	withinTwo
	hindsightMeasures
)

// HindsightMeasures returns the names of the columns of [RunHindsight].
func HindsightMeasures() []string {
	return []string{"balanced Rand of the choice, held-out", "of the best candidate", "within 0.01 of it",
		"within 0.02"}
}

// cacheBytes bounds the memory of what the systems of a repetition share.
const cacheBytes = 256 << 20

// RunHindsight lets selection rules choose, and compares their choices with all candidates. If
// o.Systems is nil, the rules are selection by the ranking of held-out links, by the ranking and
// the agreement with them, and by both without an incumbent; the methods of the candidates with
// their defaults are compared, too. The incumbent is blend unless a system names another one.
func RunHindsight(ctx context.Context, eng *engine.Engine, o Options) (*Hindsight, error) {
	if o.Systems == nil {
		o.Systems = hindsightSystems()
	}
	list, err := selection.Defaults(hindsightMethods())
	if err != nil {
		return nil, err
	}
	h := &Hindsight{Systems: o.Systems}
	for _, c := range list {
		h.Candidates = append(h.Candidates, c.String())
	}
	var failed failures
	h.Results, h.Missing,
		err = o.run(ctx, eng, hindsightRepetitions, func(s Set, systems []string) paper.Table {
		return hindsightTable(s, systems, h.Candidates, &failed)
	})
	if err != nil {
		return nil, err
	}
	h.Failures, h.Build = failed.list, h.Results[0].Build
	for _, r := range h.Results {
		h.Seconds += r.Seconds
	}
	return h, nil
}

// hindsightTable returns the table of a set.
func hindsightTable(s Set, systems, candidates []string, failed *failures) paper.Table {
	t := paper.Table{
		Name: "hindsight-" + s.Name, Label: "Hindsight", Caption: "choices on " + s.Name,
		Columns: HindsightMeasures(),
		Data:    s.Files, Steps: len(candidates) + len(systems), Decimals: 3, Gaps: true,
		Repetitions: hindsightRepetitions,
		Setup: append(setup(nil, Links{}),
			fmt.Sprintf("The %d candidates: %s.", len(candidates), strings.Join(candidates, "; "))),
		Revision: 3,
		Prepare: func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) {
			return s.read(t.Path)
		},
		Trial: func(ctx context.Context, eng *engine.Engine, t paper.Trial) ([][]float64, error) {
			p, err := drawn(ctx, eng, t, Links{})
			if err != nil {
				return nil, err
			}
			if eng, err = eng.Sharing(cacheBytes); err != nil {
				return nil, err
			}
			score := func(system string) (float64, error) {
				defer t.Step()
				v, err := p.measured(ctx, eng, system, s.Name, t.Number, failed)
				return v[heldOutRand], err
			}
			return hindsightTrial(systems, candidates, score)
		},
	}
	for _, name := range slices.Concat(systems, candidates) {
		t.Rows = append(t.Rows, paper.Row{Name: name, Printed: paper.Unprinted(len(t.Columns))})
	}
	return t
}

// hindsightTrial is a repetition: a row for every system, then one for every candidate. The
// function score returns the index of a system on held-out rows, NaN if it failed.
func hindsightTrial(systems, candidates []string,
	score func(system string) (float64, error)) ([][]float64, error) {
	values, best := make([][]float64, len(systems)+len(candidates)), math.NaN()
	for i, system := range slices.Concat(systems, candidates) {
		v, err := score(system)
		if err != nil {
			return nil, err
		}
		values[i] = []float64{v}
		if i >= len(systems) {
			best = larger(best, v)
		}
	}
	for i, row := range values {
		values[i] = append(row, best, within(row[chosenRand], best, 0.01),
			within(row[chosenRand], best, 0.02))
	}
	return values, nil
}

// larger returns the larger of two numbers, or the other one if one is NaN.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// within returns 1 for a value that is at most a margin below the best, otherwise 0.
func within(v, best, margin float64) float64 {
	switch {
	case math.IsNaN(v) || math.IsNaN(best):
		return math.NaN()
	case v >= best-margin:
		return 1
	}
	return 0
}

// mean returns the mean of a column over the sets on which the system did not fail.
func (h *Hindsight) mean(system, col int) float64 { return columnMean(h.Results, system, col) }

// steadiest returns the balanced Rand index of the candidate with the best mean over the
// repetitions of a set, among those that never failed.
func (h *Hindsight) steadiest(r *paper.Result) float64 {
	best := math.NaN()
	for _, row := range r.Ours[len(h.Systems):] {
		best = larger(best, row[chosenRand].Mean)
	}
	return best
}

// near returns the share of the sets on which the mean of a system over the repetitions is at most
// a margin below that of the steadiest candidate.
func (h *Hindsight) near(system int, margin float64) float64 {
	return setMean(h.Results, func(r *paper.Result) float64 {
		return within(r.Ours[system][chosenRand].Mean, h.steadiest(r), margin)
	})
}

// Markdown returns the page.
func (h *Hindsight) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Selection compared with the best choice in hindsight\n\nMeans over %d data sets, "+
		"repetitions: %d. The best of %d candidates on the held-out rows, chosen again in each repetition, "+
		"has the "+
		"index %.3f. Part of that is luck, which no rule can have. The candidate with the best mean over the "+
		"repetitions of a set has %.3f.\n\n",
		len(h.Results), h.Results[0].Repetitions, len(h.Candidates), h.mean(0, bestRand),
		setMean(h.Results, h.steadiest))
	b.WriteString("| rule, or method with its defaults | balanced Rand, held-out | within 0.01 of the best " +
		"of the repetition | within 0.02 | in the mean within 0.01 of the best candidate of the set | " +
		"within 0.02 " +
		"|\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	for i, system := range h.Systems {
		fmt.Fprintf(&b, "| %s | %.3f | %.0f %% | %.0f %% | %.0f %% | %.0f %% |\n", system,
			h.mean(i, chosenRand),
			100*h.mean(i, withinOne), 100*h.mean(i, withinTwo), 100*h.near(i, 0.01), 100*h.near(i, 0.02))
	}
	fmt.Fprintf(&b, "\n## By data set\n\nThe mean of the best candidate of each repetition, the mean of "+
		"the best candidate of the set, and the means of the systems.\n\n| set | best | best candidate | "+
		"%s |\n| "+
		"--- | ---: | ---: |%s\n", strings.Join(h.Systems, " | "), strings.Repeat(" ---: |", len(h.Systems)))
	for _, r := range h.Results {
		fmt.Fprintf(&b, "| %s | %s | %s |", strings.TrimPrefix(r.Table.Name, "hindsight-"),
			number(r.Ours[0][bestRand].Mean, false), number(h.steadiest(r), false))
		for i := range h.Systems {
			fmt.Fprintf(&b, " %s |", number(r.Ours[i][chosenRand].Mean, false))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	provenance(&b, "hindsight", h.Results, h.Missing, h.Build, h.Seconds)
	return b.String()
}
