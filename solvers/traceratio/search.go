package traceratio

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/operator"
)

// search is a call of Solve under way.
type search struct {
	Options
	ctx  context.Context
	eng  *engine.Engine
	a, b blas.Matrix // both triangles
	d, m int

	before   blas.Matrix // eigenvectors of the latest step, to begin with
	solved   int
	ratios   []float64
	best     float64
	w        blas.Matrix // of the best ratio
	gap      float64
	shifted  blas.Matrix // A - l B
	products blas.Matrix // d x m
}

// Up to this order, and for more than one in wholeShare eigenvalues, matrices are decomposed.
const (
	wholeOrder = 512
	wholeShare = 8
)

// leading returns the d+1 largest eigenvalues of A - l B, and the eigenvectors of the first d.
func (s *search) leading(l float64) (w []float64, v blas.Matrix, err error) {
	if s.shifted.Data == nil {
		s.shifted = s.eng.NewMatrix(s.m, s.m)
	}
	err = s.eng.For(s.ctx, s.m, 64, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			to, a := s.shifted.Row(i), s.a.Row(i)
			for j, b := range s.b.Row(i) {
				to[j] = a[j] - float64(l*b)
			}
		}
		return nil
	})
	if err != nil {
		return nil, v, err
	}
	s.solved++
	return s.top(s.shifted, s.d+1)
}

// top returns the k largest eigenvalues of x, both triangles, which it may destroy, and all but the
// last of their eigenvectors.
func (s *search) top(x blas.Matrix, k int) ([]float64, blas.Matrix, error) {
	if x.Rows <= wholeOrder || k > x.Rows/wholeShare {
		w, v := make([]float64, k), blas.NewMatrix(k, x.Rows)
		err := s.eng.SymEigTop(s.ctx, x, w, v)
		return w, v.View(0, k-1, 0, x.Rows), err
	}
	op, err := operator.Dense(x)
	if err != nil {
		return nil, blas.Matrix{}, err
	}
	found, err := eigen.Top(s.ctx, s.eng, op, k, eigen.Options{Seed: s.Seed + uint64(s.solved), Start: s.before})
	if err != nil {
		return nil, blas.Matrix{}, err
	}
	s.before = found.Vectors
	return found.Values, found.Vectors.View(0, k-1, 0, x.Rows), nil
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

// step makes the subspace that is best for l, and returns its ratio and the sum of the eigenvalues.
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

// start is a ratio from which Newton's method rises: the average over all directions, at which the
// sum of all eigenvalues is 0.
func (s *search) start() float64 { return trace(s.a) / trace(s.b) }

// newton rises from below.
func (s *search) newton() (*Result, error) {
	l := s.start()
	s.ratios = []float64{l}
	for range s.MaxIter {
		next, _, err := s.step(l)
		if err != nil {
			return nil, err
		}
		if !(next-l > tolerance*math.Abs(next)) {
			return s.result("newton", true), nil
		}
		l = next
	}
	return s.result("newton", false), nil
}

// bisect halves an interval around the root of g, until it has no inside.
func (s *search) bisect() (*Result, error) {
	lo := s.start()
	s.ratios = []float64{lo}
	top, _, err := s.ends(s.a, 1)
	if err != nil {
		return nil, err
	}
	bottom, _, err := s.ends(s.b, -1)
	if err != nil {
		return nil, err
	}
	hi := top / bottom
	if !(bottom > 0) || math.IsInf(hi, 0) { // round-off in B: double until the sign changes
		for hi = 2 * lo; ; hi *= 2 {
			_, sum, err := s.step(hi)
			if err != nil {
				return nil, err
			}
			if sum <= 0 || math.IsInf(hi, 0) {
				break
			}
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
func (s *search) ends(x blas.Matrix, sign float64) (float64, []float64, error) {
	work, w := x.Clone(), make([]float64, s.m)
	s.eng.Backend().Kernels().Scale(sign, work.Data)
	if err := s.eng.SymEig(s.ctx, work, w, false); err != nil {
		return 0, nil, err
	}
	sum := 0.0
	for _, v := range w[s.m-s.d:] {
		sum += sign * v
	}
	return sum, w, nil
}

func (s *search) result(method string, converged bool) *Result {
	return &Result{W: s.w, Ratio: s.best, Gap: s.gap, Trace: s.ratios, Eigenproblems: s.solved, Converged: converged, Method: method}
}
