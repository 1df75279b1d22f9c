// Package lbfgs finds descent directions from the latest steps of a minimisation: the two-loop
// recursion of limited memory BFGS (Nocedal 1980).
package lbfgs

import (
	"math"

	"github.com/mustlink/mustlink/asm"
)

// least is the cosine between a step and the change of the gradient from which on it counts.
const least = 1e-10

// History holds the latest steps and what they changed the gradient by. It is for one goroutine.
type History struct {
	t     *asm.Table
	most  int
	pairs []pair // oldest first
}

type pair struct {
	step, change []float64
	curvature    float64 // step'change > 0
}

// New returns an empty history of at most most >= 1 steps.
func New(t *asm.Table, most int) *History { return &History{t: t, most: most} }

// Reset forgets all steps.
func (h *History) Reset() { h.pairs = h.pairs[:0] }

// Add copies a step and the change of the gradient over it, and says whether it did: without positive
// curvature along the step (a kink, or rounding) the pair would spoil the directions.
func (h *History) Add(step, change []float64) bool {
	c := h.t.Dot(step, change)
	if !(c > least*math.Sqrt(h.t.Dot(step, step)*h.t.Dot(change, change))) {
		return false
	}
	p := pair{curvature: c}
	if len(h.pairs) == h.most { // the oldest gives its memory
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

// Direction writes the direction of descent for a gradient to dst, which may be the gradient
// itself; without steps that is its negative. 4 len(g) flops a step.
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
