package logdet

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// ascent maximizes the dual objective by Newton's method. With the signed multipliers l of the
// constraints' matrices C (w w', or v v' - u u' for Nearer) and e = -l b / (gamma weight), that is
//
//	log det(I + sum l C) + sum gamma weight log(1 + e)   over   sign l >= 0
//
// Its gradient is p - b / (1 + e), the distance minus the bound with slack, and its second
// derivative -(tr A C_j A C_k) - diag(bound^2 / (gamma weight)): squares of the inner products of
// the vectors under A. Each step goes toward the maximum of the quadratic model over all sign l >=
// 0, so that many multipliers can become 0 in one step. Both terms are self-concordant: the steps
// raise the objective by a constant until they converge quadratically.
//
// A large gamma is reached from a small one, in a few steps for each of the gammas between: near
// the optimum of one of them I + sum l C is far from singular, which full steps from 0 are not.
type ascent struct {
	*state
	eng    *engine.Engine
	f      blas.Matrix // vectors of the constraints, with the inner products under the prior
	first  []int       // the row of the first vector of each constraint
	scale  float64     // gamma of this stage relative to the last
	s      blas.Matrix // L of I + sum l C = L L'
	y      blas.Matrix // the rows L^-1 f
	l, try []float64   // signed multipliers
	p      []float64   // distances
	free   []int       // the constraints of the quadratic model
	goal   []float64   // the multipliers of its maximum, without signs, of the free constraints
}

const (
	firstGamma = 1.0 // where the stages begin
	growth     = 8.0 // of gamma from one stage to the next
	// settled is the Newton decrement, squared, up to which a stage ends: the steps then converge
	// quadratically.
	settled  = 0.3
	maxSteps = 100
	// steepest is the 1 / (gamma weight) below which the Hessian loses the slacks in rounding.
	steepest = 1e-10
)

// newAscent begins at the current multipliers, or at 0.
func newAscent(ctx context.Context, eng *engine.Engine, s *state, current bool) (*ascent, error) {
	first, pairs := vectors(s.constraints)
	if err := eng.Check(fmt.Sprintf("Newton's method for %d constraints", len(s.constraints)),
		size(len(pairs), s.order()), "use fewer constraints"); err != nil {
		return nil, err
	}
	f, err := s.factor(ctx, eng)
	if err != nil {
		return nil, err
	}
	n := len(s.constraints)
	a := &ascent{
		state: s, eng: eng, f: f, first: first, scale: 1, s: eng.NewMatrix(f.Cols, f.Cols),
		y: eng.NewMatrix(f.Rows, f.Cols),
		l: make([]float64, n), try: make([]float64, n), p: make([]float64, n),
	}
	if !current {
		a.scale = min(1, firstGamma/s.o.Gamma)
		return a, nil
	}
	for k, c := range s.constraints {
		a.l[k] = c.sign() * s.Multipliers[k]
	}
	return a, nil
}

// slack returns 1 / (gamma weight) of a constraint, in this stage.
func (a *ascent) slack(k int) float64 { return a.inverse[k] / a.scale }

// ratio returns the bound with slack relative to the bound, 1 / (1 + e).
func (a *ascent) ratio(k int, l float64) float64 {
	return 1 / (1 - l*a.constraints[k].Bound*a.slack(k))
}

// run steps until the changes that projections would make and the gap are within the tolerance,
// and reports whether they are. It ends without, where rounding decides the steps.
func (a *ascent) run(ctx context.Context) (converged bool, err error) {
	now, change := a.value(a.l), math.Inf(1)
	for range min(maxSteps, a.o.MaxSweeps-a.Sweeps) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		a.Sweeps++
		a.images()
		before := change
		gap, last := 0.0, a.scale == 1
		if gap, change = a.gap(); last && change < a.o.Tolerance &&
			gap <= max(a.o.Tolerance/2*(now+gap), a.o.Tolerance*a.o.Tolerance/4) {
			a.Change = change
			return true, nil
		}
		if a.o.Progress != nil {
			a.o.Progress(a.Sweeps, change)
		}
		rise, ok := a.model()
		switch {
		case !ok || !(rise >= 0) || last && rise < rounding(now) && change > before/2:
			return false, nil
		case !last && rise < settled:
			a.scale = min(1, growth*a.scale)
			now = a.value(a.l)
			continue
		}
		if now, ok = a.step(now, rise); !ok {
			return false, nil
		}
	}
	return false, nil
}

// rounding returns the size of rounding errors in a dual objective.
func rounding(value float64) float64 { return 1e-13 * (1 + math.Abs(value)) }

