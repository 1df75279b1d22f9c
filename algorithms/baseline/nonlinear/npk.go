package nonlinear

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/operator"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// npkMost is the maximum number of points: the time grows like the third power.
const npkMost = 500

// NPK learns a kernel matrix on a graph by semidefinite
// programming: non-parametric kernel learning (Zhuang, Tsang & Hoi, "A family of simple
// non-parametric kernel learning algorithms", JMLR 12, 2011; Hoi, Jin & Lyu, ICML 2007). It solves
// the problem of package npkl for few points, by an interior-point method with a duality gap.
//
// The fields are the parameters of the method.
type NPK struct {
	graphkernel.Settings `choices:"loss=hl (hinge),shl (squared hinge),sl (square)" default:"loss=hl"`
	Tol                  float64 `json:"tol" param:"tol" default:"1e-06" range:"> 0" help:"the fit stops at this duality gap, relative to 1 + the objective"`
}

// Validate returns a *fault.ParamError for the first invalid value.
func (p NPK) Validate() error { return graphkernel.Validate(p, p.Neighborhood) }

// NPKLearner learns from the links on at most 500 points. The result has the type *[NPKModel]. Its
// Kernel defines the feature space of the neighbors; the zero Spec means linear. Cost: some
// hundred times 10 n^3 flops.
type NPKLearner = learner.Learner[NPK]

// Rules returns what the method requires of its input.
func (NPK) Rules() learner.Rules {
	return graphkernel.Rules(algorithms.About{
		Name: NPKMethod, Title: "NPK",
		Summary: "the problem of npkl as a semidefinite program, for up to 500 points: its baseline",
		Paper: "Hoi, Jin & Lyu, Learning nonparametric kernel matrices from pairwise constraints, " +
			"ICML 2007",
		DefaultKernel:   graphkernel.DefaultKernel,
		UsesCannotLinks: true, Pairwise: true, Baseline: true, Small: true,
	})
}

// NPKModel is a fitted kernel matrix and its extension to new points.
type NPKModel = graphkernel.Fitted[NPK]

// Learn fits the method.
func (p NPK) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if n := f.X.Len(); n > npkMost {
		return nil, graphkernel.TooMany(NPKMethod, npkMost, n)
	}
	return graphkernel.Learn(ctx, f, p, npkRankTol,
		func(problem *graphkernel.Problem) (graphkernel.Solution, error) {
			res, err := optimize.MinimizeSDP(ctx, f.Eng, problem.Energy(), problem.Terms(),
				optimize.SDPOptions{Tolerance: p.Tol, Progress: f.Bounded("interior point", 0)})
			if err != nil {
				return graphkernel.Solution{}, err
			}
			message := fmt.Sprintf("at most %.2g above the optimum", res.Gap)
			if !res.Converged {
				message = graphkernel.NotReached(res.Steps, res.Gap)
			}
			return graphkernel.Solution{
				V: res.Factor, Result: graphkernel.Result{Objective: res.Objective, Gap: res.Gap},
				Converged: res.Converged, Steps: res.Steps, Message: message,
			}, nil
		})
}

// npkRankTol drops eigenvalues that only the barrier keeps above 0.
const npkRankTol = 1e-6

// The losses.
const (
	SimpleNPKLLinear       graphkernel.Loss = "linear" // -f
	SimpleNPKLSquaredHinge                  = graphkernel.SquaredHinge
)

// SimpleNPKL learns a kernel matrix on a graph by
// eigendecompositions: SimpleNPKL (Zhuang, Tsang & Hoi, "A family of simple non-parametric kernel
// learning algorithms", JMLR 12, 2011). It is a baseline of package npkl.
//
// Among all positive semidefinite K with a Frobenius norm of at most S, it finds the one that
// minimizes
//
//	tr(Delta K) + C sum l(t_ij K_ij)
//
// over the links, each once, with Delta as in package npkl. Without the bound S the kernel of the
// linear loss l(f) = -f would be infinite. With it, the kernel is S A+ / |A+|, where A+ is the
// positive part of A = C sum t_ij (E_ij + E_ji) / 2 - Delta: one eigendecomposition.
//
// With the squared hinge (shl) the problem has the dual
//
//	maximize over a >= 0:  sum a - sum a^2 / (4 C) - S |A(a)+|,
//	A(a) = sum a_ij t_ij (E_ij + E_ji) / 2 - Delta
//
// whose gradient is 1 - a / (2 C) - t K with K = S A+ / |A+|. It is maximized by projected gradient
// ascent, with an eigendecomposition in every step, until the gap between primal and dual objective
// closes.
//
// The rank r of a solution satisfies r(r+1)/2 <= the number of links, so no more eigenvectors are
// computed. New points get their coordinates as in package npkl.
//
// The fields are the parameters of the method.
type SimpleNPKL struct {
	graphkernel.Settings `choices:"loss=linear,shl (squared hinge)" default:"loss=shl"`
	Size                 float64 `json:"size" param:"size" default:"0.1" range:">= 1e-15, <= 1e15" help:"maximum Frobenius norm of the kernel matrix, relative to the number of points"`
	Rank                 int     `json:"rank" param:"rank" zero:"as many as the number of links requires" help:"maximum number of eigenvectors"`
	Tol                  float64 `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"the fit stops at this gap between primal and dual objective, relative to the objective of 0"`
	MaxIter              int     `json:"max_iter" param:"max_iter" default:"500" range:">= 1" help:"maximum number of eigendecompositions"`
}

