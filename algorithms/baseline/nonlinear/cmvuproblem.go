package nonlinear

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// problem is nu sum_e s_e (w_e' A w_e - t_e)^2 - tr(A B) over positive semidefinite A, where the
// weights s_e sum to 1 and sum_e s_e w_e w_e' = I.
type problem struct {
	eng    *engine.Engine
	w      blas.Matrix // edges x r
	target []float64   // t_e, with weighted mean 1
	weight []float64   // s_e
	b      blas.Matrix
	gain   float64 // the largest eigenvalue of B
	nu     float64
	unit   float64 // the mean squared length of the edges
	scaled blas.Matrix
}

// newCMVUProblem returns the problem in the coordinates U, one row for each point, with the
// must-link components of set.
func newCMVUProblem(ctx context.Context, eng *engine.Engine, a *sparse.Matrix, u blas.Matrix, k kernel.Kernel,
	x points.Points, set *links.Set, penalty float64) (*problem, error) {
	var pairs [][2]int
	p := &problem{eng: eng, b: side(eng, u, set)}
	total := 0.0
	for i := range a.Rows {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			if j := int(a.Col[e]); j < i && a.Val[e] > 0 {
				pairs, p.weight = append(pairs, [2]int{i, j}), append(p.weight, a.Val[e])
				total += a.Val[e]
			}
		}
	}
	var err error
	if p.target, err = k.Squared().Pairs(ctx, eng, x, pairs); err != nil {
		return nil, err
	}
	for e := range p.target {
		p.weight[e] /= total
		p.unit += p.weight[e] * p.target[e]
	}
	if !(p.unit > 0) {
		return nil, fault.Data("", "all neighbors of every point equal it: want points that differ")
	}
	if err := eng.Check("differences along the edges of the graph", 2*engine.MatrixBytes(len(pairs), u.Cols),
		"use fewer neighbors or a lower rank"); err != nil {
		return nil, err
	}
	p.w, p.scaled = eng.NewMatrix(len(pairs), u.Cols), eng.NewMatrix(len(pairs), u.Cols)
	for e, pair := range pairs {
		p.target[e] /= p.unit
		to, from := p.w.Row(e), u.Row(pair[1])
		for c, v := range u.Row(pair[0]) {
			to[c] = v - from[c]
		}
	}
	w := make([]float64, u.Cols)
	if err := eng.SymEig(ctx, p.b.Clone(), w, false); err != nil {
		return nil, err
	}
	const nothing = 1e-24
	if p.gain = w[len(w)-1]; !(p.gain > nothing*linear.Variance(eng, u)) {
		return nil, fault.Data("",
			"all must-link components have the same mean: want at least two components with different means")
	}
	p.nu = penalty * p.gain
	return p, nil
}

// side returns U' H L H U / sum(L) for the components of the must-links.
func side(eng *engine.Engine, u blas.Matrix, set *links.Set) blas.Matrix {
	n, r := u.Rows, u.Cols
	mean := make([]float64, r)
	for i := range n {
		for c, v := range u.Row(i) {
			mean[c] += v / float64(n)
		}
	}
	label, count := set.Components(), set.NumComponents()
	sums, sizes := blas.NewMatrix(count, r), make([]float64, count)
	for i := range n {
		sizes[label[i]]++
		to := sums.Row(label[i])
		for c, v := range u.Row(i) {
			to[c] += v - mean[c]
		}
	}
	all := 0.0
	for _, s := range sizes {
		all += s * s
	}
	b := blas.NewMatrix(r, r)
	eng.Backend().Gemm(true, false, 1/all, sums, sums, 0, b)
	return b
}

// at returns the objective and writes the gradient.
func (p *problem) at(a, gradient blas.Matrix) float64 {
	p.eng.Backend().Gemm(false, false, 1, p.w, a, 0, p.scaled)
	t, value := p.eng.Backend().Kernels(), 0.0
	for e := range p.target {
		row := p.w.Row(e)
		off := t.Dot(p.scaled.Row(e), row) - p.target[e]
		value += p.nu * p.weight[e] * off * off
		to, factor := p.scaled.Row(e), 2*p.nu*p.weight[e]*off
		for c, v := range row {
			to[c] = factor * v
		}
	}
	p.eng.Backend().Gemm(true, false, 1, p.w, p.scaled, 0, gradient)
	for i, v := range p.b.Data {
		value -= v * a.Data[i]
		gradient.Data[i] -= v
	}
	symmetrize(gradient)
	return value
}

// curvature returns the largest eigenvalue of the Hessian A -> 2 nu sum_e s_e (w_e' A w_e) w_e
// w_e', by its powers.
func (p *problem) curvature() float64 {
	r := p.b.Rows
	a, image := blas.NewMatrix(r, r), blas.NewMatrix(r, r)
	a.Shift(1 / math.Sqrt(float64(r)))
	most := 0.0
	for range 30 {
		p.eng.Backend().Gemm(false, false, 1, p.w, a, 0, p.scaled)
		for e := range p.target {
			row := p.w.Row(e)
			factor := 2 * p.nu * p.weight[e] * p.eng.Backend().Kernels().Dot(p.scaled.Row(e), row)
			to := p.scaled.Row(e)
			for c, v := range row {
				to[c] = factor * v
			}
		}
		p.eng.Backend().Gemm(true, false, 1, p.w, p.scaled, 0, image)
		norm := math.Sqrt(p.eng.Backend().Kernels().Dot(image.Data, image.Data))
		if norm <= most*(1+1e-3) {
			return max(most, norm)
		}
		most = norm
		for i, v := range image.Data {
			a.Data[i] = v / norm
		}
	}
	return most
}

func symmetrize(m blas.Matrix) {
	for i := range m.Rows {
		for j := range i {
			v := (m.At(i, j) + m.At(j, i)) / 2
			m.Set(i, j, v)
			m.Set(j, i, v)
		}
	}
}

// outcome is the result of a search.
type outcome struct {
	a         blas.Matrix
	objective float64
	residual  float64 // of the optimality conditions, relative to the terms of the gradient
	steps     int
	converged bool
}

// minimize starts from the multiple of the identity that keeps the mean distance.
func (p *problem) minimize(ctx context.Context, tol float64, most int,
	report func(steps int, objective, residual float64)) (*outcome, error) {
	r := p.b.Rows
	o := &outcome{a: blas.NewMatrix(r, r)}
	o.a.Shift(1 / float64(r))
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
		if linear, square := cmvuBetween(gradient, ahead, next,
			steep); reached > value+linear+square+1e-12*math.Abs(value) {
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

// cmvuBetween returns <gradient, to - from>, and half the square of the step in units of the
// curvature.
func cmvuBetween(gradient, from, to blas.Matrix, steep float64) (linear, square float64) {
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
