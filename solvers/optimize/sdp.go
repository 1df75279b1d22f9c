package optimize

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Loss is a convex function of one number.
type Loss interface {
	// Smooth returns the value and two derivatives at z of the function, or of a smooth upper bound
	// that tends to it for mu -> 0; the second derivative is not negative.
	Smooth(z, mu float64) (f, d1, d2 float64)
	// Gap returns f(z) + f*(d) - d z, which is not negative, for the function itself and its
	// conjugate f*: 0 if d is its derivative at z, +Inf if f*(d) is.
	Gap(z, d float64) float64
}

// Term is a loss of the entries (I, J) and (J, I) of Z, which are equal.
type Term struct {
	I, J int
	Loss Loss
}

// SDPOptions are the settings of a search. The zero value is usable.
type SDPOptions struct {
	// Tolerance is the duality gap, relative to 1 + |objective|, at which the search stops; 0 for
	// 1e-10.
	Tolerance float64
	// Steps is the maximum number of Newton steps, 0 for 500.
	Steps int
	// Progress, if set, is called after every step with the objective and the gap so far.
	Progress func(step int, objective, gap float64)
}

// SDPResult is a minimizer.
type SDPResult struct {
	Factor    blas.Matrix // F, n x r: Z = F F'
	Objective float64     // <A, Z> plus the losses themselves
	Gap       float64     // Objective minus this is a lower bound of the minimum
	Steps     int
	Converged bool
}

// MinimizeSDP minimizes convex functions of single entries of a positive
// semidefinite matrix to high accuracy: a reference for small problems.
//
// MinimizeSDP minimizes <A, Z> + sum of terms over the positive semidefinite Z of order n, for a
// symmetric A, both triangles, by a barrier method: Newton's method on <A, Z> + sum of smooth terms
// - mu log det Z for decreasing mu. Z is stored as L L', and the steps are taken in the coordinates
// of L, which keeps small eigenvalues accurate.
//
// Rounding limits the derivatives of the terms, and so the gap, to about 1e-7. If the losses are
// smooth themselves, the search ends with Newton's method on the rows of a factor of the rank that
// was found.
//
// The duality gap is computed explicitly: with the derivatives d of the terms, S = A + sum d_e S_e
// is feasible for the dual problem up to its smallest eigenvalue, and the gap is <S, Z> plus the
// gaps of the terms.
//
// Errors: a *fault.ShapeError for shapes that do not match, a *fault.DataError for entries out of
// range; a problem without a minimum does not converge. Cost: about 10 n^3 + m^3/3 flops per step
// for m terms, usually less than 100 steps.
func MinimizeSDP(ctx context.Context, eng *engine.Engine, a blas.Matrix, terms []Term,
	o SDPOptions) (*SDPResult, error) {
	n := a.Rows
	if a.Cols != n {
		return nil, fault.Shape("columns of the matrix", a.Cols, "%d, as it has rows", n)
	}
	for k, t := range terms {
		if t.I < 0 || t.J < 0 || t.I >= n || t.J >= n {
			return nil, fault.Row(k, "entry (%d, %d) does not exist: want numbers below %d", t.I, t.J, n)
		}
	}
	if err := eng.Check(fmt.Sprintf("semidefinite program of order %d with %d terms", n, len(terms)),
		6*engine.MatrixBytes(n, n)+engine.MatrixBytes(len(terms), len(terms)),
		"use npkl, which needs neither"); err != nil {
		return nil, err
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-10
	}
	if o.Steps == 0 {
		o.Steps = 500
	}
	s := newSDPSearch(ctx, eng, a, terms)
	return s.follow(o)
}

// sdpSearch is the state of one call of Minimize.
type sdpSearch struct {
	ctx   context.Context
	eng   *engine.Engine
	a     blas.Matrix
	terms []Term
	n     int
	l     blas.Matrix // lower triangular, zeros above
	mu    float64

	factor blas.Matrix // of Z: l or, at the end, a factor with fewer columns

	z, q, half, m blas.Matrix // Z; Q; scratch memory
	d1, d2, y, w  []float64   // derivatives of the terms; the change of the first by a step, and the sum
}

func newSDPSearch(ctx context.Context, eng *engine.Engine, a blas.Matrix, terms []Term) *sdpSearch {
	n := a.Rows
	s := &sdpSearch{ctx: ctx, eng: eng, a: a, terms: terms, n: n}
	for _, x := range []*blas.Matrix{&s.l, &s.z, &s.q, &s.half, &s.m} {
		*x = eng.NewMatrix(n, n)
	}
	for _, x := range []*[]float64{&s.d1, &s.d2, &s.y, &s.w} {
		*x = make([]float64, len(terms))
	}
	scale := 0.0
	for i := range n {
		s.l.Set(i, i, 1)
		scale = max(scale, math.Abs(a.At(i, i)))
	}
	s.mu = max(scale, 1)
	return s
}

