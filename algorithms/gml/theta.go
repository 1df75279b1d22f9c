package gml

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// thetaSteps is the maximum number of steps of minimizeTheta. thetaTol is the smallest gain of a
// step, relative to 1 + |objective|, after which it continues.
const (
	thetaSteps = 2000
	thetaTol   = 1e-15
)

// minimizeTheta minimizes sum theta_i k_i - log det(I + C diag(theta)) over 0 <= theta_1 <= ... <=
// theta_r, a convex problem, by projected gradients. The projection is an isotonic regression with
// negative values set to 0. Step lengths are those of Barzilai & Borwein (1988), halved until the
// objective falls.
func minimizeTheta(eng *engine.Engine, c blas.Matrix, k, theta []float64) ([]float64, error) {
	now, err := evaluateTheta(eng, c, k, theta)
	if err != nil {
		return nil, err
	}
	scale := 0.0
	for i := range k {
		scale = max(scale, k[i], c.At(i, i))
	}
	step := 1.0 / max(scale, math.SmallestNonzeroFloat64) / max(scale, math.SmallestNonzeroFloat64)
	for range thetaSteps {
		next, moved, err := stepTheta(eng, c, k, now, step)
		if err != nil {
			return nil, err
		}
		if !(next.value < now.value-thetaTol*(1+math.Abs(now.value))) || moved == 0 {
			break
		}
		turned := 0.0
		for i := range k {
			turned += (next.theta[i] - now.theta[i]) * (next.slope[i] - now.slope[i])
		}
		if step *= 4; turned > 0 {
			step = moved / turned
		}
		now = next
	}
	return now.theta, nil
}

// thetaPoint is a point with its objective and gradient.
type thetaPoint struct {
	theta, slope []float64
	value        float64
}

func stepTheta(eng *engine.Engine, c blas.Matrix, k []float64, from thetaPoint, step float64) (thetaPoint, float64, error) {
	for range 60 {
		to := make([]float64, len(k))
		for i, v := range from.theta {
			to[i] = v - step*from.slope[i]
		}
		to, err := optimize.Rising(to, nil)
		if err != nil {
			return from, 0, err
		}
		moved := 0.0
		for i, v := range to {
			to[i] = max(0, v)
			moved += (to[i] - from.theta[i]) * (to[i] - from.theta[i])
		}
		next, err := evaluateTheta(eng, c, k, to)
		if err != nil || next.value <= from.value-1e-4*moved/step {
			return next, moved, err
		}
		step /= 4
	}
	return from, 0, nil
}

func evaluateTheta(eng *engine.Engine, c blas.Matrix, k, theta []float64) (thetaPoint, error) {
	r := len(theta)
	p := thetaPoint{theta: theta, slope: make([]float64, r)}
	l, err := deformation(eng, c, theta)
	if err != nil {
		return p, err
	}
	x := c.Clone()
	for i := range r {
		p.value += theta[i]*k[i] - 2*math.Log(l.At(i, i))
		root := math.Sqrt(theta[i])
		for j := range r {
			x.Set(i, j, root*x.At(i, j))
		}
	}
	eng.Backend().Trsm(true, false, l, x) // L^-1 R C, whose columns' squares are the diagonal of C F C
	for i := range r {
		sum := 0.0
		for j := range r {
			sum += x.At(j, i) * x.At(j, i)
		}
		p.slope[i] = k[i] - (c.At(i, i) - sum)
	}
	return p, nil
}
