package operator

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// SolveOptions are the settings of a solution. The zero value is usable.
type SolveOptions struct {
	// Tolerance is the largest accepted |b - A x|, relative to |b|; 0 for 1e-10.
	Tolerance float64
	// Iterations is the maximum number of iterations, 0 for 1000.
	Iterations int
}

// Solution holds solutions.
type Solution struct {
	X          blas.Matrix // n x r
	Residuals  []float64   // |b - A x| / |b| of each column, measured; 0 for b = 0
	Iterations int         // the maximum over all columns
	Converged  bool        // all residuals are within the tolerance
}

// NoSolutionError reports that the limit on the iterations was reached. Best has the solutions
// so far.
type NoSolutionError struct{ Best *Solution }

func (e *NoSolutionError) Error() string {
	worst, column := 0.0, 0
	for i, r := range e.Best.Residuals {
		if !(r <= worst) {
			worst, column = r, i
		}
	}
	return fmt.Sprintf("the residual of column %d is %.2g of its right-hand side after %d iterations: "+
		"allow more iterations or a larger tolerance",
		column, worst, e.Best.Iterations)
}

// NotPositiveError reports a direction p for which p'Ap is not positive or not a number.
type NotPositiveError struct {
	Column    int     // right-hand side
	Curvature float64 // p'Ap / p'p
}

func (e *NotPositiveError) Error() string {
	return fmt.Sprintf("the matrix is not positive definite: p'Ap is %v for a vector of unit length "+
		"(right-hand side %d)", e.Curvature, e.Column)
}

// InputFault marks the error as an input error.
func (e *NotPositiveError) InputFault() {}

// group is the number of right-hand sides that are solved together.
const group = 32

// rowsEach is the number of rows that one task processes.
const rowsEach = 1024

// Solve solves symmetric positive definite systems of equations
// by products with the matrix.
//
// Solve returns the solutions of A X = B for the columns of B, n x r, by conjugate gradients.
// Columns do not influence each other; the result is bit-identical for any number of workers.
//
// Errors: a *fault.ShapeError for shapes that do not match, a *fault.ParamError for an invalid
// tolerance or limit; a *fault.DataError for numbers in B that are not finite; n x (r + 160) values
// above the memory limit; *NotPositiveError; *NoConvergenceError with its result; ctx.Err().
func Solve(ctx context.Context, eng *engine.Engine, a Operator, b blas.Matrix,
	o SolveOptions) (*Solution, error) {
	if err := o.fill(a, b); err != nil {
		return nil, err
	}
	n, r := b.Rows, b.Cols
	if err := eng.Check(fmt.Sprintf("%d solutions of %d equations", r, n), engine.MatrixBytes(n, r+5*group),
		"solve for fewer right-hand sides at a time"); err != nil {
		return nil, err
	}
	s := &solver{SolveOptions: o, ctx: ctx, eng: eng, a: a}
	s.result = &Solution{X: eng.NewMatrix(n, r), Residuals: make([]float64, r), Converged: true}
	for c0 := 0; c0 < r && n > 0; c0 += group {
		c1 := min(c0+group, r)
		if err := s.gradients(b.View(0, n, c0, c1), c0); err != nil {
			return nil, err
		}
		if err := s.check(b.View(0, n, c0, c1), c0); err != nil {
			return nil, err
		}
	}
	if !s.result.Converged {
		return nil, &NoSolutionError{Best: s.result}
	}
	return s.result, ctx.Err()
}

func (o *SolveOptions) fill(a Operator, b blas.Matrix) error {
	n := a.Order()
	switch {
	case b.Rows != n:
		return fault.Shape("rows of the right-hand sides", b.Rows, "%d, the order of the matrix", n)
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1):
		return fault.Param("tolerance of solutions", o.Tolerance, "a number >= 0 (0 for 1e-10)")
	case o.Iterations < 0:
		return fault.Param("iterations", o.Iterations, "a number >= 0 (0 for 1000)")
	}
	for i := range n {
		for j, v := range b.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fault.Cell(i, fmt.Sprint(j), "%v on the right-hand side: want a finite number", v)
			}
		}
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-10
	}
	if o.Iterations == 0 {
		o.Iterations = 1000
	}
	return nil
}

// solver is the state of one call of Solve.
type solver struct {
	SolveOptions
	ctx    context.Context
	eng    *engine.Engine
	a      Operator
	result *Solution
}

// rows calls f for blocks of rows.
func (s *solver) rows(n int, f func(lo, hi int)) error {
	return s.eng.For(s.ctx, n, rowsEach, func(lo, hi int) error {
		f(lo, hi)
		return nil
	})
}

// sums adds the results of f for each block of rows, cols numbers each, in order.
func (s *solver) sums(n, cols int, f func(lo, hi int, part []float64)) ([]float64, error) {
	parts := make([]float64, (n+rowsEach-1)/rowsEach*cols)
	err := s.rows(n, func(lo, hi int) { f(lo, hi, parts[lo/rowsEach*cols:][:cols]) })
	total := make([]float64, cols)
	for i, v := range parts {
		total[i%cols] += v
	}
	return total, err
}

