package linear

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

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
