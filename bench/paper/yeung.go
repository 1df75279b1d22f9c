package paper

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

const yeungPaper = "Yeung, Chang & Dai (2008). A scalable kernel-based semi-supervised metric learning " +
	"algorithm with out-of-sample generalization ability. Neural Computation 20."

// The set-up of the XOR experiment.
const (
	yeungPoints = 8000
	yeungSpread = 0.217
	yeungPairs  = 50
)

// What the paper leaves open, with one choice for all its tables.
const (
	// yeungKernel has 2 sigma^2 = the mean squared distance: rule msq is 2 sigma^2 = 0.8 times it.
	yeungKernel    = "rbf:sigma=1.118033988749895msq"
	yeungNeighbors = 10
)

// yeungLearner returns the method of the paper with m landmarks, 0 for all points: every direction.
func yeungLearner(k kernel.Spec, m int, seed uint64) kbeta.Learner {
	l := kbeta.Learner{Kernel: k, Params: kbeta.DefaultParams(), Seed: seed}
	l.Params.Landmarks, l.Params.Iterations, l.Params.Neighbors = m, 3, yeungNeighbors
	l.Params.Rank, l.Params.RankTol = 0, 1e-6
	return l
}

// yeungOpen describes the choices.
func yeungOpen() string {
	return fmt.Sprintf("The paper does not state the width of the kernel, the number of neighbors and eps. "+
		"Here, in all its tables: exp(-|x-y|^2 / m) with m the mean squared distance, %d neighbors, and an "+
		"eps "+
		"that hardly matters (reg_d and reg_g of kbeta, eps_rel of RCA, at their defaults).", yeungNeighbors)
}

// yeungLandmarks are the numbers of landmarks, one for each column.
func yeungLandmarks() []int { return []int{100, 200, 300, 400, 500, 600, 700, 800} }

// yeung1 is the XOR experiment of Yeung, Chang & Dai: J of the data, two baselines, and kbeta with
// more and more landmarks.
func yeung1() Table {
	t := Table{
		Name:        "yeung-1",
		Paper:       yeungPaper,
		Label:       "Table 1",
		Caption:     "mean distance between classes over that within them, J, for the XOR data",
		Columns:     []string{"input", "RBF kernel", "RCA"},
		Repetitions: 10,
		Steps:       3 + len(yeungLandmarks()),
		Decimals:    4,
		Setup: []string{
			fmt.Sprintf("Data, one draw for all repetitions: %d points of the plane, a quarter from each "+
				"of four normal distributions with centers (+-1, +-1) and standard deviation %g in each "+
				"coordinate; the "+
				"class is the sign of the product of the center's coordinates.", yeungPoints, yeungSpread),
			fmt.Sprintf("Side information, drawn again in every repetition: %d pairs of points of the same "+
				"class.", yeungPairs),
			"Kernel: exp(-|x-y|^2 / m), m the mean squared distance between two points.",
			fmt.Sprintf("kbeta: landmarks are the points of the pairs and others drawn at random; every "+
				"direction with more than 1e-6 of the largest eigenvalue; %d neighbors, 3 iterations.",
				yeungNeighbors),
			"RCA: whitening by the covariance within the chunklets of the pairs.",
			"Measure: J as in yeung-2.",
		},
		Differences: []string{
			yeungOpen(),
			fmt.Sprintf("The paper does not state how its XOR data are drawn. With four normal blobs, a "+
				"spread of %g gives the printed J of the input and, with the kernel above, that of the "+
				"kernel to 1 %%.",
				yeungSpread),
			"Landmarks that are not drawn uniformly, which the paper leaves for later work, do not help: " +
				"with m = 100, 200 and 400, a spread of 0.227 and rule msq the same pairs give J = 3.17, " +
				"3.41 and 4.39 " +
				"(uniform), 3.21, 3.93 and 3.91 (kmeans++), 3.15, 2.98 and 3.44 (farthest), 3.24, 2.89 and " +
				"2.86 (leverage).",
		},
		Tried: []string{
			"Spread and width: with 2 sigma^2 = 0.8 m and a spread of 0.227 the input is 1.247 and the " +
				"kernel 1.427, nearer to the print than here; but only 2 sigma^2 = m gives the printed " +
				"kernel column on " +
				"MNIST (yeung-2), and the width has one rule.",
			"Squares instead of normal blobs, with the same variance: at 0.22 the input is 1.248 and the " +
				"kernel 1.407, those of normal blobs with 0.227; the shape matters little.",
		},
		Revision: 2,
		Good:     Higher,
		Claims:   yeungXORClaims,
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			return newYeungXOR(ctx, eng, t)
		},
		Trial: yeungTrial,
	}
	for _, m := range yeungLandmarks() {
		t.Columns = append(t.Columns, fmt.Sprintf("kbeta, m = %d", m))
	}
	t.Rows = []Row{{Name: "J"}}
	t.print(func(_, column string) printed.Key {
		key := printed.Key{Table: "yeung-1", Dataset: "XOR 8000", Condition: "|S|=50",
			Method: yeungNames()[column], Measure: "J"}
		if m, ok := strings.CutPrefix(column, "kbeta, m = "); ok {
			key.Condition, key.Method = "|S|=50 m="+m, "own method"
		}
		return key
	})
	return t
}

