package baseline

import (
	"context"
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
	"github.com/mustlink/mustlink/engine/fault"
)

// NCA learns a linear metric for nearest neighbors:
// neighborhood components analysis (Goldberger, Roweis, Hinton & Salakhutdinov, NIPS 17, 2005).
//
// The points of one must-link component belong to one class; two classes are different if a
// cannot-link joins them, so links.FromLabels turns labels into links. A point chooses another one,
// known to be of its class or of another class, with probability
//
//	p_ij = exp(-|A(x_i - x_j)|^2) / sum_k exp(-|A(x_i - x_k)|^2)
//
// and A, the matrix of the map, maximizes the mean probability of choosing a point of the same
// class: the expected accuracy of leave-one-out classification. The objective is not concave.
// Limited-memory BFGS starts from the map that whitens the classes (in the directions in which they
// vary least, for fewer dimensions), scaled so small that every point has weight for all others.
// The ascent is then repeated from half of the resulting map: this leaves local maxima in which
// distances have grown so large that only the nearest point has weight. Rounding can decide which
// maximum is reached, so that rows in another order may give another metric.
//
// The map is learned in the leading principal directions of the data, an eighth as many as there
// are linked points: with as many directions as points, it can map every class to a single point,
// which does not generalize.
//
// An evaluation takes 4 n^2 r flops and n^2 exponentials for n linked points in r dimensions, in
// products of blocks of rows. It needs memory for some hundred rows of probabilities, not for n^2
// differences.
//
// The fields are the parameters of the method.
type NCA struct {
	Dims int `json:"dims" param:"dims" zero:"as many as there are directions" help:"number of dimensions of the map"`
	// Rank limits overfitting.
	Rank    int     `json:"rank" param:"rank" default:"eighth" named:"eighth=-1: an eighth of the linked points, rounded up" zero:"all" help:"number of leading principal directions in which the map is learned"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Tol     float64 `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"the ascent stops when five iterations gain less than this, relative to 1 minus the objective"`
	// Contractions help to leave local maxima; the best map is kept.
	Contractions int `json:"contractions" param:"contractions" default:"3" range:">= 0" help:"number of times that the map is halved and the ascent repeated"`
	MaxIter      int `json:"max_iter" param:"max_iter" default:"300" range:">= 1" help:"maximum number of iterations of an ascent"`
}

// NCARankEighth, as Params.Rank, means an eighth of the linked points, rounded up.
const NCARankEighth = linear.RankEighth

// NCAModel is a fitted metric. The objective, 0 to 1, is the mean probability of choosing a point
// of the same class; its trace has the best value so far.
type NCAModel = fitted.Traced[NCA]

// NCALearner learns from n dense points of d features: points joined by must-links belong to one
// class, and classes joined by a cannot-link are different. The result has the type *[NCAModel].
// More dimensions than directions are an error.
type NCALearner = learner.Learner[NCA]

// Rules returns what the method requires of its input.
func (NCA) Rules() learner.Rules {
	return learner.Rules{Needs: learner.Classes, About: algorithms.About{
		Name: NCAMethod, Title: "NCA",
		Summary: "neighborhood components analysis, linear: leave-one-out classification in expectation",
		Paper: "Goldberger, Roweis, Hinton & Salakhutdinov, Neighbourhood components analysis, NIPS " +
			"17, 2005",
		Linear: true, UsesCannotLinks: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p NCA) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, p.RankTol)
	if err != nil {
		return nil, err
	}
	c := linear.NewClasses(f.Links)
	pc.KeepRank(p.Rank, len(c.Rows))
	problem, err := newNCAProblem(ctx, f.Eng, pc, c, p.Dims)
	if err != nil {
		return nil, err
	}
	run, err := problem.Climb(ctx,
		linear.SoftmaxOptions{Tol: p.Tol, Contractions: p.Contractions, MaxIter: p.MaxIter, Report: f.Report},
		problem.start)
	if err != nil {
		return nil, err
	}
	return fitted.NewTraced(problem.Map(NCAMethod, run.Best), p, f.Status(run.Status), run.Trace), nil
}

// ncaProblem is the search for the map that maximizes the mean probability, and its start.
type ncaProblem struct {
	*linear.SoftmaxProblem
	eng     *engine.Engine
	classes *linear.Classes
	start   []float64 // A
}

func newNCAProblem(ctx context.Context, eng *engine.Engine, pc *linear.Principal, c *linear.Classes,
	dims int) (*ncaProblem, error) {
	inner, err := linear.NewSoftmax(ctx, eng, pc, c.Rows, dims, "linked points")
	if err != nil {
		return nil, err
	}
	p := &ncaProblem{SoftmaxProblem: inner, eng: eng, classes: c}
	p.Rule.Gain, p.Rule.Skips = p.chance, func(i int) bool { return len(c.Members[c.Of[i]]) < 2 }
	for i := range c.Rows {
		if !p.Rule.Skips(i) {
			p.Rule.Points++ // the point has others of its class, and of different classes
		}
	}
	if p.Rule.Points == 0 {
		return nil, fault.Data("", "no linked point has another point of its class: want must-links")
	}
	for k := range c.Members {
		if len(c.Rivals(k)) < len(c.Members)-1 { // not all classes are known to differ
			p.Rule.Counts = func(i, j int) bool { return c.Of[i] == c.Of[j] || c.Apart(i, j) }
		}
	}
	return p, p.begin(ctx)
}

// chance turns a row of weights with the given total into c_j = p_ij ([same class] - p_i), and
// returns p_i.
func (p *ncaProblem) chance(i int, row []float64, total float64, mates []float64) (chance float64) {
	members := p.classes.Members[p.classes.Of[i]]
	for k, j := range members {
		mates[k] = row[j] / total
		chance += mates[k]
	}
	p.eng.Backend().Kernels().Scale(-chance/total, row)
	for k, j := range members {
		row[j] += mates[k]
	}
	return chance
}

// ncaSmall is the initial mean distance to the nearest point of the same class. At this scale every
// point has weight for all others.
const ncaSmall = 0.1

// begin sets the start: the directions of least variance within classes relative to the variance of
// all points, whitened.
func (p *ncaProblem) begin(ctx context.Context) error {
	q := p.Z.Cols
	within := linear.Within(p.Z, p.classes.Members)
	c := blas.NewMatrix(q, q)
	p.eng.Backend().Gemm(true, false, 1/float64(within.Rows), within, within, 0, c)
	const eps = 1e-3
	c.Shift(1e-12) // the points of a class may all be equal
	white, err := linear.Whiten(ctx, p.eng, c, eps, 0)
	if err != nil {
		return err
	}
	white = white.View(0, p.Rank, 0, q)
	y := p.eng.NewMatrix(p.Z.Rows, p.Rank)
	p.eng.Backend().Gemm(false, true, 1, p.Z, white, 0, y)
	p.start = make([]float64, 0, p.Rank*q)
	for r := range p.Rank {
		p.start = append(p.start, white.Row(r)...)
	}
	p.eng.Backend().Kernels().Scale(ncaSmall*p.scale(y), p.start)
	return nil
}

// scale returns the factor for which the mean squared distance to the nearest point of the same
// class is 1.
func (p *ncaProblem) scale(y blas.Matrix) float64 {
	t, sum, count := p.eng.Backend().Kernels(), 0.0, 0
	for _, members := range p.classes.Members {
		for _, i := range members {
			best := math.Inf(1)
			for _, j := range members {
				if j != i {
					best = min(best, t.SquaredDistance(y.Row(i), y.Row(j)))
				}
			}
			if best < math.Inf(1) {
				sum += best
				count++
			}
		}
	}
	if !(sum > 0) {
		return 1
	}
	return math.Sqrt(float64(count) / sum)
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
// The fields are the parameters of the method.
type MLKR struct {
	Dims    int     `json:"dims" param:"dims" zero:"as many as there are directions" help:"number of dimensions of the map"`
	Rank    int     `json:"rank" param:"rank" zero:"all" help:"number of leading principal directions in which the map is learned"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Starts  int     `json:"starts" param:"starts" default:"3" range:">= 1, <= 3" help:"number of starts: principal coordinates, whitened ones, these with the linear estimate"`
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"the ascent stops when five iterations gain less than this, relative to the remaining error"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"2000" range:">= 1" help:"maximum number of iterations from each start"`
}

// MLKRModel is a fitted metric. The objective, at most 1, is the share of the variance of the
// targets that leave-one-out kernel regression explains; its trace has the best value so far.
type MLKRModel = fitted.Traced[MLKR]

// MLKRLearner learns from n dense points of d features and the n targets of its lesson. Links are
// ignored with a notice. The zero value does not work: Params come from param.Default. The result
// has the type *[MLKRModel].
//
// Errors are those of [learner.Learner.Fit]. No targets, targets that are not finite, all equal or
// not one for each point, and more dimensions than directions are errors, too.
type MLKRLearner = learner.Learner[MLKR]

// Rules describes the method and the input that it requires.
func (MLKR) Rules() learner.Rules {
	return learner.Rules{About: algorithms.About{
		Name: MLKRMethod, Title: "MLKR",
		Summary: "metric learning for kernel regression, linear: leave-one-out error of numeric targets",
		Paper:   "Weinberger & Tesauro, Metric learning for kernel regression, AISTATS 2007",
		Linear:  true, UsesTargets: true, Baseline: true,
	}}
}

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
		f.Notices = []string{MLKRMethod + " learns from targets: " + fault.Count(n, "link") + " ignored"}
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
	y := blas.NewMatrix(len(targets), 1)
	_, exponent := math.Frexp(blas.MaxAbs(targets))
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
