package baseline

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
)

// weights is the problem of one weight per feature: maximize h(w) = sum over z of sqrt(z'w) - sum w
// over w >= 0. The first sum grows like the square root of w, so its maximum is the one with sum w
// = 1, up to the scale of w.
type weights struct {
	*mmcProblem
	columns     blas.Matrix // z transposed, so that vectors are long
	w, g        []float64   // the weights, and the gradient of h
	sum, total  float64     // sum sqrt(z'w), sum w
	rows        blas.Matrix // scaled columns of the weights that a step changes
	trial, keep []float64
}

// warmUp is the number of cheap first steps. small is the weight, relative to the mean, above which
// a Newton step holds no weight fixed.
const (
	warmUp   = 10
	mmcSmall = 1e-2
)

func newMMCWeights(p *mmcProblem) *weights {
	n, d := p.z.Rows, p.z.Cols
	s := &weights{mmcProblem: p, w: make([]float64, d), g: make([]float64, d), trial: make([]float64, d),
		keep:    make([]float64, d),
		columns: blas.NewMatrix(d, n), rows: blas.NewMatrix(d, n)}
	for c := range s.w {
		s.w[c] = 1
		for k := range n {
			s.columns.Set(c, k, p.z.At(k, c))
		}
	}
	return s
}

// newton maximizes over the weights: first some steps w <- w (g + 1)^2, which never decrease h
// (Jensen's inequality for the square root), then projected Newton steps (Bertsekas 1982, SIAM J.
// Control Optim. 20). It writes the roots of the weights to p.start and calls done after every
// step. Cost of a step: two products with z, and n f^2 flops for f weights that are not 0.
func (p *mmcProblem) newton(ctx context.Context, most int,
	done func(step int, objective, gap float64) bool) (trace []float64, converged bool, err error) {
	s := newMMCWeights(p)
	s.settle()
	for step := 0; ; step++ {
		trace = append(trace, s.sum/math.Sqrt(s.total))
		p.last = s.gap()
		converged = done(step, trace[step], p.last)
		if converged || step == most || ctx.Err() != nil {
			break
		}
		if step < warmUp {
			for c, g := range s.g {
				s.w[c] *= (g + 1) * (g + 1)
			}
			s.settle()
			continue
		}
		rose, err := s.step(ctx)
		if err != nil {
			return nil, false, err
		}
		if !rose { // up to rounding
			break
		}
	}
	for c, v := range s.w {
		p.start[c] = math.Sqrt(v)
	}
	return trace, converged, ctx.Err()
}

// value returns h, with the lengths sqrt(z'w) in s.lengths.
func (s *weights) value(w []float64) (h, sum, total float64) {
	t := s.eng.Backend().Kernels()
	clear(s.lengths)
	for c, v := range w {
		if v > 0 {
			t.Axpy(v, s.columns.Row(c), s.lengths)
			total += v
		}
	}
	for k, v := range s.lengths {
		s.lengths[k] = math.Sqrt(v)
		sum += s.lengths[k]
	}
	return sum - total, sum, total
}

// settle scales w to the best multiple, sum w = sum sqrt(z'w) / 2, and computes the gradient there.
func (s *weights) settle() {
	_, s.sum, s.total = s.value(s.w)
	root := s.sum / (2 * s.total)
	for c := range s.w {
		s.w[c] *= root * root
	}
	s.sum, s.total = s.sum*root, s.total*root*root
	for k := range s.lengths {
		s.lengths[k] *= root
	}
	halves := make([]float64, len(s.lengths))
	for k := range halves {
		halves[k] = s.inverse(k, s.sum) / 2
	}
	for c := range s.g {
		s.g[c] = s.eng.Backend().Kernels().Dot(s.columns.Row(c), halves) - 1
	}
}

// gap returns a bound on optimum minus objective, relative to the objective: the first sum is
// concave in w.
func (s *weights) gap() float64 {
	most := math.Inf(-1)
	for _, v := range s.g {
		most = max(most, v+1)
	}
	return s.total*most/s.sum - 0.5
}

