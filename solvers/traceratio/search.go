package traceratio

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/operator"
)

// search is the state of one call of Solve.
type search struct {
	Options
	ctx  context.Context
	eng  *engine.Engine
	a, b blas.Matrix // both triangles
	d, m int

	solved   int
	ratios   []float64
	best     float64
	w        blas.Matrix // of the best ratio
	gap      float64
	shifted  blas.Matrix // A - l B, or scratch memory
	products blas.Matrix // d x m

	tolerance float64     // of residuals, relative: early steps need little accuracy
	before    blas.Matrix // eigenvectors of the latest step, to start from
	bounds    []bound     // by ascending l
	whole     bool        // a search has failed
	rough     bool        // a step that gains less than roughly is the last
}

// bound is the largest eigenvalue of A - l B: it is not larger for a larger l, because B is
// positive semidefinite.
type bound struct{ l, largest float64 }

// Up to this order, and if more than one in wholeShare eigenvalues are requested, matrices are
// decomposed.
const (
	wholeOrder = 600
	wholeShare = 8
)

// iterative reports whether eigenvectors are computed by a search instead of a decomposition.
func (s *search) iterative() bool {
	return !s.whole && s.m > wholeOrder && s.d+1 <= s.m/wholeShare
}

// leading returns the d+1 largest eigenvalues of A - l B, and the eigenvectors of the first d.
func (s *search) leading(l float64) (w []float64, v blas.Matrix, err error) {
	s.solved++
	k := s.d + 1
	if s.iterative() {
		if w, v, err = s.inverted(l, k); w != nil || err != nil {
			return w, v, err
		}
	}
	x, err := s.shift(1, l, 0)
	if err != nil {
		return nil, v, err
	}
	w, v = make([]float64, k), blas.NewMatrix(s.d, s.m)
	if k > s.m/wholeShare {
		all := blas.NewMatrix(k, s.m)
		err := s.eng.SymEigTop(s.ctx, x, w, all)
		return w, all.View(0, s.d, 0, s.m), err
	}
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
	err := s.eng.For(s.ctx, s.m, 64, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			to, a := x.Row(i), s.a.Row(i)
			for j, b := range s.b.Row(i) {
				to[j] = sign * (a[j] - float64(l*b))
			}
			to[i] -= sign * at
		}
		return nil
	})
	return x, err
}

// inverted finds k eigenvalues, and the eigenvectors of all but the last, as the largest of (c I -
// A + l B)^-1 with a c slightly above them, starting from those of the latest step: the spectrum of
// A - l B reaches far down, so products with it separate its upper end slowly. It returns nil if
// rounding makes this fail.
func (s *search) inverted(l float64, k int) ([]float64, blas.Matrix, error) {
	none := blas.Matrix{}
	if s.bounds == nil {
		op, err := operator.Dense(s.a)
		if err != nil {
			return nil, none, err
		}
		found, err := eigen.Top(s.ctx, s.eng, op, 1, eigen.Options{Seed: s.Seed, Tolerance: 1e-3})
		if err != nil {
			return nil, none, err
		}
		s.bounds = []bound{{0, 1.01 * found.Values[0]}}
	}
	at := len(s.bounds) - 1
	for at > 0 && s.bounds[at].l > l {
		at--
	}
	x, c, err := s.factor(l, s.bounds[at].largest)
	if x.Data == nil || err != nil {
		return nil, none, err
	}
	found, err := eigen.Top(s.ctx, s.eng, operator.Inverse(x), k, eigen.Options{Seed: s.Seed + uint64(s.solved), Start: s.before, Tolerance: s.tolerance, Products: 2 * s.m})
	if _, slow := errors.AsType[*eigen.NoConvergenceError](err); slow {
		s.whole = true // as many products as this cost as much as a decomposition
		return nil, none, nil
	}
	if err != nil {
		return nil, none, err
	}
	s.before = found.Vectors
	w := make([]float64, k)
	for r, v := range found.Values {
		w[r] = c - 1/v
	}
	s.bounds = slices.Insert(s.bounds, at+1, bound{l, w[0]})
	return w, found.Vectors.View(0, k-1, 0, s.m), nil
}

// factor returns the Cholesky factor of c I - A + l B, and c. c is above the largest eigenvalue of
// A - l B, and close to it if the latest eigenvectors show how far it is below the bound. factor
// returns nothing if rounding prevents every c.
func (s *search) factor(l, bound float64) (x blas.Matrix, c float64, err error) {
	top := bound + 0.1*math.Abs(bound)
	c = top
	if s.before.Data != nil {
		if largest, err := s.within(l); err != nil {
			return x, 0, err
		} else if largest > 0 {
			c = min(c, 1.2*largest)
		}
	}
	for {
		if x, err = s.shift(-1, l, c); err != nil {
			return x, 0, err
		}
		err := s.eng.Cholesky(s.ctx, x)
		if err == nil || s.ctx.Err() != nil {
			return x, c, s.ctx.Err()
		}
		if c == top {
			return blas.Matrix{}, 0, nil
		}
		c = min(2*c, top)
	}
}

