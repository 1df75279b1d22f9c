package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/score"
)

// What Tsang, Cheung & Kwok leave open, with one choice for all their tables: the width of the
// Gaussian kernel, eps of (kernel) RCA relative to the mean diagonal of the kernel, and the number
// of starts of k-means.
const (
	tsangWidth  = "rbf:sigma=msq"
	tsangEpsRel = 1e-3
	tsangStarts = 10
)

// uciLevel is an amount of side information.
type uciLevel struct {
	name     string
	fraction float64 // must-links leave this number of connected components, relative to n
}

func uciLevels() []uciLevel { return []uciLevel{{"little", 0.9}, {"much", 0.7}} }

// The rows of the table. The first four are those of the paper.
const (
	uciEuclidean = iota
	uciRCA
	uciGaussian
	uciKernelRCA
	uciDefaultRCA
	uciDefaultKernelRCA
	uciPrinted = 4 // number of rows that the paper prints
)

// uciNames are the rows in order.
func uciNames() []string {
	return []string{"Euclidean metric", "RCA", "Gaussian kernel", "kernel RCA", "RCA, default",
		"kernel RCA, default"}
}

// uciPrepare returns the function that reads the data sets, which all trials share.
func uciPrepare(sets []tsangSet) func(context.Context, *engine.Engine, Trial) (any, error) {
	return func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
		loaded, err := loadTsang(ctx, eng, sets, t)
		if err != nil {
			return nil, err
		}
		for k, d := range loaded {
			if d.gaussian, err = resolved(ctx, eng, tsangWidth, d.x); err != nil {
				return nil, fmt.Errorf("data set %s: %w", sets[k].name, err)
			}
		}
		return loaded, nil
	}
}

// uciTrial returns the function of one trial: one constraint set for every data set and level, each
// of which is a step.
func uciTrial(sets []tsangSet) func(context.Context, *engine.Engine, Trial) ([][]float64, error) {
	return func(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
		shared, ok := t.Shared.([]*labeled)
		if !ok || len(shared) != len(sets) {
			return nil, fmt.Errorf("shared value is a %T: want the data sets", t.Shared)
		}
		values := make([][]float64, len(uciNames()))
		for s, d := range shared {
			for level, amount := range uciLevels() {
				// Each data set has three streams: two for constraints, one for starts.
				l, err := links.SampleByComponents(d.labels, amount.fraction, t.Seed(3*s+level))
				if err != nil {
					return nil, fmt.Errorf("data set %s: %w", sets[s].name, err)
				}
				c := uciCase{d: d, l: l, seed: t.Seed(3*s + 2)}
				for row := range values {
					v, err := c.run(ctx, eng, row)
					if err != nil {
						return nil, fmt.Errorf("data set %s, %s, %s: %w", sets[s].name, amount.name,
							uciNames()[row], err)
					}
					values[row] = append(values[row], v)
				}
				t.Step()
			}
		}
		return values, nil
	}
}

// uciCase is one data set with one set of constraints.
type uciCase struct {
	d    *labeled
	l    *links.Set
	seed uint64 // of the starts of k-means
}

// run clusters in the metric of a system and returns the balanced Rand index.
func (c uciCase) run(ctx context.Context, eng *engine.Engine, system int) (float64, error) {
	var r *cluster.Result
	var err error
	switch system {
	case uciEuclidean:
		r, err = cluster.Constrained(ctx, eng, rawRows(c.d.x), c.l, c.kmeans())
	case uciRCA:
		r, err = c.whitened(ctx, eng, kernel.Linear().Spec())
	case uciGaussian:
		var gram blas.Matrix
		if gram, err = c.d.gaussian.Gram(ctx, eng, c.d.x); err == nil {
			r, err = constrainedKernel(ctx, eng, gram, c.l, c.kmeans())
		}
	case uciKernelRCA:
		r, err = c.whitened(ctx, eng, c.d.gaussian.Spec())
	case uciDefaultRCA:
		r, err = c.embedded(ctx, eng, &baseline.RCALearner{Params: param.Default[baseline.RCA]()})
	default:
		r, err = c.embedded(ctx, eng, krca.Learner{Kernel: c.d.gaussian.Spec(), Params: krca.DefaultParams()})
	}
	if err != nil {
		return 0, err
	}
	return score.BalancedRand(c.d.labels, r.Labels)
}

// kmeans returns the parameters that all systems share: the same random blocks of rows are
// the first centers.
func (c uciCase) kmeans() cluster.Params {
	return cluster.Params{K: c.d.classes, Restarts: tsangStarts, Init: cluster.InitRandom, Seed: c.seed}
}

// whitened clusters by the kernel that kernel RCA learns.
func (c uciCase) whitened(ctx context.Context, eng *engine.Engine, k kernel.Spec) (*cluster.Result, error) {
	// The learned Gram matrix is exact for any embedding, so the smallest one is enough.
	m, err := krca.Learner{Kernel: k,
		Params: krca.Params{EpsRel: tsangEpsRel, Dims: 1, Landmarks: 2}}.Fit(ctx, eng, c.d.x, c.l)
	if err != nil {
		return nil, err
	}
	gram, err := m.Gram(ctx, eng, c.d.x, nil)
	if err != nil {
		return nil, err
	}
	return constrainedKernel(ctx, eng, gram, c.l, c.kmeans())
}

// embedded clusters in the coordinates of a learned metric.
func (c uciCase) embedded(ctx context.Context, eng *engine.Engine,
	l algorithms.Learner) (*cluster.Result, error) {
	y, err := learnedEmbedding(ctx, eng, l, c.d.x, c.l)
	if err != nil {
		return nil, err
	}
	return cluster.Constrained(ctx, eng, y, c.l, c.kmeans())
}

// uciNotes compares kernel RCA with the Gaussian kernel, set by set, over the same
// constraint sets and starts.
func uciNotes(r *Result) []string {
	levels := uciLevels()
	notes := []string{"Kernel RCA minus Gaussian kernel, mean ± standard error of the paired differences " +
		"over the constraint sets:"}
	ahead := make([]int, len(levels))
	for j := 0; j+len(levels) <= len(r.Table.Columns); j += len(levels) {
		line := ""
		for level := range levels {
			v := summarize(given(r.Repetitions, func(trial int) float64 {
				return r.Trials[trial][uciKernelRCA][j+level] - r.Trials[trial][uciGaussian][j+level]
			}))
			if v.Mean > 0 {
				ahead[level]++
			}
			v.SD /= math.Sqrt(float64(r.Repetitions))
			if level > 0 {
				line += "; "
			}
			line += r.Table.Columns[j+level] + " " + r.signedValue(v)
		}
		notes = append(notes, line+".")
	}
	sets := len(r.Table.Columns) / len(levels)
	for level, amount := range levels {
		notes = append(notes,
			fmt.Sprintf("With %s side information kernel RCA is ahead of the Gaussian kernel on %d of %d "+
				"sets.", amount.name, ahead[level], sets))
	}
	return append(notes, starNote(r)...)
}
