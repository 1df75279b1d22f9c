// Package traceratio (internal: may change) maximizes the ratio of two traces over orthonormal
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
	if err := eng.Check(fmt.Sprintf("trace ratio of order %d", s.m), need,
		"use fewer dimensions or raise the memory limit"); err != nil {
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
			return fault.Shape("matrices of a trace ratio", x.Cols, "%d x %d, as the first has rows", m, m)
		}
	}
	if d < 1 || d > m {
		return fault.Param("dims", d, "a number from 1 to %d, the order of the matrices", m)
	}
	if o.MaxIter == 0 {
		o.MaxIter = defaultMaxIter
	}
	if o.MaxIter < 1 {
		return fault.Param("max_iter", o.MaxIter, "an integer >= 1")
	}
	for name, x := range map[string]blas.Matrix{"first": a, "second": b} {
		rounding := float64(m) * 0x1p-52 * x.Trace()
		if !(rounding < math.Inf(1)) {
			rounding = 0 // an element that is not finite is found below
		}
		for i := range m {
			for j, v := range x.Row(i)[:i+1] {
				if v-v != 0 || i == j && !(v >= -rounding) {
					return fault.Data("",
						"element (%d, %d) of the %s matrix of a trace ratio is %v: want finite numbers, "+
							"not negative on the diagonal", i, j, name, v)
				}
			}
		}
	}
	if !(a.Trace() > 0) {
		return fault.Data("",
			"the first matrix of a trace ratio is zero, and so is every ratio: want one that is not, such "+
				"as the scatter of cannot-links between points that differ")
	}
	return nil
}

// all returns the result for d = m.
func (s *search) all() (*Result, error) {
	w := blas.Identity(s.m)
	ratio := math.Inf(1)
	if t := s.b.Trace(); t > 0 {
		ratio = s.a.Trace() / t
	}
	return &Result{W: w, Ratio: ratio, Gap: math.NaN(), Trace: []float64{ratio}, Converged: true,
		Method: "all"}, s.ctx.Err()
}

// search is the state of one call of Solve.
type search struct {
	Options
	ctx  context.Context
	eng  *engine.Engine
	a, b blas.Matrix // both triangles
	d, m int

	solved  int
	ratios  []float64
	best    float64
	w       blas.Matrix // of the best ratio
	gap     float64
	shifted blas.Matrix // A - l B, or scratch memory
}

// Up to this order, and if more than one in davidsonShare eigenvectors are requested, matrices are
// decomposed: all of them, or the largest if they are more than one in wholeShare.
const (
	wholeOrder    = 600
	wholeShare    = 8
	davidsonShare = 16
)

// iterative reports whether davidson takes less time than decompositions.
func (s *search) iterative() bool { return s.m > wholeOrder && s.d+1 <= s.m/davidsonShare }

// leading returns the d+1 largest eigenvalues of A - l B, and the eigenvectors of the first d.
func (s *search) leading(l float64) (w []float64, v blas.Matrix, err error) {
	s.solved++
	k := s.d + 1
	x, err := s.shift(1, l, 0)
	if err != nil {
		return nil, v, err
	}
	if k > s.m/wholeShare {
		if w, v, err = s.eng.SymEigTop(s.ctx, x, k); err != nil {
			return nil, v, err
		}
		return w, v.View(0, s.d, 0, s.m), nil
	}
	w, v = make([]float64, k), blas.NewMatrix(s.d, s.m)
	// A few eigenvalues at the upper end of a spectrum that reaches far down do not suit a Krylov
	// space.
	values := make([]float64, s.m)
	if err := s.eng.SymEig(s.ctx, x, values, true); err != nil {
		return nil, v, err
	}
	for r := range w {
		w[r] = values[s.m-1-r]
	}
	for r := range s.d {
		copy(v.Row(r), x.Row(s.m-1-r))
	}
	return w, v, nil
}

