package optimize

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/engine/fault"
)

// least is the smallest accepted cosine between a step and the change of the gradient.
const least = 1e-10

// History computes descent directions from the latest steps of a
// minimization: the two-loop recursion of limited-memory BFGS (Nocedal 1980).
//
// History has the latest steps and the corresponding changes of the gradient. Only one goroutine
// may use it.
type History struct {
	t     *asm.Table
	most  int
	pairs []pair // oldest first
}

type pair struct {
	step, change []float64
	curvature    float64 // step'change > 0
}

// NewHistory returns an empty history of at most most >= 1 steps.
func NewHistory(t *asm.Table, most int) *History { return &History{t: t, most: most} }

// Reset removes all steps.
func (h *History) Reset() { h.pairs = h.pairs[:0] }

// Add copies a step and the change of the gradient over it, and reports whether it did: without
// positive curvature along the step (a kink, or rounding) the pair would spoil the directions.
func (h *History) Add(step, change []float64) bool {
	c := h.t.Dot(step, change)
	if !(c > least*math.Sqrt(h.t.Dot(step, step)*h.t.Dot(change, change))) {
		return false
	}
	p := pair{curvature: c}
	if len(h.pairs) == h.most { // reuse the memory of the oldest
		p.step, p.change = h.pairs[0].step, h.pairs[0].change
		h.pairs = append(h.pairs[:0], h.pairs[1:]...)
	} else {
		p.step, p.change = make([]float64, len(step)), make([]float64, len(step))
	}
	copy(p.step, step)
	copy(p.change, change)
	h.pairs = append(h.pairs, p)
	return true
}

// Direction writes the descent direction for a gradient to dst, which may be the gradient itself.
// Without steps this is the negative gradient. Cost: 4 len(g) flops per step.
func (h *History) Direction(dst, gradient []float64) {
	copy(dst, gradient)
	alpha := make([]float64, len(h.pairs))
	for k := len(h.pairs) - 1; k >= 0; k-- {
		p := h.pairs[k]
		alpha[k] = h.t.Dot(p.step, dst) / p.curvature
		h.t.Axpy(-alpha[k], p.change, dst)
	}
	scale := -1.0
	if n := len(h.pairs); n > 0 {
		p := h.pairs[n-1]
		scale = -p.curvature / h.t.Dot(p.change, p.change)
	}
	h.t.Scale(scale, dst)
	for k, p := range h.pairs {
		h.t.Axpy(-alpha[k]-h.t.Dot(p.change, dst)/p.curvature, p.step, dst)
	}
}

// Objective returns the value at x and writes the gradient. A value that is not finite counts as
// too large: the step is shortened. x and gradient have the length of the start. An error ends the
// search and is returned.
type Objective func(x, gradient []float64) (float64, error)

// LBFGSOptions are the settings of a minimization.
type LBFGSOptions struct {
	// Memory is the number of steps that determine a direction, 0 for 10.
	Memory int
	// MaxIter is the maximum number of iterations.
	MaxIter int
	// Done is called with the start and after every iteration, and reports whether to stop. If Done
	// is nil, the search does not stop early.
	Done func(iteration int, value float64, x, gradient []float64) (bool, error)
}

// LBFGSOutcome is the result of a minimization.
type LBFGSOutcome struct {
	Trace     []float64 // values at the start and after every iteration; they fall
	Converged bool      // Done returned true, or no step decreases the value: only rounding is left
}

// These are the Wolfe conditions, in the weak form (Lewis & Overton 2013).
const (
	sufficient = 1e-4
	curvature  = 0.9
)

// MinimizeLBFGS minimizes f by limited-memory BFGS, starting from x, and overwrites x with the
// final point.
//
// Errors: those of f and of Done; a *fault.DataError for a start without a finite value; ctx.Err().
func MinimizeLBFGS(ctx context.Context, t *asm.Table, f Objective, x []float64,
	o LBFGSOptions) (*LBFGSOutcome, error) {
	if o.Done == nil {
		o.Done = func(int, float64, []float64, []float64) (bool, error) { return false, nil }
	}
	if o.Memory == 0 {
		o.Memory = 10
	}
	s := &lbfgsSearch{t: t, f: f, x: x, gradient: make([]float64, len(x)), direction: make([]float64, len(x)),
		next: make([]float64, len(x)), ahead: make([]float64, len(x))}
	var err error
	if s.value, err = f(x, s.gradient); err != nil {
		return nil, err
	}
	if s.value-s.value != 0 {
		return nil, fault.Data("",
			"the objective is %v at the start: want points that are neither equal nor huge (standardize "+
				"the data)", s.value)
	}
	out, h := &LBFGSOutcome{Trace: []float64{s.value}}, NewHistory(t, o.Memory)
	fresh := true // fresh: the direction does not depend on earlier steps
	for iteration := 0; ; iteration++ {
		if out.Converged, err = o.Done(iteration, s.value, x, s.gradient); err != nil || out.Converged ||
			iteration >= o.MaxIter {
			return out, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h.Direction(s.direction, s.gradient)
		moved, err := s.step(fresh)
		if err != nil {
			return nil, err
		}
		if !moved && !fresh { // the steps may have spoiled the direction
			h.Reset()
			fresh = true
			iteration--
			continue
		}
		if !moved {
			out.Converged = true
			return out, nil
		}
		fresh = !h.Add(s.direction, s.ahead) && fresh // the step, and the change of the gradient
		out.Trace = append(out.Trace, s.value)
	}
}

// lbfgsSearch is the state of a minimization.
type lbfgsSearch struct {
	t                      *asm.Table
	f                      Objective
	x, gradient            []float64
	value                  float64
	direction, next, ahead []float64
}

// step moves along the direction to a lower value, and leaves the step in direction and the change
// of the gradient in ahead. It returns false if there is no lower value.
func (s *lbfgsSearch) step(fresh bool) (bool, error) {
	slope := s.t.Dot(s.direction, s.gradient)
	if !(slope < 0) {
		return false, nil
	}
	lo, hi, length := 0.0, math.Inf(1), 1.0
	if fresh { // the direction has the length of the gradient: begin with a step of a hundredth of x
		size := math.Sqrt(s.t.Dot(s.x, s.x))
		length = max(1e-2*size, 1e-10) / math.Sqrt(-slope)
	}
	for range 60 {
		copy(s.next, s.x)
		s.t.Axpy(length, s.direction, s.next)
		value, err := s.f(s.next, s.ahead)
		if err != nil {
			return false, err
		}
		steep := s.t.Dot(s.direction, s.ahead)
		switch {
		case !(value < s.value && value <= s.value+sufficient*length*slope) || steep-steep != 0:
			hi = length
		case steep < curvature*slope:
			lo = length
		default:
			s.take(length, value)
			return true, nil
		}
		if math.IsInf(hi, 1) { // extrapolate to where the slope would vanish, but not too far
			ahead := 10.0
			if steep > slope {
				ahead = min(10, max(2, slope/(slope-steep)))
			}
			length *= ahead
		} else {
			length = (lo + hi) / 2
		}
	}
	if lo == 0 {
		return false, nil
	}
	copy(s.next, s.x)
	s.t.Axpy(lo, s.direction, s.next)
	value, err := s.f(s.next, s.ahead)
	if err == nil && value < s.value {
		s.take(lo, value)
		return true, nil
	}
	return false, err
}

// take makes next the current point.
func (s *lbfgsSearch) take(length, value float64) {
	s.t.Scale(length, s.direction)
	copy(s.x, s.next)
	s.value = value
	for i, g := range s.ahead {
		s.ahead[i], s.gradient[i] = g-s.gradient[i], g
	}
}
