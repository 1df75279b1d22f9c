package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// MMC learns a linear metric under which must-linked points are
// close and cannot-linked points far apart: Xing, Ng, Jordan & Russell, "Distance metric learning,
// with application to clustering with side-information" (NIPS 15, 2002), full and diagonal.
//
// The metric is the positive semidefinite A (or the diagonal one) with the largest
//
//	sum over cannot-links of sqrt(d'A d)    where    sum over must-links of d'A d = 1
//
// for the differences d of linked points. A fraction eps of the must-links' mean scatter is added
// in all directions; otherwise directions in which no must-link varies would cost nothing.
//
// # Method
//
// The first sum grows like the square root of A, the second like A. With A = L L' the problem is to
// maximize
//
//	h(L) = log sum sqrt(|L'd|^2) - log(tr L'W L) / 2,    W = sum dd' + eps I
//
// without constraints, in coordinates in which W is the identity; L is square. The problem in A is
// concave, so for a square L every local maximum is global (Burer & Monteiro 2005). Limited-memory
// BFGS takes some dozens of evaluations; alternating projections on a half-space and on the cone
// take thousands of eigendecompositions. The gradient M of the first sum bounds the distance to the
// optimum by lambda_max(M) - tr(M A) (for a diagonal A, by the largest element of M's diagonal
// instead of lambda_max), and the search stops by this bound. A diagonal A is found by Newton steps
// on the weights that are not 0, which are few.
//
// The fields are the parameters of the method.
type MMC struct {
	Diagonal bool `json:"diagonal" param:"diagonal" help:"true learns one weight per feature, not a matrix"`
	// EpsRel has a default for features of similar scales. If some scales are much larger than
	// others, 1e-3 prevents these features from dominating.
	EpsRel  float64 `json:"eps_rel" param:"eps_rel" default:"0.1" range:">= 0, <= 1e15" help:"scatter added to that of the must-links, relative to its mean"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Tol     float64 `json:"tol" param:"tol" default:"0.0001" range:"> 0" help:"the search stops at this relative distance to the optimum"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"maximum number of iterations"`
}

// MMCModel is a fitted metric. The objective is the sum of the distances of cannot-linked points,
// scaled so that the sum of the squared distances of must-linked points, with eps, is 1; it rises.
type MMCModel = fitted.Traced[MMC]

// MMCLearner learns from n dense points of d features and the links between them, of both kinds.
// The result has the type *[MMCModel]. Must-links that all join equal points, with eps_rel = 0, are
// an error.
//
// Cost for m cannot-links and q directions: 4 m q^2 flops per iteration, or 4 m q for a diagonal
// matrix.
type MMCLearner = learner.Learner[MMC]

// Rules returns what the method requires of its input.
func (MMC) Rules() learner.Rules {
	return learner.Rules{Needs: learner.BothKinds, Pairs: true, About: algorithms.About{
		Name: MMCMethod, Title: "MMC",
		Summary: "maximizes the distances of cannot-links for bounded distances of must-links, linear: " +
			"full or one weight per feature",
		Paper: "Xing, Ng, Jordan & Russell, Distance metric learning, with application to clustering " +
			"with side-information, NIPS 15, 2002",
		Linear: true, UsesCannotLinks: true, Pairwise: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p MMC) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if err := f.Eng.Check(fmt.Sprintf("mmc on %d links", f.Links.Len()),
		4*engine.MatrixBytes(f.Links.Len(), f.Dense.D), "use fewer links"); err != nil {
		return nil, err // memory for differences of linked points, and intermediate results for each
	}
	problem, frame, err := p.frame(ctx, f.Eng, f.Dense, f.Links)
	if err != nil {
		return nil, err
	}
	trace, converged, err := p.ascend(ctx, f, problem)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: converged, Iterations: len(trace) - 1}
	if problem.twins > 0 {
		f.Notices = append(f.Notices,
			fmt.Sprintf("%d cannot-links join equal points, which no metric can separate, and are ignored",
				problem.twins))
	}
	if !converged {
		status.Message = fmt.Sprintf(
			"after %d iterations the optimum may be %.2g of the objective away: raise max_iter or tol",
			p.MaxIter, problem.last)
	}
	return fitted.NewTraced(frame(problem.start), p, f.Status(status), trace), nil
}

// ascend solves the problem and writes L to the start of the problem.
func (p MMC) ascend(ctx context.Context, f *learner.Fit,
	problem *mmcProblem) (trace []float64, converged bool, err error) {
	done := func(iteration int, objective, gap float64) bool {
		f.Report(algorithms.Progress{Stage: "ascent", Done: iteration, Total: p.MaxIter, Objective: objective,
			Residual: gap})
		return gap <= p.Tol
	}
	if problem.diagonal {
		return problem.newton(ctx, p.MaxIter, done)
	}
	out, err := optimize.MinimizeLBFGS(ctx, f.Eng.Backend().Kernels(), problem.at, problem.start,
		optimize.LBFGSOptions{MaxIter: p.MaxIter,
			Done: func(iteration int, value float64, at, gradient []float64) (bool, error) {
				const every = 5 // a gap costs as much as an evaluation
				if iteration%every != 0 && iteration < p.MaxIter {
					return false, nil
				}
				gap, err := problem.gap(ctx, at)
				return done(iteration, math.Exp(-value), gap), err
			}})
	if err != nil {
		return nil, false, err
	}
	for _, v := range out.Trace {
		trace = append(trace, math.Exp(-v))
	}
	return trace, out.Converged, nil
}

// frame returns the problem in coordinates in which the scatter of the must-links is the identity,
// and the function that turns its solution into a map.
func (p MMC) frame(ctx context.Context, eng *engine.Engine, x *points.Dense,
	set *links.Set) (*mmcProblem, func([]float64) *fitted.Map, error) {
	if p.Diagonal {
		return p.diagonal(eng, x, set)
	}
	return p.full(ctx, eng, x, set)
}

// differences returns the differences of linked rows.
func differences(x blas.Matrix, list []links.Link) blas.Matrix {
	out := blas.NewMatrix(len(list), x.Cols)
	for k, l := range list {
		to, from := out.Row(k), x.Row(l.J)
		for c, v := range x.Row(l.I) {
			to[c] = v - from[c]
		}
	}
	return out
}

// noScatter returns the error of must-links that cost nothing.
func noScatter() error {
	return fault.Data("",
		"the must-linked points do not differ in all directions: want eps_rel > 0, or more must-links")
}

// mmcProblem is the minimization of -log sum |L'z| + log |L| over the rows z of the differences, in
// coordinates in which the must-links' scatter is the identity; [weights] solves it for a diagonal
// L.
type mmcProblem struct {
	eng      *engine.Engine
	z        blas.Matrix // cannot-links x q
	diagonal bool        // whether L is diagonal; then z has squares
	start    []float64   // L, q x q, or its diagonal
	twins    int         // cannot-links between equal points
	last     float64     // gap
	y, w     blas.Matrix // cannot-links x q: L'z, and weighted
	lengths  []float64
}

// full returns the problem for a matrix, in whitened principal coordinates.
func (params MMC) full(ctx context.Context, eng *engine.Engine, x *points.Dense,
	set *links.Set) (*mmcProblem, func([]float64) *fitted.Map, error) {
	pc, err := linear.NewPrincipal(ctx, eng, x, params.RankTol)
	if err != nil {
		return nil, nil, err
	}
	must, q := differences(pc.Z, set.Must()), pc.Z.Cols
	scatter := blas.NewMatrix(q, q)
	eng.Backend().Syrk(true, 1, must, 0, scatter)
	if err := linear.CheckCovariance(scatter); err != nil {
		return nil, nil, err
	}
	trace := scatter.Trace()
	if !(trace > 0) {
		return nil, nil, noScatter()
	}
	scatter.Shift(params.EpsRel * trace / float64(q))
	if err := eng.Cholesky(ctx, scatter); err != nil {
		return nil, nil, noScatter()
	}
	for i := range q { // singular up to rounding
		if !(scatter.At(i, i)*scatter.At(i, i) > 1e-14*trace) {
			return nil, nil, noScatter()
		}
	}
	z := differences(pc.Z, set.Cannot())
	eng.Backend().Trsm(false, true, scatter, z) // rows z' = d' C'^-1
	p := &mmcProblem{eng: eng, start: make([]float64, q*q)}
	for i := range q {
		p.start[i*q+i] = 1
	}
	if err := p.take(z); err != nil {
		return nil, nil, err
	}
	return p, func(at []float64) *fitted.Map { // y = L' C^-1 x
		t := blas.NewMatrix(q, q)
		scale := 1 / math.Sqrt(eng.Backend().Kernels().Dot(at, at))
		for i := range q {
			for j := range q {
				t.Set(i, j, scale*at[j*q+i])
			}
		}
		eng.Backend().Trsm(false, false, scatter, t)
		return pc.Map(eng, MMCMethod, t)
	}, nil
}

// diagonal returns the problem for one weight per feature, with features divided by the root of
// their scatter.
func (params MMC) diagonal(eng *engine.Engine, x *points.Dense,
	set *links.Set) (*mmcProblem, func([]float64) *fitted.Map, error) {
	rows := kernel.Matrix(x)
	must, z := squares(rows, set.Must()), squares(rows, set.Cannot())
	scatter, spread := columnSums(must), columnSums(z)
	trace := blas.Sum(scatter)
	if !(trace > 0) {
		return nil, nil, noScatter()
	}
	p := &mmcProblem{eng: eng, diagonal: true, start: make([]float64, x.D)}
	inverse := make([]float64, x.D)
	for c := range scatter {
		p.start[c] = 1
		scatter[c] += params.EpsRel * trace / float64(x.D)
		if scatter[c] == 0 {
			if spread[c] != 0 {
				return nil, nil, noScatter()
			}
			scatter[c] = 1 // constant
		}
		inverse[c] = 1 / scatter[c]
	}
	for k := range z.Rows {
		row := z.Row(k)
		for c, v := range inverse {
			row[c] *= v
		}
	}
	if err := p.take(z); err != nil {
		return nil, nil, err
	}
	return p, func(at []float64) *fitted.Map {
		scale := 1 / math.Sqrt(eng.Backend().Kernels().Dot(at, at))
		var kept []int
		for c, v := range at {
			if v != 0 {
				kept = append(kept, c)
			}
		}
		t := blas.NewMatrix(len(kept), x.D)
		for r, c := range kept {
			t.Set(r, c, scale*at[c]/math.Sqrt(scatter[c]))
		}
		return fitted.NewLinear(MMCMethod, linear.Mean(rows), t)
	}, nil
}

// squares returns the squared differences of linked rows.
func squares(x blas.Matrix, list []links.Link) blas.Matrix {
	out := differences(x, list)
	for i, v := range out.Data {
		out.Data[i] = v * v
	}
	return out
}

func columnSums(x blas.Matrix) []float64 {
	sums := make([]float64, x.Cols)
	for k := range x.Rows {
		for c, v := range x.Row(k) {
			sums[c] += v
		}
	}
	return sums
}

// take stores the differences that are not 0.
func (p *mmcProblem) take(z blas.Matrix) error {
	var kept []int
	for k := range z.Rows {
		sum := 0.0
		for _, v := range z.Row(k) {
			sum += math.Abs(v)
		}
		if sum-sum != 0 {
			return fault.Data("",
				"the difference of the points of cannot-link %d is not representable: want smaller values "+
					"(standardize the data)", k)
		}
		if sum > 0 {
			kept = append(kept, k)
		}
	}
	p.twins = z.Rows - len(kept)
	if len(kept) == 0 {
		return linear.NoDifference()
	}
	if p.z = z; p.twins > 0 {
		p.z = z.Select(kept)
	}
	p.lengths = make([]float64, len(kept))
	if !p.diagonal {
		p.y, p.w = p.eng.NewMatrix(p.z.Rows, p.z.Cols), p.eng.NewMatrix(p.z.Rows, p.z.Cols)
	}
	return nil
}

// mmcSquare returns a vector of q^2 values as a matrix.
func mmcSquare(v []float64, q int) blas.Matrix {
	return blas.MatrixOf(q, q, v)
}

// evaluate writes the lengths |L'z| and returns their sum.
func (p *mmcProblem) evaluate(at []float64) float64 {
	t, sum := p.eng.Backend().Kernels(), 0.0
	p.eng.Backend().Gemm(false, false, 1, p.z, mmcSquare(at, p.z.Cols), 0, p.y)
	for k := range p.lengths {
		p.lengths[k] = math.Sqrt(t.Dot(p.y.Row(k), p.y.Row(k)))
		sum += p.lengths[k]
	}
	return sum
}

// inverse returns 1 / |L'z|, bounded if |L'z| is close to 0.
func (p *mmcProblem) inverse(k int, sum float64) float64 {
	return 1 / max(p.lengths[k], 1e-9*sum/float64(len(p.lengths)))
}

// at returns -log sum |L'z| + log |L| and its gradient with respect to L.
func (p *mmcProblem) at(at, gradient []float64) (float64, error) {
	t, sum := p.eng.Backend().Kernels(), p.evaluate(at)
	norm := t.Dot(at, at)
	for k := range p.lengths {
		to := p.w.Row(k)
		copy(to, p.y.Row(k))
		t.Scale(-p.inverse(k, sum)/sum, to)
	}
	p.eng.Backend().Gemm(true, false, 1, p.z, p.w, 0, mmcSquare(gradient, p.z.Cols))
	t.Axpy(1/norm, at, gradient)
	return -math.Log(sum) + math.Log(norm)/2, nil
}

// gap returns a bound on optimum minus sum at |L| = 1, relative to the sum. The sum is concave in B
// = L L', its gradient is M = sum zz' / (2 |L'z|), and the largest tr(M B) is the largest
// eigenvalue.
func (p *mmcProblem) gap(ctx context.Context, at []float64) (float64, error) {
	sum := p.evaluate(at)
	norm := math.Sqrt(p.eng.Backend().Kernels().Dot(at, at))
	m, w := blas.NewMatrix(p.z.Cols, p.z.Cols), make([]float64, p.z.Cols)
	for k := range p.lengths {
		to := p.w.Row(k)
		copy(to, p.z.Row(k))
		p.eng.Backend().Kernels().Scale(math.Sqrt(p.inverse(k, sum)/2), to)
	}
	p.eng.Backend().Syrk(true, 1, p.w, 0, m)
	if err := p.eng.SymEig(ctx, m, w, false); err != nil {
		return 0, err
	}
	best := w[len(w)-1]
	// The lengths are those of L with its norm: with |L| = 1 they are sum / norm, and M is norm
	// times as large.
	p.last = (best*norm - sum/norm/2) / (sum / norm)
	return p.last, nil
}
