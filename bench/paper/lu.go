package paper

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/algorithms/gml"
	"github.com/mustlink/mustlink/algorithms/neighbors"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
)

const luPaper = "Lu, Jain & Dhillon (2009). Geometry-aware metric learning. ICML 2009."

// luVotes is the number of neighbors that vote, and luTrain the number of labeled points.
const (
	luVotes = 4
	luTrain = 20
)

// luWidths are the widths from which leave-one-out chooses, relative to the mean distance.
func luWidths() []float64 { return []float64{0.125, 0.25, 0.5, 1, 2, 4} }

func luSets() []uciSet {
	return []uciSet{{"iris", "iris.csv", 0}, {"wine", "wine.csv", 0}, {"balance-scale", "balance-scale.csv", 0}, {"ionosphere", "ionosphere.csv", 0}}
}

// luFigure2 is classification with few labeled points.
func luFigure2() Table {
	sets := luSets()
	t := Table{
		Name: "lu-fig2", Paper: luPaper, Label: "Figure 2", Caption: "error of 4 nearest neighbors among 20 labeled points, in percent",
		Repetitions: 30, Steps: len(sets), Decimals: 1,
		Setup: []string{
			"Data: every feature scaled to mean 0 and standard deviation 1; 20 points, drawn again in every repetition, are labeled and are the only training points; a vote of the 4 nearest of them classifies the others.",
			"Links: all pairs of the labeled points. gamma = 1, bounds at the 5th and the 95th percentile of the squared distances of the labeled points under the first kernel.",
			"ITML: linear, and with a Gaussian kernel; its width is the one of 1/8 1/4 1/2 1 2 4 times the mean distance with the fewest leave-one-out errors on the labeled points.",
			"gml: Gaussian prior, whose width starts at the mean distance and is learned with the kernel in 5 rounds.",
		},
		Differences: []string{"The numbers of the paper's curves are not available, and how it scales its data is not known."},
		Revision:    2,
		Prepare: func(ctx context.Context, eng *engine.Engine, t Trial) (any, error) {
			var out []*labeled
			for k, set := range sets {
				d, err := loadUCI(ctx, eng, t.Path(set.file), set.perClass, "mean", t.Rand(k))
				if err != nil {
					return nil, err
				}
				out = append(out, d)
			}
			return out, nil
		},
		Trial: luTrial,
		Own:   "gml", Good: Lower,
		Why: "Classes of iris and balance-scale are linear, and a linear metric, of few numbers, is hard to beat with 20 labeled points. Tried: of three widths the one with the minimum objective. It chooses narrow kernels (12.0, 14.2, 33.1 and 28.7), because bounds at percentiles cost them nothing.",
	}
	for _, set := range sets {
		t.Data = append(t.Data, set.file)
		t.Columns = append(t.Columns, set.name)
	}
	for _, name := range []string{"Euclidean", "ITML, linear", "ITML, Gaussian kernel", "gml"} {
		t.Rows = append(t.Rows, Row{name, Unprinted(len(t.Columns))})
	}
	return t
}

// luTrial is one draw of the labeled points of every set.
func luTrial(ctx context.Context, eng *engine.Engine, t Trial) ([][]float64, error) {
	var values [][]float64
	for k, d := range t.Shared.([]*labeled) {
		c, err := newLuCase(d, t.Rand(10+k), t.Seed(10+k))
		if err != nil {
			return nil, err
		}
		column, err := c.errors(ctx, eng)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", luSets()[k].name, err)
		}
		if values == nil {
			values = make([][]float64, len(column))
		}
		for r, v := range column {
			values[r] = append(values[r], v)
		}
		t.Step()
	}
	return values, nil
}

// luCase is a data set with labeled and other points.
type luCase struct {
	train, test   points.Points
	labels, truth []string
	set           *links.Set
	seed          uint64
}

// newLuCase draws the labeled points, from at least two classes.
func newLuCase(d *labeled, r *rand.Rand, seed uint64) (*luCase, error) {
	for {
		order := r.Perm(d.x.N)
		known, others := order[:luTrain], order[luTrain:]
		labels := pick(d.labels, known)
		if len(classRows(labels)) < 2 {
			continue
		}
		set, err := links.FromLabels(labels)
		if err == nil {
			set, err = set.Closure() // all pairs
		}
		return &luCase{d.x.Select(known), d.x.Select(others), labels, pick(d.labels, others), set, seed}, err
	}
}

// errors returns the errors of the systems, in percent.
func (c *luCase) errors(ctx context.Context, eng *engine.Engine) ([]float64, error) {
	out := []float64{0, 0, 0, 0}
	var err error
	if out[0], err = c.error(ctx, eng, rawRows(c.train.(*points.Dense)), rawRows(c.test.(*points.Dense))); err != nil {
		return nil, err
	}
	width, err := c.width(ctx, eng)
	if err != nil {
		return nil, err
	}
	for r, l := range []algorithms.Learner{
		itml.Learner{Params: itml.DefaultParams(), Seed: c.seed},
		itml.Learner{Params: itml.DefaultParams(), Kernel: width, Seed: c.seed},
		gml.Learner{Params: luGML(), Seed: c.seed},
	} {
		m, err := l.Fit(ctx, eng, c.train, c.set)
		if err != nil {
			return nil, err
		}
		train, err := m.Embed(ctx, eng, c.train)
		if err != nil {
			return nil, err
		}
		test, err := m.Embed(ctx, eng, c.test)
		if err != nil {
			return nil, err
		}
		if out[1+r], err = c.error(ctx, eng, train, test); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// luGML returns the parameters of gml with projections until convergence.
func luGML() gml.Params {
	p := gml.DefaultParams()
	p.Outer, p.MaxIter, p.Tol, p.Gamma = luRounds, 1000, 1e-3, 1
	return p
}

func (c *luCase) error(ctx context.Context, eng *engine.Engine, train, test blas.Matrix) (float64, error) {
	found, err := neighbors.Classify(ctx, eng, train, c.labels, test, luVotes)
	if err != nil {
		return 0, err
	}
	v, err := score.Accuracy(c.truth, found)
	return 100 * (1 - v), err
}

// width returns the Gaussian kernel with the fewest errors on the labeled points, the narrowest if
// several have as few.
func (c *luCase) width(ctx context.Context, eng *engine.Engine) (kernel.Spec, error) {
	var best kernel.Spec
	fewest := luTrain + 1
	for _, w := range luWidths() {
		spec, err := kernel.Parse(fmt.Sprintf("rbf:sigma=%gmean", w))
		if err != nil {
			return best, err
		}
		y, err := learnedEmbedding(ctx, eng, itml.Learner{Params: itml.DefaultParams(), Kernel: spec, Seed: c.seed}, c.train, c.set)
		if err != nil {
			return best, err
		}
		wrong := 0
		for i := range luTrain {
			rest := make([]int, 0, luTrain-1)
			for j := range luTrain {
				if j != i {
					rest = append(rest, j)
				}
			}
			found, err := neighbors.Classify(ctx, eng, y.Select(rest), pick(c.labels, rest), y.Select([]int{i}), luVotes)
			if err != nil {
				return best, err
			}
			if found[0] != c.labels[i] {
				wrong++
			}
		}
		if wrong < fewest {
			best, fewest = spec, wrong
		}
	}
	return best, nil
}