// yeungNames are the names of the systems in the printed numbers.
func yeungNames() map[string]string {
	return map[string]string{"input": "input data", "RBF kernel": "RBF kernel", "RCA": "RCA", "LMNN": "LMNN",
		"kbeta": "own method"}
}

// yeungXOR is the data that the trials share.
type yeungXOR struct {
	x      *points.Dense
	labels []string
	kernel kernel.Kernel
	input  float64 // J of the points
	rbf    float64 // J in the feature space
}

func newYeungXOR(ctx context.Context, eng *engine.Engine, t Trial) (*yeungXOR, error) {
	d, err := dataset.Generate("xor",
		dataset.GenerateOptions{N: yeungPoints, Noise: yeungSpread, Seed: t.Seed(0)})
	if err != nil {
		return nil, err
	}
	s := &yeungXOR{x: d.Points.(*points.Dense), labels: d.Labels}
	if s.kernel, err = resolved(ctx, eng, yeungKernel, s.x); err != nil {
		return nil, err
	}
	if s.input, err = featureJ(ctx, eng, kernel.Linear(), s.x, s.labels); err != nil {
		return nil, err
	}
	s.rbf, err = featureJ(ctx, eng, s.kernel, s.x, s.labels)
	return s, err
}

// featureJ returns score.JRatio in the feature space of a kernel, block by block.
func featureJ(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	labels []string) (float64, error) {
	type sums struct{ within, between float64 }
	rows, class := make([]sums, x.Len()), make([]int, x.Len())
	same, all := 0.0, float64(x.Len())*float64(x.Len()-1)/2
	for c, members := range classRows(labels) {
		for _, i := range members {
			class[i] = c
		}
		same += float64(len(members)) * float64(len(members)-1) / 2
	}
	// The blocks of a row come in the order of their columns, so every sum has a fixed order.
	err := k.Squared().GramBlocks(ctx, eng, x, func(b kernel.Block) error {
		for r := range b.Matrix.Rows {
			i := b.Row + r
			for c, v := range b.Matrix.Row(r)[:max(0, min(b.Matrix.Cols, i-b.Col))] {
				if class[b.Col+c] == class[i] {
					rows[i].within += math.Sqrt(v)
				} else {
					rows[i].between += math.Sqrt(v)
				}
			}
		}
		return nil
	})
	var total sums
	for _, r := range rows {
		total.within, total.between = total.within+r.within, total.between+r.between
	}
	return total.between / (all - same) / (total.within / same), err
}

// embeddedJ returns J of the rows of y.
func embeddedJ(ctx context.Context, eng *engine.Engine, y blas.Matrix, labels []string) (float64, error) {
	x, err := points.NewDense(y.Rows, y.Cols, y.Data)
	if err != nil {
		return 0, err
	}
	return featureJ(ctx, eng, kernel.Linear(), x, labels)
}

// yeungTrial is a repetition: one set of pairs.
func yeungTrial(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
	s := t.Shared.(*yeungXOR)
	pairs, err := links.SampleByCount(s.labels, yeungPairs, 0, t.Seed(1))
	if err != nil {
		return nil, err
	}
	values := []float64{s.input, s.rbf}
	y, err := learnedEmbedding(ctx, eng, &baseline.RCALearner{Params: plainRCA()}, s.x, pairs)
	if err != nil {
		return nil, err
	}
	j, err := embeddedJ(ctx, eng, y, s.labels)
	if err != nil {
		return nil, err
	}
	values = append(values, j)
	for range 3 {
		t.Step()
	}
	for _, m := range yeungLandmarks() {
		y, err := learnedEmbedding(ctx, eng, yeungLearner(s.kernel.Spec(), m, t.Seed(2)), s.x, pairs)
		if err != nil {
			return nil, err
		}
		j, err := embeddedJ(ctx, eng, y, s.labels)
		if err != nil {
			return nil, err
		}
		values = append(values, j)
		t.Step()
	}
	return [][]float64{values}, nil
}
