package baseline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/param"
)

// MLKRAbout describes the method.
var MLKRAbout = algorithms.About{
	Name:        MLKRMethod,
	Title:       "MLKR",
	Summary:     "metric learning for kernel regression, linear: leave-one-out error of numeric targets",
	Paper:       "Weinberger & Tesauro, Metric learning for kernel regression, AISTATS 2007",
	Linear:      true,
	UsesTargets: true,
	Baseline:    true,
}

// MLKR learns a linear metric for regression: metric learning for
// kernel regression (Weinberger & Tesauro, AISTATS 2007). It learns from targets y_i, a number for
// each row (of the lesson), and not from links. Kernel regression estimates the target of a
// row from the targets of all other rows,
//
//	ŷ_i = sum_{j != i} k_ij y_j / sum_{j != i} k_ij,  k_ij = exp(-|A(x_i - x_j)|^2)
//
// and A, the matrix of the map, minimizes the squared error sum_i (y_i - ŷ_i)^2. The objective of a
// model is the share of the variance that the estimates explain, 1 - sum_i (y_i - ŷ_i)^2 / sum_i
// (y_i - mean)^2, which does not depend on units. It is not concave, so limited-memory BFGS
// maximizes it from several maps: the principal coordinates, the whitened principal coordinates,
// and these with the linear estimate of the targets added to the first, each in the scale that
// explains most. The best result is kept. [linear.SoftmaxProblem] documents the cost of
// an evaluation.
//
// The fields are the parameters of the method. [MLKRDefaults] returns the defaults.
type MLKR struct {
	Dims    int     `json:"dims" param:"dims" zero:"as many as there are directions" help:"number of dimensions of the map"`
	Rank    int     `json:"rank" param:"rank" zero:"all" help:"number of leading principal directions in which the map is learned"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Starts  int     `json:"starts" param:"starts" default:"3" range:">= 1, <= 3" help:"number of starts: principal coordinates, whitened ones, these with the linear estimate"`
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"the ascent stops when five iterations gain less than this, relative to the remaining error"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"2000" range:">= 1" help:"maximum number of iterations from each start"`
}

// MLKRDefaults returns a map of all directions.
func MLKRDefaults() MLKR { return param.Default[MLKR]() }

// MLKRModel is a fitted metric. The objective, at most 1, is the share of the variance of the
// targets that leave-one-out kernel regression explains; its trace has the best value so far.
type MLKRModel = fitted.Traced[MLKR]

// MLKRLearner learns from n dense points of d features and the n targets of its lesson. Links are
// ignored with a notice. The zero value does not work: Params come from [MLKRDefaults]. The result
// has the type *[MLKRModel].
//
// Errors are those of [learner.Learner.Fit]. No targets, targets that are not finite, all equal or
// not one for each point, and more dimensions than directions are errors, too.
type MLKRLearner = learner.Learner[MLKR]

// Rules describes the method and the input that it requires.
func (MLKR) Rules() learner.Rules { return learner.Rules{About: MLKRAbout} }

// Learn climbs to the map that explains most.
func (p MLKR) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if err := input.Targets(MLKRMethod, f.Targets, f.Dense.N); err != nil {
		return nil, err
	}
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, p.RankTol)
	if err != nil {
		return nil, err
	}
	if p.Rank > 0 {
		pc.Keep(p.Rank)
	}
	search, err := newMLKRProblem(ctx, f.Eng, pc, f.Targets, p.Dims)
	if err != nil {
		return nil, err
	}
	starts, err := search.starts(pc.Variances, p.Starts)
	if err != nil {
		return nil, err
	}
	run, err := search.Climb(ctx, linear.SoftmaxOptions{Tol: p.Tol, MaxIter: p.MaxIter, Report: f.Report},
		starts...)
	if err != nil {
		return nil, err
	}
	if n := f.Links.Len(); n > 0 {
		f.Notices = []string{fmt.Sprintf("%s learns from targets: %d links ignored", MLKRMethod, n)}
	}
	return fitted.NewTraced(search.Map(MLKRMethod, run.Best), p, f.Status(run.Status), run.Trace), nil
}

