package graphkernel

import "math"

// Soft replaces the losses of a problem by those of its augmented Lagrangian: with the residual
// u = 1 - t Z_ij, the loss w l of a link becomes
//
//	max over b of  b u - conjugate(b) - (b - a)^2 / (2 rho)
//
// for a multiplier a and a weight rho of the link. Up to a constant that is a square with a smaller
// weight and another target, 0 above the target and a line from the largest multiplier on, if the
// loss has one. It is smooth, and no steeper than rho.
type Soft struct {
	Floor bool      // links that are more than satisfied are free: 0 above the target
	Lead  []float64 // a / rho of each link at its two positions in To: the target is 1 + Lead
	Limit []float64 // the distance to the target from which on the loss is a line; +Inf for never
}

// Value returns the loss at f, in units of its weight.
func (s *Soft) Value(e int, f float64) float64 {
	d := s.Slope(e, f)
	return d * (2*(1+s.Lead[e]-f) - d)
}

// Slope returns minus half the derivative of Value.
func (s *Soft) Slope(e int, f float64) float64 {
	d := 1 + s.Lead[e] - f
	if s.Floor {
		d = max(0, d)
	}
	return min(d, s.Limit[e])
}

// Multipliers are the variables b of the dual problem
//
//	maximize sum b - conjugate(b)  subject to  Delta - sum b t (E_ij + E_ji) / 2 >= 0
//
// each at both positions of its link in Problem.To. The conjugate is b^2 / (4 w) for the square
// losses; with the squared hinge b is at least 0, and with the hinge between 0 and 2 w, and its
// conjugate is 0.
type Multipliers []float64

// Soften returns the augmented Lagrangian of p at the multipliers a, with the weights
//
//	rho = growth x most  (square losses)  or  growth x min(2 w, most)  (hinge)
//
// p is a problem without Soft, and shares its other data with the result.
func (p *Problem) Soften(a Multipliers, growth, most float64) *Problem {
	n := len(p.To)
	out, soft := *p, &Soft{Floor: p.Loss != Square, Lead: make([]float64, n), Limit: make([]float64, n)}
	out.Soft, out.Weight = soft, make([]float64, n)
	for e, w := range p.Weight {
		if p.Loss == Hinge {
			rho := growth * min(2*w, most)
			out.Weight[e], soft.Lead[e], soft.Limit[e] = rho/2, a[e]/rho, 2*w/rho
			continue
		}
		rho := growth * most
		out.Weight[e], soft.Lead[e], soft.Limit[e] = w*(rho/(2*w+rho)), a[e]/rho, math.Inf(1)
	}
	return &out
}

// Dual returns the objective of the dual problem.
func (b Multipliers) Dual(p *Problem) float64 {
	sum := 0.0
	for e, x := range b {
		if sum += x; p.Loss != Hinge {
			sum -= x * x / (4 * p.Weight[e])
		}
	}
	return sum / 2 // every link has two positions
}

// Times returns s b, which is feasible if b is and s is between 0 and 1.
func (b Multipliers) Times(s float64) Multipliers {
	out := make(Multipliers, len(b))
	for e, x := range b {
		out[e] = s * x
	}
	return out
}