// residual writes B - A X to r, compact, and returns the lengths of the columns of B and of r.
func (s *solver) residual(b, x, r blas.Matrix) (size, rest []float64, err error) {
	if err := s.a.Multiply(s.ctx, s.eng, r, x); err != nil {
		return nil, nil, err
	}
	cols := b.Cols
	both, err := s.sums(b.Rows, 2*cols, func(lo, hi int, part []float64) {
		for i := lo; i < hi; i++ {
			to := r.Row(i)
			for j, v := range b.Row(i) {
				to[j] = v - to[j]
				part[j] += v * v
				part[cols+j] += to[j] * to[j]
			}
		}
	})
	for j, v := range both {
		both[j] = math.Sqrt(v)
	}
	return both[:cols], both[cols:], err
}

// check measures the residuals of the columns from c0 on.
func (s *solver) check(b blas.Matrix, c0 int) error {
	x, r := s.result.X.View(0, b.Rows, c0, c0+b.Cols).Clone(), s.eng.NewMatrix(b.Rows, b.Cols)
	size, rest, err := s.residual(b, x, r)
	if err != nil {
		return err
	}
	for j, v := range size {
		if relative := rest[j] / v; v > 0 || rest[j] > 0 {
			s.result.Residuals[c0+j] = relative
		}
		// Rounding may leave slightly more than the recurrence of the residual predicts.
		if !(rest[j] <= 2*s.Tolerance*v) {
			s.result.Converged = false
		}
	}
	return nil
}

// gradients solves for some columns at a time by conjugate gradients (Hestenes & Stiefel 1952),
// each with its own step lengths; a solved column no longer changes.
func (s *solver) gradients(b blas.Matrix, c0 int) error {
	n, cols := b.Rows, b.Cols
	x := s.eng.NewMatrix(n, cols)
	g := &gradients{solver: s, x: x, r: s.eng.NewMatrix(n, cols), q: s.eng.NewMatrix(n, cols), c0: c0}
	size, rest, err := s.residual(b, x, g.r)
	if err != nil {
		return err
	}
	g.p = g.r.Clone()
	if g.squares, err = g.dots(g.r, g.r); err != nil {
		return err
	}
	active := make([]bool, cols)
	for iteration := 0; ; iteration++ {
		under := 0
		for j := range active {
			if active[j] = rest[j] > s.Tolerance*size[j]; active[j] {
				under++
			}
		}
		s.result.Iterations = max(s.result.Iterations, iteration)
		if under == 0 || iteration == s.Iterations {
			s.result.X.View(0, n, c0, c0+cols).CopyFrom(x)
			return s.ctx.Err()
		}
		if rest, err = g.step(active); err != nil {
			return err
		}
	}
}

// gradients is the state of some columns: solution, residual, direction and its image, compact.
type gradients struct {
	*solver
	x, r, p, q blas.Matrix
	squares    []float64 // of the residuals' lengths
	c0         int
}

// step does one iteration for the active columns and returns the lengths of all residuals.
func (g *gradients) step(active []bool) ([]float64, error) {
	n, cols := g.x.Rows, g.x.Cols
	if err := g.a.Multiply(g.ctx, g.eng, g.q, g.p); err != nil {
		return nil, err
	}
	pq, err := g.dots(g.p, g.q)
	if err != nil {
		return nil, err
	}
	alpha := make([]float64, cols)
	for j := range alpha {
		if !active[j] {
			continue
		}
		if !(pq[j] > 0) || math.IsInf(pq[j], 1) {
			return nil, g.notPositive(j, pq[j])
		}
		alpha[j] = g.squares[j] / pq[j]
	}
	squares, err := g.sums(n, cols, func(lo, hi int, part []float64) {
		for i := lo; i < hi; i++ {
			x, r, p, q := g.x.Row(i), g.r.Row(i), g.p.Row(i), g.q.Row(i)
			for j, step := range alpha {
				x[j] += step * p[j]
				r[j] -= step * q[j]
				part[j] += r[j] * r[j]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	before := g.squares
	g.squares = squares
	beta, rest := make([]float64, cols), make([]float64, cols)
	for j := range beta {
		rest[j] = math.Sqrt(squares[j])
		if active[j] && before[j] != 0 {
			beta[j] = squares[j] / before[j]
		}
	}
	return rest, g.rows(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p, r := g.p.Row(i), g.r.Row(i)
			for j, b := range beta {
				p[j] = r[j] + b*p[j]
			}
		}
	})
}

// dots returns the inner products of the columns of u with those of v.
func (g *gradients) dots(u, v blas.Matrix) ([]float64, error) {
	return g.sums(u.Rows, u.Cols, func(lo, hi int, part []float64) {
		for i := lo; i < hi; i++ {
			other := v.Row(i)
			for j, x := range u.Row(i) {
				part[j] += x * other[j]
			}
		}
	})
}

func (g *gradients) notPositive(j int, curvature float64) error {
	square := 0.0
	for i := range g.p.Rows {
		square += g.p.At(i, j) * g.p.At(i, j)
	}
	return &NotPositiveError{Column: g.c0 + j, Curvature: curvature / square}
}
