package kernel

import "math"

// refineBelow is the fraction of |x|^2 + |y|^2 below which a squared distance has lost about
// three digits to cancellation and is computed from differences instead. At 1/1000 the
// expansion keeps 13 digits, and among spread-out points such pairs are rare.
const refineBelow = 1e-3

// squaredDistance is |x|^2 + |y|^2 - 2<x,y>, which rounding may make negative: this is the
// one place where it is clamped.
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

// differences gives squared distances from the points themselves: of row i of the base's x to
// row j0 + j of its y. The zero value gives none.
type differences struct {
	base  base
	i, j0 int
}

// applyRow replaces each row[j] = <x,y_j> by f(row[j], xx, yy[j]), where diff knows the
// distance of x to y_j.
func (s stage) applyRow(row []float64, xx float64, yy []float64, diff differences) {
	yy = yy[:len(row)]
	switch {
	case s.kind == cosine, s.kind == spectrum:
		for j, xy := range row {
			row[j] = cosineOf(xy, xx, yy[j])
		}
		return
	case !s.kind.shiftInvariant():
		for j, xy := range row {
			row[j] = s.apply(xy, xx, yy[j])
		}
		return
	}
	for j, xy := range row {
		d2 := squaredDistance(xx, yy[j], xy)
		if d2 < refineBelow*(xx+yy[j]) && diff.base != nil {
			d2 = diff.base.exact(diff.i, diff.j0+j)
		}
		row[j] = d2
	}
	s.distanceRow(row)
}

// distanceRow applies ofDistance to a row of squared distances.
func (s stage) distanceRow(row []float64) {
	decay := -s.decay()
	switch s.kind {
	case rbf:
		for j, d2 := range row {
			row[j] = math.Exp(decay * d2)
		}
	case exponential:
		for j, d2 := range row {
			row[j] = math.Exp(decay * math.Sqrt(d2))
		}
	}
}

// cosineOf is xy/(|x||y|), within [-1, 1], and 0 when either length is 0 (or, for an inexact
// Gram matrix, below).
func cosineOf(xy, xx, yy float64) float64 {
	if xx <= 0 || yy <= 0 {
		return 0
	}
	// The product of the roots, not the root of the product, which could overflow.
	return max(-1, min(1, xy/(math.Sqrt(xx)*math.Sqrt(yy))))
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
