package baseline

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/param"
)

// NCAAbout describes the method.
var NCAAbout = algorithms.About{
	Name:    NCAMethod,
	Title:   "NCA",
	Summary: "neighborhood components analysis, linear: leave-one-out classification in expectation",
	Paper: "Goldberger, Roweis, Hinton & Salakhutdinov, Neighbourhood components analysis, NIPS " +
		"17, 2005",
	Linear:          true,
	UsesCannotLinks: true,
	Baseline:        true,
}

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
// distances have grown so large that only the nearest point has weight.
//
// The map is learned in the leading principal directions of the data, an eighth as many as there
// are linked points: with as many directions as points, it can map every class to a single point,
// which does not generalize.
//
// An evaluation takes 4 n^2 r flops and n^2 exponentials for n linked points in r dimensions, in
// products of blocks of rows. It needs memory for some hundred rows of probabilities, not for n^2
// differences.
//
// The fields are the parameters of the method. [NCADefaults] returns the defaults.
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

// NCADefaults returns a map of as many directions as an eighth of the linked points.
func NCADefaults() NCA { return param.Default[NCA]() }

// NCAModel is a fitted metric. The objective, 0 to 1, is the mean probability of choosing a point
// of the same class; its trace has the best value so far.
type NCAModel = fitted.Traced[NCA]

// NCALearner learns from n dense points of d features: points joined by must-links belong to one
// class, and classes joined by a cannot-link are different. The result has the type *[NCAModel].
// More dimensions than directions are an error.
type NCALearner = learner.Learner[NCA]

// Rules returns what the method requires of its input.
func (NCA) Rules() learner.Rules { return learner.Rules{About: NCAAbout, Needs: learner.Classes} }

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
	for k := range q { // the points of a class may all be equal
		c.Set(k, k, c.At(k, k)+1e-12)
	}
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
