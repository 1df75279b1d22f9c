package npkl

import (
	"context"
	"errors"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/operator"
)

// heavy is the weight of a link from which sweeps with a square loss hardly move: a row can leave
// its links only together with the rows at their other ends.
const heavy = 100

// stiff reports whether sweeps with the losses themselves would stop at kinks or hardly move.
func stiff(p *graphkernel.Problem) bool {
	if p.Loss == Hinge {
		return true
	}
	for _, w := range p.Weight {
		if w > heavy {
			return true
		}
	}
	return false
}

// ascent is the search for the multipliers of a stiff problem. A round minimizes the augmented
// Lagrangian, a smooth problem of moderate weights, by sweeps, and takes its best multipliers. They
// are feasible for the dual problem up to the smallest eigenvalue of G, so they bound the optimum.
type ascent struct {
	*fit
	p      *graphkernel.Problem // the stiff one
	target float64              // of the gap, relative to the objective
	growth float64              // of the weights of the Lagrangian
	tol    float64              // of the sweeps of a round
	apart  float64              // objective minus dual objective, in the round before
	best   blas.Matrix          // the rows with the lowest objective
	bound  float64              // lower bound of the optimum
}

// firm is the weight of the Lagrangian in the first round, and firmest its largest growth: larger
// weights take fewer rounds, of more sweeps. spare is the number of columns that the second round
// gets in addition to those of the first, because the optimum often has a few more.
const firm, firmest, spare = 60, 3, 4

// approach finds the optimum of a stiff problem, to within ten times the tolerance of the fit
// relative to the objective.
func (f *fit) approach(ctx context.Context, p *graphkernel.Problem) error {
	s := &ascent{fit: f, p: p, target: 10 * f.Params.Tol, growth: 1, tol: 100 * f.Params.Tol,
		apart: math.Inf(1)}
	err := f.descend(ctx, p.Soften(make(graphkernel.Multipliers, len(p.To)), s.growth, firm))
	f.converged, f.certified, f.gap = false, false, math.NaN()
	for round := 0; err == nil; round++ {
		var b graphkernel.Multipliers
		b, err = s.measure(ctx)
		if err != nil {
			return err
		}
		if f.converged || f.d.sweeps >= f.Params.MaxIter {
			f.d.Problem, f.d.v = p, s.best
			return nil
		}
		if round == 0 && f.Params.Rank == 0 {
			f.d.v = widened(f.d.v, min(p.RankBound(), f.d.v.Cols+spare),
				newDescent(f.Eng, p, f.classes, spare, f.Seed).v)
		}
		f.d.Problem, f.d.trace = p.Soften(b, s.growth, firm), nil
		if err = f.price(p, f.d.v.Cols); err == nil {
			f.d.take(f.d.v)
			err = f.settle(ctx, s.tol)
		}
	}
	return err
}

// measure compares the coordinates with the dual objective of their best multipliers, which it
// returns, and decides what the next round changes.
func (s *ascent) measure(ctx context.Context) (graphkernel.Multipliers, error) {
	s.converged = false
	objective, err := s.p.Objective(ctx, s.Eng, s.d.v)
	if err != nil {
		return nil, err
	}
	b := s.d.multipliers()
	apart := math.Abs(objective - b.Dual(s.p))
	if len(s.trace) == 0 || objective < s.objective() {
		s.best = s.d.v.Clone()
	} else {
		objective = s.objective()
	}
	s.trace = append(s.trace, objective)
	switch {
	case apart <= s.target*objective/2:
		err = s.close(ctx, b)
	case apart > s.apart/4:
		s.growth = min(3*s.growth, firmest)
		s.tighten()
	}
	s.apart = apart
	return b, err
}

// tighten lets the next rounds end later.
func (s *ascent) tighten() { s.tol = max(0.3*s.tol, 1e-4*s.Params.Tol) }