// within returns the largest eigenvalue of A - l B on the span of the latest eigenvectors.
func (s *search) within(l float64) (float64, error) {
	k := s.before.Rows
	image, small := blas.NewMatrix(k, s.m), blas.NewMatrix(k, k)
	s.eng.Backend().Gemm(false, false, 1, s.before, s.a, 0, image)
	s.eng.Backend().Gemm(false, false, -l, s.before, s.b, 1, image)
	s.eng.Backend().Gemm(false, true, 1, image, s.before, 0, small)
	w := make([]float64, k)
	err := s.eng.SymEig(s.ctx, small, w, false)
	return w[k-1], err
}

// ratio returns tr(W A W') / tr(W B W').
func (s *search) ratio(w blas.Matrix) float64 {
	if s.products.Data == nil {
		s.products = blas.NewMatrix(s.d, s.m)
	}
	var sums [2]float64
	k := s.eng.Backend().Kernels()
	for side, x := range []blas.Matrix{s.a, s.b} {
		s.eng.Backend().Gemm(false, false, 1, w, x, 0, s.products)
		for r := range w.Rows {
			sums[side] += k.Dot(w.Row(r), s.products.Row(r))
		}
	}
	return sums[0] / sums[1]
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
	ratio = s.ratio(w)
	if s.w.Data == nil || ratio > s.best {
		s.best, s.w = ratio, w.Clone()
	}
	s.gap = gap(values, s.d)
	s.ratios = append(s.ratios, s.best)
	if s.Progress != nil {
		s.Progress(len(s.ratios), s.best)
	}
	return ratio, sum, s.ctx.Err()
}

// gap compares the eigenvalues d and d+1.
func gap(values []float64, d int) float64 {
	size := 0.0
	for _, v := range values {
		size = max(size, math.Abs(v))
	}
	if size == 0 {
		return 0
	}
	return (values[d-1] - values[d]) / size
}

// start returns a ratio from which Newton's method rises: the average over all directions, at which
// the sum of all eigenvalues is 0.
func (s *search) start() float64 { return trace(s.a) / trace(s.b) }

// Residuals of eigenvectors are accepted below these multiples of the norm, in the first step and
// in the last.
const (
	roughly   = 1e-2
	precisely = 1e-10
)

// newton rises from below. Every subspace gives a ratio that is a lower bound, so the eigenvectors
// of a step need no more accuracy than the next gain requires, which is about the square of the
// latest one.
func (s *search) newton() (*Result, error) {
	l := s.start()
	s.ratios, s.tolerance = []float64{l}, precisely
	if s.iterative() {
		s.tolerance = roughly
		better, err := s.coarse()
		if err != nil {
			return nil, err
		}
		l = max(l, better)
	}
	for range s.MaxIter {
		next, _, err := s.step(l)
		if err != nil {
			return nil, err
		}
		gain := (next - l) / math.Abs(next)
		switch {
		case gain < -roughly: // l was no ratio but rounding: see coarse
			l = next
		case s.rough && gain < roughly:
			return s.result("newton", true), nil
		case gain > tolerance:
			l = next
			s.tolerance = min(s.tolerance, max(precisely, 0.03*gain*gain))
		case s.tolerance > precisely:
			s.tolerance = precisely
		default:
			return s.result("newton", true), nil
		}
	}
	return s.result("newton", false), nil
}

// coarse returns the best ratio of directions that use the first coordinates alone, one in four,
// and leaves these directions as a start. The ratio is a lower bound, and takes little time. It is
// 0 if these coordinates have none, because both matrices vanish there.
func (s *search) coarse() (float64, error) {
	m := s.m / 4
	if m < 4*(s.d+1) {
		return 0, nil
	}
	part := &search{Options: s.Options, ctx: s.ctx, eng: s.eng, d: s.d, m: m, a: s.a.View(0, m, 0, m), b: s.b.View(0, m, 0, m), shifted: s.shifted.View(0, m, 0, m), rough: true}
	part.Progress = nil
	found, err := part.newton()
	if err != nil || !(found.Ratio > 0) || math.IsInf(found.Ratio, 1) {
		return 0, s.ctx.Err()
	}
	s.before = blas.NewMatrix(s.d, s.m)
	for r := range s.d {
		copy(s.before.Row(r), found.W.Row(r))
	}
	return found.Ratio, nil
}

// bisect halves an interval around the root of g, until no number is inside.
func (s *search) bisect() (*Result, error) {
	lo := s.start()
	s.ratios, s.tolerance = []float64{lo}, precisely
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
	return &Result{W: s.w, Ratio: s.best, Gap: s.gap, Trace: s.ratios, Eigenproblems: s.solved, Converged: converged, Method: method}
}
