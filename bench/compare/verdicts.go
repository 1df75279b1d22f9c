package compare

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/score"
)

// Verdicts measures how right the verdicts of fits are.
type Verdicts struct {
	Systems  []string        `json:"systems"`
	Measures []string        `json:"measures"`
	Links    float64         `json:"links_per_row"`
	Results  []*paper.Result `json:"results"` // one for each data set: a row for each system, a column for each measure
	Missing  []string        `json:"missing,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Build    paper.Build     `json:"build"`
	Seconds  float64         `json:"seconds"`
}

const verdictRepetitions = 3

// verdictSystems are the choice of a fit without a method, and methods of other kinds.
func verdictSystems() []string { return []string{"blend", "lleratio", "itml", "kbeta"} }

// The values of a system in a repetition. All are missing where there is no verdict.
const (
	verdictAUC  = iota // that the verdict states, learned and raw
	verdictRaw         // without learning
	verdictGain        // standard error of their difference
	freshAUC           // of all pairs of held-out rows
	freshRaw
	claim    // 1 for better, -1 for worse, 0 for no clear difference
	costs    // seconds of fit and verdict, divided by those of the fit
	verdicts // number of values
)

// VerdictMeasures returns the names of the columns of [RunVerdicts].
func VerdictMeasures() []string {
	return []string{"verdict", "verdict, raw", "error of the gain", "fresh", "fresh, raw", "claim", "cost"}
}

// RunVerdicts compares the verdict of a fit with the truth: the AUC of all pairs of held-out rows,
// of which the fit and its verdict know nothing. If o.Systems is nil, the systems are blend,
// lleratio, itml and kbeta.
func RunVerdicts(ctx context.Context, eng *engine.Engine, o Options) (*Verdicts, error) {
	if o.Systems == nil {
		o.Systems = verdictSystems()
	}
	var failed failures
	results, missing, err := o.run(ctx, eng, verdictRepetitions, func(s Set, systems []string) paper.Table { return verdictTable(s, systems, o.Links, &failed) })
	if err != nil {
		return nil, err
	}
	v := &Verdicts{Systems: o.Systems, Measures: VerdictMeasures(), Links: o.Links.perRow(), Results: results, Missing: missing, Failures: failed.list, Build: results[0].Build}
	for _, r := range results {
		v.Seconds += r.Seconds
	}
	return v, nil
}

// verdictTable returns the table of a set.
func verdictTable(s Set, systems []string, l Links, failed *failures) paper.Table {
	t := paper.Table{
		Name: "verdicts-" + s.Name, Label: "Verdicts", Caption: "verdicts on " + s.Name, Columns: VerdictMeasures(),
		Data: s.Files, Steps: len(systems), Decimals: 3, Gaps: true, Repetitions: verdictRepetitions, Setup: append(setup(systems, l), verdictSetup()), Revision: 1,
		Prepare: func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) { return s.read(t.Path) },
		Trial: func(ctx context.Context, eng *engine.Engine, t paper.Trial) ([][]float64, error) {
			p, err := drawn(ctx, eng, t, l)
			if err != nil {
				return nil, err
			}
			var values [][]float64
			for _, system := range systems {
				v, err := p.verdict(ctx, eng, system)
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				if err != nil {
					failed.add(s.Name, system, t.Number, err)
				}
				values = append(values, v)
				t.Step()
			}
			return values, nil
		},
	}
	for _, name := range systems {
		t.Rows = append(t.Rows, paper.Row{Name: name, Printed: paper.Unprinted(verdicts)})
	}
	return t
}

func verdictSetup() string {
	return fmt.Sprintf("A verdict is that of `mustlink fit`: one more fit without a quarter of the linked rows. It calls a metric better or worse than raw points if the difference exceeds %g of its standard errors. The truth is the AUC of all pairs of held-out rows.", verdict.Clear)
}

// verdict returns the values of a system.
func (p *problem) verdict(ctx context.Context, eng *engine.Engine, system string) ([]float64, error) {
	out := make([]float64, verdicts)
	for k := range out {
		out[k] = math.NaN()
	}
	times := make([]float64, measures)
	coordinates, err := p.coordinates(ctx, eng, system, times)
	if err != nil {
		return out, err
	}
	l, err := learner(system, p.seed, classes(p.training.labels))
	if err != nil {
		return out, err
	}
	start := time.Now()
	v, err := verdict.Assess(ctx, eng, l, p.training.x, p.links, verdict.Options{Seed: p.seed})
	if err != nil || v.Missing != "" {
		return out, err
	}
	out[costs] = (times[fitSeconds] + time.Since(start).Seconds()) / times[fitSeconds]
	out[verdictAUC], out[verdictRaw], out[verdictGain] = v.AUC, v.Raw, v.GainError
	out[claim] = map[verdict.Finding]float64{verdict.Better: 1, verdict.Worse: -1}[v.Finding()]
	raw, err := p.coordinates(ctx, eng, Raw, times)
	if err != nil {
		return out, err
	}
	for k, y := range []blas.Matrix{coordinates[1], raw[1]} {
		if out[freshAUC+k], err = score.PairAUC(y.Clone().Data, y.Rows, y.Cols, p.heldOut.labels); err != nil {
			return out, err
		}
	}
	return out, nil
}

// claims are numbers of verdicts: all, better or worse, right ones among these, and those of a gain
// that is large on held-out rows but not clear in the verdict.
type claims struct{ all, clear, right, missed int }

// claims counts the verdicts of a system. A claim is right if held-out rows have its sign.
func (v *Verdicts) claims(system int) (c claims) {
	const large = 0.05 // gain that a user should hear of
	for _, r := range v.Results {
		for _, trial := range r.Trials {
			x := trial[system]
			gain := x[freshAUC] - x[freshRaw]
			switch {
			case math.IsNaN(x[claim]):
				continue
			case x[claim] != 0:
				c.clear++
				if x[claim]*gain > 0 {
					c.right++
				}
			case gain > large:
				c.missed++
			}
			c.all++
		}
	}
	return c
}

// Markdown returns the page.
func (v *Verdicts) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Verdicts: what a fit says of itself, and what is so\n\nMeans over %d data sets, %g links a row, repetitions: %d.\n\n", len(v.Results), v.Links, v.Results[0].Repetitions)
	b.WriteString("| system | AUC, verdict | AUC, held-out rows | raw, verdict | raw, held-out rows | mean distance of the two AUC | fits' time |\n| --- |" + strings.Repeat(" ---: |", 6) + "\n")
	for i, name := range v.Systems {
		apart := setMean(v.Results, func(r *paper.Result) float64 { return math.Abs(r.Ours[i][verdictAUC].Mean - r.Ours[i][freshAUC].Mean) })
		fmt.Fprintf(&b, "| %s |", name)
		for _, col := range []int{verdictAUC, freshAUC, verdictRaw, freshRaw} {
			fmt.Fprintf(&b, " %.3f |", columnMean(v.Results, i, col))
		}
		fmt.Fprintf(&b, " %.3f | %.2f |\n", apart, columnMean(v.Results, i, costs))
	}
	b.WriteString("\nClaims of single fits: \"better\" or \"worse\" than raw points, where the verdict is clear. A claim is right if held-out rows have the same sign. The last column counts gains of more than .05 that the verdict calls unclear.\n\n| system | verdicts | clear | right | gains called unclear |\n| --- |" + strings.Repeat(" ---: |", 4) + "\n")
	for i, name := range v.Systems {
		c := v.claims(i)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", name, c.all, c.clear, c.right, c.missed)
	}
	v.bySet(&b)
	provenance(&b, fmt.Sprintf("verdicts --links-per-row %g", v.Links), v.Results, v.Missing, v.Build, v.Seconds)
	return b.String()
}

// bySet writes the AUC of every set: of the verdict and of held-out rows, learned minus raw.
func (v *Verdicts) bySet(b *strings.Builder) {
	fmt.Fprintf(b, "\n## By data set\n\nGain in AUC over raw points, by the verdict / on held-out rows.\n\n| set | %s |\n| --- |%s\n", strings.Join(v.Systems, " | "), strings.Repeat(" ---: |", len(v.Systems)))
	for _, r := range v.Results {
		fmt.Fprintf(b, "| %s |", strings.TrimPrefix(r.Table.Name, "verdicts-"))
		for i := range v.Systems {
			x := r.Ours[i]
			fmt.Fprintf(b, " %s / %s |", number(x[verdictAUC].Mean-x[verdictRaw].Mean, false), number(x[freshAUC].Mean-x[freshRaw].Mean, false))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}
