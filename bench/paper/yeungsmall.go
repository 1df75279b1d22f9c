package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/bench/statistics"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/param"
)

// The measures of Figure 4, one column each for every set.
const (
	yeungRand = ", Rand"
	yeungJ    = ", J"
)

// yeungSmall are the sets of Figure 4 with the numbers of their pairs.
func yeungSmall() []struct {
	uciSet
	pairs int
} {
	return []struct {
		uciSet
		pairs int
	}{
		{uciSet{"soybean", "soybean-small.csv", 0}, 10}, {uciSet{"protein", "protein.csv", 0}, 15},
		{uciSet{"wine", "wine.csv", 0}, 20},
		{uciSet{"ionosphere", "ionosphere.csv", 0}, 30}, {uciSet{"boston", "boston.csv", 0}, 40},
		{uciSet{"breast cancer", "wdbc.csv", 0}, 50},
	}
}

// yeungWidths are other widths of the kernel, in mean squared distances.
func yeungWidths() []float64 { return []float64{0.5, 0.2, 0.1, 0.05} }

// yeungAtWidth is the name of kbeta with such a width.
func yeungAtWidth(width float64) string { return fmt.Sprintf("kbeta, width %g m", width) }

// yeungFigure4 is a table of the content of Figure 4.
func yeungFigure4() Table {
	systems := []string{"input", "RBF kernel", "RCA", "LLMA", "klein", "kbeta", yeungDefault}
	variants := []string{yeungDefault}
	for _, w := range yeungWidths() {
		systems, variants = append(systems, yeungAtWidth(w)), append(variants, yeungAtWidth(w))
	}
	t := Table{
		Name: "yeung-fig4", Paper: yeungPaper, Label: "Figure 4",
		Caption:     "small data sets with the learned metrics, balanced Rand index of clusters and J",
		Repetitions: 10, Decimals: 3,
		Setup: []string{
			"Data: all rows of the files, every feature standardized to mean 0 and standard deviation 1.",
			"Side information, drawn again in every repetition: pairs of points of the same class, 10 for " +
				"soybean, 15 protein, 20 wine, 30 ionosphere, 40 boston, 50 breast cancer.",
			"Kernel: exp(-|x-y|^2 / m), m the mean squared distance between two points; its k-means runs " +
				"in the feature space.",
			"kbeta: without low-rank approximation, all directions. " + yeungDefault +
				": without low-rank approximation, kernel rbf with sigma = the mean distance, the square " +
				"root of the number of points as the number of directions.",
			"kbeta, width w m: the kernel is exp(-|x-y|^2 / (w m)), everything else as in kbeta.",
			"RCA: whitening by the covariance within the chunklets of the pairs, in all principal " +
				"directions. LLMA: one direction less than classes, everything else as in soleymani-fig3. " +
				"klein, which is " +
				"not in the paper, has its defaults.",
			fmt.Sprintf("Measures: balanced Rand index of k-means with as many clusters as classes, the "+
				"best objective of %d k-means++ starts; J as in yeung-2.", yeungRestarts),
		},
		Differences: []string{
			yeungOpen(),
			"The figure has no numbers; the text has the signs of three differences. Standardization, the " +
				"parameters of LLMA and the starts of k-means are not stated; one choice for all sets.",
			"The paper's breast cancer set has 31 features with the record number, which is left out of " +
				"wdbc.csv. That file is not among our data sets; these numbers are from scikit-learn's " +
				"copy of the set.",
		},
		Tried:    yeungSmallTried(),
		Revision: 5,
		Own:      "kbeta", Variants: variants, Good: Higher,
		Why: "With all points as landmarks and all directions, the weights depend on few pairs in hundreds " +
			"of directions. Neither eps, landmarks nor the scaling of features changes this. Kernels " +
			"narrower than a fifth of the width raise J on protein, ionosphere and breast cancer, but " +
			"cost the clusters of all sets. Fewer directions, the product's default, help on most.",
		Optional: map[string]string{},
		Prepare:  loadYeungSmall,
		Compared: yeungSigns,
		Notes:    yeungWidthNotes,
		Claims:   yeungSmallClaims,
	}
	for _, set := range yeungSmall() {
		for _, measure := range []string{yeungRand, yeungJ} {
			t.Columns = append(t.Columns, set.name+measure)
			if set.file == "wdbc.csv" {
				t.Optional[set.name+measure] = set.file
			}
		}
		if set.file != "wdbc.csv" {
			t.Data = append(t.Data, set.file)
		}
	}
	for _, system := range systems {
		t.Rows = append(t.Rows, Row{system, Unprinted(len(t.Columns))})
	}
	t.Steps = len(yeungSmall())
	t.Trial = func(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
		values := make([][]float64, len(systems))
		for _, s := range t.Shared.([]*yeungSet) {
			for r, system := range systems {
				rand, j, err := s.small(ctx, eng, t, system)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", s.name, system, err)
				}
				values[r] = append(values[r], rand, j)
			}
			t.Step()
		}
		return values, nil
	}
	return t
}

