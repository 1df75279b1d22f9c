package optimize

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// ErrUnbounded reports that the objective has no lower bound, or that float64 cannot distinguish it
// from such a problem.
var ErrUnbounded = errors.New(
	"glasso: the objective has no lower bound: no matrix within lambda of P is positive definite")

// GlassoOptions are the stopping rule.
type GlassoOptions struct {
	Tol      float64 // the duality gap for each row of P at which the search stops, > 0
	MaxIter  int     // the maximum number of sweeps over all rows, >= 1
	Progress func(sweep int, objective, gap float64)
}

// GlassoResult is a solution.
type GlassoResult struct {
	M         blas.Matrix // positive definite, both triangles
	Objective float64     // f(M)
	Gap       float64     // of M, which bounds f(M) - min f; +Inf if rounding leaves no feasible W
	Sweeps    int         // of the part with the most sweeps; 0 if all parts were solved directly
	Converged bool
	Trace     []float64 // the objective at the start and after every sweep; it falls
}

// Glasso computes sparse positive definite matrices: the
// graphical lasso.
//
// Given a symmetric P of order d and lambda >= 0, [Glasso] minimizes
//
//	f(M) = tr(P M) - log det M + lambda sum_{i != j} |M_ij|
//
// over positive definite M. For a covariance matrix P, M is a sparse estimate of its inverse
// (Banerjee, El Ghaoui & d'Aspremont, JMLR 9, 2008). Here P may be any symmetric matrix, including
// an indefinite one. The dual problem is
//
//	maximize g(W) = d + log det W  subject to  W_ii = P_ii, |W_ij - P_ij| <= lambda,
//
// over positive definite W. If there is such a W, M = W^-1 is unique at the optimum, where f = g.
// If there is none, f has no lower bound, and the error is [ErrUnbounded]. A P_ii <= 0 always leads
// to this; an indefinite P does not if lambda is large enough.
//
// Rows and columns that no |P_ij| > lambda joins form independent problems (Witten, Friedman &
// Simon 2011, Mazumder & Hastie, JMLR 13, 2012). Each is solved by block coordinate descent on the
// primal (Mazumder & Hastie, "The graphical lasso: new insights and alternatives", EJS 6, 2012):
// one row and column of M at a time, which is a lasso whose quadratic term comes from M^-1. The
// primal needs no feasible W to start from, its iterates are sparse and positive definite, and f
// falls in every step. The dual needs a feasible W, which for an indefinite P is as hard to find as
// the solution.
//
// The gap f(M) - g(W) bounds the distance of f(M) from the optimum. W is M^-1 with its elements
// moved into their ranges.
//
// Glasso computes M for the symmetric matrix p, both triangles, which it does not change. Elements
// of p and lambda must be finite.
//
// Cost: 4 k^3 flops per sweep for a part of k rows, twice that if M is dense; some ten sweeps, more
// for a small lambda and an ill-conditioned P. With lambda = 0, M is the inverse of P: one
// factorization.
//
// Errors: [ErrUnbounded]; ctx.Err(), wrapped; a request beyond the memory limit.
func Glasso(ctx context.Context, eng *engine.Engine, p blas.Matrix, lambda float64,
	o GlassoOptions) (*GlassoResult, error) {
	if p.Rows != p.Cols || !(lambda >= 0) || !(o.Tol > 0) || o.MaxIter < 1 {
		panic("glasso: want a square matrix, lambda >= 0, Tol > 0 and MaxIter >= 1")
	}
	d := p.Rows
	if err := eng.Check("matrices of the graphical lasso", 5*engine.MatrixBytes(d, d),
		"use fewer features"); err != nil {
		return nil, err
	}
	parts, err := split(ctx, eng, p, lambda)
	if err != nil {
		return nil, err
	}
	res := &GlassoResult{M: eng.NewMatrix(d, d)}
	for sweep := 0; ; sweep++ {
		objective, gap, open := 0.0, 0.0, false
		for _, b := range parts {
			if sweep > 0 && !b.done {
				if err := b.sweep(ctx, o.Tol); err != nil {
					return nil, err
				}
				res.Sweeps = sweep
			}
			b.done = b.done || b.gap <= o.Tol*float64(b.p.Rows)
			objective, gap, open = objective+b.objective, gap+b.gap, open || !b.done
		}
		res.Objective, res.Gap, res.Trace = objective, gap, append(res.Trace, objective)
		if o.Progress != nil {
			o.Progress(sweep, objective, gap)
		}
		if !open || sweep == o.MaxIter {
			break
		}
	}
	res.Converged = res.Gap <= o.Tol*float64(d)
	for _, b := range parts {
		for r, i := range b.rows {
			for c, j := range b.rows {
				res.M.Set(i, j, b.m.At(r, c))
			}
		}
	}
	return res, ctx.Err()
}