// Validate returns a *fault.ParamError for the first invalid value.
func (p SimpleNPKL) Validate() error { return graphkernel.Validate(p, p.Neighborhood) }

// SimpleNPKLLearner learns from the links on the points. The result has the type
// *[SimpleNPKLModel]. Its Kernel defines the feature space of the neighbors; the zero Spec means
// linear. Cost: an eigendecomposition (linear), or one in each of some dozens of steps
// (shl).
type SimpleNPKLLearner = learner.Learner[SimpleNPKL]

// Rules returns what the method requires of its input.
func (SimpleNPKL) Rules() learner.Rules {
	return graphkernel.Rules(algorithms.About{
		Name: SimpleNPKLMethod, Title: "SimpleNPKL",
		Summary: "non-parametric kernels of bounded size by eigendecompositions: a baseline of npkl",
		Paper: "Zhuang, Tsang & Hoi, A family of simple non-parametric kernel learning algorithms, " +
			"JMLR 12, 2011",
		DefaultKernel:   graphkernel.DefaultKernel,
		UsesCannotLinks: true, Pairwise: true, Baseline: true, Small: true,
	})
}

// SimpleNPKLModel is a fitted kernel matrix and its extension to new points.
type SimpleNPKLModel = graphkernel.Fitted[SimpleNPKL]

// Learn fits the method.
func (p SimpleNPKL) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	return graphkernel.Learn(ctx, f, p, simplenpklRankTol,
		func(problem *graphkernel.Problem) (graphkernel.Solution, error) {
			s := newSimpleNPKLSearch(ctx, f.Eng, problem, p, f.Seed)
			s.report = func() {
				f.Report(algorithms.Progress{Stage: "eigendecompositions", Done: s.steps, Total: p.MaxIter,
					Objective: s.primal, Residual: s.primal - s.dual})
			}
			solve := s.ascend
			if p.Loss == SimpleNPKLLinear {
				solve = s.linear
			}
			if err := solve(); err != nil {
				return graphkernel.Solution{}, err
			}
			return graphkernel.Solution{
				V: s.factor(), Result: graphkernel.Result{Objective: s.primal, Gap: s.gap()},
				Converged: s.converged, Steps: s.steps, Message: s.message(),
			}, nil
		})
}

// simplenpklRankTol drops eigenvalues that are only rounding.
const simplenpklRankTol = 1e-12

// message describes how the search ended.
func (s *simplenpklSearch) message() string {
	switch {
	case s.converged && len(s.values) == 0:
		return "the links are too weak relative to the graph: the best kernel is 0 and all points have the " +
			"same coordinates; a larger C or a smaller delta avoids it"
	case s.inactive:
		return "the bound on the size of the kernel matrix is not reached, so there is no formula for it: " +
			"want a smaller size"
	case !s.converged:
		return graphkernel.NotReached(s.steps, s.primal-s.dual)
	case s.cut:
		return fmt.Sprintf("rank %d, the maximum that was set: further eigenvectors are dropped",
			len(s.values))
	case s.params.Loss == SimpleNPKLLinear:
		return "the optimum, by its formula"
	}
	return fmt.Sprintf("at most %.2g above the optimum", s.gap())
}

// simplenpklSearch computes the kernel matrix S A+ / |A+|.
type simplenpklSearch struct {
	*graphkernel.Problem
	ctx    context.Context
	eng    *engine.Engine
	params SimpleNPKL
	seed   uint64
	report func()

	size  float64 // S
	pairs graphkernel.Pairs

	values  []float64   // positive eigenvalues of A, descending
	vectors blas.Matrix // and their eigenvectors as rows
	start   blas.Matrix // all eigenvectors of the step before
	cut     bool        // there may be more

	steps               int
	primal, dual        float64
	converged, inactive bool // inactive: the bound on the norm is not reached
}

func newSimpleNPKLSearch(ctx context.Context, eng *engine.Engine, p *graphkernel.Problem, params SimpleNPKL,
	seed uint64) *simplenpklSearch {
	return &simplenpklSearch{
		Problem: p, ctx: ctx, eng: eng, params: params, seed: seed, report: func() {},
		size: params.Size * float64(p.Len()), pairs: p.Pairs(),
	}
}

