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
// h = gamma weight / p^2. Both are 0 for constraints that are satisfied. Conjugate gradients find
// the step; a product with the second derivative takes 2 m r^2 flops for m constraints in r
// dimensions that are not.
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
	y      blas.Matrix // W L
	p      []float64   // distances
	slope  []float64   // signed multipliers
	bend   []float64   // h

	active  []int       // the constraints whose slope is not 0
	z       blas.Matrix // their rows of Y
	weights []float64   // of the squares of these rows, for add
}

const (
	taskFlops  = 1e5  // of a product of a task's vectors with a matrix, at least
	rowsEach   = 512  // vectors of a task, if there are many: packing the matrix takes 4 % of its product
	rowsLeast  = 128  // vectors of a task, or as many as dimensions, for more tasks of few vectors
	manyTasks  = 32   // tasks that they should have
	partValues = 4e6  // of the matrices of all tasks, at most
	panel      = 192  // columns of a triangular matrix that are multiplied at a time, at most
	shrink     = 0.3  // least factor of a direction of A in a step
	roughly    = 1e-3 // decrement, relative to the objective, at which a stage ends
	maxDescent = 60   // Newton steps
	maxInner   = 200
	coarse     = 10 // a first stage takes every tenth constraint, if enough remain
	enough     = 4  // constraints for each dimension, at least, in the first stage

	// of violation, up to which a distance is at its bound, so that rounding does not decide on h
	atBound = 1e-12
	// decrement, relative to the objective, of the last of several stages: each of them raises what
	// rounding has changed
	finely = 1e-8
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
	need := 2*engine.MatrixBytes(f.w.Rows, n) + 10*engine.MatrixBytes(n, n) + scratch(eng, count, n)
	if err := eng.Check(fmt.Sprintf("Newton's method for %d constraints in %d dimensions", count, n), need,
		"use fewer constraints or dimensions"); err != nil {
		return false, err
	}
	d := &descent{
		state: f.state, ctx: ctx, eng: eng, w: f.w, scale: 1, stride: 1, a: f.matrix(),
		l: eng.NewMatrix(n, n), outer: eng.NewMatrix(n, n), y: eng.NewMatrix(f.w.Rows, n),
		z: eng.NewMatrix(f.w.Rows, n),
		p: make([]float64, count), slope: make([]float64, count), bend: make([]float64, count),
		weights: make([]float64, count),
	}
	err = d.each(count, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			w := f.w.Row(k)
			f.skipped[k] = f.t.Dot(w, w) <= f.nothing
		}
	})
	if err != nil {
		return false, err
	}
	goal := f.o.Tolerance / 4
	if f.o.Start == nil {
		if d.scale = min(1, firstGamma/f.o.Gamma); d.scale < 1 {
			goal = min(goal, finely)
		}
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
	for least := goal / 256; goal >= least; goal /= 16 {
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
	d.eng.Copy(d.l, d.a)
	if err := d.eng.Cholesky(d.ctx, d.l); err != nil {
		return 0, err
	}
	value = -float64(n)
	for i := range n {
		clear(d.l.Row(i)[i+1:])
		value += d.a.At(i, i) - 2*math.Log(d.l.At(i, i))
	}
	costs, err := d.sum(func(lo, hi int) (costs float64) {
		timesLower(b, d.w.View(lo, hi, 0, n), d.l, d.y.View(lo, hi, 0, n))
		for k := lo; k < hi; k++ {
			costs += d.bound(k, b.Kernels().Dot(d.y.Row(k), d.y.Row(k)))
		}
		return costs
	})
	if err != nil {
		return 0, err
	}
	return value + costs, d.activate(d.y)
}

// activate lists the constraints whose slope is not 0, and copies their rows to z.
func (d *descent) activate(rows blas.Matrix) error {
	d.active = d.active[:0]
	for k, slope := range d.slope { // on one core: a comparison each, where a product has n^2 operations
		if slope != 0 {
			d.active = append(d.active, k)
		}
	}
	return d.each(len(d.active), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			copy(d.z.Row(r), rows.Row(d.active[r]))
		}
	})
}