// finest is the mu, relative to the first, at which rounding begins to matter.
const finest = 1e-8

// follow follows the path of minimizers for mu -> 0.
func (s *sdpSearch) follow(o SDPOptions) (*SDPResult, error) {
	res, last := &SDPResult{Factor: s.l}, finest*s.mu
	best, worse := SDPResult{Gap: math.Inf(1)}, 0
	for res.Steps < o.Steps && !res.Converged {
		decrement, moved, err := s.step()
		if err != nil {
			return nil, err
		}
		res.Steps++
		if moved && decrement > 0.1*s.mu && res.Steps < o.Steps {
			continue
		}
		if err := s.measure(res, o); err != nil {
			return nil, err
		}
		if s.mu < last && s.smooth() {
			return res, s.polish(res, o)
		}
		if worse++; res.Gap < best.Gap {
			best, worse = *res, 0
			best.Factor = s.l.Clone()
		}
		if !moved || s.mu < last && worse == 2 { // only rounding is left
			break
		}
		s.mu *= 0.2
	}
	if res.Gap > best.Gap {
		best.Steps = res.Steps
		res = &best
	}
	return res, s.ctx.Err()
}

// smooth reports whether the losses have derivatives themselves.
func (s *sdpSearch) smooth() bool {
	for _, u := range s.terms {
		if _, d, _ := u.Loss.Smooth(s.entry(u), 0); d != d {
			return false
		}
	}
	return true
}

// measure fills in the objective and the gap.
func (s *sdpSearch) measure(res *SDPResult, o SDPOptions) (err error) {
	if res.Objective, res.Gap, err = s.gap(); err != nil {
		return err
	}
	res.Converged = res.Gap <= o.Tolerance*(1+math.Abs(res.Objective))
	if o.Progress != nil {
		o.Progress(res.Steps, res.Objective, res.Gap)
	}
	return nil
}

// entry returns Z_ij.
func (s *sdpSearch) entry(t Term) float64 { return s.z.At(max(t.I, t.J), min(t.I, t.J)) }

// evaluate computes Z = F F' and the derivatives of the terms.
func (s *sdpSearch) evaluate(f blas.Matrix) {
	s.factor = f
	s.eng.Backend().Syrk(false, 1, f, 0, s.z)
	for e, t := range s.terms {
		_, s.d1[e], s.d2[e] = t.Loss.Smooth(s.entry(t), s.mu)
	}
}

// coupled solves (I + r K r) x = r x0 for the terms, where r has the roots of their second
// derivatives, and writes y = r x: the change of the derivatives of the terms by the step. x0 is
// the change of the entries by the step if the terms were linear; K_ef = (Z_ia Z_jb + Z_ib Z_ja) /
// 2 mu.
func (s *sdpSearch) coupled(x0 []float64) error {
	m := len(s.terms)
	if m == 0 {
		return nil
	}
	z := func(i, j int) float64 { return s.z.At(max(i, j), min(i, j)) }
	k := s.eng.GetMatrix(m, m)
	defer s.eng.PutMatrix(k)
	for e, t := range s.terms {
		root := math.Sqrt(s.d2[e])
		for f, u := range s.terms[:e+1] {
			k.Set(e, f, root*math.Sqrt(s.d2[f])*(z(t.I, u.I)*z(t.J, u.J)+z(t.I, u.J)*z(t.J, u.I))/(2*s.mu))
		}
		k.Set(e, e, k.At(e, e)+1)
		s.y[e] = root * x0[e]
	}
	if err := s.eng.Cholesky(s.ctx, k); err != nil {
		return err
	}
	x := blas.MatrixOf(m, 1, s.y)
	s.eng.Backend().Trsm(true, false, k, x)
	s.eng.Backend().Trsm(true, true, k, x)
	for e := range s.y {
		s.y[e] *= math.Sqrt(s.d2[e])
	}
	return nil
}

// dual writes A + sum w_e S_e to q.
func (s *sdpSearch) dual(w []float64) {
	s.q.CopyFrom(s.a)
	for e, t := range s.terms {
		s.q.Set(t.I, t.J, s.q.At(t.I, t.J)+w[e]/2)
		s.q.Set(t.J, t.I, s.q.At(t.J, t.I)+w[e]/2)
	}
}

// gathered writes L'(A + sum w_e S_e) L to m, both triangles.
func (s *sdpSearch) gathered(w []float64) {
	s.dual(w)
	s.eng.Backend().Gemm(false, false, 1, s.q, s.l, 0, s.half)
	s.eng.Backend().Gemm(true, false, 1, s.l, s.half, 0, s.m)
}

