// Package logdet (internal: may change) computes the positive definite matrix nearest to a given
// one, in the LogDet divergence, among those that satisfy constraints on distances.
package logdet

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Kind is the kind of a constraint.
type Kind int

// These are the kinds of constraints; d is the squared distance of two points under the matrix.
const (
	AtMost  Kind = iota // d(I, J) <= Bound
	AtLeast             // d(I, J) >= Bound
	Nearer              // d(I, K) >= d(I, J) + Bound
)

// Constraint bounds squared distances of points.
type Constraint struct {
	Kind    Kind
	I, J, K int     // K is used by Nearer only
	Bound   float64 // > 0
	// Weight multiplies Gamma and is >= 0: a bound of weight 2 is equivalent to two equal bounds. 0
	// means 1.
	Weight float64
}

// Options are the settings of a solution. Gamma must be set; the zero values of the others are
// usable.
type Options struct {
	// Gamma is the weight of the slacks, > 0, by which bounds can be violated; +Inf allows no
	// violation.
	Gamma float64
	// Tolerance ends the sweeps: of the largest relative change of a distance in a sweep, in units
	// of the change of the constraint's multiplier, and of the duality gap, see Result.Converged; 0
	// for 1e-3.
	Tolerance float64
	// MaxSweeps is the maximum number of sweeps over the constraints and of the ascent's steps, 0
	// for 1000.
	MaxSweeps int
	// Start is a result to start from, for the same points and constraints; the multipliers of
	// additional constraints are 0. Without A and Bounds, both are computed from the multipliers,
	// which takes about as long as a sweep. A must come from this package.
	Start *Result
	// Progress, if set, is called after every sweep and step with the largest change in it.
	Progress func(sweep int, change float64)

	patience int  // for tests: sweeps before the ascent, -1 for none
	many     bool // descend, for tests
}

// Result is the nearest matrix.
type Result struct {
	// A is the matrix, both triangles: of [Rows] r x r, of [Kernel] n x n.
	A blas.Matrix
	// Multipliers of the constraints are >= 0. Bounds include the slacks.
	Multipliers, Bounds []float64
	// Skipped lists the constraints between points that coincide: there AtMost holds and AtLeast
	// cannot be satisfied.
	Skipped []int
	Sweeps  int     // including the steps of the ascent
	Change  float64 // the largest in the last sweep
	// Dual is the dual objective of the multipliers, a lower bound of the minimum. Gap is the
	// objective of A minus Dual, +Inf if A violates a constraint that no slack satisfies. Bounds
	// without slack, for infinite Gamma, count as satisfied, and Gap has the multiplier times the
	// violation.
	Dual, Gap float64
	// Converged says that Gap is at most Tolerance times the objective, or Tolerance^2 / 2, within
	// which A and the optimum differ by a factor of about 1 + Tolerance at most.
	Converged bool

	det float64 // log det A^-1, relative to the prior
}

// KKT are the residuals of the optimality conditions (Karush, Kuhn & Tucker), all relative.
type KKT struct {
	Stationarity    float64 // of A^-1 = A0^-1 + sum of the signed multipliers' matrices
	Slack           float64 // of 1/bound = 1/bound0 - sign multiplier / (gamma weight)
	Complementarity float64 // of multiplier (distance - bound) = 0
	Feasibility     float64 // violation of the bounds, with slacks, by distances
}

// Largest returns the largest residual.
func (k KKT) Largest() float64 {
	return max(k.Stationarity, k.Slack, k.Complementarity, k.Feasibility)
}

// sign is +1 for upper bounds and -1 for lower ones.
func (c Constraint) sign() float64 {
	if c.Kind == AtMost {
		return 1
	}
	return -1
}

// changed is a symmetric matrix with the operation A += beta q q'.
type changed interface {
	add(beta float64, q []float64)
}

// vectors returns how many vectors the constraint has: that of the points I and J, and for Nearer
// also that of I and K.
func (c Constraint) vectors() int {
	if c.Kind == Nearer {
		return 2
	}
	return 1
}

// part returns the sign of the square of the product with a vector, in the distance.
func (c Constraint) part(v int) float64 {
	if c.Kind == Nearer && v == 0 {
		return -1
	}
	return 1
}