// close bounds the optimum by the multipliers b. If the bound is not near enough, it adds a column
// if that lowers the objective, and otherwise makes the sweeps more precise. A fit of fixed rank
// ends in any case.
//
// If G, which belongs to b, has the smallest eigenvalue low < 0, then b delta / (delta - low) is
// feasible, because Delta has no eigenvalue below delta.
func (s *ascent) close(ctx context.Context, b graphkernel.Multipliers) error {
	s.stage("certificate", s.d.sweeps)
	slack := 0.3 * s.target * s.Params.Delta
	low, err := s.whole(ctx, slack)
	if err != nil {
		return err
	}
	delta, least := s.Params.Delta, min(0, low.value-low.error)
	s.bound = max(s.bound, b.Times(delta/(delta-least)).Dual(s.p))
	s.gap = max(0, s.objective()-s.bound)
	s.certified = s.gap <= s.target*s.objective()
	if s.converged = s.certified || s.Params.Rank > 0; s.converged {
		return nil
	}
	if bound := s.p.RankBound(); s.d.v.Cols <= bound && low.value < -max(low.error, slack) {
		outside, err := s.outside(ctx, low)
		if err != nil {
			return err
		}
		if outside {
			return s.grow(low.vector, low.value, bound)
		}
	}
	s.tighten()
	return nil
}

// whole finds the smallest eigenvalue of G, or shows that it is at least -slack.
func (s *ascent) whole(ctx context.Context, slack float64) (bottom, error) {
	g, err := stationarity(s.d.Problem, s.d.v)
	if err != nil {
		return bottom{}, err
	}
	f, ok, err := formed(ctx, s.Eng, g)
	if ok && err == nil {
		if ok, err = f.decompose(ctx, s.Eng, blas.Matrix{}, slack); ok {
			f.release(s.Eng)
			return bottom{value: -slack}, err
		}
	}
	if err != nil {
		return bottom{}, err
	}
	largest := 0.0
	for _, x := range s.d.Diag {
		largest = max(largest, x)
	}
	return smallest(ctx, s.Eng, g, blas.Matrix{}, 0.1*slack/largest, s.Seed)
}

// outside reports whether an eigenvector is a new direction, rather than one of V along which the
// sweeps are not precise enough. If so, it drops the axes that have vanished.
func (s *ascent) outside(ctx context.Context, low bottom) (bool, error) {
	axes, w, err := graphkernel.Axes(ctx, s.Eng, s.d.v, alive)
	if err != nil {
		return false, err
	}
	inside := 0.0
	for k := range axes.Rows {
		x := blas.Dot(axes.Row(k), low.vector)
		inside += x * x
	}
	if inside > 0.5 {
		return false, nil
	}
	s.d.v = linear.Coordinates(axes, w)
	return true, nil
}

// multipliers returns the best multipliers at the coordinates.
func (d *descent) multipliers() graphkernel.Multipliers {
	b := make(graphkernel.Multipliers, len(d.To))
	for i := range d.v.Rows {
		row := d.v.Row(i)
		lo, hi := d.Links(i)
		for e := lo; e < hi; e++ {
			b[e] = 2 * d.Slope(e, d.Sign[e]*blas.Dot(row, d.v.Row(int(d.To[e]))))
		}
	}
	return b
}

// certified is how precisely the smallest eigenvalue of G is distinguished from 0, relative to the
// norm of G.
const certified = 1e-5

// stationarity returns G = Delta - sum w h t (E_ij + E_ji) at Z = V V'.
func stationarity(p *graphkernel.Problem, v blas.Matrix) (*graphkernel.Combination, error) {
	return p.Combined(func(i, e int) float64 {
		return p.Sign[e] * p.Slope(e, p.Sign[e]*blas.Dot(v.Row(i), v.Row(int(p.To[e]))))
	})
}

// bottom is the smallest eigenvalue of a symmetric matrix, to within error, with its unit
// eigenvector.
type bottom struct {
	value, error float64
	vector       []float64
	norm         float64 // of the matrix
}

