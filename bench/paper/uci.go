package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/baseline/rca"
	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/score"
)

// uciChoice has the choices that the paper leaves open or that we do not know.
type uciChoice struct {
	sigma    string  // bandwidth rule of the Gaussian kernel
	eps      float64 // eps of kernel RCA, relative to the mean diagonal of the kernel
	rcaEps   float64 // eps of RCA, relative to the mean eigenvalue of the covariance within chunklets
	restarts int     // number of starts of k-means
}

// uciLevel is an amount of side information.
type uciLevel struct {
	name     string
	fraction float64 // must-links leave this number of connected components, relative to n
}

func uciLevels() []uciLevel { return []uciLevel{{"little", 0.9}, {"much", 0.7}} }

// The rows of the table.
const (
	uciLinear = iota
	uciRCA
	uciGaussian
	uciKernelRCA
	uciSystems
)

// uciShared are the data sets, which all trials share, in the order of the columns.
type uciShared []*labeled

// uciPrepare returns the function that reads the data sets.
func uciPrepare(sets []uciSet, choice uciChoice) func(context.Context, *engine.Engine, Trial) (any, error) {
	return func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
		var shared uciShared
		for s, set := range sets {
			d, err := loadUCI(ctx, eng, t.Path(set.file), set.perClass, choice.sigma, t.Rand(s))
			if err != nil {
				return nil, fmt.Errorf("data set %s: %w", set.name, err)
			}
			shared = append(shared, d)
		}
		return shared, nil
	}
}

// uciTrial returns the function of one trial: one constraint set for every data set and level, each
// of which is a step.
func uciTrial(sets []uciSet, choice uciChoice) func(context.Context, *engine.Engine, Trial) ([][]float64, error) {
	return func(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
		shared, ok := t.Shared.(uciShared)
		if !ok || len(shared) != len(sets) {
			return nil, fmt.Errorf("shared value is a %T: want the data sets", t.Shared)
		}
		values := make([][]float64, uciSystems)
		for s, d := range shared {
			for level, amount := range uciLevels() {
				// Each data set has three streams: two for constraints, one for starts.
				l, err := links.SampleByComponents(d.labels, amount.fraction, t.Seed(3*s+level))
				if err != nil {
					return nil, fmt.Errorf("data set %s: %w", sets[s].name, err)
				}
				c := uciCase{d: d, l: l, choice: choice, seed: t.Seed(3*s + 2)}
				for system := range values {
					v, err := c.run(ctx, eng, system)
					if err != nil {
						return nil, fmt.Errorf("data set %s, %s, %s: %w", sets[s].name, amount.name, uciNames()[system], err)
					}
					values[system] = append(values[system], v)
				}
				t.Step()
			}
		}
		return values, nil
	}
}

func uciNames() []string {
	return []string{"linear kernel", "RCA", "Gaussian kernel", "kernel RCA"}
}

// uciCase is one data set with one set of constraints.
type uciCase struct {
	d      *labeled
	l      *links.Set
	choice uciChoice
	seed   uint64 // of the starts of k-means
}

// run clusters in the metric of a system and returns the balanced Rand index.
func (c uciCase) run(ctx context.Context, eng *engine.Engine, system int) (float64, error) {
	var r *cluster.Result
	var err error
	switch system {
	case uciLinear:
		r, err = cluster.Constrained(ctx, eng, rawRows(c.d.x), c.l, c.kmeans())
	case uciRCA:
		r, err = c.rca(ctx, eng)
	case uciGaussian:
		var gram blas.Matrix
		if gram, err = c.d.gaussian.Gram(ctx, eng, c.d.x); err == nil {
			r, err = cluster.ConstrainedKernel(ctx, eng, gram, c.l, c.kmeans())
		}
	default:
		r, err = c.kernelRCA(ctx, eng)
	}
	if err != nil {
		return 0, err
	}
	return score.BalancedRand(c.d.labels, r.Labels)
}

// kmeans returns the parameters that all systems share: the same random blocks of rows are
// the first centers.
func (c uciCase) kmeans() cluster.Params {
	return cluster.Params{K: c.d.classes, Restarts: c.choice.restarts, Init: cluster.InitRandom, Seed: c.seed}
}

func (c uciCase) rca(ctx context.Context, eng *engine.Engine) (*cluster.Result, error) {
	learner := rca.Learner{Params: plainRCA()}
	learner.Params.EpsRel = c.choice.rcaEps
	m, err := learner.Fit(ctx, eng, c.d.x, c.l)
	if err != nil {
		return nil, err
	}
	y, err := m.Embed(ctx, eng, c.d.x)
	if err != nil {
		return nil, err
	}
	return cluster.Constrained(ctx, eng, y, c.l, c.kmeans())
}

func (c uciCase) kernelRCA(ctx context.Context, eng *engine.Engine) (*cluster.Result, error) {
	// The learned Gram matrix is exact for any embedding, so the smallest one is enough.
	learner := krca.Learner{Kernel: c.d.gaussian.Spec(), Params: krca.Params{EpsRel: c.choice.eps, Dims: 1, Landmarks: 2}}
	m, err := learner.Fit(ctx, eng, c.d.x, c.l)
	if err != nil {
		return nil, err
	}
	gram, err := m.Gram(ctx, eng, c.d.x, nil)
	if err != nil {
		return nil, err
	}
	return cluster.ConstrainedKernel(ctx, eng, gram, c.l, c.kmeans())
}

// uciNotes compares kernel RCA with the Gaussian kernel, set by set, over the same
// constraint sets and starts.
func uciNotes(r *Result) []string {
	levels := uciLevels()
	notes := []string{"Kernel RCA minus Gaussian kernel, mean ± standard error of the paired differences over the constraint sets:"}
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
		notes = append(notes, fmt.Sprintf("With %s side information kernel RCA is ahead of the Gaussian kernel on %d of %d sets.", amount.name, ahead[level], sets))
	}
	return notes
}
