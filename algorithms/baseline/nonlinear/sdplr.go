package nonlinear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/operator"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// SDPLR learns a kernel matrix on a graph by a low-rank augmented
// Lagrangian: SDPLR (Burer & Monteiro, "A nonlinear programming algorithm for solving semidefinite
// programs via low-rank factorization", Mathematical Programming 95, 2003). It solves the problem
// of package npkl, and is one of its baselines.
//
// With Z = V V' and a slack s for each link, the losses l(1 - s) subject to s = 1 - t Z_ij have
// multipliers a. The minimum over s is known: a link with the residual u = 1 - t Z_ij contributes
//
//	max over b of  b u - conjugate(b) - (b - a)^2 / (2 rho)
//
// where b is free (sl, conjugate b^2/(4C)), b >= 0 (shl, the same conjugate) or 0 <= b <= 2 C (hl,
// conjugate 0). This is smooth in V, and limited-memory BFGS minimizes it; then a becomes the best
// b, and rho grows if s is not close enough. Unlike the sweeps of npkl, this also converges for the
// hinge.
//
// If Delta - sum a t (E_ij + E_ji) / 2 has no negative eigenvalue, then Z is the optimum among all
// matrices; a negative eigenvalue bounds the gap. New points get their coordinates as in package
// npkl.
//
// The fields are the parameters of the method.
type SDPLR struct {
	graphkernel.Settings `choices:"loss=hl (hinge),shl (squared hinge),sl (square)" default:"loss=hl"`
	Rank                 int `json:"rank" param:"rank" zero:"as many as the number of links requires" help:"number of dimensions"`
	// Tol is compared with the root mean square difference between slacks and residuals, and with
	// the length of the gradient relative to 1 + |V|.
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"the fit stops when slacks differ from residuals by less than this, and the relative gradient is below it"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"10000" range:">= 1" help:"maximum number of steps"`
}

// Validate returns a *fault.ParamError for the first invalid value.
func (p SDPLR) Validate() error { return graphkernel.Validate(p, p.Neighborhood) }

// SDPLRLearner learns from the links on the points. The result has the type *[SDPLRModel]. Its
// Kernel defines the feature space of the neighbors; the zero Spec means linear. Cost: 2 r
// flops per edge of the graph and step, for some hundreds of steps.
type SDPLRLearner = learner.Learner[SDPLR]

// Rules returns what the method requires of its input.
func (SDPLR) Rules() learner.Rules {
	return graphkernel.Rules(algorithms.About{
		Name: SDPLRMethod, Title: "SDPLR",
		Summary: "the problem of npkl by a low-rank augmented Lagrangian: its baseline",
		Paper: "Burer & Monteiro, A nonlinear programming algorithm for solving semidefinite " +
			"programs via low-rank factorization, Mathematical Programming 95, 2003",
		DefaultKernel:   graphkernel.DefaultKernel,
		UsesCannotLinks: true, Pairwise: true, Baseline: true, Small: true,
	})
}

// SDPLRModel is a fitted kernel matrix and its extension to new points.
type SDPLRModel = graphkernel.Fitted[SDPLR]

// Learn fits the method.
func (p SDPLR) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	return graphkernel.Learn(ctx, f, p, sdplrRankTol,
		func(problem *graphkernel.Problem) (graphkernel.Solution, error) {
			s := newSDPLRSearch(ctx, f.Eng, problem, p, f.Seed)
			s.report = func(apart float64) {
				f.Report(algorithms.Progress{Stage: "augmented Lagrangian", Done: s.steps, Total: p.MaxIter,
					Residual: apart})
			}
			r, err := s.solve()
			message := fmt.Sprintf("at most about %.2g above the optimum", r.Gap)
			if !s.converged {
				message = fmt.Sprintf("%d steps did not reach the tolerance %g: raise max_iter or tol",
					s.steps,
					p.Tol)
			}
			return graphkernel.Solution{V: s.v, Result: r, Converged: s.converged, Steps: s.steps,
				Message: message}, err
		})
}

// sdplrRankTol drops eigenvalues that are practically 0.
const sdplrRankTol = 1e-10

// sdplrSearch minimizes the augmented Lagrangian.
type sdplrSearch struct {
	*graphkernel.Problem
	ctx    context.Context
	eng    *engine.Engine
	params SDPLR
	seed   uint64
	report func(apart float64)

	pairs graphkernel.Pairs
	v     blas.Matrix // n x r
	a     []float64   // multipliers of the links
	rho   float64

	steps     int
	converged bool
}

// newSDPLRSearch starts from random rows, like npkl, with multipliers 0.
func newSDPLRSearch(ctx context.Context, eng *engine.Engine, p *graphkernel.Problem, params SDPLR,
	seed uint64) *sdplrSearch {
	r := params.Rank
	if r == 0 {
		r = p.RankBound()
	}
	s := &sdplrSearch{Problem: p, ctx: ctx, eng: eng, params: params, seed: seed, pairs: p.Pairs(), rho: p.C}
	s.a, s.v = make([]float64, s.pairs.Count), blas.NewMatrix(p.Len(), min(r, p.Len()))
	rng := rand.New(rand.NewPCG(seed, 0x7364706c72))
	for i := range s.v.Data {
		s.v.Data[i] = rng.Float64() / math.Sqrt(float64(s.v.Cols))
	}
	return s
}

// best returns the optimal b for a link of weight w, multiplier a and residual u, and its value.
func (s *sdplrSearch) best(w, a, u float64) (b, value float64) {
	b = a + s.rho*u
	if s.Loss == graphkernel.Hinge {
		b = min(max(b, 0), 2*w)
		return b, b*u - (b-a)*(b-a)/(2*s.rho)
	}
	if b *= 2 * w / (2*w + s.rho); s.Loss == graphkernel.SquaredHinge {
		b = max(b, 0)
	}
	return b, b*u - b*b/(4*w) - (b-a)*(b-a)/(2*s.rho)
}

// evaluate returns the Lagrangian at v and writes its gradient to g.
func (s *sdplrSearch) evaluate(v, g blas.Matrix) (float64, error) {
	if s.N.Sparse == nil {
		s.eng.Backend().Gemm(false, false, 1, s.N.Full, v, 0, g)
	}
	const rows = 256
	parts := make([]float64, (v.Rows+rows-1)/rows)
	err := s.eng.For(s.ctx, v.Rows, rows, func(lo, hi int) error {
		if s.N.Sparse != nil {
			s.N.MultiplyRows(s.eng, lo, hi, v, g.Data[lo*g.Cols:])
		}
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += s.row(i, v, g.Row(i))
		}
		parts[lo/rows] = sum
		return nil
	})
	return blas.Sum(parts), err
}

// row turns g, the sum of the neighbors of point i, into the gradient, and returns the point's part
// of the objective.
func (s *sdplrSearch) row(i int, v blas.Matrix, g []float64) float64 {
	row := v.Row(i)
	sum := s.Diag[i]*blas.Dot(row, row) - blas.Dot(row, g)
	for c, x := range row {
		g[c] = 2 * (s.Diag[i]*x - g[c])
	}
	lo, hi := s.Links(i)
	for e := lo; e < hi; e++ {
		j := int(s.To[e])
		other := v.Row(j)
		b, value := s.best(s.Weight[e], s.a[s.pairs.Number[e]], 1-s.Sign[e]*blas.Dot(row, other))
		if j > i {
			sum += value
		}
		f := b * s.Sign[e]
		for c, x := range other {
			g[c] -= f * x
		}
	}
	return sum
}

// rounds is the maximum number of changes of the multipliers. After so many, rho is uselessly
// large, and a round without a step would not count as a step.
const rounds = 200

// solve updates the multipliers until the slacks equal the residuals.
func (s *sdplrSearch) solve() (graphkernel.Result, error) {
	before, tol := math.Inf(1), 0.1
	for round := 0; round < rounds && !s.converged && s.steps < s.params.MaxIter; round++ {
		if err := s.minimize(max(tol, s.params.Tol)); err != nil {
			return graphkernel.Result{}, err
		}
		apart := s.multiply()
		s.report(apart)
		s.converged = apart <= s.params.Tol && tol <= s.params.Tol && s.steps < s.params.MaxIter
		if apart > 0.25*before {
			s.rho *= 3
		}
		before = apart
		tol *= 0.3
	}
	objective, err := s.Objective(s.ctx, s.eng, s.v)
	if err != nil {
		return graphkernel.Result{}, err
	}
	gap, err := s.gap(objective)
	return graphkernel.Result{Objective: objective, Gap: gap}, err
}

// multiply makes the best multipliers the new ones, and returns the difference between slacks and
// residuals.
func (s *sdplrSearch) multiply() float64 {
	sum := 0.0
	for k, e := range s.pairs.Once {
		u := 1 - s.Sign[e]*blas.Dot(s.v.Row(int(s.pairs.From[k])), s.v.Row(int(s.To[e])))
		b, _ := s.best(s.Weight[e], s.a[k], u)
		d := (b - s.a[k]) / s.rho
		sum += d * d
		s.a[k] = b
	}
	return math.Sqrt(sum / float64(len(s.a)))
}

// sdplrMemory is the number of steps that determine a descent direction.
const sdplrMemory = 8

// rounding is the smallest gain of a step, relative to the Lagrangian.
const rounding = 1e-15

// minimize takes steps until the gradient is below tol, relative to 1 + |V|.
func (s *sdplrSearch) minimize(tol float64) error {
	t := s.eng.Backend().Kernels()
	g, next, turned := s.eng.NewMatrix(s.v.Rows, s.v.Cols), s.v.Clone(), s.v.Clone()
	direction := make([]float64, len(s.v.Data))
	history := optimize.NewHistory(t, sdplrMemory)
	value, err := s.evaluate(s.v, g)
	stuck := 0 // consecutive steps without a gain
	for err == nil && s.steps < s.params.MaxIter {
		if math.Sqrt(t.Dot(g.Data, g.Data)) <= tol*(1+math.Sqrt(t.Dot(s.v.Data, s.v.Data))) {
			return nil
		}
		s.steps++
		history.Direction(direction, g.Data)
		slope := t.Dot(direction, g.Data)
		if !(slope < 0) {
			history.Reset()
			history.Direction(direction, g.Data)
			slope = t.Dot(direction, g.Data)
		}
		step, lower := 1.0, false
		for ; step > 1e-12 && !lower; step /= 2 {
			copy(next.Data, s.v.Data)
			t.Axpy(step, direction, next.Data)
			var v float64
			if v, err = s.evaluate(next, turned); err != nil {
				return err
			}
			if lower = v <= value+1e-4*step*slope; lower {
				if stuck++; value-v > rounding*math.Abs(value) {
					stuck = 0
				}
				value = v
			}
		}
		if !lower || stuck > sdplrMemory {
			return nil // rounding: no lower value is near
		}
		t.Scale(2*step, direction) // the step taken: the loop has halved it once more than that
		t.Axpy(-1, turned.Data, g.Data)
		t.Scale(-1, g.Data)
		history.Add(direction, g.Data)
		s.v, next = next, s.v
		g, turned = turned, g
	}
	return err
}

// gap returns a bound on objective minus optimum: the difference to the dual objective at the
// current multipliers, and the smallest eigenvalue of the dual matrix, which should not be
// negative, times tr Z.
func (s *sdplrSearch) gap(objective float64) (float64, error) {
	a, err := s.Combined(func(_, e int) float64 { return s.a[s.pairs.Number[e]] * s.Sign[e] / 2 })
	if err != nil {
		return 0, err
	}
	found, err := graphkernel.Lowest(s.ctx, s.eng, a, 1, operator.EigenOptions{Tolerance: 1e-8, Seed: s.seed})
	if err != nil {
		return 0, err
	}
	dual, trace := 0.0, 0.0
	for k, e := range s.pairs.Once {
		if dual += s.a[k]; s.Loss != graphkernel.Hinge {
			dual -= s.a[k] * s.a[k] / (4 * s.Weight[e])
		}
	}
	for _, x := range s.v.Data {
		trace += x * x
	}
	return max(0, objective-dual) + trace*max(0, found.Residuals[0]-found.Values[0]), nil
}