// step takes a Newton step in the weights that are not held, and a separate step in each weight
// that is, both projected to nonnegative values. It reports whether h rose. If h is flat up to
// rounding, the whole step must halve the gap instead: near the optimum h is quadratic, and the gap
// is linear, so the gap still has correct digits.
func (s *weights) step(ctx context.Context) (bool, error) {
	curvature := s.curvature()
	alone := s.alone(curvature)
	within := s.within(alone)
	var free, held []int
	for c, v := range s.w {
		if v > within || s.g[c] > 0 {
			free = append(free, c)
		} else {
			held = append(held, c)
		}
	}
	direction, err := s.direction(ctx, free, curvature)
	if err != nil {
		return false, err
	}
	copy(s.keep, s.w)
	before := s.sum - s.total
	for t := 1.0; t > 1e-9; t /= 2 {
		for _, c := range held {
			s.trial[c] = max(0, s.keep[c]+t*alone[c])
		}
		for i, c := range free {
			s.trial[c] = max(0, s.keep[c]+t*direction[i])
		}
		promised := 0.0
		for c, v := range s.trial {
			promised += s.g[c] * (v - s.keep[c])
		}
		const part = 1e-4
		h, _, _ := s.value(s.trial)
		if h > before && h >= before+part*promised {
			s.w, s.trial = s.trial, s.w
			s.settle()
			return true, nil
		}
		if t == 1 && h >= before-rounding*s.sum && s.halves() {
			return true, nil
		}
	}
	return false, nil
}

// curvature returns the roots of 1 / (4 |z|^3), so that the negative second derivative is H = sum
// (curvature z)(curvature z)'.
func (s *weights) curvature() []float64 {
	out := make([]float64, len(s.lengths))
	for k := range out {
		v := s.inverse(k, s.sum)
		out[k] = math.Sqrt(v*v*v) / 2
	}
	return out
}

// alone returns the Newton step of every weight while the others stay fixed, g/H_cc; for a feature
// without curvature, the step to 0.
func (s *weights) alone(curvature []float64) []float64 {
	out := make([]float64, len(s.w))
	for c, g := range s.g {
		second := 0.0
		for k, v := range s.columns.Row(c) {
			second += v * curvature[k] * v * curvature[k]
		}
		out[c] = -s.w[c]
		if second > 0 {
			out[c] = g / second
		}
	}
	return out
}

// within returns the weight up to which a falling weight is held: a fraction of the mean, but not
// more than separate steps would move all of them by. That bound is 0 at the optimum, so a small
// positive weight is released in time.
func (s *weights) within(alone []float64) float64 {
	moved := 0.0
	for c, v := range s.w {
		m := v - max(0, v+alone[c])
		moved += m * m
	}
	return min(mmcSmall*s.total/float64(len(s.w)), math.Sqrt(moved))
}

// rounding is the relative difference of the first sum up to which two values of h count as equal.
const rounding = 4e-15

// halves accepts the trial weights if the gap is at most half as large there.
func (s *weights) halves() bool {
	before := s.gap()
	s.w, s.trial = s.trial, s.w
	s.settle()
	if s.gap() <= before/2 {
		return true
	}
	copy(s.w, s.keep)
	s.settle()
	return false
}

// direction solves H d = g over the free weights.
func (s *weights) direction(ctx context.Context, free []int, curvature []float64) ([]float64, error) {
	f := len(free)
	rows := s.rows.View(0, f, 0, len(curvature))
	for i, c := range free {
		to := rows.Row(i)
		for k, v := range s.columns.Row(c) {
			to[k] = v * curvature[k]
		}
	}
	h := blas.NewMatrix(f, f)
	s.eng.Backend().Syrk(false, 1, rows, 0, h)
	trace := h.Trace()
	d := blas.NewMatrix(1, f)
	for i, c := range free {
		d.Set(0, i, s.g[c])
	}
	const ridge = 1e-10
	for i := range f {
		h.Set(i, i, h.At(i, i)*(1+ridge)+ridge*trace/float64(f))
	}
	if err := s.eng.Cholesky(ctx, h); err != nil {
		return nil, err
	}
	s.eng.Backend().Trsm(false, true, h, d)
	s.eng.Backend().Trsm(false, false, h, d)
	return d.Row(0), nil
}