// split returns the independent parts of the problem, each with a start.
func split(ctx context.Context, eng *engine.Engine, p blas.Matrix, lambda float64) ([]*part, error) {
	var parts []*part
	left := make([]bool, p.Rows) // rows that are not in a part yet
	for first := range p.Rows {
		if left[first] {
			continue
		}
		left[first] = true
		rows := []int{first}
		for k := 0; k < len(rows); k++ {
			for j, v := range p.Row(rows[k]) {
				if !left[j] && math.Abs(v) > lambda {
					left[j], rows = true, append(rows, j)
				}
			}
		}
		slices.Sort(rows)
		b, err := newPart(ctx, eng, p, lambda, rows)
		if err != nil {
			return nil, err
		}
		parts = append(parts, b)
	}
	return parts, nil
}

// part is an independent problem, of k rows.
type part struct {
	eng    *engine.Engine
	t      *asm.Table
	rows   []int // in the whole matrix
	p      blas.Matrix
	lambda float64

	m, w           blas.Matrix // w is the inverse of m, both triangles
	factor         blas.Matrix // scratch memory
	objective, gap float64
	bound          float64 // the largest value of the dual so far
	done           bool    // the gap is small, or rounding keeps it from falling

	theta, u, v []float64
}

// newPart starts from a diagonal M, which solves a part of one row, or, if lambda = 0, from the
// inverse of P.
func newPart(ctx context.Context, eng *engine.Engine, p blas.Matrix, lambda float64,
	rows []int) (*part, error) {
	k := len(rows)
	b := &part{eng: eng, t: eng.Backend().Kernels(), rows: rows, lambda: lambda,
		p: eng.NewMatrix(k, k), m: eng.NewMatrix(k, k), w: eng.NewMatrix(k, k), factor: eng.NewMatrix(k, k),
		bound: math.Inf(-1), theta: make([]float64, k), u: make([]float64, k), v: make([]float64, k)}
	for r, i := range rows {
		for c, j := range rows {
			b.p.Set(r, c, p.At(i, j))
		}
		if !(p.At(i, i) > 0) {
			return nil, ErrUnbounded
		}
		b.m.Set(r, r, 1/p.At(i, i))
	}
	if err := b.raise(ctx, b.p); err != nil {
		return nil, err
	}
	if lambda == 0 && k > 1 {
		if _, err := b.inverse(ctx, b.p, b.m); err != nil {
			return nil, err
		}
		b.done = true
	}
	_, err := b.measure(ctx)
	return b, err
}

// inverse writes the inverse of a positive definite matrix, both triangles, to out and returns the
// logarithm of its determinant. For an indefinite matrix it returns ErrUnbounded.
func (b *part) inverse(ctx context.Context, a, out blas.Matrix) (float64, error) {
	logDet, err := b.cholesky(ctx, a)
	if err == nil && b.eng.Backend().TriangularInverse(b.factor) != nil {
		err = ErrUnbounded
	}
	if err != nil {
		return 0, err
	}
	b.factor.ClearUpper()
	b.eng.Backend().Syrk(true, 1, b.factor, 0, out)
	b.eng.Mirror(out)
	return logDet, nil
}

// cholesky factorizes a in b.factor and returns the logarithm of its determinant.
func (b *part) cholesky(ctx context.Context, a blas.Matrix) (float64, error) {
	b.factor.CopyFrom(a)
	if err := b.eng.Cholesky(ctx, b.factor); err != nil {
		if _, is := errors.AsType[*blas.NotPositiveDefiniteError](err); is {
			err = ErrUnbounded
		}
		return 0, err
	}
	logDet := 0.0
	for i := range a.Rows {
		logDet += 2 * math.Log(b.factor.At(i, i))
	}
	return logDet, nil
}

// raise raises the bound to the value of the dual at w if w is positive definite.
func (b *part) raise(ctx context.Context, w blas.Matrix) error {
	logDet, err := b.cholesky(ctx, w)
	if errors.Is(err, ErrUnbounded) {
		return nil
	}
	b.bound = max(b.bound, logDet+float64(w.Rows))
	return err
}