// step takes one Newton step, shortened to stay inside and to decrease the barrier function. It
// returns the decrement, about twice the difference of the barrier function from its minimum, and
// whether there was such a step.
func (s *sdpSearch) step() (decrement float64, moved bool, err error) {
	if err := s.ctx.Err(); err != nil {
		return 0, false, err
	}
	s.evaluate(s.l)
	// If the terms were linear, the step would be L (I - L'(A + sum d1 S)L / mu) L'.
	s.gathered(s.d1)
	first := s.m.Clone()
	x0 := make([]float64, len(s.terms))
	t := s.eng.Backend().Kernels()
	s.direction()
	s.eng.Backend().Gemm(false, false, 1, s.l, s.m, 0, s.half)
	for e, u := range s.terms {
		x0[e] = t.Dot(s.half.Row(u.I), s.l.Row(u.J))
	}
	if err := s.coupled(x0); err != nil {
		return 0, false, s.ctx.Err() // the system is singular up to rounding
	}
	for e := range s.w {
		s.w[e] = s.d1[e] + s.y[e]
	}
	s.gathered(s.w)
	s.direction()
	for i := range s.n {
		decrement -= t.Dot(first.Row(i), s.m.Row(i)) - s.mu*s.m.At(i, i)
	}
	if !(decrement > 0) {
		return 0, true, nil
	}
	moved, err = s.search(decrement)
	return decrement, moved, err
}

// direction replaces m by I - m / mu.
func (s *sdpSearch) direction() {
	for i := range s.n {
		row := s.m.Row(i)
		for j := range row {
			row[j] /= -s.mu
		}
		row[i]++
	}
}

// search takes the longest step 1, 1/2, ... along L M L' that stays inside and decreases the
// barrier function enough: with I + t M = R R', L becomes L R. It reports whether there is one.
func (s *sdpSearch) search(decrement float64) (bool, error) {
	before, _ := s.barrier(s.l)
	r, next := s.eng.NewMatrix(s.n, s.n), s.eng.NewMatrix(s.n, s.n)
	for t := 1.0; t > 1e-10; t /= 2 {
		for i := range s.n {
			for j, v := range s.m.Row(i) {
				r.Set(i, j, t*v)
			}
			r.Set(i, i, r.At(i, i)+1)
		}
		if err := s.eng.Cholesky(s.ctx, r); err != nil {
			if s.ctx.Err() != nil {
				return false, s.ctx.Err()
			}
			continue
		}
		r.ClearUpper()
		s.eng.Backend().Gemm(false, false, 1, s.l, r, 0, next)
		if after, rounding := s.barrier(next); after <= before-1e-4*t*decrement+rounding {
			s.l.CopyFrom(next)
			return true, nil
		}
	}
	return false, nil
}

// barrier returns the barrier function at L L', and a bound of its rounding error.
func (s *sdpSearch) barrier(l blas.Matrix) (value, rounding float64) {
	t := s.eng.Backend().Kernels()
	s.eng.Backend().Gemm(false, false, 1, s.a, l, 0, s.half)
	size := 0.0
	for i := range s.n {
		v := t.Dot(l.Row(i), s.half.Row(i))
		value += v
		size += math.Abs(v)
		v = 2 * s.mu * math.Log(l.At(i, i))
		value -= v
		size += math.Abs(v)
	}
	for _, u := range s.terms {
		f, _, _ := u.Loss.Smooth(t.Dot(l.Row(u.I), l.Row(u.J)), s.mu)
		value += f
		size += math.Abs(f)
	}
	return value, 1e-15 * size
}

// gap returns the objective, of the losses themselves, and an upper bound of objective minus
// minimum. There are two bounds, by the derivatives of the terms and by the prediction of the
// latest step for them, which is more precise if derivatives change quickly; gap returns the better
// one.
func (s *sdpSearch) gap() (objective, gap float64, err error) {
	s.evaluate(s.factor)
	for _, u := range s.terms {
		f, _, _ := u.Loss.Smooth(s.entry(u), 0)
		objective += f
	}
	objective += s.product(s.a)
	if gap, err = s.gapOf(s.d1); err != nil || s.factor.Cols < s.n {
		return objective, gap, err
	}
	other, err := s.gapOf(s.w)
	return objective, min(gap, other), err
}

// gapOf returns the duality gap for the dual variables d, or +Inf if they are not feasible.
func (s *sdpSearch) gapOf(d []float64) (float64, error) {
	gap, total := 0.0, s.z.Trace()
	for e, u := range s.terms {
		gap += u.Loss.Gap(s.entry(u), d[e])
	}
	s.dual(d)
	gap += s.product(s.q)
	w := make([]float64, s.n)
	if err := s.eng.SymEig(s.ctx, s.q, w, false); err != nil {
		return 0, err
	}
	return gap + max(0, -w[0])*total, s.ctx.Err()
}