// mlkrProblem is the search for the map that maximizes the explained share of the variance.
type mlkrProblem struct {
	*linear.SoftmaxProblem
	t *asm.Table
	y []float64 // with mean 0 and variance 1
}

func newMLKRProblem(ctx context.Context, eng *engine.Engine, pc *linear.Principal, targets []float64,
	dims int) (*mlkrProblem, error) {
	inner, err := linear.NewSoftmax(ctx, eng, pc, nil, dims, "points")
	if err != nil {
		return nil, err
	}
	t := eng.Backend().Kernels()
	p := &mlkrProblem{inner, t, standardized(t, targets)}
	p.Rule = linear.SoftmaxRule{Gain: p.explained, Points: len(targets)}
	return p, nil
}

// standardized returns targets with mean 0 and variance 1, for any scale of the input.
func standardized(t *asm.Table, targets []float64) []float64 {
	y, largest := blas.NewMatrix(len(targets), 1), 0.0
	for _, v := range targets {
		largest = max(largest, math.Abs(v))
	}
	_, exponent := math.Frexp(largest)
	for i, v := range targets {
		y.Data[i] = math.Ldexp(v, -exponent)
	}
	linear.Center(y)
	t.Scale(math.Sqrt(float64(y.Rows)/t.Dot(y.Data, y.Data)), y.Data)
	return y.Data
}

// explained turns a row of weights with the given total into c_j = 2 p_ij (y_i - ŷ_i) (y_j - ŷ_i),
// and returns 1 - (y_i - ŷ_i)^2.
func (p *mlkrProblem) explained(i int, row []float64, total float64, _ []float64) float64 {
	estimate := p.t.Dot(row, p.y) / total
	residual := p.y[i] - estimate
	factor := 2 * residual / total
	for j, v := range p.y {
		row[j] *= factor * (v - estimate)
	}
	return 1 - residual*residual
}

// starts returns the first count maps to start from: the leading principal coordinates, the
// whitened ones, and these with the linear estimate of the targets added to the first.
func (p *mlkrProblem) starts(variances []float64, count int) ([][]float64, error) {
	r, q := p.Rank, p.Z.Cols
	plain, white, estimate := make([]float64, r*q), make([]float64, r*q), make([]float64, r*q)
	for i, v := range p.y {
		p.t.Axpy(v/float64(len(p.y)), p.Z.Row(i), estimate[:q]) // the coefficients of the linear estimate
	}
	if size := math.Sqrt(p.t.Dot(estimate, estimate)); size > 0 {
		// the sign of a principal direction is arbitrary
		p.t.Scale(math.Copysign(2/size, estimate[0]), estimate)
	}
	for j := range r {
		plain[j*q+j], white[j*q+j] = math.Sqrt(variances[j]/variances[0]), 1
		estimate[j*q+j]++
	}
	starts := [][]float64{plain, white, estimate}[:count]
	for _, a := range starts {
		if err := p.scale(a); err != nil {
			return nil, err
		}
	}
	return starts, nil
}

// scale multiplies a map by the factor that explains most. The scales that are tried range from
// those in which every point has weight for all others to those in which only its nearest has.
func (p *mlkrProblem) scale(a []float64) error {
	least, best, gradient := math.Inf(1), 0, make([]float64, len(a))
	p.t.Scale(1/math.Sqrt(p.t.Dot(a, a)), a) // the mean squared distance of two points is of the order of 1
	for power := -3; power <= 5; power++ {
		trial := slices.Clone(a)
		p.t.Scale(math.Ldexp(1, power), trial)
		value, err := p.At(trial, gradient)
		if err != nil {
			return err
		}
		if value < least {
			least, best = value, power
		}
	}
	p.t.Scale(math.Ldexp(1, best), a)
	return nil
}