// vectors returns the points of the vectors of all constraints, and the first of each.
func vectors(list []Constraint) (first []int, pairs [][2]int) {
	for _, c := range list {
		first, pairs = append(first, len(pairs)), append(pairs, [2]int{c.I, c.J})
		if c.Kind == Nearer {
			pairs = append(pairs, [2]int{c.I, c.K})
		}
	}
	return first, pairs
}

// learned is the matrix A in one of its two forms. A constraint has the vector w of its points I
// and J, and for Nearer also that of I and K, the far one.
type learned interface {
	changed
	// square returns w'A w and begins the image q = A w. finish must complete it before another one
	// begins.
	square(k int, far bool, q []float64) float64
	finish(q []float64)
	// cross returns the product of the near vector with the image of the far one.
	cross(k int, q []float64) float64
	matrix() blas.Matrix // both triangles
	set(a blas.Matrix)   // from both triangles
	reset()              // to the prior
	order() int
	// factor returns vectors with the inner products of the constraints' vectors under the prior.
	factor(ctx context.Context, eng *engine.Engine) (blas.Matrix, error)
}

// state is the state of the projections.
type state struct {
	*Result
	learned
	t           *asm.Table
	q, q2       []float64 // images
	constraints []Constraint
	place       []int     // of each constraint in the list that was given
	inverse     []float64 // 1 / (gamma weight) of every constraint
	o           Options
	nothing     float64 // squared distances up to which points coincide
	skipped     []bool
	wait        int  // sweeps before the ascent, 0 for no ascent
	many        bool // constraints, so that a descent begins
}

func newState(points int, constraints []Constraint, o Options) (*state, error) {
	if !(o.Gamma > 0) {
		return nil, fault.Param("gamma", o.Gamma, "a number > 0 (+Inf for bounds that do not give way)")
	}
	if !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1) {
		return nil, fault.Param("tolerance", o.Tolerance, "a finite number >= 0 (0 for 1e-3)")
	}
	if o.MaxSweeps < 0 {
		return nil, fault.Param("sweeps", o.MaxSweeps, "a number >= 0 (0 for 1000)")
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-3
	}
	if o.MaxSweeps == 0 {
		o.MaxSweeps = 1000
	}
	for k, c := range constraints {
		if err := c.check(points); err != nil {
			return nil, &fault.DataError{Row: k, Err: err}
		}
	}
	s := &state{Result: &Result{}, constraints: constraints, inverse: make([]float64, len(constraints)), o: o,
		skipped: make([]bool, len(constraints))}
	for k, c := range constraints {
		s.inverse[k] = 1 / (o.Gamma * c.weight())
	}
	if o.Start != nil {
		return s, s.takeStart()
	}
	s.Multipliers, s.Bounds = make([]float64, len(constraints)), make([]float64, len(constraints))
	for k, c := range constraints {
		s.Bounds[k] = c.Bound
	}
	return s, nil
}

// weight returns the weight, with 1 for the default 0.
func (c Constraint) weight() float64 {
	if c.Weight == 0 {
		return 1
	}
	return c.Weight
}

// check returns the error of a constraint on the given number of points.
func (c Constraint) check(points int) error {
	rows := []int{c.I, c.J}
	if c.Kind == Nearer {
		rows = append(rows, c.K)
	}
	for a, i := range rows {
		if i < 0 || i >= points {
			return fmt.Errorf("point %d does not exist: want numbers below %d", i, points)
		}
		for _, j := range rows[:a] {
			if i == j {
				return fmt.Errorf("point %d is there twice: want different points", i)
			}
		}
	}
	switch {
	case c.Kind < AtMost || c.Kind > Nearer:
		return fmt.Errorf("constraint of kind %d: want AtMost, AtLeast or Nearer", c.Kind)
	case !(c.Bound > 0) || math.IsInf(c.Bound, 1):
		return fmt.Errorf("bound %v: want a finite number > 0", c.Bound)
	case !(c.Weight >= 0) || math.IsInf(c.Weight, 1):
		return fmt.Errorf("weight %v: want a finite number > 0", c.Weight)
	}
	return nil
}

