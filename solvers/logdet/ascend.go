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
	return 3*engine.MatrixBytes(vectors, order) + 2*engine.MatrixBytes(order, order) +
		2*engine.MatrixBytes(vectors, vectors)
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
	// rounding made the matrix indefinite
	for _, multipliers := range [][]float64{before, make([]float64, len(before))} {
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

// delay is the number of changes that are applied at once.
const delay = 64

// backlog has pending rank-one changes beta q q' of a matrix, lower triangle. Applying some dozens
// at once runs at the speed of matrix products.
type backlog struct {
	eng    *engine.Engine
	b      blas.Backend
	a      blas.Matrix
	images blas.Matrix // the q, as rows
	beta   []float64
	scaled blas.Matrix // for flush
	part   []float64   // one number per change
}

func newBacklog(eng *engine.Engine, a blas.Matrix) backlog {
	n := a.Rows
	return backlog{eng: eng, b: eng.Backend(), a: a, images: eng.NewMatrix(delay, n),
		scaled: eng.NewMatrix(delay, n), part: make([]float64, delay)}
}

// set replaces the matrix, and forgets the pending changes.
func (l *backlog) set(a blas.Matrix) {
	l.beta = l.beta[:0]
	l.a.CopyFrom(a)
}

// add appends beta q q', and reports whether the earlier changes were applied.
func (l *backlog) add(beta float64, q []float64) (made bool) {
	if len(l.beta) == delay {
		l.flush()
		made = true
	}
	copy(l.images.Row(len(l.beta)), q)
	l.beta = append(l.beta, beta)
	return made
}

// correct adds to q the effect of the pending changes on the image of a vector, whose products with
// the q are in part.
func (l *backlog) correct(q []float64) {
	count := len(l.beta)
	if count == 0 {
		return
	}
	for c, beta := range l.beta {
		l.part[c] *= beta
	}
	l.b.Gemv(true, 1, l.images.View(0, count, 0, l.images.Cols), l.part[:count], 1, q)
}

// flush applies the changes: first the positive ones, then the negative ones.
func (l *backlog) flush() {
	if len(l.beta) == 0 {
		return
	}
	t := l.b.Kernels()
	for _, sign := range []float64{1, -1} {
		count := 0
		for c, beta := range l.beta {
			if beta*sign > 0 {
				to := l.scaled.Row(count)
				copy(to, l.images.Row(c))
				t.Scale(math.Sqrt(beta*sign), to)
				count++
			}
		}
		l.b.Syrk(true, sign, l.scaled.View(0, count, 0, l.scaled.Cols), 1, l.a)
	}
	l.beta = l.beta[:0]
}
