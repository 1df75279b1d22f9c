package traceratio

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

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
	return &Result{W: s.w, Ratio: s.best, Gap: s.gap, Trace: s.ratios, Eigenproblems: s.solved, Converged: converged, Method: method}
}
