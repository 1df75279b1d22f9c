package paper

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/dca"
	"github.com/mustlink/mustlink/algorithms/baseline/lmnn"
	"github.com/mustlink/mustlink/algorithms/baseline/rca"
	"github.com/mustlink/mustlink/algorithms/baseline/xrca"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
)

// yeungVotes is the number of neighbors that vote.
const yeungVotes = 5

// yeungApart is the number of cannot-links that XRCA gets.
const yeungApart = 2000

// yeungLabeled are the labeled shares, in percent.
func yeungLabeled() []int { return []int{5, 10, 15, 20} }

// yeung4 is classification by the nearest labeled points.
func yeung4() Table {
	sets, systems := []string{"01234", yeungIsolet}, []string{"input", "RCA", "XRCA", "DCA", "LMNN", "kbeta"}
	t := Table{
		Name: "yeung-4", Paper: yeungPaper, Label: "Table 4", Caption: "accuracy of nearest neighbors with few labeled points, in percent",
		Repetitions: 10, Steps: len(sets) * len(yeungLabeled()), Decimals: 2, Data: yeungFiles(),
		Setup: []string{
			fmt.Sprintf("Data: the first %d training images of MNIST of each digit from 0 to 4, 784 features, divided by 255; Isolet is the two files joined, 3119 rows of 617 features in 26 classes.", yeungRealImages),
			"Labels, drawn again in every repetition: the given percentage of the points, uniformly. The labeled points of a class are a chunklet; their pairs are the similar pairs.",
			fmt.Sprintf("Every other point gets the most frequent label of its %d nearest labeled points; the nearest point decides a tie.", yeungVotes),
			fmt.Sprintf("kbeta: kernel rbf with sigma = the mean distance, %d landmarks or the labeled points if these are more, the square root of this number as the number of directions, 5 neighbors, 3 iterations. RCA: whitening by the covariance within the chunklets, with 0.01 of its mean eigenvalue added, in the principal directions of the data with more than 1 %% of the largest variance. DCA, with cannot-links between all classes, and XRCA, with %d cannot-links drawn at random, use the same directions.", yeungRealLandmarks, yeungApart),
			fmt.Sprintf("LMNN: 3 target neighbors, equal weights of targets and impostors, as many principal directions as an eighth of the labeled points (with all directions it is behind the input: 71.6 and 89.5 on the digits with 5 and 10 %%), learned from the labeled points until the objective falls by less than %g in 5 iterations.", yeungLMNN().Tol),
			"Measure: the share of the other points that get their correct label.",
		},
		Differences: []string{
			"The printed numbers are not available, and the classifier is not known. The paper's values for MNIST without learning are far below those of any neighbor rule here, so we can compare orders, but not numbers.",
			"In all principal directions, as in yeung-2, RCA is far behind on the digits (75, 44, 36 and 33 in one repetition): whitening makes noise as large as the differences between classes. For the clusters of yeung-3, fewer directions are worse for it (Isolet 0.78 instead of 0.85), so each table gives RCA the better choice.",
			"Only two of the five parts of Isolet are available.",
		},
		Revision: 6,
		Own:      "kbeta", Good: Higher,
		Why: "The classifier is not known. Neighbors in the input are better here than anything the paper prints, which leaves little to gain. The parameters are not the cause: other ranks, kernels, iterations and cannot-links move kbeta by 0.012 at most over 28 sets (docs/choosing.md). kbeta re-weights the kernel's own directions and mixes none; RCA, XRCA, DCA and LMNN mix them.",
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			return loadYeung(ctx, eng, t, sets, systems)
		},
		Trial: func(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
			values := make([][]float64, len(systems))
			for _, s := range t.Shared.([]*yeungSet) {
				for _, percent := range yeungLabeled() {
					for r, system := range systems {
						v, err := s.classify(ctx, eng, t, system, percent)
						if err != nil {
							return nil, fmt.Errorf("%s, %d %%: %w", system, percent, err)
						}
						values[r] = append(values[r], 100*v)
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
		t.Rows = append(t.Rows, Row{system, Unprinted(len(t.Columns))})
	}
	return t
}

// yeungRCA returns parameters that leave out directions with little variance.
func yeungRCA() rca.Params { return rca.Params{EpsRel: 1e-2, RankTol: 1e-2} }

// yeungLMNN returns parameters that stop when neighbors hardly change.
func yeungLMNN() lmnn.Params {
	p := lmnn.DefaultParams()
	p.Tol = 1e-3
	return p
}

// classify returns the accuracy of one system with that percentage of labels.
func (s *yeungSet) classify(ctx context.Context, eng *engine.Engine, t Trial, system string, percent int) (float64, error) {
	order := t.Rand(10 + percent).Perm(s.x.N)
	known, others := order[:s.x.N*percent/100], order[s.x.N*percent/100:]
	y := rawRows(s.x)
	if system != "input" {
		var err error
		if y, err = s.learned(ctx, eng, t, system, known); err != nil {
			return 0, err
		}
	}
	found, err := neighbors.Classify(ctx, eng, y.Select(known), pick(s.labels, known), y.Select(others), yeungVotes)
	if err != nil {
		return 0, err
	}
	return score.Accuracy(pick(s.labels, others), found)
}

// learned embeds all points by the metric that a system learns from some labels.
func (s *yeungSet) learned(ctx context.Context, eng *engine.Engine, t Trial, system string, known []int) (blas.Matrix, error) {
	some := make([]string, s.x.N)
	for _, i := range known {
		some[i] = s.labels[i]
	}
	set, err := links.FromLabels(some)
	if err != nil {
		return blas.Matrix{}, err
	}
	var learner algorithms.Learner
	switch system {
	case "RCA":
		learner = &rca.Learner{Params: yeungRCA()}
	case "XRCA": // it uses every cannot-link separately
		drawn, err := links.SampleByCount(some, 0, yeungApart, t.Seed(3))
		if err != nil {
			return blas.Matrix{}, err
		}
		if set, err = links.Union(set, drawn); err != nil {
			return blas.Matrix{}, err
		}
		p := xrca.DefaultParams()
		p.RankTol = yeungRCA().RankTol
		learner = xrca.Learner{Params: p}
	case "DCA":
		p := dca.DefaultParams()
		p.RankTol = yeungRCA().RankTol
		learner = dca.Learner{Params: p, Seed: t.Seed(2)}
	case "LMNN":
		learner = lmnn.Learner{Params: yeungLMNN()}
	default:
		p := kbeta.DefaultParams()
		p.Landmarks, p.Iterations = max(yeungRealLandmarks, len(known)), 3
		learner = kbeta.Learner{Kernel: s.kernel, Params: p, Seed: t.Seed(2)}
	}
	return learnedEmbedding(ctx, eng, learner, s.x, set)
}