// shift returns sign (A - l B - at I), in memory that the next call reuses.
func (s *search) shift(sign, l, at float64) (blas.Matrix, error) {
	x := s.shifted
	err := s.eng.Each(s.ctx, s.m, 64, func(i int) {
		to, a := x.Row(i), s.a.Row(i)
		for j, b := range s.b.Row(i) {
			to[j] = sign * (a[j] - float64(l*b))
		}
		to[i] -= sign * at
	})
	return x, err
}

// step computes the best subspace for l, and returns its ratio and the sum of the eigenvalues.
func (s *search) step(l float64) (ratio, sum float64, err error) {
	values, w, err := s.leading(l)
	if err != nil {
		return 0, 0, err
	}
	for _, v := range values[:s.d] {
		sum += v
	}
	if ratio, err = ratioOf(s.ctx, s.eng, w, s.a, s.b); err != nil {
		return 0, 0, err
	}
	if s.w.Data == nil || ratio > s.best || math.IsNaN(s.best) {
		s.best, s.w = ratio, w.Clone()
	}
	s.gap = gap(values, s.d)
	s.report(s.best)
	return ratio, sum, s.ctx.Err()
}

// report adds a ratio to those of the steps.
func (s *search) report(ratio float64) {
	s.ratios = append(s.ratios, ratio)
	if s.Progress != nil {
		s.Progress(len(s.ratios), ratio)
	}
}

// gap compares the eigenvalues d and d+1.
func gap(values []float64, d int) float64 {
	size := blas.MaxAbs(values)
	if size == 0 {
		return 0
	}
	return (values[d-1] - values[d]) / size
}

// start returns a ratio from which Newton's method rises: the average over all directions, at which
// the sum of all eigenvalues is 0.
func (s *search) start() float64 { return s.a.Trace() / s.b.Trace() }

// newton rises from below: every subspace gives a ratio that is a lower bound.
func (s *search) newton() (*Result, error) {
	l := s.start()
	s.ratios = []float64{l}
	for range s.MaxIter {
		next, _, err := s.step(l)
		if err != nil {
			return nil, err
		}
		if !((next-l)/math.Abs(next) > tolerance) { // NaN: rounding chose directions without any scatter
			return s.result("newton", true), nil
		}
		l = next
	}
	return s.result("newton", false), nil
}

// bisect halves an interval around the root of g, until no number is inside.
func (s *search) bisect() (*Result, error) {
	lo := s.start()
	s.ratios = []float64{lo}
	top, err := s.ends(s.a, 1)
	if err != nil {
		return nil, err
	}
	bottom, err := s.ends(s.b, -1)
	if err != nil {
		return nil, err
	}
	hi := top / bottom
	if !(bottom > 0) || math.IsInf(hi, 0) { // round-off in B: double until the sign changes
		const doublings = 100
		hi = 2 * lo
		for range doublings {
			_, sum, err := s.step(hi)
			if err != nil {
				return nil, err
			}
			if sum <= 0 || math.IsInf(hi, 0) {
				break
			}
			hi *= 2
		}
	}
	const halvings = 120
	for range halvings {
		mid := lo + (hi-lo)/2
		if !(lo < mid && mid < hi) || hi-lo <= 1e-15*hi {
			break
		}
		_, sum, err := s.step(mid)
		if err != nil {
			return nil, err
		}
		if sum > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return s.result("bisection", true), nil
}

// ends returns the sum of the d largest eigenvalues of sign x, times sign.
func (s *search) ends(x blas.Matrix, sign float64) (float64, error) {
	w := make([]float64, s.m)
	s.shifted.CopyFrom(x)
	s.eng.Backend().Kernels().Scale(sign, s.shifted.Data)
	if err := s.eng.SymEig(s.ctx, s.shifted, w, false); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range w[s.m-s.d:] {
		sum += sign * v
	}
	return sum, nil
}

func (s *search) result(method string, converged bool) *Result {
	return &Result{W: s.w, Ratio: s.best, Gap: s.gap, Trace: s.ratios, Eigenproblems: s.solved,
		Converged: converged, Method: method}
}
