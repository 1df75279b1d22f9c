package kernel

import (
	"math"

	"github.com/mustlink/mustlink/asm"
)

// refineBelow is a fraction of |x|^2 + |y|^2: a squared distance below it has lost about three
// digits to cancellation and is computed from differences instead. At 1/1000 the expansion keeps 13
// digits, and among spread-out points such pairs are rare.
const refineBelow = 1e-3

// squaredDistance returns |x|^2 + |y|^2 - 2<x,y>, clamped at 0 as rounding may make it negative. No
// other function clamps it.
func squaredDistance(xx, yy, xy float64) float64 { return max(0, xx+yy-2*xy) }

// self returns f(<x,x>, <x,x>, <x,x>).
func (s stage) self(xx float64) float64 {
	switch s.kind {
	case rbf, exponential:
		return 1
	case distance:
		return 0
	case cosine, spectrum:
		if xx <= 0 {
			return 0
		}
		return 1
	default:
		return s.ofProduct(xx)
	}
}

// ofProduct applies a map that depends on <x,y> alone: linear, poly or sigmoid.
func (s stage) ofProduct(xy float64) float64 {
	switch s.kind {
	case poly:
		return power(s.scale*xy+s.coef, s.degree)
	case sigmoid:
		return math.Tanh(s.scale*xy + s.coef)
	default:
		return xy
	}
}

// ofDistance applies a shift-invariant map to a squared distance.
func (s stage) ofDistance(d2 float64) float64 {
	switch s.kind {
	case rbf:
		return math.Exp(-s.decay() * d2)
	case exponential:
		return math.Exp(-s.decay() * math.Sqrt(d2))
	default:
		return d2
	}
}

// decay returns the factor of the squared distance (rbf) or distance (exp) in the exponent.
func (s stage) decay() float64 {
	switch {
	case s.kind == exponential:
		return 1 / s.value
	case s.gamma:
		return s.value
	default:
		return 1 / (2 * s.value * s.value)
	}
}

// apply returns f(<x,y>, <x,x>, <y,y>).
func (s stage) apply(xy, xx, yy float64) float64 {
	switch {
	case s.kind.shiftInvariant():
		return s.ofDistance(squaredDistance(xx, yy, xy))
	case s.kind == cosine, s.kind == spectrum:
		return cosineOf(xy, xx, yy)
	default:
		return s.ofProduct(xy)
	}
}

// terms returns the values that the map needs for points with these norms (self products): the
// norms, or their square roots.
func (s stage) terms(t *asm.Table, norms []float64) []float64 {
	if s.kind != cosine && s.kind != spectrum {
		return norms
	}
	roots := make([]float64, len(norms))
	for i, v := range norms {
		roots[i] = max(0, v)
	}
	t.Sqrt(roots, roots)
	return roots
}

// row writes f(dot[j], x, y[j]), given the terms of x and of all y_j, and reports whether some
// squared distance is below refineBelow. dst may be dot.
func (s stage) row(t *asm.Table, dst, dot []float64, xx float64, yy []float64) (near bool) {
	switch s.kind {
	case rbf, exponential, distance:
		near = t.SquaredDistances(dst, dot, xx, yy, refineBelow)
		s.distanceRow(t, dst)
	case cosine, spectrum:
		for j, xy := range dot {
			dst[j] = ratio(xy, xx*yy[j])
		}
	case poly:
		for j, xy := range dot {
			dst[j] = s.scale*xy + s.coef
		}
		t.Power(dst, dst, s.degree)
	default:
		for j, xy := range dot {
			dst[j] = s.ofProduct(xy)
		}
	}
	return near
}

// distanceRow applies a shift-invariant map to a row of squared distances.
func (s stage) distanceRow(t *asm.Table, row []float64) {
	switch s.kind {
	case exponential:
		t.Sqrt(row, row)
	case rbf:
	default:
		return
	}
	t.Scale(-s.decay(), row)
	t.Exp(row, row)
}

// cosineOf returns xy/(|x||y|), within [-1, 1], and 0 if a squared length is 0 (or, in an inexact
// Gram matrix, negative).
func cosineOf(xy, xx, yy float64) float64 {
	// This is the product of the square roots, because the product of the squared lengths could
	// overflow.
	return ratio(xy, math.Sqrt(max(0, xx))*math.Sqrt(max(0, yy)))
}

// ratio returns xy/lengths within [-1, 1], and 0 if lengths is 0.
func ratio(xy, lengths float64) float64 {
	if lengths <= 0 {
		return 0
	}
	return max(-1, min(1, xy/lengths))
}

// power returns v^n by repeated squaring, n >= 1.
func power(v float64, n int) float64 {
	p := 1.0
	for ; n > 1; n >>= 1 {
		if n&1 == 1 {
			p *= v
		}
		v *= v
	}
	return p * v
}

// Step is one scalar map of a kernel, as data, for programs that evaluate a kernel elsewhere. It
// maps an inner product <x,y> and the squared lengths <x,x> and <y,y>.
type Step struct {
	// Name is "rbf", exp(-Decay |x-y|^2); "exp", exp(-Decay |x-y|); "poly", (Scale <x,y> +
	// Coef)^Degree; "sigmoid", tanh(Scale <x,y> + Coef); "cosine" or "spectrum", <x,y> / (|x| |y|),
	// within [-1, 1], and 0 if a length is 0.
	Name        string
	Decay       float64
	Degree      int
	Coef, Scale float64

	stage stage
}

// Steps returns the maps of the kernel in the order of evaluation, each in the feature space of the
// one before; none for the linear kernel.
func (k Kernel) Steps() []Step {
	var list []Step
	for _, s := range k.stages {
		step := Step{Name: s.kind.String(), Degree: s.degree, Coef: s.coef, Scale: s.scale, stage: s}
		if s.kind.shiftInvariant() {
			step.Decay = s.decay()
		}
		list = append(list, step)
	}
	return list
}

// Self returns the step's value for a point with itself, whose squared length is xx.
func (s Step) Self(xx float64) float64 { return s.stage.self(xx) }

// Value returns the step's value for an inner product xy and the squared lengths xx and yy.
func (s Step) Value(xy, xx, yy float64) float64 { return s.stage.apply(xy, xx, yy) }
