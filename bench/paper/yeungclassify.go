package paper

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/score"
)

// The classifier of Table 4.
const (
	yeungNarrow = 25 // the mean squared distance, divided by the 2 sigma^2 of the classifier
	yeungCost   = 1
)

// yeungLabeled are the labeled shares, in percent.
func yeungLabeled() []int { return []int{5, 10, 15, 20} }

// yeung4 is classification with few labeled points.
func yeung4() Table {
	sets, systems := []string{yeungIsolet, "01234"}, []string{"input", "RCA", "LMNN", "kbeta", yeungDefault}
	t := Table{
		Name: "yeung-4", Paper: yeungPaper, Label: "Table 4",
		Caption:     "accuracy of classification with few labeled points",
		Repetitions: 10, Steps: len(sets) * len(yeungLabeled()), Decimals: 4, Data: yeungFiles(),
		Setup: []string{
			yeungImagesSetup(),
			"Labels, drawn again in every repetition: the given percentage of the points, uniformly.",
			fmt.Sprintf("Classifier, the same for all systems: support vector machines between every two "+
				"classes, cost %d, with the kernel exp(-%d d^2 / m) of the distances d in the input or "+
				"after learning, m "+
				"the mean of d^2 over the points without labels. They vote on every other point.", yeungCost,
				yeungNarrow),
			fmt.Sprintf("kbeta, as in Tables 2 and 3: %d pairs of labeled points of the same class, %d "+
				"landmarks, all directions, %d neighbors, 3 iterations. %s: the same pairs and number of "+
				"landmarks, "+
				"everything else as the product has it.", yeungRealPairs, yeungRealLandmarks, yeungNeighbors,
				yeungDefault),
			"RCA: the labeled points of a class are a chunklet; whitening by the covariance within the " +
				"chunklets, in all principal directions.",
			fmt.Sprintf("LMNN: 3 target neighbors, equal weights of targets and impostors, as many "+
				"principal directions as an eighth of the labeled points, learned from the labeled points "+
				"until the "+
				"objective falls by less than %g in 5 iterations.", yeungLMNN().Tol),
			"Measure: the share of the other points that get their correct label.",
		},
		Differences: []string{
			yeungOpen(), yeungPart(),
			"The classifier is not stated. The one here is that of those tried whose input column on " +
				"MNIST, the set that we have in full, agrees best with the print.",
			"How many pairs the method gets from the labels, and its landmarks, are not stated: here as " +
				"many as in Tables 2 and 3. RCA and LMNN get all labels.",
		},
		Revision: 7,
		Own:      "kbeta", Variants: []string{yeungDefault}, Good: Higher,
		Why: "The classifier is not stated. The one here has the input column of MNIST and, with more " +
			"than 5 % of the labels, that of RCA. Its values move by a tenth from one choice of labels to " +
			"the next, " +
			"those of kbeta with the 50 pairs. On Isolet, of which we have 40 %, it is too narrow (on " +
			"yeung-4).",
		Partial: yeungParts(),
		Tried:   yeung4Tried(),
		Claims: func(r *Result) []Claim {
			return []Claim{
				r.aheadOf("LMNN dramatically improves classification", "LMNN", []string{"input"}, "", 1),
				r.aheadOf("the method gives even better results than LMNN (as printed: on 6 of 8 columns)",
					"kbeta", []string{"LMNN"}, "", 0.75),
				r.aheadOf("the method is ahead of RCA and the input", "kbeta", []string{"input", "RCA"}, "",
					1),
			}
		},
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			return loadYeung(ctx, eng, t, sets, nil)
		},
		Trial: func(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
			values := make([][]float64, len(systems))
			for _, s := range t.Shared.([]*yeungSet) {
				for _, percent := range yeungLabeled() {
					for r, system := range systems {
						v, err := s.classify(ctx, eng, t, system, percent)
						if err != nil {
							return nil, fmt.Errorf("%s, %s, %d %%: %w", s.name, system, percent, err)
						}
						values[r] = append(values[r], v)
					}
					t.Step()
				}
			}
			return values, nil
		},
	}
	for _, set := range sets {
		for _, percent := range yeungLabeled() {
			t.Columns = append(t.Columns, fmt.Sprintf("%s, %d %%", yeungName(set), percent))
		}
	}
	for _, system := range systems {
		t.Rows = append(t.Rows, Row{Name: system})
	}
	t.print(func(row, column string) printed.Key {
		end := strings.LastIndex(column, ", ")
		set, share := column[:end], column[end+2:]
		return printed.Key{Table: "yeung-4", Dataset: yeungDataset(set),
			Condition: strings.ReplaceAll(share, " ", ""), Method: yeungNames()[row], Measure: "accuracy"}
	})
	return t
}

