package optimize

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// HingeOptions are the stopping rule of [MinimizeHinge]; both values must be > 0.
type HingeOptions struct {
	Tolerance float64 // of the gap
	MaxIter   int
	// Progress is called with the best objective so far and the gap, at the start and after every
	// iteration.
	Progress func(iteration int, objective, gap float64)
}

// HingeResult is a solution of [MinimizeHinge].
type HingeResult struct {
	W         []float64 // >= 0; many are 0
	Dual      []float64 // u: the proof of the gap
	Trace     []float64 // best f so far, at w = 0 and after every iteration
	Gap       float64   // f minus this is a lower bound of the minimum
	Converged bool      // the gap is within the tolerance
}

// MinimizeHinge computes sparse weights whose sums exceed margins: hinge
// loss with an l1 penalty, solved as a linear program.
//
// MinimizeHinge minimizes, over weights w >= 0,
//
//	f(w) = sum_t c_t max(0, 1 + d_t w) + beta sum_i w_i
//
// for the rows d_t of d, T x k, costs c_t > 0 and beta > 0. The dual maximizes sum u over 0 <= u <=
// c with D'u + beta >= 0, and the sum of any such u is a lower bound of f. w and u are optimal if,
// in addition,
//
//	w_i (beta + (D'u)_i) = 0,  u_t = c_t where 1 + d_t w > 0,  u_t = 0 where 1 + d_t w < 0.
//
// The method is Mehrotra's predictor-corrector for linear programs (SIAM Journal on Optimization 2,
// 1992). In each iterate, weights that are small compared with the slack of their dual constraint
// are set to 0, u is scaled to satisfy the constraints, and the gap is computed from these two: it
// is exact, regardless of rounding. Usually 50 iterations are enough, of T k^2 + k^3/3 flops each.
//
// Errors: ctx.Err().
func MinimizeHinge(ctx context.Context, eng *engine.Engine, d blas.Matrix, c []float64, beta float64,
	o HingeOptions) (*HingeResult, error) {
	p := newProgram(eng, d, c, beta)
	out := &HingeResult{W: make([]float64, d.Cols), Dual: make([]float64, d.Rows)}
	best, bound := p.objective(out.W), 0.0
	for iteration := 0; ; iteration++ {
		out.Trace, out.Gap = append(out.Trace, best), best-bound
		if o.Progress != nil {
			o.Progress(iteration, best, out.Gap)
		}
		if out.Converged = out.Gap <= o.Tolerance; out.Converged || iteration == o.MaxIter {
			return out, ctx.Err()
		}
		moved, err := p.step(ctx)
		if err != nil || !moved {
			return out, err
		}
		if w := p.sparse(); p.objective(w) < best {
			out.W, best = w, p.objective(w)
		}
		if u := p.feasible(); blas.Sum(u) > bound {
			out.Dual, bound = u, blas.Sum(u)
		}
	}
}

// program is the state of the linear program. The products of the positive pairs x and y must
// vanish. The pairs are k weights w with the slacks s of their dual constraints, T losses v with c
// - u, and T slacks v - 1 - d w with u.
type program struct {
	eng    *engine.Engine
	d      blas.Matrix
	c      []float64
	beta   float64
	x, y   []float64
	scaled blas.Matrix // T x k
}

func newProgram(eng *engine.Engine, d blas.Matrix, c []float64, beta float64) *program {
	n, k := d.Rows, d.Cols
	p := &program{eng: eng, d: d, c: c, beta: beta, x: make([]float64, k+2*n), y: make([]float64, k+2*n),
		scaled: blas.NewMatrix(n, k)}
	size := 0.0
	for _, v := range d.Data {
		size += math.Abs(v) / float64(n)
	}
	if size == 0 {
		size = 1
	}
	for i := range k {
		p.x[i] = 1 / size
	}
	margin := p.times(p.x[:k])
	for t, cost := range c {
		p.x[k+t] = max(0, 1+margin[t]) + 1
		p.x[k+n+t] = p.x[k+t] - 1 - margin[t]
		p.y[k+t], p.y[k+n+t] = cost/2, cost/2
	}
	slack := p.slack(p.y[k+n:])
	for i := range k {
		p.y[i] = max(slack[i], beta, blas.Sum(c)*size/float64(k))
	}
	return p
}

// times returns D w.
func (p *program) times(w []float64) []float64 {
	out := make([]float64, p.d.Rows)
	p.eng.Backend().Gemv(false, 1, p.d, w, 0, out)
	return out
}

// slack returns beta + D'u.
func (p *program) slack(u []float64) []float64 {
	out := make([]float64, p.d.Cols)
	for i := range out {
		out[i] = p.beta
	}
	p.eng.Backend().Gemv(true, 1, p.d, u, 1, out)
	return out
}

// objective returns f.
func (p *program) objective(w []float64) float64 {
	f := p.beta * blas.Sum(w)
	for t, v := range p.times(w) {
		f += p.c[t] * max(0, 1+v)
	}
	return f
}

