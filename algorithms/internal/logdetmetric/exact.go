package logdetmetric

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
	"github.com/mustlink/mustlink/solvers/lowrank"
)

// Exact is the learned kernel of any two points. Let L L' be the prior kernel matrix of some points
// l, scale k(l, l), and A = L^-1 K L'^-1 for the learned matrix K of these. Then the learned kernel
// is
//
//	scale k(x, y) - f(x)'(I - A) f(y),   f(x) = L^-1 scale k(l, x)
//
// which equals scale k(x, y) - scale^2 k(x, l) B k(l, y) with B = P - P K P for the signed
// multipliers P. That form loses the digits of large multipliers; f(x)'f(x) is at most scale k(x,
// x).
type Exact struct {
	rows   []int // l, training points
	scale  float64
	turn   blas.Matrix // scale L'^-1
	change blas.Matrix // I - A
}

// Whole returns the kernel for the prior and the learned matrix of the linked points. It costs some
// 4 m^3 flops for m of them.
func Whole(
	ctx context.Context, eng *engine.Engine, scale float64, linked []int, prior blas.Matrix, r *logdet.Result,
) (*Exact, error) {
	l, a := eng.Clone(prior), eng.Clone(r.A)
	if err := eng.Cholesky(ctx, l); err != nil {
		return nil, err
	}
	within(eng, l, a)
	return exact(ctx, eng, linked, scale, l, a)
}

// negligible is the trace of the prior kernel matrix, relative to the whole, that [Ranked] leaves
// as it is. Smaller parts are rounding.
const negligible = 1e-12

// Ranked is [Whole] for a prior kernel k whose matrix may be singular. Its points l are as many of
// the linked ones as span their kernel matrix.
func Ranked(
	ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, linked []int, r *logdet.Result, seed uint64,
) (*Exact, error) {
	o := lowrank.Options{Rest: negligible, Most: len(linked), Seed: seed}
	f, err := lowrank.New(ctx, eng, k, x.Select(linked), o)
	if err != nil {
		return nil, err
	}
	a := blas.NewMatrix(len(f.Pivots), len(f.Pivots))
	for i, p := range f.Pivots {
		for j, q := range f.Pivots {
			a.Set(i, j, r.A.At(p, q))
		}
	}
	within(eng, f.Triangle(), a)
	return exact(ctx, eng, chosen(linked, f.Pivots), 1, f.Triangle(), a)
}

// Exact returns the kernel for a learned matrix A in the coordinates G, which changes the part of
// the kernel that the landmarks carry.
func (r *Reduced) Exact(
	ctx context.Context, eng *engine.Engine, linked []int, a blas.Matrix,
) (*Exact, error) {
	return exact(ctx, eng, chosen(linked, r.pivots), r.scale, r.l, eng.Clone(a))
}

// chosen returns the elements of a list at some places.
func chosen(list, at []int) []int {
	out := make([]int, len(at))
	for k, i := range at {
		out[k] = list[i]
	}
	return out
}

// within replaces K by L^-1 K L'^-1.
func within(eng *engine.Engine, l, k blas.Matrix) {
	eng.Backend().Trsm(true, false, l, k)
	eng.Backend().Trsm(false, true, l, k)
}

// exact returns the kernel for a factor L of the prior kernel matrix of the rows, and A, which it
// overwrites.
func exact(
	ctx context.Context, eng *engine.Engine, rows []int, scale float64, l, a blas.Matrix,
) (*Exact, error) {
	turn := eng.NewMatrix(l.Rows, l.Rows)
	for i := range l.Rows {
		turn.Set(i, i, scale)
	}
	eng.Backend().Trsm(true, true, l, turn)
	if err := scaled(ctx, eng, -1, a); err != nil {
		return nil, err
	}
	for i := range a.Rows {
		a.Set(i, i, 1+a.At(i, i))
	}
	eng.Mirror(a) // it is symmetric to rounding
	return &Exact{rows, scale, turn, a}, ctx.Err()
}

// On returns the expansion m with the Gram matrices and distances of the kernel. The stored points
// of m are these rows, among which are all rows of the kernel.
func (e *Exact) On(m *fitted.Map, stored []int) *fitted.Map {
	by := fitted.Correction{Scale: e.scale, Rows: positions(stored, e.rows), Turn: e.turn, Change: e.change}
	return fitted.Corrected(m, by)
}

// With is [Exact.On] for a prior kernel that is itself a change of k, by the stored points s of m:
// k(x, y) - k(x, s) V F V'k(s, y), whose values with the points l are H k(s, x).
func (e *Exact) With(eng *engine.Engine, m *fitted.Map, v, f, h blas.Matrix) *fitted.Map {
	r, q := v.Cols, v.Cols+e.change.Rows
	turn, change := eng.NewMatrix(v.Rows, q), eng.NewMatrix(q, q)
	turn.View(0, v.Rows, 0, r).CopyFrom(v)
	eng.Backend().Gemm(true, false, 1, h, e.turn, 0, turn.View(0, v.Rows, r, q))
	change.View(0, r, 0, r).CopyFrom(f)
	change.View(r, q, r, q).CopyFrom(e.change)
	eng.Mirror(change)
	return fitted.Corrected(m, fitted.Correction{Scale: 1, Turn: turn, Change: change})
}
