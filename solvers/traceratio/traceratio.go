// Package traceratio (engine room: may change) maximizes the ratio of two traces over orthonormal
// bases.
package traceratio

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Options are the settings of a search. The zero value is usable.
type Options struct {
	// MaxIter is the maximum number of steps with a decomposition, 0 for 50, and a quarter of the
	// number without. Bisection follows if Newton's method needs more.
	MaxIter int
	// Bisect skips Newton's method.
	Bisect bool
	// Seed determines the random vectors of searches for eigenvectors.
	Seed uint64
	// Progress, if set, is called after every step with the ratio so far.
	Progress func(step int, ratio float64)
}

const (
	defaultMaxIter = 50
	// Newton's method ends when the ratio grows relatively by less than this.
	tolerance = 1e-12
	// A ratio this many times the average of all directions may be one without bound that rounding
	// ended. A search that ends below it proves that there is a bound: for a null space of B with d
	// directions in which A is not zero, the d largest eigenvalues of A - l B would add up to more
	// than 0 for every l.
	usual = 1e4
)

// Result is an orthonormal basis of the best subspace.
type Result struct {
	W     blas.Matrix // d x m, orthonormal rows
	Ratio float64     // tr(W A W') / tr(W B W'), +Inf if W B W' = 0
	// Gap is the difference of the eigenvalues d and d+1 of A - Ratio B, relative to the largest
	// absolute value of the first d+1: the subspace is unique if it is above 0. It is NaN for d =
	// m; for a ratio without bound, it is the gap of A on the null space of B.
	Gap           float64
	Trace         []float64 // the ratio at the start and after every step
	Eigenproblems int       // that were solved, those inside a space included
	Converged     bool
	Method        string // "newton", "bisection", "unbounded" or "all"
}

// Solve maximizes tr(W A W') / tr(W B W') over the W with d orthonormal rows. A and B, of order m,
// are symmetric and positive semidefinite; their lower triangles are read and their upper triangles
// overwritten.
//
// Let g(l) be the sum of the d largest eigenvalues of A - l B, which is convex and falls. The
// largest ratio is the root of g, and the eigenvectors there span the best subspace (Wang, Yan, Xu,
// Tang & Huang, CVPR 2007; Xiang, Nie & Zhang, Pattern Recognition 41, 2008). Newton's method on g,
// which uses the ratio of the latest subspace as l, rises to the root, at the end quadratically.
// Newton's steps end when they gain nothing, because of rounding or at the root; if they do not
// end, bisection follows. If m is above 600 and d much smaller than m, the search is in a space of
// some 5 d directions that grows toward the best subspace (block Davidson method): its steps
// multiply with A and B and solve with a Cholesky factor.
//
// If B is singular, of rank r <= m - d, and A is not zero on its null space, the ratio has no
// bound, and W spans the part of the null space on which A is largest.
//
// Errors: a *fault.ParamError for d outside [1, m], a *fault.ShapeError for shapes that differ; a
// *fault.DataError for A or B with trace 0, elements that are not finite, or negative elements on
// the diagonal; ctx.Err(). Cost: O(m^3) flops for each step with a decomposition; or m^3/3 for each
// of some three Cholesky factors and about 13 m^2 d for each of some twenty steps.
func Solve(ctx context.Context, eng *engine.Engine, a, b blas.Matrix, d int, o Options) (*Result, error) {
	if err := check(a, b, d, &o); err != nil {
		return nil, err
	}
	s := &search{ctx: ctx, eng: eng, d: d, m: a.Rows, Options: o}
	_, capacity := spaceSize(d)
	need := 2*engine.MatrixBytes(s.m, s.m) + engine.MatrixBytes(s.m, 6*capacity)
	if err := eng.Check(fmt.Sprintf("trace ratio of order %d", s.m), need, "use fewer dimensions or raise the memory limit"); err != nil {
		return nil, err
	}
	s.a, s.b, s.shifted = a, b, eng.GetMatrix(s.m, s.m)
	defer eng.PutMatrix(s.shifted)
	eng.Mirror(a)
	eng.Mirror(b)
	if d == s.m {
		return s.all()
	}
	var found *Result
	if !o.Bisect && s.iterative() {
		var err error
		if found, err = s.davidson(); err != nil {
			return nil, err
		}
		if found != nil && found.Ratio < usual*s.start() {
			return s.atLeastStart(found, nil)
		}
	}
	null, err := s.nullSpace()
	if err != nil {
		return nil, err
	}
	if res, err := s.unbounded(null); res != nil || err != nil {
		return res, err
	}
	if found != nil {
		return s.atLeastStart(found, nil)
	}
	if !o.Bisect {
		if res, err := s.newton(); err != nil || res.Converged {
			return s.atLeastStart(res, err)
		}
	}
	return s.atLeastStart(s.bisect())
}

// atLeastStart tries the subspace on which A is largest if the result is below the start or 0/0. If
// A is a multiple of B, A - l B is zero up to rounding, and its eigenvectors may lie where both A
// and B vanish.
func (s *search) atLeastStart(res *Result, err error) (*Result, error) {
	const rounding = 1e-9
	if err != nil || res.Ratio >= res.Trace[0]*(1-rounding) {
		return res, err
	}
	if _, _, err := s.step(0); err != nil {
		return nil, err
	}
	return s.result(res.Method, res.Converged), nil
}

func check(a, b blas.Matrix, d int, o *Options) error {
	m := a.Rows
	for _, x := range []blas.Matrix{a, b} {
		if x.Rows != m || x.Cols != m {
			return &fault.ShapeError{What: "matrices of a trace ratio", Got: x.Cols, Want: fmt.Sprintf("%d x %d, as the first has rows", m, m)}
		}
	}
	if d < 1 || d > m {
		return &fault.ParamError{Param: "dims", Value: d, Want: fmt.Sprintf("a number from 1 to %d, the order of the matrices", m)}
	}
	if o.MaxIter == 0 {
		o.MaxIter = defaultMaxIter
	}
	if o.MaxIter < 1 {
		return &fault.ParamError{Param: "max_iter", Value: o.MaxIter, Want: "an integer >= 1"}
	}
	for name, x := range map[string]blas.Matrix{"first": a, "second": b} {
		rounding := float64(m) * 0x1p-52 * trace(x)
		if !(rounding < math.Inf(1)) {
			rounding = 0 // an element that is not finite is found below
		}
		for i := range m {
			for j, v := range x.Row(i)[:i+1] {
				if v-v != 0 || i == j && !(v >= -rounding) {
					return fault.Data("", "element (%d, %d) of the %s matrix of a trace ratio is %v: want finite numbers, not negative on the diagonal", i, j, name, v)
				}
			}
		}
	}
	if !(trace(a) > 0) {
		return fault.Data("", "the first matrix of a trace ratio is zero, and so is every ratio: want one that is not, such as the scatter of cannot-links between points that differ")
	}
	return nil
}

// trace returns the sum of the diagonal.
func trace(x blas.Matrix) float64 {
	sum := 0.0
	for i := range x.Rows {
		sum += x.At(i, i)
	}
	return sum
}

// all returns the result for d = m.
func (s *search) all() (*Result, error) {
	w := blas.NewMatrix(s.m, s.m)
	for i := range s.m {
		w.Set(i, i, 1)
	}
	ratio := math.Inf(1)
	if t := trace(s.b); t > 0 {
		ratio = trace(s.a) / t
	}
	return &Result{W: w, Ratio: ratio, Gap: math.NaN(), Trace: []float64{ratio}, Converged: true, Method: "all"}, s.ctx.Err()
}
