package paper

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

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

// luWidths are the widths from which cross-validation chooses, relative to the mean distance. Of
// several with as few errors it takes the last.
func luWidths() []float64 { return []float64{0.125, 0.25, 4, 0.5, 2, 1} }

func luSets() []uciSet {
	return []uciSet{{"iris", "iris.csv", 0}, {"wine", "wine.csv", 0},
		{"balance-scale", "balance-scale.csv", 0}, {"ionosphere", "ionosphere.csv", 0}}
}

// luFigure2 is classification with few labeled points.
func luFigure2() Table {
	sets := luSets()
	t := Table{
		Name: "lu-fig2", Paper: luPaper, Label: "Figure 2",
		Caption:     "error of 4 nearest neighbors among 20 labeled points, in percent",
		Repetitions: 30, Steps: len(sets), Decimals: 1,
		Setup: []string{
			"Data: every feature scaled to mean 0 and standard deviation 1; 20 points, drawn again in " +
				"every repetition, are labeled and are the only training points; a vote of the 4 nearest " +
				"of them " +
				"classifies the others.",
			"Links: all pairs of the labeled points. gamma = 1, bounds at the 5th and the 95th percentile " +
				"of the squared distances of the labeled points under the first kernel.",
			"ITML: with a Gaussian kernel, as in the paper, whose width is the one of 1/8 1/4 1/2 1 2 4 " +
				"times the mean distance with the fewest leave-one-out errors on the labeled points, of " +
				"several the one " +
				"nearest to the mean; a point that is left out is not in the fit either. Another row is " +
				"linear.",
			"gml: Gaussian prior, whose scale and width are learned with the kernel in 5 rounds; the width " +
				"starts at the mean distance. gml, default: one round.",
			"Milliseconds: wall time on one worker of everything that chooses and learns the kernel.",
		},
		Differences: []string{
			"The figure has no printed numbers. The paper states the sets, the 20 points, the 4 neighbors " +
				"and the family of kernels. We chose, here and in the other figures of the paper where it " +
				"leaves them " +
				"open: gamma = 1, bounds at the 5th and the 95th percentile, which are those of ITML's " +
				"authors, 5 rounds, " +
				"30 splits, and features of standard deviation 1.",
			"The paper's search for scale and width finds a local minimum over both; ours computes the " +
				"best scale for each width and searches the width.",
		},
		Tried: luTrainTried(),
		Claims: func(r *Result) []Claim {
			slow, quick := r.Table.row(luSlow), r.Table.row(luQuick)
			times := Claim{Text: "leave-one-out for the width of ITML is slower than learning the width",
				Verdict: Reproduced}
			for j := range r.Table.Columns {
				if !(r.Ours[quick][j].Mean < r.Ours[slow][j].Mean) {
					times.Verdict = Worse
				}
				times.Detail += fmt.Sprintf("%s: %.3g ms against %.3g ms. ", r.Table.Columns[j],
					r.Ours[quick][j].Mean, r.Ours[slow][j].Mean)
			}
			return []Claim{
				r.against("gml learns the width as well as ITML with leave-one-out chooses it", r.Table.Own,
					[]string{luGaussian}, nil, duel.comparable),
				times,
			}
		},
		Revision: 3,
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
		Own:   "gml", Variants: []string{"gml, default"}, Timed: []string{luSlow, luQuick}, Good: Lower,
		Why: "Classes of iris and balance-scale are linear, and a linear metric, of few numbers, is hard " +
			"to beat with 20 labeled points. Tried: of three widths the one with the minimum objective. It " +
			"chooses " +
			"narrow kernels (12.0, 14.2, 33.1 and 28.7), because bounds at percentiles cost them nothing.",
	}
	for _, set := range sets {
		t.Data = append(t.Data, set.file)
		t.Columns = append(t.Columns, set.name)
	}
	for _, name := range []string{"Euclidean", "ITML, linear", luGaussian, "gml", "gml, default", luSlow,
		luQuick} {
		t.Rows = append(t.Rows, Row{name, Unprinted(len(t.Columns))})
	}
	return t
}

// Names of rows of Figure 2.
const (
	luGaussian = "ITML, Gaussian kernel"
	luSlow     = "milliseconds, ITML with leave-one-out"
	luQuick    = "milliseconds, gml"
)

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

