package graphkernel

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/solvers/sdp"
)

// Energy returns Delta, both triangles.
func (p *Problem) Energy() blas.Matrix {
	n := p.Len()
	a := blas.NewMatrix(n, n)
	for i := range n {
		p.N.Each(i, func(j int, w float64) { a.Set(i, j, -w) })
		a.Set(i, i, p.Diag[i])
	}
	return a
}

// Terms returns the losses as terms of a semidefinite program, one for each link.
func (p *Problem) Terms() []sdp.Term {
	var out []sdp.Term
	for i := range p.Len() {
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			if j := int(p.To[e]); j > i {
				out = append(out, sdp.Term{I: i, J: j, Loss: term{p.Loss, p.Sign[e], p.Weight[e]}})
			}
		}
	}
	return out
}

// term is the function w l(t z).
type term struct {
	loss    Loss
	sign, w float64
}

// Smooth returns the loss and its first two derivatives. For the hinge it returns those of
//
//	min over x > max(0, u) of 2 w x - mu log x - mu log (x - u),   u = 1 - t z
func (l term) Smooth(z, mu float64) (f, d1, d2 float64) {
	u := 1 - l.sign*z
	switch {
	case l.loss == Square || l.loss == SquaredHinge && u > 0:
		return l.w * u * u, -2 * l.sign * l.w * u, 2 * l.w
	case l.loss == SquaredHinge:
		return 0, 0, 0
	case mu == 0:
		return 2 * l.w * max(0, u), math.NaN(), math.NaN() // there is no derivative at the kink
	}
	c := 2 * l.w
	cu := c * u
	root := math.Sqrt(cu*cu + 4*mu*mu)
	up, down := root+cu, root-cu // one of the two suffers from cancellation and is replaced below
	if cu > 0 {
		down = 4 * mu * mu / up
	} else {
		up = 4 * mu * mu / down
	}
	x, apart := (up+2*mu)/(2*c), (down+2*mu)/(2*c) // x and x - u
	slope := mu / apart
	rise := (1 + cu/root) / 2 // dx/du
	return c*x - mu*math.Log(x) - mu*math.Log(apart), -l.sign * slope, mu * (1 - rise) / (apart * apart)
}

// Gap returns f(z) + f*(d) - d z.
func (l term) Gap(z, d float64) float64 {
	if l.loss != Hinge {
		_, exact, _ := l.Smooth(z, 0)
		return (d - exact) * (d - exact) / (4 * l.w)
	}
	u := 1 - l.sign*z
	slope := -l.sign * d // derivative with respect to u, between 0 and 2 w
	if slope < 0 || slope > 2*l.w {
		return math.Inf(1)
	}
	return max(0, 2*l.w*max(0, u)-slope*u)
}
