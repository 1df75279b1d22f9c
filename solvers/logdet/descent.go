package logdet

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// descent minimizes the objective over A by Newton's method, for problems of more constraints on
// distances than the ascent can hold in a matrix. Without the slacks, whose best values are known,
// the objective is
//
//	tr A - log det A + sum gamma weight phi(p / bound)
//
// with phi(x) = x - log x - 1 on the wrong side of 1, else 0. With A = L L' and the rows Y = W L, a
// step A -> L (I + D) L' has the gradient L'L + Y'lY - I, where the l = gamma weight (1 - 1/x) /
// bound are the signed multipliers. The second derivative is D + Y'h(YDY')Y, where the
// h = gamma weight / p^2. Conjugate gradients find the step; a product with the second derivative
// takes 3 m r^2 flops for m constraints in r dimensions.
//
// A large gamma is reached from a small one, as in the ascent. If constraints are very many, the
// first stage takes a part of them. No step divides a direction of A by more than 1 / shrink:
// beyond that the quadratic model says little, and A comes back in many steps.
type descent struct {
	*state
	ctx    context.Context
	eng    *engine.Engine
	w      blas.Matrix // vectors of the constraints, one for each
	scale  float64     // gamma of this stage relative to the last
	stride int         // every how many constraints count, each for as many
	a, l   blas.Matrix // A and its factor
	outer  blas.Matrix // L'L
	y, z   blas.Matrix // W L, and scratch memory
	p      []float64   // distances
	slope  []float64   // signed multipliers
	bend   []float64   // h
	rows   []int       // scratch memory
}

const (
	rowsEach   = 256  // vectors of a task
	shrink     = 0.3  // least factor of a direction of A in a step
	roughly    = 1e-3 // decrement, relative to the objective, at which a stage ends
	maxDescent = 60   // Newton steps
	maxInner   = 200
	coarse     = 10 // a first stage takes every tenth constraint, if enough remain
	enough     = 4  // constraints for each dimension, at least, in the first stage
)

// descend replaces the multipliers by those of the descent, and reports whether they are within the
// tolerance. If rounding makes A indefinite, they stay as they are.
func (f *rows) descend(ctx context.Context, eng *engine.Engine) (converged bool, err error) {
	converged, err = f.newton(ctx, eng)
	var indefinite *blas.NotPositiveDefiniteError
	if errors.As(err, &indefinite) {
		return false, nil
	}
	return converged, err
}

// newton runs the stages of the descent.
func (f *rows) newton(ctx context.Context, eng *engine.Engine) (converged bool, err error) {
	count, n := len(f.constraints), f.w.Cols
	if err := eng.Check(fmt.Sprintf("Newton's method for %d constraints in %d dimensions", count, n), 2*engine.MatrixBytes(f.w.Rows, n)+10*engine.MatrixBytes(n, n), "use fewer constraints or dimensions"); err != nil {
		return false, err
	}
	d := &descent{
		state: f.state, ctx: ctx, eng: eng, w: f.w, scale: 1, stride: 1, a: f.matrix(), l: eng.NewMatrix(n, n), outer: eng.NewMatrix(n, n), y: eng.NewMatrix(f.w.Rows, n), z: eng.NewMatrix(f.w.Rows, n),
		p: make([]float64, count), slope: make([]float64, count), bend: make([]float64, count),
	}
	for k := range d.constraints {
		w := f.w.Row(k)
		f.skipped[k] = f.t.Dot(w, w) <= f.nothing
	}
	if f.o.Start == nil {
		d.scale = min(1, firstGamma/f.o.Gamma)
		if count >= coarse*enough*n {
			d.stride = coarse
		}
	}
	for d.stride > 1 || d.scale < 1 {
		if err := d.run(roughly); err != nil {
			return false, err
		}
		if d.stride == 1 {
			d.scale = min(1, growth*d.scale)
		}
		d.stride = 1
	}
	for goal := f.o.Tolerance / 4; goal >= f.o.Tolerance/1000; goal /= 16 {
		if err := d.run(goal); err != nil {
			return false, err
		}
		a, det, err := d.dual()
		if err != nil {
			return false, err
		}
		if a.Data == nil {
			continue
		}
		for k, c := range f.constraints {
			f.Multipliers[k] = c.sign() * d.slope[k]
			f.Bounds[k] = c.Bound / (1 - d.slope[k]*c.Bound*f.inverse[k])
		}
		f.set(a)
		f.det = det
		if f.measure(); f.Converged {
			return true, nil
		}
	}
	return false, nil
}