// product returns <X, Z> by the factor of Z.
func (s *sdpSearch) product(x blas.Matrix) float64 {
	half := s.eng.GetMatrix(s.n, s.factor.Cols)
	defer s.eng.PutMatrix(half)
	s.eng.Backend().Gemm(false, false, 1, x, s.factor, 0, half)
	sum := 0.0
	for i := range s.n {
		sum += s.eng.Backend().Kernels().Dot(half.Row(i), s.factor.Row(i))
	}
	return sum
}

// polish continues from the end of the path by Newton's method on a factor F, n x r. r is the rank
// of Z without the eigenvalues that only the barrier keeps above 0.
func (s *sdpSearch) polish(res *SDPResult, o SDPOptions) error {
	f, err := s.reduced()
	if err != nil || s.n*f.Cols > 4000 {
		return err
	}
	best := *res
	for range 12 {
		s.evaluate(f)
		res.Steps++
		if err := s.measure(res, o); err != nil {
			return err
		}
		if res.Gap < best.Gap {
			best = *res
			best.Factor = f.Clone()
		}
		if res.Converged {
			break
		}
		if ok, err := s.newton(f); err != nil || !ok {
			*res = best
			return err
		}
	}
	steps := res.Steps
	*res = best
	res.Steps = steps
	return nil
}

// reduced returns the factor of Z without its small eigenvalues.
func (s *sdpSearch) reduced() (blas.Matrix, error) {
	v, w := s.z.Clone(), make([]float64, s.n)
	if err := s.eng.SymEig(s.ctx, v, w, true); err != nil {
		return blas.Matrix{}, err
	}
	r := 0
	for r < s.n && w[s.n-1-r] > math.Sqrt(finest)*1e-1*max(w[s.n-1], 1e-300) && w[s.n-1-r] > 100*s.mu {
		r++
	}
	f := blas.NewMatrix(s.n, max(1, r)) // a column of zeros for Z = 0
	for c := range r {
		root := math.Sqrt(w[s.n-1-c])
		for i, x := range v.Row(s.n - 1 - c) {
			f.Set(i, c, root*x)
		}
	}
	return f, nil
}

// newton moves F by a Newton step for <A, F F'> + the terms: the gradient is 2 S F, and the Hessian
// 2 S x I + sum d2 g g', where g is the gradient of an entry. The Hessian has a null space, the
// rotations of F, so a multiple of the identity is added to make it definite. newton returns false
// if that multiple is too large.
func (s *sdpSearch) newton(f blas.Matrix) (bool, error) {
	r, size := f.Cols, s.n*f.Cols
	s.dual(s.d1)
	gradient := blas.NewMatrix(s.n, r)
	s.eng.Backend().Gemm(false, false, 2, s.q, f, 0, gradient)
	h := s.eng.GetMatrix(size, size)
	defer s.eng.PutMatrix(h)
	clear(h.Data)
	scale := 0.0
	for i := range s.n {
		for j := range i + 1 {
			for c := range r {
				h.Set(i*r+c, j*r+c, 2*s.q.At(i, j))
			}
		}
	}
	for e, u := range s.terms {
		add := func(i, j int, x, y []float64) { // adds the part of g g' in the rows of i and the columns of j
			for c := range r {
				for d := range r {
					if a, b := i*r+c, j*r+d; b <= a {
						h.Set(a, b, h.At(a, b)+s.d2[e]*x[c]*y[d])
					}
				}
			}
		}
		if u.I == u.J {
			x := make([]float64, r)
			for c, v := range f.Row(u.I) {
				x[c] = 2 * v
			}
			add(u.I, u.I, x, x)
			continue
		}
		x, y := f.Row(u.J), f.Row(u.I) // the gradients with respect to rows I and J
		add(u.I, u.I, x, x)
		add(u.J, u.J, y, y)
		add(u.I, u.J, x, y)
		add(u.J, u.I, y, x)
	}
	for i := range size {
		scale = max(scale, math.Abs(h.At(i, i)))
	}
	if !(scale > 0) || math.IsInf(scale, 1) {
		return false, nil // no value depends on F any more, or too much
	}
	l := s.eng.GetMatrix(size, size)
	defer s.eng.PutMatrix(l)
	for damping := 1e-11 * scale; ; damping *= 100 {
		l.CopyFrom(h)
		l.Shift(damping)
		if err := s.eng.Cholesky(s.ctx, l); err == nil {
			break
		}
		if !(damping <= scale) || s.ctx.Err() != nil {
			return false, s.ctx.Err()
		}
	}
	x := blas.MatrixOf(size, 1, gradient.Data[:size])
	s.eng.Backend().Trsm(true, false, l, x)
	s.eng.Backend().Trsm(true, true, l, x)
	s.eng.Backend().Kernels().Axpy(-1, x.Data, f.Data[:size])
	return true, nil
}