// bound takes the distance p of constraint k: it computes the multiplier and h, and returns the
// cost.
func (d *descent) bound(k int, p float64) float64 {
	d.p[k], d.slope[k], d.bend[k] = p, 0, 0
	c := d.constraints[k]
	x := p / c.Bound
	if k%d.stride != 0 || d.skipped[k] || !(c.sign()*(x-1) > atBound) {
		return 0
	}
	cost := d.cost(k)
	d.slope[k] = cost * (1 - 1/x) / c.Bound
	d.bend[k] = cost / (p * p)
	return cost * excess(x-1)
}

// each calls f for blocks of n vectors, on all workers.
func (d *descent) each(n int, f func(lo, hi int)) error {
	return d.eng.For(d.ctx, n, taskRows(n, d.a.Rows), func(lo, hi int) error {
		f(lo, hi)
		return nil
	})
}

// taskRows returns the number of vectors of a task, of count vectors in n dimensions. Small
// matrices have long blocks, because a task should take longer than the time to wake a worker.
func taskRows(count, n int) int {
	return max(rowsLeast, min(rowsEach, max(n, count/manyTasks)), int(taskFlops)/max(1, 2*n*n))
}

// sum adds what f returns for the blocks of all constraints, in their order.
func (d *descent) sum(f func(lo, hi int) float64) (total float64, err error) {
	n, block := len(d.constraints), taskRows(len(d.constraints), d.a.Rows)
	parts := make([]float64, (n+block-1)/block)
	err = d.each(n, func(lo, hi int) { parts[lo/block] = f(lo, hi) })
	return blas.Sum(parts), err
}

// timesLower writes Y L to out, for a triangular L with zeros above the diagonal, in panels of
// columns. Trmm of a copy is as fast in hundreds of dimensions, but makes fits in 20 dimensions a
// fifth slower.
func timesLower(b blas.Backend, y, l, out blas.Matrix) {
	n := l.Rows
	panels := max(1, (n+panel-1)/panel)
	width := (n + panels - 1) / panels
	for lo := 0; lo < n; lo += width {
		hi := min(lo+width, n)
		b.Gemm(false, false, 1, y.View(0, y.Rows, lo, n), l.View(lo, n, lo, hi), 0,
			out.View(0, y.Rows, lo, hi))
	}
}

// half returns the triangular matrix T with y'x y = 2 y'T y.
func half(eng *engine.Engine, x blas.Matrix) blas.Matrix {
	t := eng.Clone(x)
	eachRow(eng, t, func(i int) {
		clear(t.Row(i)[i+1:])
		t.Row(i)[i] /= 2
	})
	return t
}

// squares writes y'x y to p for the rows y, where t is half of x.
func (d *descent) squares(t, y blas.Matrix, p []float64) {
	image := d.eng.GetMatrix(y.Rows, y.Cols)
	defer d.eng.PutMatrix(image)
	timesLower(d.eng.Backend(), y, t, image)
	for r := range p {
		p[r] = 2 * d.t.Dot(y.Row(r), image.Row(r))
	}
}

// add adds Z' diag(weights) Z to the lower triangle of to, after weigh has computed the weights of
// each block of rows.
func (d *descent) add(to blas.Matrix, weigh func(lo, hi int)) error {
	n, count, block := d.a.Rows, len(d.active), taskRows(len(d.active), d.a.Rows)
	parts := (count + block - 1) / block
	if n*n*parts > partValues { // the product uses all workers
		for lo := 0; lo < count; lo += block {
			hi := min(lo+block, count)
			weigh(lo, hi)
			d.addRows(lo, hi, 1, to)
		}
		return d.ctx.Err()
	}
	all := d.eng.GetMatrix(parts*n, n)
	defer d.eng.PutMatrix(all)
	err := d.each(count, func(lo, hi int) {
		weigh(lo, hi)
		d.addRows(lo, hi, 0, all.View(lo/block*n, (lo/block+1)*n, 0, n))
	})
	if err != nil {
		return err
	}
	eachRow(d.eng, to, func(i int) {
		for p := range parts {
			d.t.Axpy(1, all.Row(p*n + i)[:i+1], to.Row(i)[:i+1])
		}
	})
	return nil
}

