package graphkernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Reduced is the problem on the linked points only (the boundary), with the same objective values
// as the full problem. All other points (the interior) take the coordinates of minimal energy for
// given coordinates of the boundary.
type Reduced struct {
	*Problem
	boundary, interior []int
	extend             func(v blas.Matrix) (blas.Matrix, error)
	memory             []blas.Matrix // matrices to give back to the engine
}

// Release gives the memory of r back to the engine: do not use r afterward.
func (r *Reduced) Release(eng *engine.Engine) {
	for _, m := range r.memory {
		eng.PutMatrix(m)
	}
}

// Boundary returns the points that have links, ascending.
func (p *Problem) Boundary() []int {
	var out []int
	for i := range p.Len() {
		if lo, hi := p.Links(i); hi > lo {
			out = append(out, i)
		}
	}
	return out
}

// Reduce eliminates the points without links. With L the boundary and U the interior,
//
//	Delta_LL - Delta_LU Delta_UU^-1 Delta_UL
//
// replaces Delta. Cost for u interior and l boundary points: u^3/3 + u^2 l + u l^2 flops for a full
// graph, l solutions by conjugate gradients for a sparse one. Memory: (u + l) l values, and u^2
// more for a full graph.
func (p *Problem) Reduce(ctx context.Context, eng *engine.Engine) (*Reduced, error) {
	r := &Reduced{boundary: p.Boundary()}
	at := make([]int, p.Len()) // the index of each point in boundary or, as -1 - index, in interior
	next := 0
	for i := range at {
		if next < len(r.boundary) && r.boundary[next] == i {
			at[i] = next
			next++
			continue
		}
		at[i] = -1 - len(r.interior)
		r.interior = append(r.interior, i)
	}
	l, u := len(r.boundary), len(r.interior)
	need := engine.MatrixBytes(l, l) + 3*engine.MatrixBytes(u, l)
	if p.N.Sparse == nil {
		need += engine.MatrixBytes(u, u)
	}
	if err := eng.Check(fmt.Sprintf("reduction of %d points to %d linked ones", p.Len(), l), need,
		"use plan=full"); err != nil {
		return nil, err
	}
	var n, across blas.Matrix // N_LL, N_UL
	eliminate := r.sparse
	if p.N.Sparse == nil {
		eliminate = r.full
		n, across = eng.GetMatrix(l, l), eng.GetMatrix(u, l)
		r.memory = append(r.memory, n, across)
		if err := gather(ctx, eng, p.N.Full, r.boundary, r.boundary, n); err != nil {
			return nil, err
		}
		if err := gather(ctx, eng, p.N.Full, r.interior, r.boundary, across); err != nil {
			return nil, err
		}
	} else {
		n, across = eng.NewMatrix(l, l), eng.NewMatrix(u, l)
		for k, i := range r.boundary {
			p.N.Each(i, func(j int, w float64) {
				if at[j] >= 0 {
					n.Set(k, at[j], w)
				} else {
					across.Set(-1-at[j], k, w)
				}
			})
		}
	}
	if err := eliminate(ctx, eng, p, at, across, n); err != nil {
		return nil, err
	}
	r.Problem = &Problem{Loss: p.Loss, C: p.C, Diag: make([]float64, l), N: Adjacency{Full: n}}
	eng.Mirror(n)
	for k, i := range r.boundary {
		r.Diag[k] = p.Diag[i] - n.At(k, k)
		n.Set(k, k, 0)
	}
	r.Start = make([]int, l+1)
	for k, i := range r.boundary {
		r.Start[k+1] = p.Start[i+1]
	}
	r.To, r.Sign, r.Weight = make([]int32, len(p.To)), p.Sign, p.Weight
	for e, j := range p.To {
		r.To[e] = int32(at[j])
	}
	return r, ctx.Err()
}

// gather copies the submatrix of the given rows and columns.
func gather(ctx context.Context, eng *engine.Engine, from blas.Matrix, rows, columns []int,
	to blas.Matrix) error {
	return eng.Each(ctx, len(rows), chunk, func(k int) {
		row, out := from.Row(rows[k]), to.Row(k)
		for c, j := range columns {
			out[c] = row[j]
		}
	})
}

// full adds W'W to the lower triangle of n for W = R^-1 N_UL, Delta_UU = R R'.
func (r *Reduced) full(ctx context.Context, eng *engine.Engine, p *Problem, _ []int, across,
	n blas.Matrix) error {
	factor := eng.GetMatrix(across.Rows, across.Rows) // only its lower triangle is used
	r.memory = append(r.memory, factor)
	err := eng.Each(ctx, len(r.interior), chunk, func(k int) {
		i := r.interior[k]
		row, out := p.N.Full.Row(i), factor.Row(k)
		for c, j := range r.interior[:k] {
			out[c] = -row[j]
		}
		out[k] = p.Diag[i]
	})
	if err != nil {
		return err
	}
	if err := eng.Cholesky(ctx, factor); err != nil {
		return err
	}
	eng.Backend().Trsm(true, false, factor, across)
	eng.Backend().Syrk(true, 1, across, 1, n)
	r.extend = func(v blas.Matrix) (blas.Matrix, error) {
		out := eng.NewMatrix(across.Rows, v.Cols)
		eng.Backend().Gemm(false, false, 1, across, v, 0, out)
		eng.Backend().Trsm(true, true, factor, out)
		return out, nil
	}
	return ctx.Err()
}

// tolerance is the residual of solutions, relative to their right-hand sides. The condition number
// of Delta_UU is at most (2 + delta) / delta.
const tolerance = 1e-13

// accepted is the largest residual that rounding may leave: a point with thousands of neighbors has
// a row of as many terms, and theirs exceeds tolerance.
const accepted = 1e-10

