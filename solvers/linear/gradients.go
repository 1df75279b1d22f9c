package linear

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// gradients solves for some columns at a time by conjugate gradients (Hestenes & Stiefel 1952), each
// with steps of its own; a column that is solved rests.
func (s *solver) gradients(b blas.Matrix, c0 int) error {
	n, cols := b.Rows, b.Cols
	x := s.begin(b, c0)
	g := &gradients{solver: s, x: x, r: s.eng.NewMatrix(n, cols), q: s.eng.NewMatrix(n, cols), c0: c0}
	size, rest, err := s.residual(b, x, g.r)
	if err != nil {
		return err
	}
	if g.z, err = g.precondition(); err != nil {
		return err
	}
	g.p = g.z.Clone()
	g.rz, err = g.dots(g.r, g.z)
	if err != nil {
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
		s.progress(c0+cols-under, iteration)
		if rest, err = g.step(active); err != nil {
			return err
		}
	}
}

// gradients is the state of some columns: solution, residual, preconditioned residual, direction
// and its image, compact.
type gradients struct {
	*solver
	x, r, z, p, q blas.Matrix
	rz            []float64
	c0            int
}

// step goes on for the active columns and returns the lengths of all residuals.
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
		alpha[j] = g.rz[j] / pq[j]
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
	before := g.rz
	if g.Preconditioner == nil {
		g.rz = append([]float64(nil), squares...)
	} else {
		if g.z, err = g.precondition(); err != nil {
			return nil, err
		}
		if g.rz, err = g.dots(g.r, g.z); err != nil {
			return nil, err
		}
	}
	beta := make([]float64, cols)
	for j := range beta {
		squares[j] = math.Sqrt(squares[j])
		if active[j] && before[j] != 0 {
			beta[j] = g.rz[j] / before[j]
		}
	}
	return squares, g.rows(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p, z := g.p.Row(i), g.z.Row(i)
			for j, b := range beta {
				p[j] = z[j] + b*p[j]
			}
		}
	})
}

// precondition returns the preconditioned residual.
func (g *gradients) precondition() (blas.Matrix, error) {
	if g.Preconditioner == nil {
		return g.r, nil
	}
	z := g.z
	if z.Data == nil {
		z = g.eng.NewMatrix(g.r.Rows, g.r.Cols)
	}
	return z, g.Preconditioner.Multiply(g.ctx, g.eng, z, g.r)
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