// solve begins with the start and sweeps until the changes are small.
func (s *state) solve(ctx context.Context, eng *engine.Engine) (*Result, error) {
	if err := s.begin(ctx.Err); err != nil {
		return nil, err
	}
	if err := s.run(ctx, eng); err != nil {
		return nil, err
	}
	s.A = s.matrix()
	s.restore()
	return s.Result, nil
}

// begin computes the matrix of the start.
func (s *state) begin(done func() error) error {
	switch {
	case s.o.Start == nil:
		return nil
	case s.o.Start.A.Data != nil:
		s.set(s.o.Start.A)
		s.det = s.o.Start.det
		return nil
	}
	return s.replay(done)
}

// run sweeps until the changes and the duality gap are small. While only the changes are, it
// measures the gap ever more rarely. After some sweeps it leaves the rest to the ascent.
func (s *state) run(ctx context.Context, eng *engine.Engine) error {
	next, measured := 0, false
	if f, many := s.learned.(*rows); many && s.many {
		done, err := f.descend(ctx, eng)
		if err != nil {
			return err
		}
		measured = done
	}
	for s.Sweeps < s.o.MaxSweeps && !(s.Converged && measured) {
		s.Change, measured = 0, false
		for k := range s.constraints { // one after the other: each begins with the matrix of the last
			s.Change = max(s.Change, s.project(k))
			if k%1024 == 1023 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
		}
		s.Sweeps++
		if s.Change < s.o.Tolerance && s.Sweeps >= next {
			s.measure()
			measured, next = true, s.Sweeps+1+s.Sweeps/8
		}
		if s.o.Progress != nil {
			s.o.Progress(s.Sweeps, s.Change)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.Sweeps == s.wait && s.Sweeps < s.o.MaxSweeps && !(s.Converged && measured) {
			done, err := s.ascend(ctx, eng)
			if err != nil {
				return err
			}
			measured = done
		}
	}
	if !measured {
		s.measure()
	}
	for k, is := range s.skipped {
		if is {
			s.Skipped = append(s.Skipped, k)
		}
	}
	return nil
}

// project satisfies one constraint.
func (s *state) project(k int) (change float64) {
	p := s.square(k, false, s.q)
	if s.constraints[k].Kind == Nearer {
		return s.nearer(k, p)
	}
	if p <= s.nothing {
		s.skipped[k] = true
		return 0
	}
	a := s.single(k, p)
	if a == 0 {
		return 0
	}
	s.finish(s.q)
	b := s.constraints[k].sign() * a
	s.det += math.Log1p(-b * p)
	s.add(b/(1-b*p), s.q)
	return math.Abs(a) * p
}

func (s *state) nearer(k int, near float64) float64 {
	s.finish(s.q)
	far := s.square(k, true, s.q2)
	s.finish(s.q2)
	cross := s.cross(k, s.q2)
	if far <= s.nothing {
		s.skipped[k] = true
		return 0
	}
	a := s.double(k, far, near, cross)
	if a == 0 {
		return 0
	}
	s.addPair(a, far, near, cross, s.q2, s.q)
	return math.Abs(a) * max(far, near)
}

// addPair changes A by the weights of the function weights, with the images of v and u, which it
// overwrites.
func (s *state) addPair(a, far, near, cross float64, v, u []float64) {
	s.det += math.Log(factor(a, far, near, cross))
	vv, vu, uu := weights(a, far, near, cross)
	s.add(vv-vu, v)
	s.add(uu-vu, u)
	s.t.Axpy(1, v, u)
	s.add(vu, u)
}

// single returns the step for a constraint on one distance, currently p: A^-1 loses sign a w w'.
// The new distance p / (1 - sign a p) is the new bound, unless the multiplier would become
// negative.
func (s *state) single(k int, p float64) (a float64) {
	sign := s.constraints[k].sign()
	a = min(s.Multipliers[k], sign*(1/p-1/s.Bounds[k])/(1+s.inverse[k]))
	s.move(k, a)
	return a
}

// move subtracts a from the multiplier and updates the bound.
func (s *state) move(k int, a float64) {
	s.Multipliers[k] -= a
	b := s.Bounds[k]
	s.Bounds[k] = b / (1 + s.constraints[k].sign()*a*b*s.inverse[k])
}

// double returns the step for a constraint on the difference of two distances, far and near, whose
// vectors have the product cross: A^-1 gains a (v v' - u u'), where v is the far one. With t = far
// - near, D = far near - cross^2 and f(a) = 1 + a t - a^2 D, which is positive as long as A is
// definite, the new difference is f'(a) / f(a). It falls with a, the bound rises, and they are
// equal where
//
//	(2/gamma + 1) D b a^2 - (t b (1/gamma + 1) + 2 D) a + t - b = 0
func (s *state) double(k int, far, near, cross float64) (a float64) {
	b, t, d, inverse := s.Bounds[k], far-near, max(0, far*near-cross*cross), s.inverse[k]
	c2, c1, c0 := (2*inverse+1)*d*b, t*b*(inverse+1)+2*d, t-b
	inside := func(a float64) bool { return 1+a*t-a*a*d > 0 && 1-a*b*inverse > 0 }
	root := math.Sqrt(max(0, c1*c1-4*c2*c0))
	if c1 < 0 {
		root = -root
	}
	best := math.Inf(1)
	for _, x := range []float64{2 * c0 / (c1 + root), (c1 + root) / (2 * c2)} {
		if x-x == 0 && inside(x) && math.Abs(x) < math.Abs(best) {
			best = x
		}
	}
	if math.IsInf(best, 1) {
		return 0
	}
	a = min(s.Multipliers[k], best)
	s.move(k, a)
	return a
}

// weights returns the coefficients of v v', v u' + u v' and u u' in the change of A, for the step a
// of double.
func weights(a, far, near, cross float64) (vv, vu, uu float64) {
	f := factor(a, far, near, cross)
	return a * (a*near - 1) / f, -a * a * cross / f, a * (1 + a*far) / f
}

// factor returns the change of det A^-1 for the step a of double.
func factor(a, far, near, cross float64) float64 {
	return 1 + a*(far-near) - a*a*(far*near-cross*cross)
}

// takeStart begins with the multipliers and bounds of the start. Missing bounds are computed from
// the multipliers.
func (s *state) takeStart() error {
	start, count := s.o.Start, len(s.constraints)
	if len(start.Multipliers) != count {
		return fault.Shape("constraints", count, "%d, those of the start", len(start.Multipliers))
	}
	s.Multipliers = append([]float64(nil), start.Multipliers...)
	s.Bounds = append([]float64(nil), start.Bounds...)
	if start.Bounds == nil {
		s.Bounds = make([]float64, count)
		for k, c := range s.constraints {
			s.Bounds[k] = c.Bound / (1 - c.sign()*s.Multipliers[k]*c.Bound*s.inverse[k])
		}
	}
	if len(s.Bounds) != count {
		return fault.Shape("bounds of the start", len(s.Bounds), "%d, one for each constraint", count)
	}
	for k, m := range s.Multipliers {
		if b := s.Bounds[k]; !(m >= 0) || math.IsInf(m, 1) || !(b > 0) || math.IsInf(b, 1) {
			return unfit(k, fmt.Errorf(
				"multiplier %v with the bound %v: want a finite one >= 0 and a finite one > 0", m, b))
		}
	}
	return nil
}

// unfit returns the error of an invalid multiplier of the start.
func unfit(k int, err error) error {
	return fault.Row(k, "start: %w", err)
}

// replay computes the matrix of the multipliers. It first applies the terms that add to the
// inverse, then those that subtract, so that all intermediate matrices are definite if the last one
// is.
func (s *state) replay(done func() error) error {
	for _, sign := range []float64{1, -1} {
		for k, c := range s.constraints {
			if k%1024 == 1023 {
				if err := done(); err != nil {
					return err
				}
			}
			l := sign * s.Multipliers[k]
			if l == 0 || c.Kind != Nearer && c.sign() != sign {
				continue
			}
			p := s.square(k, c.Kind == Nearer && sign < 0, s.q)
			s.finish(s.q)
			if !(1+l*p > 0) {
				return unfit(s.place[k], fmt.Errorf(
					"multiplier %v makes the matrix indefinite: want those of a result for the same points",
					s.Multipliers[k]))
			}
			s.det += math.Log1p(l * p)
			s.add(-l/(1+l*p), s.q)
		}
	}
	return nil
}
