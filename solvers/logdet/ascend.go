package logdet

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// largestAscent is the memory of the ascent, in bytes, above which sweeps remain. It does not
// depend on the memory limit, so that the result does not.
const largestAscent = 1 << 31

// size returns the bytes that the ascent takes.
func size(vectors, order int) int64 {
	order = min(order, vectors)
	return 3*engine.MatrixBytes(vectors, order) + 2*engine.MatrixBytes(order, order) + 2*engine.MatrixBytes(vectors, vectors)
}

const (
	// quick is the number of flops of some milliseconds, in which sweeps solve easy problems, and
	// long that of some seconds.
	quick, long = 2e8, 5e11
	usual       = 8 // steps of the ascent
)

// patience returns the number of sweeps before the ascent, for the flops of a sweep, which take
// about five times as long as those of a step: sweeps of a few milliseconds, or of a quarter of the
// time of the usual steps; a third as many from a start. It is 0, for no ascent, if that would take
// too much memory or longer than all sweeps, or if some bounds do not give way.
func (s *state) patience(vectors, order int, sweep float64) int {
	if s.o.patience != 0 {
		return max(0, s.o.patience)
	}
	if !s.yielding() {
		return 0
	}
	step := stepFlops(vectors, order)
	if size(vectors, order) > largestAscent || usual*step > max(long, float64(s.o.MaxSweeps)*sweep) {
		return 0
	}
	sweep = max(1, sweep)
	sweeps := int(max(5, min(100, quick/sweep), min(300, usual*step/(4*5*sweep))))
	if slices.ContainsFunc(s.Multipliers, func(l float64) bool { return l > 0 }) { // a start
		return (sweeps + 2) / 3
	}
	return sweeps
}

// stepFlops returns the flops of a step of the ascent.
func stepFlops(vectors, order int) float64 {
	v, c := float64(vectors), float64(min(order, vectors))
	return 2*v*c*c + c*c*c/3 + v*v*c + v*v*v/4
}

// products is the usual number of products with the second derivative in a descent.
const products = 200

// descends reports whether the descent takes less time than the ascent, or the ascent too much
// memory.
func (s *state) descends(vectors, order int) bool {
	if s.o.many || s.o.patience != 0 || s.o.MaxSweeps < maxDescent || !s.yielding() {
		return s.o.many
	}
	flops := products * 3 * float64(vectors) * float64(order) * float64(order)
	return size(vectors, order) > largestAscent || flops < usual*stepFlops(vectors, order)
}

// yielding reports whether all bounds give way.
func (s *state) yielding() bool {
	return !slices.ContainsFunc(s.inverse, func(v float64) bool { return v < steepest })
}

// ascend replaces the multipliers by those of Newton's method if these are better, and reports
// whether they are within the tolerance. It begins at the current ones if their gap is less than
// half of the objective. Otherwise it begins with a small gamma.
func (s *state) ascend(ctx context.Context, eng *engine.Engine) (converged bool, err error) {
	s.measure()
	a, err := newAscent(ctx, eng, s, s.RelativeGap() < 0.5)
	if err != nil {
		return false, err
	}
	if converged, err = a.run(ctx); err != nil || !converged && !a.better() {
		return false, err
	}
	before := s.Multipliers
	found := make([]float64, len(before))
	for k, c := range s.constraints {
		found[k] = c.sign() * a.l[k]
	}
	if err := s.take(found, ctx.Err); err == nil {
		s.measure()
		return converged && s.Converged, nil
	}
	for _, multipliers := range [][]float64{before, make([]float64, len(before))} { // rounding made the matrix indefinite
		if err = s.take(multipliers, ctx.Err); err == nil {
			break
		}
	}
	return false, err
}

// better reports whether the multipliers of the last step have a larger dual objective than those
// of the sweeps, and a smaller gap, which without a bound of the objective is not the same.
func (a *ascent) better() bool {
	if a.scale < 1 || !(a.value(a.l) > a.Dual) {
		return false
	}
	a.images()
	gap, _ := a.gap()
	return gap < a.Gap
}

// take replaces the multipliers, and computes the bounds and the matrix for them.
func (s *state) take(multipliers []float64, done func() error) error {
	s.Multipliers = multipliers
	for k, c := range s.constraints {
		s.Bounds[k] = c.Bound / (1 - c.sign()*multipliers[k]*c.Bound*s.inverse[k])
	}
	s.reset()
	s.det = 0
	return s.replay(done)
}

// root returns B with B B' = gram, from the lower triangle, which it overwrites.
func root(ctx context.Context, eng *engine.Engine, gram blas.Matrix) (blas.Matrix, error) {
	l := eng.Clone(gram)
	if err := eng.Cholesky(ctx, l); err == nil {
		l.ClearUpper()
		return l, nil
	}
	n := gram.Rows
	w := make([]float64, n)
	if err := eng.SymEig(ctx, gram, w, true); err != nil {
		return l, err
	}
	rank := 0
	for rank < n && w[n-1-rank] > 1e-15*w[n-1] {
		rank++
	}
	out := eng.NewMatrix(n, rank)
	each(eng, n, func(i int) {
		to := out.Row(i)
		for c := range to {
			to[c] = math.Sqrt(w[n-1-c]) * gram.At(n-1-c, i)
		}
	})
	return out, nil
}