// value returns the dual objective at l, -Inf outside of its domain, and leaves the factor in s.
func (a *ascent) value(l []float64) float64 {
	out := 0.0
	for k, c := range a.constraints {
		e := -l[k] * c.Bound * a.slack(k)
		if e <= -1 {
			return math.Inf(-1)
		}
		out += math.Log1p(e) / a.slack(k)
	}
	b, beta := a.eng.Backend(), 0.0
	for _, sign := range []float64{1, -1} {
		b.Syrk(true, sign, a.weighted(l, sign), beta, a.s)
		beta = 1
	}
	a.s.Shift(1)
	if err := b.Cholesky(a.s); err != nil {
		return math.Inf(-1)
	}
	for i := range a.s.Rows {
		out += 2 * math.Log(a.s.At(i, i))
	}
	return out
}

// weighted returns the vectors whose squares have weights of this sign, times the roots of these.
func (a *ascent) weighted(l []float64, sign float64) blas.Matrix {
	var rows []int
	var roots []float64
	for k, c := range a.constraints { // on one core, as in gap: a step has the order squared for each
		for v := range c.vectors() {
			if w := sign * c.part(v) * l[k]; w > 0 {
				rows, roots = append(rows, a.first[k]+v), append(roots, math.Sqrt(w))
			}
		}
	}
	each(a.eng, len(rows), func(i int) {
		to := a.y.Row(i)
		copy(to, a.f.Row(rows[i]))
		a.t.Scale(roots[i], to)
	})
	return a.y.View(0, len(rows), 0, a.y.Cols)
}

// each calls f for each i below n on all workers. A cancel waits for its end, which is near.
func each(eng *engine.Engine, n int, f func(i int)) {
	_ = eng.Each(context.Background(), n, 32, f) // without a cancel it cannot fail
}

// images computes y and the distances for the factor in s.
func (a *ascent) images() {
	a.eng.Copy(a.y, a.f)
	a.eng.Backend().Trsm(false, true, a.s, a.y)
	each(a.eng, len(a.constraints), func(k int) {
		a.p[k] = 0
		for v := range a.constraints[k].vectors() {
			y := a.y.Row(a.first[k] + v)
			a.p[k] += a.constraints[k].part(v) * a.t.Dot(y, y)
		}
	})
}

// gap returns the duality gap, as measure does, and the largest change of a distance that a
// projection would make.
func (a *ascent) gap() (gap, change float64) {
	for k, c := range a.constraints {
		if a.skipped[k] {
			continue
		}
		e := 1/a.ratio(k, a.l[k]) - 1
		if x := a.p[k]/c.Bound - 1; c.sign()*x > 0 {
			gap += excess(x+e+x*e) / a.slack(k)
		} else {
			gap += excess(e)/a.slack(k) + math.Abs(a.l[k]*(c.Bound-a.p[k]))
		}
		bound := c.Bound * a.ratio(k, a.l[k])
		step := min(c.sign()*a.l[k], c.sign()*(1/a.p[k]-1/bound)/(1+a.slack(k)))
		change = max(change, math.Abs(step*a.p[k]))
	}
	return gap, change
}

// gradient returns the derivative of the dual objective with respect to a signed multiplier.
func (a *ascent) gradient(k int) float64 {
	return a.p[k] - a.constraints[k].Bound*a.ratio(k, a.l[k])
}

// model maximizes the quadratic model over the multipliers that are positive or will be. It
// returns the derivative of the objective in that direction, and false if rounding prevails.
func (a *ascent) model() (rise float64, ok bool) {
	a.free = a.free[:0]
	for k, c := range a.constraints {
		if !a.skipped[k] && (a.l[k] != 0 || c.sign()*a.gradient(k) > 0) {
			a.free = append(a.free, k)
		}
	}
	h := a.hessian()
	defer a.eng.PutMatrix(h)
	// In units in which the slacks add the identity to the Hessian.
	count := len(a.free)
	unit, q, at := make([]float64, count), make([]float64, count), make([]float64, count)
	for i, k := range a.free {
		sign := a.constraints[k].sign()
		unit[i] = sign / (a.constraints[k].Bound * a.ratio(k, a.l[k]) * math.Sqrt(a.slack(k)))
		q[i], at[i] = unit[i]*a.gradient(k), a.l[k]/unit[i]
	}
	each(a.eng, count, func(i int) {
		row := h.Row(i)
		for j := range i + 1 {
			row[j] *= unit[i] * unit[j]
		}
		row[i]++
	})
	a.eng.Backend().Symv(1, h, at, 1, q)
	if a.goal, ok = nonnegative(a.eng, h, q, at); !ok {
		return 0, false
	}
	for i, k := range a.free {
		a.goal[i] *= unit[i]
		rise += (a.goal[i] - a.l[k]) * a.gradient(k)
	}
	return rise, true
}