// cost returns gamma times the weight of a constraint, for all that it stands for.
func (d *descent) cost(k int) float64 { return float64(d.stride) * d.scale / d.inverse[k] }

// run steps until the decrement promises at most a share of the objective.
func (d *descent) run(share float64) error {
	for range min(maxDescent, d.o.MaxSweeps-d.Sweeps) {
		value, err := d.place()
		if err != nil {
			return err
		}
		g, err := d.gradient()
		if err != nil {
			return err
		}
		step, err := d.direction(g)
		if err != nil {
			return err
		}
		decrement := -inner(d.eng, g, step)
		d.Sweeps++
		if d.o.Progress != nil {
			d.o.Progress(d.Sweeps, decrement)
		}
		moved, err := d.move(step, -decrement)
		if err != nil || !moved || !(decrement > min(settled, share*max(value, d.o.Tolerance))) {
			return err
		}
	}
	return nil
}

// place computes the factor, the distances, the multipliers and h, and returns the objective.
func (d *descent) place() (value float64, err error) {
	n, b := d.a.Rows, d.eng.Backend()
	d.l.CopyFrom(d.a)
	if err := d.eng.Cholesky(d.ctx, d.l); err != nil {
		return 0, err
	}
	value = -float64(n)
	for i := range n {
		clear(d.l.Row(i)[i+1:])
		value += d.a.At(i, i) - 2*math.Log(d.l.At(i, i))
	}
	b.Gemm(false, false, 1, d.w, d.l, 0, d.y)
	if err := d.squares(d.y, d.p); err != nil {
		return 0, err
	}
	for k, c := range d.constraints {
		d.slope[k], d.bend[k] = 0, 0
		x := d.p[k] / c.Bound
		if k%d.stride != 0 || d.skipped[k] || !(c.sign()*(x-1) > 0) {
			continue
		}
		cost := d.cost(k)
		value += cost * excess(x-1)
		d.slope[k] = cost * (1 - 1/x) / c.Bound
		d.bend[k] = cost / (d.p[k] * d.p[k])
	}
	return value, nil
}

// squares writes y_k'z_k of the constraints to p.
func (d *descent) squares(z blas.Matrix, p []float64) error {
	t := d.eng.Backend().Kernels()
	return d.eng.Each(d.ctx, len(p), rowsEach, func(k int) { p[k] = t.Dot(d.y.Row(k), z.Row(k)) })
}

// add adds Y' diag(weights) Y to the lower triangle of to.
func (d *descent) add(weights []float64, to blas.Matrix) error {
	b := d.eng.Backend()
	for _, sign := range []float64{1, -1} {
		d.rows = d.rows[:0]
		for k, w := range weights {
			if sign*w > 0 {
				d.rows = append(d.rows, k)
			}
		}
		err := d.eng.Each(d.ctx, len(d.rows), rowsEach, func(r int) {
			k, row := d.rows[r], d.z.Row(r)
			copy(row, d.y.Row(k))
			b.Kernels().Scale(math.Sqrt(sign*weights[k]), row)
		})
		if err != nil {
			return err
		}
		b.Syrk(true, sign, d.z.View(0, len(d.rows), 0, d.z.Cols), 1, to)
	}
	return nil
}

// gradient returns L'L + Y'lY - I, both triangles.
func (d *descent) gradient() (blas.Matrix, error) {
	d.eng.Backend().Syrk(true, 1, d.l, 0, d.outer)
	d.eng.Mirror(d.outer)
	g := d.outer.Clone()
	if err := d.add(d.slope, g); err != nil {
		return g, err
	}
	for i := range g.Rows {
		g.Set(i, i, g.At(i, i)-1)
	}
	d.eng.Mirror(g)
	return g, nil
}

// direction returns the step for the gradient g by conjugate gradients, which it ends early while
// the gradient is large.
func (d *descent) direction(g blas.Matrix) (blas.Matrix, error) {
	t, size := d.eng.Backend().Kernels(), inner(d.eng, g, g)
	step := d.eng.NewMatrix(g.Rows, g.Rows)
	rest, along := g.Clone(), d.eng.NewMatrix(g.Rows, g.Rows)
	t.Axpy(-1, g.Data, along.Data)
	now, goal := size, size*min(0.01, math.Sqrt(size)*0.01)
	for range maxInner {
		if !(now > goal) {
			break
		}
		image, err := d.curve(along)
		if err != nil {
			return step, err
		}
		length := now / inner(d.eng, along, image)
		t.Axpy(length, along.Data, step.Data)
		t.Axpy(length, image.Data, rest.Data)
		next := inner(d.eng, rest, rest)
		t.Scale(next/now, along.Data)
		t.Axpy(-1, rest.Data, along.Data)
		now = next
	}
	return step, nil
}