// loadYeungSmall reads the sets; one without a file has no points.
func loadYeungSmall(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
	var out []*yeungSet
	for _, set := range yeungSmall() {
		s := &yeungSet{name: set.name, pairs: set.pairs}
		out = append(out, s)
		if !t.Has(set.file) {
			continue
		}
		d, err := loadUCI(ctx, eng, t.Path(set.file), 0, strings.TrimPrefix(yeungKernel, "rbf:sigma="),
			t.Rand(0))
		if err != nil {
			return nil, err
		}
		s.x, s.labels, s.kernel = d.x, d.labels, d.gaussian
		if err := s.measureJ(ctx, eng); err != nil {
			return nil, err
		}
		if s.gram, err = d.gaussian.Gram(ctx, eng, d.x); err != nil {
			return nil, err
		}
		s.narrow = map[string]kernel.Kernel{}
		for _, w := range yeungWidths() {
			rule := fmt.Sprintf("rbf:sigma=%.16gmsq", math.Sqrt(w*1.25)) // 2 sigma^2 = 0.8 times 1.25 w
			if s.narrow[yeungAtWidth(w)], err = resolved(ctx, eng, rule, s.x); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// small returns the Rand index and J of a system on a set of Figure 4.
func (s *yeungSet) small(ctx context.Context, eng *engine.Engine, t Trial,
	system string) (rand, j float64, err error) {
	if s.x == nil {
		return math.NaN(), math.NaN(), nil
	}
	switch system {
	case "input", "RBF kernel":
		both, err := s.unlearned(ctx, eng, t)
		if err != nil {
			return 0, 0, err
		}
		if system == "input" {
			return both[0], s.input, nil
		}
		return both[1], s.rbf, nil
	}
	y, err := s.learn(ctx, eng, t, s.smallLearner(t, system))
	if err != nil {
		return 0, 0, err
	}
	return s.both(ctx, eng, t, y)
}

// both returns the Rand index and J of the rows of y.
func (s *yeungSet) both(ctx context.Context, eng *engine.Engine, t Trial,
	y blas.Matrix) (rand, j float64, err error) {
	if rand, err = s.clustered(ctx, eng, t, y); err != nil {
		return 0, 0, err
	}
	j, err = embeddedJ(ctx, eng, y, s.labels)
	return rand, j, err
}

// smallLearner returns the learner of a system of Figure 4.
func (s *yeungSet) smallLearner(t Trial, system string) algorithms.Learner {
	learners := s.learners(t)
	if k, ok := s.narrow[system]; ok {
		return yeungLearner(k.Spec(), 0, t.Seed(2))
	}
	switch system {
	case "RCA":
		return learners[0]
	case "LLMA":
		p := rivalLLMA()
		p.Dims = len(classRows(s.labels)) - 1
		return nonlinear.LLMALearner{Params: p, Seed: t.Seed(2)}
	case "klein":
		return nonlinear.KleinLearner{Params: param.Default[nonlinear.Klein](), Seed: t.Seed(2)}
	case yeungDefault:
		return kbeta.Learner{Params: kbeta.DefaultParams(), Seed: t.Seed(2)}
	}
	return learners[1]
}

// yeungSigns compares the signs of the significant differences between kbeta and LLMA.
func yeungSigns(r *Result) []Comparison {
	names := map[string]string{"soybean": "Soybean", "boston": "Boston housing",
		"breast cancer": "Breast cancer"}
	found := comparisons{numbers: r.Table.numbers, why: r.Table.Why}
	own, other := r.Table.row("kbeta"), r.Table.row("LLMA")
	for j, column := range r.Table.Columns {
		set, ok := strings.CutSuffix(column, yeungRand)
		name, named := names[set]
		if !ok || !named || r.Table.absent(j) {
			continue
		}
		found.add("kbeta against LLMA, "+set+": sign of the significant difference",
			printed.Key{Table: "yeung-fig4", Dataset: name, Condition: "paired t-test level 0.05",
				Method: "own method against LLMA", Measure: "sign_of_significant_rand_difference"},
			once(significant(r.column(own, j), r.column(other, j))))
	}
	return found.list
}

// significant returns the sign of the mean difference of two series, 0 if a paired t-test does not
// find it at level 0.05.
func significant(a, b []float64) float64 {
	t, p, err := statistics.PairedT(a, b)
	if err != nil || !(p < certainty) {
		return 0
	}
	return math.Copysign(1, t)
}

// yeungWidthNotes compares J of the narrower kernels with that of the two best rivals of the paper.
func yeungWidthNotes(r *Result) []string {
	notes := []string{"J of kbeta minus that of RCA and minus that of LLMA, mean ± standard error of the " +
		"paired differences, by the width of the kernel."}
	for j, column := range r.Table.Columns {
		set, ok := strings.CutSuffix(column, yeungJ)
		if !ok || r.Table.absent(j) {
			continue
		}
		var parts []string
		for _, w := range yeungWidths() {
			parts = append(parts, fmt.Sprintf("%g m %s and %s", w, r.gain(yeungAtWidth(w), "RCA", column),
				r.gain(yeungAtWidth(w), "LLMA", column)))
		}
		notes = append(notes, set+": "+strings.Join(parts, "; ")+".")
	}
	return notes
}

// yeungSmallClaims tests what the text says about Figure 4.
func yeungSmallClaims(r *Result) []Claim {
	best := r.aheadOf("the method is significantly ahead of all other systems in terms of J", "kbeta",
		[]string{"input", "RBF kernel", "RCA", "LLMA"}, yeungJ, 1)
	d := r.contest("kbeta", "LLMA", yeungRand)
	equal := Claim{Text: "in the Rand index LLMA and the method are comparable, the method slightly better",
		Verdict: Worse, Detail: d.String()}
	switch certain := d.surely - d.behind; {
	case certain >= 0 && 2*d.ahead >= d.columns && d.behind > 0, d.behind == 0 && d.surely < d.columns:
		equal.Verdict = Reproduced
	case slices.Contains([]int{-1, 0}, certain):
		equal.Verdict = Mixed
	}
	return []Claim{best, equal}
}