// sparse returns the weights without those that vanish: those that are smaller, relative to all
// weights, than their slack relative to beta.
func (p *program) sparse() []float64 {
	w, total := make([]float64, p.d.Cols), blas.Sum(p.x[:p.d.Cols])
	for i := range w {
		if p.x[i]*p.beta > p.y[i]*total {
			w[i] = p.x[i]
		}
	}
	return w
}

// feasible returns u, scaled to satisfy the constraints.
func (p *program) feasible() []float64 {
	n, k := p.d.Rows, p.d.Cols
	u := make([]float64, n)
	for t, cost := range p.c {
		u[t] = min(p.y[k+n+t], cost)
	}
	shrink := 1.0
	for _, s := range p.slack(u) {
		if s < 0 {
			shrink = min(shrink, p.beta/(p.beta-s)) // s - beta is (D'u)_i
		}
	}
	p.eng.Backend().Kernels().Scale(shrink, u)
	return u
}

// step takes a predictor-corrector step of Newton's method; it returns false if there is none.
func (p *program) step(ctx context.Context) (bool, error) {
	factor, theta, err := p.normal(ctx)
	if err != nil {
		return false, err
	}
	if factor.Rows == 0 {
		return false, nil
	}
	aim, mean := make([]float64, len(p.x)), 0.0
	for i, v := range p.x {
		aim[i] = -v * p.y[i]
		mean -= aim[i] / float64(len(p.x))
	}
	dx, dy := p.direction(factor, theta, aim)
	a, b := longest(p.x, dx, 1), longest(p.y, dy, 1)
	ahead := 0.0
	for i, v := range p.x {
		ahead += (v + a*dx[i]) * (p.y[i] + b*dy[i]) / float64(len(p.x))
	}
	center := mean * math.Pow(ahead/mean, 3)
	for i := range aim {
		aim[i] += center - dx[i]*dy[i]
	}
	dx, dy = p.direction(factor, theta, aim)
	const short = 0.995
	a, b = longest(p.x, dx, short), longest(p.y, dy, short)
	p.eng.Backend().Kernels().Axpy(a, dx, p.x)
	p.eng.Backend().Kernels().Axpy(b, dy, p.y)
	return a > 0 && b > 0 && a-a == 0 && b-b == 0, ctx.Err()
}

// normal returns the Cholesky factor of D' diag(theta) D + diag(s/w), and theta = 1 / (slack/u +
// v/(c-u)). The factor is empty if only rounding is left.
func (p *program) normal(ctx context.Context) (factor blas.Matrix, theta []float64, err error) {
	n, k := p.d.Rows, p.d.Cols
	theta = make([]float64, n)
	const block = 64
	err = p.eng.Each(ctx, n, block, func(t int) {
		theta[t] = 1 / (p.x[k+n+t]/p.y[k+n+t] + p.x[k+t]/p.y[k+t])
		root, to := math.Sqrt(theta[t]), p.scaled.Row(t)
		for i, v := range p.d.Row(t) {
			to[i] = root * v
		}
	})
	if err != nil {
		return factor, nil, err
	}
	h := blas.NewMatrix(k, k)
	p.eng.Backend().Syrk(true, 1, p.scaled, 0, h)
	most := 0.0
	for i := range k {
		h.Set(i, i, h.At(i, i)+p.y[i]/p.x[i])
		most = max(most, h.At(i, i))
	}
	h.Shift(1e-14 * most) // for weights that are not unique
	if err := p.eng.Cholesky(ctx, h); err != nil {
		return blas.Matrix{}, nil, ctx.Err()
	}
	return h, theta, nil
}

// direction returns the steps of x and y for which x dy + y dx = aim and the constraints hold.
func (p *program) direction(factor blas.Matrix, theta, aim []float64) (dx, dy []float64) {
	n, k := p.d.Rows, p.d.Cols
	dx, dy = make([]float64, len(p.x)), make([]float64, len(p.x))
	du, right := make([]float64, n), make([]float64, n)
	for t := range n {
		right[t] = theta[t] * (aim[k+n+t]/p.y[k+n+t] - aim[k+t]/p.y[k+t])
		du[t] = p.y[k+n+t] + right[t]
	}
	// residual of the dual constraints after this step of u
	missing, dw := p.slack(du), blas.MatrixOf(k, 1, dx[:k])
	for i := range k {
		missing[i] -= p.y[i]
		dx[i] = aim[i]/p.x[i] - missing[i]
	}
	p.eng.Backend().Trsm(true, false, factor, dw)
	p.eng.Backend().Trsm(true, true, factor, dw)
	for t, margin := range p.times(dx[:k]) {
		step := right[t] + theta[t]*margin
		dy[k+n+t], dy[k+t], du[t] = step, -step, p.y[k+n+t]+step
		dx[k+t] = (aim[k+t] + p.x[k+t]*step) / p.y[k+t]
		dx[k+n+t] = dx[k+t] - margin
	}
	for i, s := range p.slack(du) {
		dy[i] = s - p.y[i]
	}
	return dx, dy
}

// longest returns the largest step along dx, at most 1, that keeps x positive, reduced by the
// factor short.
func longest(x, dx []float64, short float64) float64 {
	step := 1 / short
	for i, v := range dx {
		if v < 0 {
			step = min(step, -x[i]/v)
		}
	}
	return short * step
}
