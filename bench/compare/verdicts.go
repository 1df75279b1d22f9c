package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
)

// Verdicts measures how right the verdicts of fits are.
type Verdicts struct {
	Systems  []string `json:"systems"`
	Measures []string `json:"measures"`
	Links    float64  `json:"links_per_row"`
	// one for each data set: a row for each system, a column for each measure
	Results  []*paper.Result `json:"results"`
	Missing  []string        `json:"missing,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Build    paper.Build     `json:"build"`
	Seconds  float64         `json:"seconds"`
}

const (
	verdictRepetitions = 3
	verdictFolds       = 5
)

// verdictSystems are the choice of a fit without a method, and methods of other kinds.
func verdictSystems() []string { return []string{"blend", "lleratio", "itml", "krca"} }

// The values of a system in a repetition. All are missing where there is no verdict.
const (
	verdictAUC   = iota // that the verdict states, learned and raw
	verdictRaw          // without learning
	verdictError        // standard error of their difference
	freshAUC            // of all pairs of held-out rows
	freshRaw
	claim     // 1 for better, -1 for worse, 0 for no clear difference
	nullGain  // gain that the verdict states with permuted labels
	nullClaim // and its claim
	costs     // seconds of fit and verdict, divided by those of the fit
	verdicts  // number of values
)

// VerdictMeasures returns the names of the columns of [RunVerdicts].
func VerdictMeasures() []string {
	return []string{
		"verdict", "verdict, raw", "error of the gain", "fresh", "fresh, raw", "claim",
		"gain, permuted labels", "claim, permuted labels", "cost",
	}
}

// RunVerdicts compares the verdict of a fit with the truth: the AUC of all pairs of held-out rows,
// of which the fit and its verdict know nothing. With permuted labels, and on the set of noise,
// there is nothing to find. If o.Systems is nil, the systems are blend, lleratio, itml and krca.
func RunVerdicts(ctx context.Context, eng *engine.Engine, o Options) (*Verdicts, error) {
	if o.Systems == nil {
		o.Systems = verdictSystems()
	}
	if o.Sets == nil {
		o.more = []Set{noiseSet()}
	}
	var failed failures
	results, missing, err := o.run(ctx, eng, verdictRepetitions, func(s Set, systems []string) paper.Table {
		return verdictTable(s, systems, o.Links, &failed)
	})
	if err != nil {
		return nil, err
	}
	v := &Verdicts{Systems: o.Systems, Measures: VerdictMeasures(), Links: o.Links.perRow(), Results: results,
		Missing: missing, Failures: failed.list, Build: results[0].Build}
	for _, r := range results {
		v.Seconds += r.Seconds
	}
	return v, nil
}

// verdictTable returns the table of a set.
func verdictTable(s Set, systems []string, l Links, failed *failures) paper.Table {
	t := paper.Table{
		Name: "verdicts-" + s.Name, Label: "Verdicts", Caption: "verdicts on " + s.Name,
		Columns: VerdictMeasures(),
		Data:    s.Files, Steps: len(systems), Decimals: 3, Gaps: true, Repetitions: verdictRepetitions,
		Setup: append(setup(systems, l), verdictSetup()), Revision: 2,
		Prepare: func(_ context.Context, _ *engine.Engine, t paper.Trial) (any, error) {
			return s.read(t.Path)
		},
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
	return fmt.Sprintf("A verdict is that of `mustlink fit --folds 5`: five more fits, each without a "+
		"fifth of the linked rows. It calls a metric better or worse than raw points if the difference "+
		"exceeds %g "+
		"of its standard errors. The truth is the AUC of all pairs of held-out rows. With permuted labels "+
		"the "+
		"truth is that there is nothing to learn.", verdict.Clear)
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
	start := time.Now()
	v, err := p.judged(ctx, eng, system, p.links)
	if err != nil || v.Missing != "" {
		return out, err
	}
	out[costs] = (times[fitSeconds] + time.Since(start).Seconds()) / times[fitSeconds]
	out[verdictAUC], out[verdictRaw], out[verdictError] = v.AUC, v.Raw, v.GainError
	out[claim] = sign(v)
	null, err := p.permuted()
	if err != nil {
		return out, err
	}
	if v, err = p.judged(ctx, eng, system, null); err != nil {
		return out, err
	}
	if v.Missing == "" {
		out[nullGain], out[nullClaim] = v.Gain, sign(v)
	}
	raw, err := p.coordinates(ctx, eng, Raw, times)
	if err != nil {
		return out, err
	}
	for k, y := range []blas.Matrix{coordinates[1], raw[1]} {
		if out[freshAUC+k], err = score.PairAUC(y.Clone().Data, y.Rows, y.Cols,
			p.heldOut.labels); err != nil {
			return out, err
		}
	}
	return out, nil
}

// judged returns the verdict on a system by some links of the training rows.
func (p *problem) judged(ctx context.Context, eng *engine.Engine, system string,
	set *links.Set) (*verdict.Verdict, error) {
	l, err := learner(system, p.seed, classes(p.training.labels))
	if err != nil {
		return nil, err
	}
	return verdict.Assess(ctx, eng, l, p.training.x, set, verdict.Options{Folds: verdictFolds, Seed: p.seed})
}

// sign returns 1 for better, -1 for worse and 0 for no clear difference.
func sign(v *verdict.Verdict) float64 {
	return map[verdict.Finding]float64{verdict.Better: 1, verdict.Worse: -1}[v.Finding()]
}

// claims are numbers of verdicts: all, better and worse, right ones among these, gains that a user
// should hear of and those of them that the verdict found, and those with permuted labels.
type claims struct {
	all, better, worse, right, large, found int
	null, nullBetter, nullWorse             int
}

// claims counts the verdicts of a system. A claim is right if held-out rows have its sign; on noise
// none is.
func (v *Verdicts) claims(system int) (c claims) {
	const large = 0.05 // gain that a user should hear of
	for _, r := range v.Results {
		for _, trial := range r.Trials {
			x := trial[system]
			gain := x[freshAUC] - x[freshRaw]
			if !math.IsNaN(x[nullClaim]) {
				c.null++
				c.nullBetter, c.nullWorse = c.nullBetter+is(x[nullClaim] > 0),
					c.nullWorse+is(x[nullClaim] < 0)
			}
			if math.IsNaN(x[claim]) || r.Table.Name == "verdicts-noise" {
				continue
			}
			c.all++
			c.better, c.worse = c.better+is(x[claim] > 0), c.worse+is(x[claim] < 0)
			c.right += is(x[claim]*gain > 0)
			c.large, c.found = c.large+is(gain > large), c.found+is(gain > large && x[claim] > 0)
		}
	}
	return c
}

func is(v bool) int {
	if v {
		return 1
	}
	return 0
}

// Markdown returns the page.
func (v *Verdicts) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Verdicts: what a fit says of itself, and what is so\n\n%d data sets, %g links a row, "+
		"repetitions: %d.\n\n", len(v.signal()), v.Links, v.Results[0].Repetitions)
	b.WriteString("Mean gains over raw points. The fits of a verdict know two thirds of the links, the final " +
		"fit all.\n\n")
	b.WriteString("| system | gain, verdict | gain, held-out rows | mean standard error | mean distance of " +
		"the two gains | fits' time |\n| --- |" + strings.Repeat(" ---: |", 5) + "\n")
	for i, name := range v.Systems {
		mean := func(f func(x []float64) float64) float64 { return v.mean(i, f) }
		stated, fresh := mean(statedGain), mean(freshGain)
		apart := mean(func(x []float64) float64 { return math.Abs(statedGain(x) - freshGain(x)) })
		fmt.Fprintf(&b, "| %s | %.3f | %.3f | %.3f | %.3f | %.1f |\n", name, stated, fresh,
			mean(func(x []float64) float64 {
				return x[verdictError]
			}), apart, mean(func(x []float64) float64 { return x[costs] }))
	}
	b.WriteString("\n## Claims\n\n\"Better\" or \"worse\" than raw points, where the verdict is clear. A " +
		"claim is right if held-out rows have the same sign. A gain is large above .05.\n\n")
	b.WriteString("| system | verdicts | better | worse | right claims | large gains | found |\n| --- " +
		"|" + strings.Repeat(" ---: |", 6) + "\n")
	for i, name := range v.Systems {
		c := v.claims(i)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", name, c.all, c.better, c.worse, c.right,
			c.large,
			c.found)
	}
	b.WriteString("\n## Without signal\n\nThe same rows with permuted labels, and rows of noise: each claim is " +
		"false.\n\n")
	b.WriteString("| system | verdicts | better | worse | mean gain |\n| --- |" + strings.Repeat(" ---: |",
		4) + "\n")
	for i, name := range v.Systems {
		c := v.claims(i)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", name, c.null, c.nullBetter, c.nullWorse,
			number(setMean(v.Results, func(r *paper.Result) float64 {
				return r.Ours[i][nullGain].Mean
			}), false))
	}
	v.bySet(&b)
	provenance(&b, fmt.Sprintf("verdicts --links-per-row %g", v.Links), v.Results, v.Missing, v.Build,
		v.Seconds)
	return b.String()
}

func statedGain(x []float64) float64 { return x[verdictAUC] - x[verdictRaw] }
func freshGain(x []float64) float64  { return x[freshAUC] - x[freshRaw] }

// signal returns the results of the sets that have something to find.
func (v *Verdicts) signal() []*paper.Result {
	return slices.DeleteFunc(slices.Clone(v.Results),
		func(r *paper.Result) bool { return r.Table.Name == "verdicts-noise" })
}

// mean returns the mean of a value of a system over all trials that were judged.
func (v *Verdicts) mean(system int, of func(x []float64) float64) float64 {
	sum, n := 0.0, 0
	for _, r := range v.signal() {
		for _, trial := range r.Trials {
			if x := trial[system]; !math.IsNaN(x[claim]) {
				sum, n = sum+of(x), n+1
			}
		}
	}
	return sum / float64(n)
}

// bySet writes the AUC of every set: of the verdict and of held-out rows, learned minus raw.
func (v *Verdicts) bySet(b *strings.Builder) {
	fmt.Fprintf(b, "\n## By data set\n\nGain in AUC over raw points, by the verdict / on held-out "+
		"rows.\n\n| set | %s |\n| --- |%s\n", strings.Join(v.Systems, " | "),
		strings.Repeat(" ---: |", len(v.Systems)))
	for _, r := range v.Results {
		fmt.Fprintf(b, "| %s |", strings.TrimPrefix(r.Table.Name, "verdicts-"))
		for i := range v.Systems {
			x := r.Ours[i]
			fmt.Fprintf(b, " %s / %s |", number(x[verdictAUC].Mean-x[verdictRaw].Mean, false),
				number(x[freshAUC].Mean-x[freshRaw].Mean, false))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}
