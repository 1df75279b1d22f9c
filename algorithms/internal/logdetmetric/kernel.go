package logdetmetric

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Positions returns the map from rows to their indices in the list.
func Positions(rows []int) map[int]int {
	index := make(map[int]int, len(rows))
	for at, i := range rows {
		index[i] = at
	}
	return index
}

// Change returns B = P - P K P, where K is the learned kernel matrix of a result and P holds the
// signed multipliers of its constraints. With the prior kernel k0, the learned kernel is
// k0(x, y) - k0(x, .) B k0(., y).
//
// P has few elements in a row, so that products with it cost a few n flops for each constraint.
func Change(ctx context.Context, eng *engine.Engine, r *logdet.Result,
	constraints []logdet.Constraint) (blas.Matrix, error) {
	n, t := r.A.Rows, eng.Backend().Kernels()
	b, half := eng.NewMatrix(n, n), eng.NewMatrix(n, n)
	multiplied := func(x blas.Matrix, sign float64, to blas.Matrix) error { // to += sign P X
		const columns = 64
		return eng.For(ctx, n, columns, func(lo, hi int) error {
			part, row := to.View(0, n, lo, hi), make([]float64, hi-lo)
			signed(constraints, r.Multipliers, func(i, j int, w float64) {
				copy(row, x.Row(i)[lo:hi])
				t.Axpy(-1, x.Row(j)[lo:hi], row)
				t.Axpy(sign*w, row, part.Row(i))
				t.Axpy(-sign*w, row, part.Row(j))
			})
			return nil
		})
	}
	if err := multiplied(r.A, 1, half); err != nil {
		return b, err
	}
	if err := multiplied(eng.Transposed(half), -1, b); err != nil { // P K P = P (P K)'
		return b, err
	}
	signed(constraints, r.Multipliers, func(i, j int, w float64) {
		b.Set(i, i, b.At(i, i)+w)
		b.Set(j, j, b.At(j, j)+w)
		b.Set(i, j, b.At(i, j)-w)
		b.Set(j, i, b.At(j, i)-w)
	})
	return b, nil
}

// signed calls add for the terms w (e_i - e_j)(e_i - e_j)' of the constraints with multipliers.
func signed(constraints []logdet.Constraint, multipliers []float64, add func(i, j int, w float64)) {
	for k, c := range constraints {
		w := multipliers[k]
		switch c.Kind {
		case logdet.AtMost:
			add(c.I, c.J, w)
		case logdet.AtLeast:
			add(c.I, c.J, -w)
		case logdet.Nearer:
			add(c.I, c.J, w)
			add(c.I, c.K, -w)
		}
	}
}

// supportSize is the number of support points of an embedding. There are more if more points are
// linked.
const supportSize = 2000

