package logdet

import "math"

// hard is the 1 / (gamma weight) up to which a slack is lost in rounding.
const hard = 1e-15

// Objective returns the objective of the matrix, with the least slack that its distances need.
func (r *Result) Objective() float64 { return r.Dual + r.Gap }

// RelativeGap returns the duality gap relative to the objective, which is at most that far above
// the minimum. It is at most 1, and 1 if the matrix violates a constraint that no slack satisfies.
func (r *Result) RelativeGap() float64 {
	if r.Gap <= 0 {
		return 0
	}
	if g := r.Gap / r.Objective(); g < 1 {
		return g
	}
	return 1
}

// measure computes the dual objective of the multipliers, the duality gap, and whether this is
// within the tolerance. It takes half the time of a sweep on rows, and little on a kernel matrix.
//
// With the signed multipliers l of the constraints p <= b or >= b on distances p = w'A w, and e =
// -l b / (gamma weight), the dual of tr A - log det A - r + sum gamma weight (x - log x - 1), where
// x b is the bound with slack, is
//
//	log det(I + sum l w w') + sum gamma weight log(1 + e)
//
// The projections keep A = (I + sum l w w')^-1. Then the determinants cancel in the difference, and
// tr A - r = -sum l p. Each constraint has its own part of the gap, which is >= 0.
func (s *state) measure() {
	s.Dual, s.Gap = s.det, 0
	size := 0.0                                                              // of the terms that are rounded
	square := func(k int, far bool) float64 { return s.square(k, far, s.q) } // some operations for a kernel matrix
	if f, is := s.learned.(*rows); is {
		square = f.squares()
	}
	for k, c := range s.constraints {
		p := square(k, false)
		if c.Kind == Nearer {
			p = square(k, true) - p
		}
		if s.skipped[k] {
			continue
		}
		l := c.sign() * s.Multipliers[k]
		apart := math.Abs(l * (c.Bound - p))
		size += math.Abs(l) * max(c.Bound, p)
		if s.inverse[k] < hard {
			s.Dual -= l * c.Bound
			s.Gap += apart
			continue
		}
		e := -l * c.Bound * s.inverse[k]
		if e < -0.5 {
			e = c.Bound/s.Bounds[k] - 1 // the same, and exact near -1
		}
		s.Dual += math.Log1p(e) / s.inverse[k]
		if x := p/c.Bound - 1; c.sign()*x > 0 { // violated without a slack
			s.Gap += excess(x+e+x*e) / s.inverse[k]
		} else {
			s.Gap += excess(e)/s.inverse[k] + apart
		}
	}
	const rounding = 1e-13
	t := s.o.Tolerance
	s.Converged = !math.IsInf(s.Gap, 1) && s.Gap <= max(t*s.Objective(), t*t/2, rounding*size)
}

// excess returns x - log(1 + x), which is >= 0, and +Inf outside of its domain.
func excess(x float64) float64 {
	if x <= -1 {
		return math.Inf(1)
	}
	return x - math.Log1p(x)
}