// yeungLMNN has few neighbors and an early end.
func yeungLMNN() baseline.LMNN {
	p := param.Default[baseline.LMNN]()
	p.Tol = 1e-3
	return p
}

// classify returns the accuracy of one system with that percentage of labels.
func (s *yeungSet) classify(ctx context.Context, eng *engine.Engine, t Trial, system string,
	percent int) (float64, error) {
	order := t.Rand(10 + percent).Perm(s.x.N)
	known, others := order[:s.x.N*percent/100], order[s.x.N*percent/100:]
	y := rawRows(s.x)
	if system != "input" {
		some := make([]string, s.x.N)
		for _, i := range known {
			some[i] = s.labels[i]
		}
		learner, set, err := s.labelLearner(t, system, some)
		if err != nil {
			return 0, err
		}
		if y, err = learnedEmbedding(ctx, eng, learner, s.x, set); err != nil {
			return 0, err
		}
	}
	labels, given, asked := pick(s.labels, known), y.Select(known), y.Select(others)
	gamma := yeungNarrow / spreadOf(asked)
	found := pairwiseVectors(gaussians(eng, given, given, gamma), gaussians(eng, asked, given, gamma), labels,
		yeungCost)
	return score.Accuracy(pick(s.labels, others), found)
}

// labelLearner returns the learner of a system, and the links that it gets from labels.
func (s *yeungSet) labelLearner(t Trial, system string,
	some []string) (algorithms.Learner, *links.Set, error) {
	all, err := links.FromLabels(some)
	if err != nil {
		return nil, nil, err
	}
	switch system {
	case "RCA":
		return &baseline.RCALearner{Params: plainRCA()}, all, nil
	case "LMNN":
		return baseline.LMNNLearner{Params: yeungLMNN()}, all, nil
	}
	few, err := links.SampleByCount(some, s.pairs, 0, t.Seed(1))
	if err != nil {
		return nil, nil, err
	}
	if system == yeungDefault {
		p := kbeta.DefaultParams()
		p.Landmarks = s.landmarks
		return kbeta.Learner{Params: p, Seed: t.Seed(2)}, few, nil
	}
	return yeungLearner(s.kernel.Spec(), s.landmarks, t.Seed(2)), few, nil
}

// spreadOf returns the mean squared distance between two rows.
func spreadOf(y blas.Matrix) float64 {
	mean, sum := make([]float64, y.Cols), 0.0
	for i := range y.Rows {
		for j, v := range y.Row(i) {
			mean[j] += v / float64(y.Rows)
		}
	}
	for i := range y.Rows {
		for j, v := range y.Row(i) {
			sum += (v - mean[j]) * (v - mean[j])
		}
	}
	return 2 * sum / float64(y.Rows-1)
}

// gaussians returns exp(-gamma d^2) for the distances d between the rows of two matrices.
func gaussians(eng *engine.Engine, a, b blas.Matrix, gamma float64) blas.Matrix {
	norms := func(m blas.Matrix) []float64 {
		out := make([]float64, m.Rows)
		for i := range out {
			for _, v := range m.Row(i) {
				out[i] += v * v
			}
		}
		return out
	}
	left, right, k := norms(a), norms(b), blas.NewMatrix(a.Rows, b.Rows)
	eng.Backend().Gemm(false, true, -2, a, b, 0, k)
	for i := range k.Rows {
		row := k.Row(i)
		for j, v := range row {
			row[j] = math.Exp(-gamma * max(0, v+left[i]+right[j]))
		}
	}
	return k
}