// curve returns the second derivative times x: x + Y'h(YxY')Y.
func (d *descent) curve(x blas.Matrix) (blas.Matrix, error) {
	out, q := x.Clone(), make([]float64, len(d.constraints))
	d.eng.Backend().Gemm(false, false, 1, d.y, x, 0, d.z)
	if err := d.squares(d.z, q); err != nil {
		return out, err
	}
	for k, h := range d.bend {
		q[k] *= h
	}
	if err := d.add(q, out); err != nil {
		return out, err
	}
	d.eng.Mirror(out)
	return out, nil
}

// inner returns the inner product of two symmetric matrices, both triangles.
func inner(eng *engine.Engine, a, b blas.Matrix) float64 {
	sum, t := 0.0, eng.Backend().Kernels()
	for i := range a.Rows {
		sum += t.Dot(a.Row(i), b.Row(i))
	}
	return sum
}

// move goes along the step as far as the objective falls by a share of what the slope promises, and
// reports whether it does.
func (d *descent) move(step blas.Matrix, slope float64) (bool, error) {
	n, b := step.Rows, d.eng.Backend()
	eigenvalues, work := make([]float64, n), step.Clone()
	if err := d.eng.SymEig(d.ctx, work, eigenvalues, false); err != nil {
		return false, err
	}
	linear, q := inner(d.eng, d.outer, step), make([]float64, len(d.constraints)) // of the trace, and of the distances
	b.Gemm(false, false, 1, d.y, step, 0, d.z)
	if err := d.squares(d.z, q); err != nil {
		return false, err
	}
	for length := 1.0; length > 1e-8; length /= 2 {
		if change := d.change(length, linear, eigenvalues, q); change <= length*slope/4 {
			half := blas.NewMatrix(n, n)
			b.Gemm(false, false, length, d.l, step, 0, half)
			t := b.Kernels()
			t.Axpy(1, d.l.Data, half.Data)
			b.Gemm(false, true, 1, half, d.l, 0, d.a) // L (I + length D) L'
			return true, nil
		}
	}
	return false, nil
}

// change returns the change of the objective after a part of a step.
func (d *descent) change(length, linear float64, eigenvalues, q []float64) float64 {
	out := length * linear
	for _, v := range eigenvalues {
		if !(1+length*v > shrink) {
			return math.Inf(1)
		}
		out -= math.Log1p(length * v)
	}
	for k, c := range d.constraints {
		if k%d.stride != 0 || d.skipped[k] {
			continue
		}
		for end, p := range []float64{d.p[k], d.p[k] + length*q[k]} {
			if x := p/c.Bound - 1; c.sign()*x > 0 {
				out += float64(2*end-1) * d.cost(k) * excess(x)
			}
		}
	}
	return out
}

// dual returns the matrix (I + W'lW)^-1 of the multipliers, and log det of its inverse; nothing if
// rounding makes it indefinite.
func (d *descent) dual() (a blas.Matrix, det float64, err error) {
	n, b := d.a.Rows, d.eng.Backend()
	if _, err := d.place(); err != nil {
		return a, 0, err
	}
	d.y.CopyFrom(d.w)
	s := d.eng.NewMatrix(n, n)
	for i := range n {
		s.Set(i, i, 1)
	}
	if err := d.add(d.slope, s); err != nil {
		return a, 0, err
	}
	if err := d.eng.Cholesky(d.ctx, s); err != nil {
		return blas.Matrix{}, 0, d.ctx.Err()
	}
	for i := range n {
		det += 2 * math.Log(s.At(i, i))
		clear(s.Row(i)[i+1:])
	}
	if err := b.TriangularInverse(s); err != nil {
		return blas.Matrix{}, 0, nil
	}
	a = d.eng.NewMatrix(n, n)
	b.Syrk(true, 1, s, 0, a)
	d.eng.Mirror(a)
	return a, det, d.ctx.Err()
}