// addRows writes beta times what is there plus the weighted squares of the rows [lo, hi) of z.
func (d *descent) addRows(lo, hi int, beta float64, to blas.Matrix) {
	var rows []int // with positive weights, then with negative ones
	positive := 0
	for _, sign := range []float64{1, -1} {
		positive = len(rows)
		for r := lo; r < hi; r++ {
			if sign*d.weights[r] > 0 {
				rows = append(rows, r)
			}
		}
	}
	scaled := d.eng.GetMatrix(len(rows), d.a.Rows)
	defer d.eng.PutMatrix(scaled)
	eachRow(d.eng, scaled, func(i int) {
		copy(scaled.Row(i), d.z.Row(rows[i]))
		d.t.Scale(math.Sqrt(math.Abs(d.weights[rows[i]])), scaled.Row(i))
	})
	d.eng.Backend().Syrk(true, 1, scaled.View(0, positive, 0, scaled.Cols), beta, to)
	d.eng.Backend().Syrk(true, -1, scaled.View(positive, len(rows), 0, scaled.Cols), 1, to)
}

// scratch returns the bytes of squares and add.
func scratch(eng *engine.Engine, count, n int) int64 {
	block := taskRows(count, n)
	parts := (count + block - 1) / block
	if n*n*parts > partValues {
		parts = 1
	}
	return engine.MatrixBytes(parts*n, n) + engine.MatrixBytes(eng.Workers()*min(count, block), n)
}

// gradient returns L'L + Y'lY - I, both triangles.
func (d *descent) gradient() (blas.Matrix, error) {
	d.eng.Backend().Syrk(true, 1, d.l, 0, d.outer)
	d.eng.Mirror(d.outer)
	g := d.eng.Clone(d.outer)
	if err := d.add(g, d.slopes); err != nil {
		return g, err
	}
	g.Shift(-1)
	d.eng.Mirror(g)
	return g, nil
}

// slopes are the weights of the gradient.
func (d *descent) slopes(lo, hi int) {
	for r := lo; r < hi; r++ {
		d.weights[r] = d.slope[d.active[r]]
	}
}

// direction returns the step for the gradient g by conjugate gradients, which it ends early while
// the gradient is large.
func (d *descent) direction(g blas.Matrix) (blas.Matrix, error) {
	t, size := d.eng.Backend().Kernels(), inner(d.eng, g, g)
	step := d.eng.NewMatrix(g.Rows, g.Rows)
	rest, along := d.eng.Clone(g), d.eng.NewMatrix(g.Rows, g.Rows)
	d.axpy(-1, g, along)
	now, goal := size, size*min(0.01, max(0.001, math.Sqrt(size)*0.01))
	for range maxInner {
		if !(now > goal) {
			break
		}
		image, err := d.curve(along)
		if err != nil {
			return step, err
		}
		length := now / inner(d.eng, along, image)
		d.axpy(length, along, step)
		d.axpy(length, image, rest)
		next := inner(d.eng, rest, rest)
		eachRow(d.eng, along, func(i int) { t.Scale(next/now, along.Row(i)) })
		d.axpy(-1, rest, along)
		now = next
	}
	return step, nil
}

