package compare

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/mustlink/mustlink/algorithms/selection"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
)

// Hindsight says how near what rules of selection choose is to the best of their candidates on rows that neither has seen.
type Hindsight struct {
	Candidates []string        `json:"candidates"`
	Systems    []string        `json:"systems"`
	Results    []*paper.Result `json:"results"` // one a data set: systems are rows, the columns those of [HindsightMeasures]
	Missing    []string        `json:"missing,omitempty"`
	Failures   []Failure       `json:"failures,omitempty"`
	Build      paper.Build     `json:"build"`
	Seconds    float64         `json:"seconds"`
}

// hindsightMethods are those whose default grids the candidates are.
func hindsightMethods() []string { return []string{"krca", "lleratio", "itml"} }

const hindsightRepetitions = 3

// hindsightSystems are the rules, and methods with their defaults, which choose nothing.
func hindsightSystems() []string {
	rule := selects + " methods=" + strings.Join(hindsightMethods(), "+")
	return append([]string{rule + " criterion=ranking", rule + " criterion=agreement", rule + " criterion=agreement incumbent=lleratio"}, hindsightMethods()...)
}

// The columns.
const (
	chosenRand = iota
	bestRand
	withinOne
	withinTwo
	hindsightMeasures
)

// HindsightMeasures names the figures of [RunHindsight].
func HindsightMeasures() []string {
	return []string{"balanced Rand of the choice, unseen", "of the best candidate", "within 0.01 of it", "within 0.02"}
}

// RunHindsight lets rules of selection choose, and compares what they have chosen with all candidates. Without o.Systems it takes selection by
// the ranking of held-out links, by the agreement with them, by this with an incumbent, and the defaults of the candidates' methods.
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
	h.Results, h.Missing, err = o.run(ctx, eng, hindsightRepetitions, func(s Set, systems []string) paper.Table {
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

// hindsightTable is the part of one set.
func hindsightTable(s Set, systems, candidates []string, failed *failures) paper.Table {
	t := paper.Table{
		Name: "hindsight-" + s.Name, Label: "Hindsight", Caption: "choices on " + s.Name, Columns: HindsightMeasures(),
		Data: s.Files, Steps: len(candidates) + len(systems), Decimals: 3, Gaps: true, Repetitions: hindsightRepetitions,
		Setup:    append(setup(nil), fmt.Sprintf("The %d candidates: %s.", len(candidates), strings.Join(candidates, "; "))),
		Revision: 1,
		Prepare:  func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) { return s.read(t.Path) },
		Trial: func(ctx context.Context, eng *engine.Engine, t paper.Trial) ([][]float64, error) {
			p, err := drawn(ctx, eng, t)
			if err != nil {
				return nil, err
			}
			score := func(system string) (float64, error) {
				defer t.Step()
				v, err := p.noted(ctx, eng, system, s.Name, t.Number, failed)
				return v[unseenRand], err
			}
			return hindsightTrial(systems, candidates, score)
		},
	}
	for _, name := range systems {
		t.Rows = append(t.Rows, paper.Row{Name: name, Printed: paper.Unprinted(len(t.Columns))})
	}
	return t
}

// hindsightTrial is a repetition; score returns the index of a system on unseen rows, NaN for one that failed.
func hindsightTrial(systems, candidates []string, score func(system string) (float64, error)) ([][]float64, error) {
	best := math.NaN()
	for _, c := range candidates {
		v, err := score(c)
		if err != nil {
			return nil, err
		}
		if !(v <= best) && !math.IsNaN(v) {
			best = v
		}
	}
	values := make([][]float64, len(systems))
	for i, system := range systems {
		v, err := score(system)
		if err != nil {
			return nil, err
		}
		values[i] = []float64{v, best, within(v, best, 0.01), within(v, best, 0.02)}
	}
	return values, nil
}

// within returns 1 for a value that is at most a margin below the best, 0 for one that is not.
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

// Markdown returns the page.
func (h *Hindsight) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Choosing, beside the best choice in hindsight\n\nMeans over %d data sets, repetitions: %d. The best of %d candidates on the unseen rows themselves, in each repetition, has the index %.3f: part of that is luck, which no rule can have.\n\n",
		len(h.Results), h.Results[0].Repetitions, len(h.Candidates), h.mean(0, bestRand))
	b.WriteString("| rule, or method with its defaults | balanced Rand, unseen | within 0.01 of the best | within 0.02 |\n| --- | ---: | ---: | ---: |\n")
	for i, system := range h.Systems {
		fmt.Fprintf(&b, "| %s | %.3f | %.0f %% | %.0f %% |\n", system, h.mean(i, chosenRand), 100*h.mean(i, withinOne), 100*h.mean(i, withinTwo))
	}
	fmt.Fprintf(&b, "\n## By data set\n\n| set | best | %s |\n| --- | ---: |%s\n", strings.Join(h.Systems, " | "), strings.Repeat(" ---: |", len(h.Systems)))
	for _, r := range h.Results {
		fmt.Fprintf(&b, "| %s | %s |", strings.TrimPrefix(r.Table.Name, "hindsight-"), number(r.Ours[0][bestRand].Mean, false))
		for i := range h.Systems {
			fmt.Fprintf(&b, " %s |", number(r.Ours[i][chosenRand].Mean, false))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	provenance(&b, "hindsight", h.Results, h.Missing, h.Build, h.Seconds)
	return b.String()
}