// smallest finds the smallest eigenvalue outside the subspace that the rows of null span, to within
// tol times the norm. If that subspace is not quite invariant, the error bound accounts for it.
func smallest(ctx context.Context, eng *engine.Engine, op operator.Operator, null blas.Matrix, tol float64,
	seed uint64) (bottom, error) {
	found, err := graphkernel.Lowest(ctx, eng, op, 1,
		operator.EigenOptions{Tolerance: tol, Seed: seed, Null: null, Products: 20000})
	if err != nil {
		return bottom{}, err
	}
	return bottom{found.Values[0], found.Residuals[0], found.Vectors.Row(0), found.Norm}, nil
}

// maxFactored is the largest order of a matrix that is formed and factored. Up to the order
// minInverted, eigenvectors of the matrix itself are found as fast as those of its inverse.
const maxFactored, minInverted = 1500, 256

// factor is a Cholesky factor of G + 2 norm N'N + shift I. Its existence shows that no eigenvalue
// of G is below -shift, which counts as 0; the term of N moves the eigenvalues of the subspace that
// the rows of N span out of the way. The engine owns its memory.
type factor struct {
	l    blas.Matrix
	norm float64
}

// factored returns the factor for the shift that counts as 0, or false for a matrix that is too
// large or has no factor. Cost: n^3 / 3 flops.
func factored(ctx context.Context, eng *engine.Engine, g *graphkernel.Combination,
	null blas.Matrix) (f factor, ok bool, err error) {
	if f, ok, err = formed(ctx, eng, g); !ok || err != nil {
		return f, false, err
	}
	ok, err = f.decompose(ctx, eng, null, 0.9*certified*f.norm)
	return f, ok, err
}

// formed writes G, unless it is too large. The longest column bounds the norm from below.
func formed(ctx context.Context, eng *engine.Engine,
	g *graphkernel.Combination) (f factor, ok bool, err error) {
	n := g.Order()
	if n > maxFactored || eng.Check("stationarity matrix", engine.MatrixBytes(n, n), "") != nil {
		return f, false, nil
	}
	f.l = eng.GetMatrix(n, n)
	if err := g.WriteTo(ctx, eng, f.l); err != nil {
		return f, false, err
	}
	t := eng.Backend().Kernels()
	for i := range n {
		f.norm = max(f.norm, math.Sqrt(t.Dot(f.l.Row(i), f.l.Row(i))))
	}
	return f, true, nil
}

// decompose replaces G by its factor. Without one, it releases the memory and returns false.
func (f factor) decompose(ctx context.Context, eng *engine.Engine, null blas.Matrix,
	shift float64) (bool, error) {
	if null.Rows > 0 {
		eng.Backend().Syrk(true, 2*f.norm, null, 1, f.l)
	}
	f.l.Shift(shift)
	err := eng.Cholesky(ctx, f.l)
	if _, is := errors.AsType[*blas.NotPositiveDefiniteError](err); is {
		f.release(eng)
		return false, nil
	}
	return err == nil, err
}

func (f factor) release(eng *engine.Engine) { eng.PutMatrix(f.l) }

// smallest is the function smallest for the matrix g that was factored. The largest eigenvalue of
// the inverse is far from the others, so it takes a few solutions instead of hundreds of products
// with g.
func (f factor) smallest(ctx context.Context, eng *engine.Engine, g operator.Operator, null blas.Matrix,
	tol float64, seed uint64) (bottom, error) {
	found, err := operator.TopEigenpairs(ctx, eng, operator.Inverse(f.l), 1,
		operator.EigenOptions{Tolerance: tol, Seed: seed})
	if err != nil {
		return bottom{}, err
	}
	t, v := eng.Backend().Kernels(), found.Vectors.Row(0)
	for k := range null.Rows {
		t.Axpy(-t.Dot(null.Row(k), v), null.Row(k), v)
	}
	t.Scale(1/math.Sqrt(t.Dot(v, v)), v)
	column, image := blas.MatrixOf(len(v), 1, v), blas.NewMatrix(len(v), 1)
	if err := g.Multiply(ctx, eng, image, column); err != nil {
		return bottom{}, err
	}
	value := t.Dot(image.Data, v)
	t.Axpy(-value, v, image.Data)
	return bottom{value, math.Sqrt(t.Dot(image.Data, image.Data)), v, f.norm}, nil
}