// curve returns the second derivative times x: x + Y'h(YxY')Y.
func (d *descent) curve(x blas.Matrix) (blas.Matrix, error) {
	out, t := d.eng.Clone(x), half(d.eng, x)
	err := d.add(out, func(lo, hi int) {
		d.squares(t, d.z.View(lo, hi, 0, x.Rows), d.weights[lo:hi])
		for r := lo; r < hi; r++ {
			d.weights[r] *= d.bend[d.active[r]]
		}
	})
	d.eng.Mirror(out)
	return out, err
}

// inner returns the inner product of two symmetric matrices, both triangles.
func inner(eng *engine.Engine, a, b blas.Matrix) float64 {
	sums, t := make([]float64, a.Rows), eng.Backend().Kernels()
	eachRow(eng, a, func(i int) { sums[i] = t.Dot(a.Row(i), b.Row(i)) })
	return blas.Sum(sums)
}

// eachRow calls f for the rows of a matrix, on all workers if it is large.
func eachRow(eng *engine.Engine, a blas.Matrix, f func(i int)) {
	const values = 1 << 15                                                       // of a task
	_ = eng.Each(context.Background(), a.Rows, max(1, values/max(1, a.Cols)), f) // see each
}

// axpy adds alpha x to y.
func (d *descent) axpy(alpha float64, x, y blas.Matrix) {
	t := d.eng.Backend().Kernels()
	eachRow(d.eng, x, func(i int) { t.Axpy(alpha, x.Row(i), y.Row(i)) })
}

// move goes along the step as far as the objective falls by a share of what the slope promises, and
// reports whether it does.
func (d *descent) move(step blas.Matrix, slope float64) (bool, error) {
	n, b := step.Rows, d.eng.Backend()
	eigenvalues, work := make([]float64, n), step.Clone()
	if err := d.eng.SymEig(d.ctx, work, eigenvalues, false); err != nil {
		return false, err
	}
	// of the trace, and of the distances
	linear, q := inner(d.eng, d.outer, step), make([]float64, len(d.constraints))
	t := half(d.eng, step)
	err := d.each(len(q), func(lo, hi int) { d.squares(t, d.y.View(lo, hi, 0, n), q[lo:hi]) })
	if err != nil {
		return false, err
	}
	for length := 1.0; length > 1e-8; length /= 2 {
		change, err := d.change(length, linear, eigenvalues, q)
		if err != nil {
			return false, err
		}
		if change <= length*slope/4 {
			moved := d.eng.UnclearedMatrix(n, n)
			b.Gemm(false, false, length, d.l, step, 0, moved)
			d.axpy(1, d.l, moved)
			b.Gemm(false, true, 1, moved, d.l, 0, d.a) // L (I + length D) L'
			return true, nil
		}
	}
	return false, nil
}

// change returns the change of the objective after a part of a step.
func (d *descent) change(length, linear float64, eigenvalues, q []float64) (float64, error) {
	out := length * linear
	for _, v := range eigenvalues {
		if !(1+length*v > shrink) {
			return math.Inf(1), nil
		}
		out -= math.Log1p(length * v)
	}
	costs, err := d.sum(func(lo, hi int) (costs float64) {
		for k := lo; k < hi; k++ {
			c := d.constraints[k]
			if k%d.stride != 0 || d.skipped[k] {
				continue
			}
			for end, p := range []float64{d.p[k], d.p[k] + length*q[k]} {
				if x := p/c.Bound - 1; c.sign()*x > 0 {
					costs += float64(2*end-1) * d.cost(k) * excess(x)
				}
			}
		}
		return costs
	})
	return out + costs, err
}

// dual returns the matrix (I + W'lW)^-1 of the multipliers, and log det of its inverse; nothing if
// rounding makes it indefinite.
func (d *descent) dual() (a blas.Matrix, det float64, err error) {
	n, b := d.a.Rows, d.eng.Backend()
	if _, err := d.place(); err != nil {
		return a, 0, err
	}
	if err := d.activate(d.w); err != nil {
		return a, 0, err
	}
	s := d.eng.NewMatrix(n, n)
	s.Shift(1)
	if err := d.add(s, d.slopes); err != nil {
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