// decompose finds the positive eigenpairs of A(a), at most as many of the largest as the links
// require.
func (s *simplenpklSearch) decompose(a []float64) error {
	most := s.params.Rank
	if most == 0 {
		most = s.RankBound()
	}
	most = min(most, s.Len())
	negative, err := s.Combined(func(_, e int) float64 { return a[s.pairs.Number[e]] * s.Sign[e] / 2 })
	if err != nil {
		return err
	}
	s.steps++
	found, err := graphkernel.Lowest(s.ctx, s.eng, negative, most,
		operator.EigenOptions{Tolerance: 1e-8, Seed: s.seed, Start: s.start})
	if err != nil {
		return err
	}
	s.start, s.values = found.Vectors, nil
	for _, v := range found.Values {
		if v < 0 {
			s.values = append(s.values, -v)
		}
	}
	s.cut = len(s.values) == most && most < s.Len()
	s.vectors = found.Vectors.View(0, len(s.values), 0, s.Len())
	return nil
}

// norm returns |A+|.
func (s *simplenpklSearch) norm() float64 {
	sum := 0.0
	for _, v := range s.values {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// factor returns V with n rows, K = V V'; one column of zeros if A has no positive eigenvalue.
func (s *simplenpklSearch) factor() blas.Matrix {
	v, norm := blas.NewMatrix(s.Len(), max(1, len(s.values))), s.norm()
	for k, w := range s.values {
		root := math.Sqrt(s.size * w / norm)
		for i, u := range s.vectors.Row(k) {
			v.Set(i, k, root*u)
		}
	}
	return v
}

// linear computes the optimum of the linear loss by its formula.
func (s *simplenpklSearch) linear() error {
	a := make([]float64, s.pairs.Count)
	for e, k := range s.pairs.Number {
		a[k] = s.Weight[e]
	}
	if err := s.decompose(a); err != nil {
		return err
	}
	s.primal = -s.size * s.norm()
	s.dual, s.converged = s.primal, true
	return nil
}

// gap returns a bound on objective minus optimum, or -1 if it is not known.
func (s *simplenpklSearch) gap() float64 {
	if s.cut {
		return -1
	}
	return s.primal - s.dual
}

// point is a point of the ascent.
type point struct {
	a, gradient []float64
	dual        float64
}

// evaluate computes the kernel matrix for a, and the value of the dual there.
func (s *simplenpklSearch) evaluate(a []float64) (point, error) {
	if err := s.decompose(a); err != nil {
		return point{}, err
	}
	v := s.factor()
	p := point{a: a, gradient: make([]float64, len(a)), dual: -s.size * s.norm()}
	for k, e := range s.pairs.Once {
		p.dual += a[k] - a[k]*a[k]/(4*s.Weight[e])
		p.gradient[k] = 1 - a[k]/(2*s.Weight[e]) -
			s.Sign[e]*blas.Dot(v.Row(int(s.pairs.From[k])), v.Row(int(s.To[e])))
	}
	var err error
	s.primal, err = s.Objective(s.ctx, s.eng, v)
	s.dual = p.dual
	return p, err
}

// simplenpklMemory is the number of steps among which the dual may fall below the highest value:
// steps after Barzilai & Borwein (1988) are sometimes too long, but help the next steps (Birgin,
// Martinez & Raydan 2000).
const simplenpklMemory = 5

// ascend maximizes the dual of the squared hinge by projected gradients.
func (s *simplenpklSearch) ascend() error {
	at := make([]float64, s.pairs.Count)
	scale := 0.0 // the objective of K = 0
	for k, e := range s.pairs.Once {
		at[k] = s.Weight[e]
		scale += s.Weight[e]
	}
	now, err := s.evaluate(at)
	if err != nil {
		return err
	}
	step, latest := 2*s.C, []float64{now.dual}
	for {
		s.report()
		s.converged = s.primal-s.dual <= s.params.Tol*scale
		s.inactive = !s.converged && s.norm() < 0.01*s.C
		if s.converged || s.steps >= s.params.MaxIter {
			return s.ctx.Err()
		}
		next, err := s.step(now, step, slices.Min(latest))
		if err != nil {
			return err
		}
		moved, turned := 0.0, 0.0
		for k, x := range next.a {
			d := x - now.a[k]
			moved += d * d
			turned -= d * (next.gradient[k] - now.gradient[k])
		}
		if moved == 0 {
			return s.ctx.Err()
		}
		if step = 2 * s.C; turned > 0 {
			step = min(max(moved/turned, 1e-6*step), 1e6*step)
		}
		now = next
		if latest = append(latest, now.dual); len(latest) > simplenpklMemory {
			latest = latest[1:]
		}
	}
}

// step moves along the gradient, as far as the dual does not fall too much below least.
func (s *simplenpklSearch) step(from point, step, least float64) (point, error) {
	for {
		to, rise := make([]float64, len(from.a)), 0.0
		for k, x := range from.a {
			to[k] = max(0, x+step*from.gradient[k])
			rise += (to[k] - x) * from.gradient[k]
		}
		next, err := s.evaluate(to)
		if err != nil || next.dual >= least+1e-4*rise || step < 1e-9*s.C || s.steps >= s.params.MaxIter {
			return next, err
		}
		step /= 4
	}
}
