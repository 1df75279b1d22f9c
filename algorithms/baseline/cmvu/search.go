package cmvu

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
)

// outcome is the result of a search.
type outcome struct {
	a         blas.Matrix
	objective float64
	residual  float64 // of the optimality conditions, relative to the terms of the gradient
	steps     int
	converged bool
}

// minimize starts from the multiple of the identity that keeps the mean distance.
func (p *problem) minimize(ctx context.Context, tol float64, most int, report func(steps int, objective, residual float64)) (*outcome, error) {
	r := p.b.Rows
	o := &outcome{a: blas.NewMatrix(r, r)}
	for i := range r {
		o.a.Set(i, i, 1/float64(r))
	}
	gradient, after := blas.NewMatrix(r, r), blas.NewMatrix(r, r)
	o.objective = p.at(o.a, gradient)
	steep := 1.1 * p.curvature()
	ahead, momentum := o.a.Clone(), 1.0 // ahead: where the gradient is evaluated
	for o.steps < most {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.steps++
		value := p.at(ahead, gradient)
		next := ahead.Clone()
		for i, g := range gradient.Data {
			next.Data[i] -= g / steep
		}
		if err := p.project(ctx, next); err != nil {
			return nil, err
		}
		reached := p.at(next, after)
		if linear, square := between(gradient, ahead, next, steep); reached > value+linear+square+1e-12*math.Abs(value) {
			steep *= 2 // the curvature was underestimated
			continue
		}
		if reached > o.objective && momentum > 1 { // too fast: restart from the best point
			momentum = 1
			copy(ahead.Data, o.a.Data)
			continue
		}
		faster := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		for i, v := range next.Data {
			ahead.Data[i] = v + (momentum-1)/faster*(v-o.a.Data[i])
		}
		momentum, o.a, o.objective = faster, next, reached
		var err error
		if o.residual, err = p.residual(ctx, o.a, after); err != nil {
			return nil, err
		}
		report(o.steps, o.objective, o.residual)
		if o.converged = o.residual < tol; o.converged {
			break
		}
	}
	return o, nil
}

// between returns <gradient, to - from>, and half the square of the step in units of the curvature.
func between(gradient, from, to blas.Matrix, steep float64) (linear, square float64) {
	for i, v := range to.Data {
		d := v - from.Data[i]
		linear += gradient.Data[i] * d
		square += steep / 2 * d * d
	}
	return linear, square
}

// project replaces a by the positive semidefinite matrix nearest to it.
func (p *problem) project(ctx context.Context, a blas.Matrix) error {
	w, v := make([]float64, a.Rows), a.Clone()
	if err := p.eng.SymEig(ctx, v, w, true); err != nil {
		return err
	}
	for i, x := range w {
		p.eng.Backend().Kernels().Scale(math.Sqrt(max(0, x)), v.Row(i))
	}
	p.eng.Backend().Gemm(true, false, 1, v, v, 0, a)
	symmetrize(a)
	return nil
}

// residual returns the violation of the optimality conditions at a with the gradient G: at the
// optimum, G is positive semidefinite and tr(G A) = 0.
func (p *problem) residual(ctx context.Context, a, gradient blas.Matrix) (float64, error) {
	w := make([]float64, a.Rows)
	if err := p.eng.SymEig(ctx, gradient.Clone(), w, false); err != nil {
		return 0, err
	}
	inner := p.eng.Backend().Kernels().Dot(gradient.Data, a.Data)
	return max(-w[0], math.Abs(inner)) / (p.gain + p.nu), nil
}