// SupportRows returns the rows of the support points, ascending: the linked points and others drawn
// at random.
func SupportRows(linked []int, n int, seed uint64) []int {
	rows := slices.Clone(linked)
	rng := rand.New(rand.NewPCG(seed, 0x6b65726e))
	for _, i := range rng.Perm(n) {
		if len(rows) >= supportSize {
			break
		}
		if _, is := slices.BinarySearch(linked, i); !is {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	return rows
}

// rankTol is the eigenvalue of the learned kernel matrix, relative to the largest, up to which a
// direction counts as rounding.
const rankTol = 1e-10

// Linked is a kernel on points of which some are linked, and what is to be kept of it.
type Linked struct {
	Method string // name of the method, for its map
	Kernel kernel.Kernel
	Scale  float64 // factor of the kernel
	X      points.Points
	Rows   []int  // of the linked points, ascending
	Dims   int    // directions of the map, all for 0
	Seed   uint64 // draws the landmarks and the stored points
}

// Learned returns the map to the principal directions of the learned kernel
//
//	scale k(x, y) - scale^2 k(x, l) B k(l, y)
//
// on [SupportRows] of the points x, which include the linked ones l.
func (l Linked) Learned(ctx context.Context, eng *engine.Engine, b blas.Matrix) (*fitted.Map, error) {
	rows := SupportRows(l.Rows, l.X.Len(), l.Seed)
	n := len(rows)
	if err := eng.Check("learned kernel matrix", 5*engine.MatrixBytes(n, n),
		"use fewer links or points"); err != nil {
		return nil, err
	}
	support := l.X.Select(rows)
	gram, err := l.Kernel.GramScratch(ctx, eng, support)
	if err != nil {
		return nil, err
	}
	defer eng.PutMatrix(gram)
	among, noise := positions(rows, l.Rows), l.Kernel.Noise(support)/gram.Trace()
	if err := scaled(ctx, eng, l.Scale, gram); err != nil {
		return nil, err
	}
	v, err := directions(ctx, eng, gram, among, b, l.Dims, noise)
	if err != nil {
		return nil, err
	}
	if err := scaled(ctx, eng, l.Scale, v); err != nil {
		return nil, err
	}
	return fitted.NewExpansion(l.Method, l.Kernel, support, v, nil), nil
}

// positions returns the indices of some of the rows in the list.
func positions(rows, some []int) []int {
	index, out := Positions(rows), make([]int, len(some))
	for a, i := range some {
		out[a] = index[i]
	}
	return out
}

// scaled multiplies m.
func scaled(ctx context.Context, eng *engine.Engine, scale float64, m blas.Matrix) error {
	if scale == 1 {
		return nil
	}
	t := eng.Backend().Kernels()
	return eng.Each(ctx, m.Rows, rowsEach, func(i int) { t.Scale(scale, m.Row(i)) })
}

// rowsEach is the number of rows of a matrix of the support points that one task processes.
const rowsEach = 32

// directions returns the matrix V of the coordinates y = V k0(l, x) over the support points l. Let
// C be the linked points and K = K0 - K0_C B K0_C' = U W U' the learned kernel matrix of the
// support points. Then y = W^-1/2 U' (k0(l, x) - K0_C B k0(C, x)).
func directions(
	ctx context.Context, eng *engine.Engine, k0 blas.Matrix, among []int, b blas.Matrix, dims int,
	noise float64,
) (blas.Matrix, error) {
	n, m := k0.Rows, len(among)
	columns, change := eng.GetMatrix(n, m), eng.GetMatrix(n, m) // K0_C, K0_C B
	learned := eng.GetMatrix(n, n)
	for _, scratch := range []blas.Matrix{columns, change, learned} {
		defer eng.PutMatrix(scratch)
	}
	err := eng.Each(ctx, n, rowsEach, func(i int) {
		row, to := k0.Row(i), columns.Row(i)
		for a, j := range among {
			to[a] = row[j]
		}
		copy(learned.Row(i), row)
	})
	if err != nil {
		return blas.Matrix{}, err
	}
	eng.Backend().Gemm(false, false, 1, columns, b, 0, change)
	eng.Backend().Gemm(false, true, -1, change, columns, 1, learned)
	v, err := Axes(ctx, eng, learned, dims, noise)
	if err != nil {
		return v, err
	}
	on := eng.GetMatrix(v.Rows, m) // on the linked points
	defer eng.PutMatrix(on)
	eng.Backend().Gemm(false, false, 1, v, change, 0, on)
	return v, eng.Each(ctx, v.Rows, rowsEach, func(k int) {
		row, on := v.Row(k), on.Row(k)
		for a, j := range among {
			row[j] -= on[a]
		}
	})
}

// Axes returns the rows u' / sqrt(w) for the eigenpairs (w, u) of a learned kernel matrix, the
// largest eigenvalues first, at most maxDims of them or all for 0. Those up to noise, relative to
// the largest, are left out. It overwrites the matrix.
func Axes(ctx context.Context, eng *engine.Engine, learned blas.Matrix, maxDims int, noise float64) (
	blas.Matrix, error,
) {
	w, v, err := eng.SymEigTop(ctx, learned, maxDims)
	if err != nil {
		return v, err
	}
	dims, t := 0, eng.Backend().Kernels()
	for dims < len(w) && w[dims] > max(rankTol, noise)*w[0] {
		dims++
	}
	if dims == 0 {
		return v, fault.Data("", "the learned kernel matrix is 0: want points that differ under the kernel")
	}
	return v.View(0, dims, 0, v.Cols), eng.Each(ctx, dims, rowsEach, func(k int) {
		t.Scale(1/math.Sqrt(w[k]), v.Row(k))
	})
}

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
	ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, linked []int, r *logdet.Result,
	seed uint64,
) (*Exact, error) {
	o := operator.FactorOptions{Rest: negligible, Most: len(linked), Seed: seed}
	f, err := operator.NewFactor(ctx, eng, k, x.Select(linked), o)
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
	return exact(ctx, eng, points.Pick(linked, f.Pivots), 1, f.Triangle(), a)
}

// Exact returns the kernel for a learned matrix A in the coordinates G, which changes the part of
// the kernel that the landmarks carry.
func (r *Reduced) Exact(
	ctx context.Context, eng *engine.Engine, linked []int, a blas.Matrix,
) (*Exact, error) {
	return exact(ctx, eng, points.Pick(linked, r.pivots), r.scale, r.l, eng.Clone(a))
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
	turn.Shift(scale)
	eng.Backend().Trsm(true, true, l, turn)
	if err := scaled(ctx, eng, -1, a); err != nil {
		return nil, err
	}
	a.Shift(1)
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