// sparse adds N_LU X to the lower triangle of n for X = Delta_UU^-1 N_UL.
func (r *Reduced) sparse(ctx context.Context, eng *engine.Engine, p *Problem, at []int, across,
	n blas.Matrix) error {
	u := len(r.interior)
	inner := &sparse.Matrix{Rows: u, Cols: u, Start: make([]int, 1, u+1)}
	for k, i := range r.interior {
		diagonal := false
		add := func(j int, w float64) {
			inner.Col, inner.Val = append(inner.Col, int32(j)), append(inner.Val, w)
		}
		p.N.Each(i, func(j int, w float64) {
			if j > i && !diagonal {
				add(k, p.Diag[i])
				diagonal = true
			}
			if at[j] < 0 {
				add(-1-at[j], -w)
			}
		})
		if !diagonal {
			add(k, p.Diag[i])
		}
		inner.Start = append(inner.Start, len(inner.Col))
	}
	x := across
	if u > 0 {
		op, err := operator.Sparse(inner)
		if err != nil {
			return err
		}
		solved, err := operator.Solve(ctx, eng, op, across, operator.SolveOptions{Tolerance: tolerance})
		if rounded, is := errors.AsType[*operator.NoSolutionError](err); is &&
			slices.Max(rounded.Best.Residuals) <= accepted {
			solved, err = rounded.Best, nil
		}
		if err != nil {
			return err
		}
		x = solved.X
	}
	err := eng.For(ctx, len(r.boundary), 64, func(lo, hi int) error {
		t := eng.Backend().Kernels()
		for k := lo; k < hi; k++ {
			p.N.Each(r.boundary[k], func(j int, w float64) {
				if at[j] < 0 {
					t.Axpy(w, x.Row(-1 - at[j])[:k+1], n.Row(k)[:k+1])
				}
			})
		}
		return nil
	})
	r.extend = func(v blas.Matrix) (blas.Matrix, error) {
		out := eng.NewMatrix(u, v.Cols)
		eng.Backend().Gemm(false, false, 1, x, v, 0, out)
		return out, nil
	}
	return err
}

// Restore returns the coordinates of all points for given coordinates of the boundary.
func (r *Reduced) Restore(v blas.Matrix) (blas.Matrix, error) {
	inner, err := r.extend(v)
	if err != nil {
		return inner, err
	}
	out := blas.NewMatrix(len(r.boundary)+len(r.interior), v.Cols)
	for k, i := range r.boundary {
		copy(out.Row(i), v.Row(k))
	}
	for k, i := range r.interior {
		copy(out.Row(i), inner.Row(k))
	}
	return out, nil
}

// Soft replaces the losses of a problem by those of its augmented Lagrangian: with the residual
// u = 1 - t Z_ij, the loss w l of a link becomes
//
//	max over b of  b u - conjugate(b) - (b - a)^2 / (2 rho)
//
// for a multiplier a and a weight rho of the link. Up to a constant that is a square with a smaller
// weight and another target, 0 above the target and a line from the largest multiplier on, if the
// loss has one. It is smooth, and no steeper than rho.
type Soft struct {
	Floor bool      // links that are more than satisfied are free: 0 above the target
	Lead  []float64 // a / rho of each link at its two positions in To: the target is 1 + Lead
	Limit []float64 // the distance to the target from which on the loss is a line; +Inf for never
}

// Value returns the loss at f, in units of its weight.
func (s *Soft) Value(e int, f float64) float64 {
	d := s.Slope(e, f)
	return d * (2*(1+s.Lead[e]-f) - d)
}

// Slope returns minus half the derivative of Value.
func (s *Soft) Slope(e int, f float64) float64 {
	d := 1 + s.Lead[e] - f
	if s.Floor {
		d = max(0, d)
	}
	return min(d, s.Limit[e])
}

// Multipliers are the variables b of the dual problem
//
//	maximize sum b - conjugate(b)  subject to  Delta - sum b t (E_ij + E_ji) / 2 >= 0
//
// each at both positions of its link in Problem.To. The conjugate is b^2 / (4 w) for the square
// losses; with the squared hinge b is at least 0, and with the hinge between 0 and 2 w, and its
// conjugate is 0.
type Multipliers []float64

// Soften returns the augmented Lagrangian of p at the multipliers a, with the weights
//
//	rho = growth x most  (square losses)  or  growth x min(2 w, most)  (hinge)
//
// p is a problem without Soft, and shares its other data with the result.
func (p *Problem) Soften(a Multipliers, growth, most float64) *Problem {
	n := len(p.To)
	out, soft := *p, &Soft{Floor: p.Loss != Square, Lead: make([]float64, n), Limit: make([]float64, n)}
	out.Soft, out.Weight = soft, make([]float64, n)
	for e, w := range p.Weight {
		if p.Loss == Hinge {
			rho := growth * min(2*w, most)
			out.Weight[e], soft.Lead[e], soft.Limit[e] = rho/2, a[e]/rho, 2*w/rho
			continue
		}
		rho := growth * most
		out.Weight[e], soft.Lead[e], soft.Limit[e] = w*(rho/(2*w+rho)), a[e]/rho, math.Inf(1)
	}
	return &out
}

// Dual returns the objective of the dual problem.
func (b Multipliers) Dual(p *Problem) float64 {
	sum := 0.0
	for e, x := range b {
		if sum += x; p.Loss != Hinge {
			sum -= x * x / (4 * p.Weight[e])
		}
	}
	return sum / 2 // every link has two positions
}

// Times returns s b, which is feasible if b is and s is between 0 and 1.
func (b Multipliers) Times(s float64) Multipliers {
	out := make(Multipliers, len(b))
	for e, x := range b {
		out[e] = s * x
	}
	return out
}