// errors returns the errors of the systems, in percent, and the milliseconds of ITML and gml.
func (c *luCase) errors(ctx context.Context, eng *engine.Engine) ([]float64, error) {
	euclidean, err := c.error(ctx, eng, rawRows(c.train.(*points.Dense)), rawRows(c.test.(*points.Dense)))
	if err != nil {
		return nil, err
	}
	out := []float64{euclidean}
	begin := time.Now()
	width, err := c.width(ctx, eng)
	if err != nil {
		return nil, err
	}
	slow, quick := time.Since(begin), time.Duration(0)
	first := gml.DefaultParams()
	for r, l := range []algorithms.Learner{
		itml.Learner{Params: itml.DefaultParams(), Seed: c.seed},
		itml.Learner{Params: itml.DefaultParams(), Kernel: width, Seed: c.seed},
		gml.Learner{Params: luGML(), Seed: c.seed},
		gml.Learner{Params: first, Seed: c.seed},
	} {
		begin := time.Now()
		m, err := l.Fit(ctx, eng, c.train, c.set)
		if err != nil {
			return nil, err
		}
		switch r {
		case 1:
			slow += time.Since(begin)
		case 2:
			quick = time.Since(begin)
		}
		v, err := c.learned(ctx, eng, m)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return append(out, 1e3*slow.Seconds(), 1e3*quick.Seconds()), nil
}

// learned returns the error under a learned metric, in percent.
func (c *luCase) learned(ctx context.Context, eng *engine.Engine, m algorithms.Model) (float64, error) {
	train, err := m.Embed(ctx, eng, c.train)
	if err != nil {
		return 0, err
	}
	test, err := m.Embed(ctx, eng, c.test)
	if err != nil {
		return 0, err
	}
	return c.error(ctx, eng, train, test)
}

// luGML returns the parameters of gml with projections until convergence, and all of its kernel.
func luGML() gml.Params {
	p := gml.DefaultParams()
	p.Outer, p.MaxIter, p.Tol, p.Gamma, p.Dims = luRounds, 1000, 1e-3, 1, 0
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

// width returns the Gaussian kernel with the fewest leave-one-out errors on the labeled points.
func (c *luCase) width(ctx context.Context, eng *engine.Engine) (kernel.Spec, error) {
	var best kernel.Spec
	fewest := luTrain + 1
	for _, w := range luWidths() {
		k, err := resolved(ctx, eng, fmt.Sprintf("rbf:sigma=%gmean", w), c.train)
		if err != nil {
			return best, err
		}
		wrong := 0
		for i, label := range c.labels {
			found, err := c.leftOut(ctx, eng, k.Spec(), i)
			if err != nil {
				return best, err
			}
			if found != label {
				wrong++
			}
		}
		if wrong <= fewest {
			best, fewest = k.Spec(), wrong
		}
	}
	return best, nil
}

// leftOut returns the class that ITML, fitted to the other labeled points alone, gives labeled
// point i.
func (c *luCase) leftOut(ctx context.Context, eng *engine.Engine, spec kernel.Spec, i int) (string, error) {
	rest := make([]int, 0, luTrain-1)
	for j := range luTrain {
		if j != i {
			rest = append(rest, j)
		}
	}
	labels, train := pick(c.labels, rest), c.train.Select(rest)
	if len(classRows(labels)) == 1 {
		return labels[0], nil
	}
	set, err := links.FromLabels(labels)
	if err == nil {
		set, err = set.Closure() // all pairs
	}
	if err != nil {
		return "", err
	}
	m, err := itml.Learner{Params: itml.DefaultParams(), Kernel: spec, Seed: c.seed}.Fit(ctx, eng, train, set)
	if err != nil {
		return "", err
	}
	y, err := m.Embed(ctx, eng, train)
	if err != nil {
		return "", err
	}
	out, err := m.Embed(ctx, eng, c.train.Select([]int{i}))
	if err != nil {
		return "", err
	}
	found, err := neighbors.Classify(ctx, eng, y, labels, out, luVotes)
	if err != nil {
		return "", err
	}
	return found[0], nil
}