// hessian returns tr A C_j A C_k for the free constraints, lower triangle, in scratch memory.
func (a *ascent) hessian() blas.Matrix {
	first, count := make([]int, len(a.free)), 0
	for i, k := range a.free {
		first[i] = count
		count += a.constraints[k].vectors()
	}
	y, g := a.eng.GetMatrix(count, a.y.Cols), a.eng.GetMatrix(count, count)
	defer a.eng.PutMatrix(y)
	each(a.eng, len(a.free), func(i int) {
		k := a.free[i]
		for v := range a.constraints[k].vectors() {
			copy(y.Row(first[i]+v), a.y.Row(a.first[k]+v))
		}
	})
	a.eng.Backend().Syrk(false, 1, y, 0, g)
	if count == len(a.free) { // a vector for each
		each(a.eng, count, func(i int) {
			row := g.Row(i)[:i+1]
			for j, x := range row {
				row[j] = x * x
			}
		})
		return g
	}
	defer a.eng.PutMatrix(g)
	h := a.eng.GetMatrix(len(a.free), len(a.free))
	each(a.eng, len(a.free), func(i int) {
		c, to := a.constraints[a.free[i]], h.Row(i)
		for j, k := range a.free[:i+1] {
			other, sum := a.constraints[k], 0.0
			for v := range c.vectors() {
				for w := range other.vectors() {
					x := g.At(max(first[i]+v, first[j]+w), min(first[i]+v, first[j]+w))
					sum += c.part(v) * other.part(w) * x * x
				}
			}
			to[j] = sum
		}
	})
	return h
}

// step moves toward the goal, as far as the objective rises by a share of what the slope promises.
func (a *ascent) step(now, rise float64) (value float64, moved bool) {
	for share := 1.0; share > 1e-8; share /= 2 {
		copy(a.try, a.l)
		for i, k := range a.free {
			if a.try[k] = a.goal[i]; share < 1 {
				a.try[k] = a.l[k] + share*(a.goal[i]-a.l[k])
			}
		}
		if v := a.value(a.try); v >= now+share*rise/4-rounding(now) {
			a.l, a.try = a.try, a.l
			return v, true
		}
	}
	return now, false
}

// nonnegative minimizes x'Hx/2 - q'x over x >= 0, where H is definite, lower triangle, by block
// principal pivoting (Portugal, Judice & Vicente 1994; Kim & Park 2011): it solves for a set of
// variables, the others 0, and exchanges all those that are negative or whose gradient is. If their
// number does not fall for a few rounds, it exchanges only the last, which ends in finite time. The
// first set are those with start > 0. It returns false after many rounds, which only rounding
// causes.
func nonnegative(eng *engine.Engine, h blas.Matrix, q, start []float64) (x []float64, ok bool) {
	b, n := eng.Backend(), len(q)
	x, rest, in := make([]float64, n), make([]float64, n), make([]bool, n)
	for i, v := range start {
		in[i] = v > 0
	}
	fewest, patience, wrong := n+1, pivotPatience, make([]int, 0, n)
	for range 20 + n {
		if !restricted(eng, h, q, in, x) {
			return nil, false
		}
		copy(rest, q)
		b.Symv(-1, h, x, 1, rest)
		wrong = wrong[:0]
		for i, is := range in {
			if is && x[i] < 0 || !is && rest[i] > 0 {
				wrong = append(wrong, i)
			}
		}
		switch {
		case len(wrong) == 0:
			return x, true
		case len(wrong) < fewest:
			fewest, patience = len(wrong), pivotPatience
		case patience > 0:
			patience--
		default:
			wrong = wrong[len(wrong)-1:]
		}
		for _, i := range wrong {
			in[i] = !in[i]
		}
	}
	return nil, false
}

// pivotPatience is the number of rounds of full exchanges without fewer wrong variables.
const pivotPatience = 3

// restricted solves H x = q for the variables in the set, the others 0, and reports whether that
// part of H is definite to rounding.
func restricted(eng *engine.Engine, h blas.Matrix, q []float64, in []bool, x []float64) bool {
	var set []int
	for i, is := range in {
		if is {
			set = append(set, i)
		}
	}
	clear(x)
	if len(set) == 0 {
		return true
	}
	part, y := eng.GetMatrix(len(set), len(set)), blas.NewMatrix(len(set), 1)
	defer eng.PutMatrix(part)
	each(eng, len(set), func(r int) {
		from, to := h.Row(set[r]), part.Row(r)
		for c, j := range set[:r+1] {
			to[c] = from[j]
		}
		y.Data[r] = q[set[r]]
	})
	b := eng.Backend()
	if err := b.Cholesky(part); err != nil {
		return false
	}
	b.Trsm(true, false, part, y)
	b.Trsm(true, true, part, y)
	for r, i := range set {
		x[i] = y.Data[r]
	}
	return true
}