// measure inverts M and computes objective and gap; it reports whether they are right up to
// rounding. If tr(P M) + lambda |M| is not positive, f(t M) falls without bound in t.
func (b *part) measure(ctx context.Context) (ok bool, err error) {
	logDet, err := b.inverse(ctx, b.m, b.w)
	if errors.Is(err, ErrUnbounded) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	linear := 0.0
	for i := range b.m.Rows {
		row := b.m.Row(i)
		linear += b.t.Dot(b.p.Row(i), row)
		for _, v := range row[:i] {
			linear += 2 * b.lambda * math.Abs(v)
		}
	}
	if !(linear > 0) {
		return false, ErrUnbounded
	}
	dual := b.factor // free at this point; raise factorizes in place
	for i := range b.w.Rows {
		to, p := dual.Row(i), b.p.Row(i)
		for j, v := range b.w.Row(i) {
			to[j] = min(max(v, p[j]-b.lambda), p[j]+b.lambda)
		}
		to[i] = p[i]
	}
	err = b.raise(ctx, dual)
	b.objective = linear - logDet
	b.gap = max(0, b.objective-b.bound)
	return b.gap-b.gap == 0 || math.IsInf(b.gap, 1), err
}

// sweep minimizes over each row and column in turn. A sweep that rounding spoils is undone and ends
// the search.
func (b *part) sweep(ctx context.Context, tol float64) error {
	const rounding = 1e-10
	before, objective, gap := b.m.Clone(), b.objective, b.gap
	for j := range b.m.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.column(j, tol)
	}
	ok, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if !ok || b.objective > objective+rounding*(float64(b.m.Rows)+math.Abs(objective)) {
		b.m, b.objective, b.gap, b.done = before, objective, gap, true
	}
	return nil
}

// column minimizes over row and column j of M. Let A = (M without row and column j)^-1, let p and
// theta be the other elements of column j of P and M, and let the diagonal element be at its
// optimum 1/p_jj + theta'A theta. It remains to minimize
//
//	p_jj theta'A theta + 2 p'theta + 2 lambda |theta|_1
//
// which is done one coordinate at a time. A = W - u u'/u_j for the column u of W = M^-1, so nothing
// is factorized. v is A theta.
func (b *part) column(j int, tol float64) {
	const passes, share = 30, 1e-3
	copy(b.u, b.w.Row(j))
	copy(b.theta, b.m.Row(j))
	pjj, ujj, p := b.p.At(j, j), b.u[j], b.p.Row(j)
	for k, u := range b.u {
		b.v[k] = -u / ujj
	}
	b.theta[j], b.v[j] = 0, 0
	first := 0.0
	for pass := range passes {
		fell := 0.0
		for k, was := range b.theta {
			a := b.w.At(k, k) - b.u[k]*b.u[k]/ujj
			if k == j || !(a > 0) {
				continue
			}
			b.theta[k] = shrunk(was*a-(b.v[k]+p[k]/pjj), b.lambda/pjj) / a
			if step := b.theta[k] - was; step != 0 {
				b.t.Axpy(step, b.w.Row(k), b.v)
				b.t.Axpy(-step*b.u[k]/ujj, b.u, b.v)
				b.v[j] = 0
				fell += pjj * a * step * step
			}
		}
		if pass == 0 {
			first = fell
		}
		if fell <= share*first || fell <= tol*tol {
			break
		}
	}
	b.replace(j, ujj, 1/pjj+b.t.Dot(b.theta, b.v), pjj)
}

// replace writes theta and the diagonal element to M, and updates W: A + v v'p_jj, and -v p_jj in
// row and column j.
func (b *part) replace(j int, ujj, diagonal, pjj float64) {
	for k, v := range b.theta {
		b.m.Set(k, j, v)
	}
	copy(b.m.Row(j), b.theta)
	b.m.Set(j, j, diagonal)
	for k := range b.w.Rows {
		row := b.w.Row(k)
		b.t.Axpy(-b.u[k]/ujj, b.u, row)
		b.t.Axpy(b.v[k]*pjj, b.v, row)
		row[j] = -b.v[k] * pjj
	}
	for k, v := range b.v {
		b.w.Row(j)[k] = -v * pjj
	}
	b.w.Set(j, j, pjj)
}

// shrunk moves v toward 0 by at most lambda.
func shrunk(v, lambda float64) float64 {
	if math.Abs(v) <= lambda {
		return 0
	}
	return math.Copysign(math.Abs(v)-lambda, v)
}
