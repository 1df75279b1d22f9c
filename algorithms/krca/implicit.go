package krca

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/krylov"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// A few eigenvectors of the learned kernel matrix Kt of m points are found without it, from
// products of (1b) with some vectors at a time, where D = K_xa F is m x r and s = n eps:
//
//	eps Kt v = K v - D (sI + F'KF)^-1 D'v
//
// In the basis Q = [F1 H] of a rotation, the rows of D that belong to F1 are rows of F'KF, which
// the factor knows: L L' = sI + F'KF. With E v1 the vector v1 in the rows that F1 has in F,
//
//	B = H'K_xa F,  C = H'K H,  t = (L L')^-1 (B'v2 - s E v1)
//	eps Q'Kt Q [v1 v2] = [s (v1 + E't), C v2 - B t]
//
// That takes 2 (2 q r + q^2 + r^2) flops for each v, where q is the number of columns of H, and Kt
// itself takes m r (m + r).
const (
	implicitLeast  = 2500  // points; for fewer, a search takes as long as Kt
	implicitShare  = 20    // points for each eigenvector, at least
	implicitBlock  = 12    // vectors that are multiplied together, at least
	implicitBasis  = 240   // vectors of the Krylov space, or 10 for each eigenvector if that is more
	implicitSpeed  = 0.5   // of products, compared with that of computing Kt
	implicitTol    = 1e-12 // residual of an eigenvector, relative to the largest eigenvalue
	implicitLosses = 1e-10 // the largest eigenvalue, relative to what it is left from by subtraction
)

// implicitSize reports whether products may save time, for dims eigenvectors of m points.
func implicitSize(m, dims int) bool {
	return m >= implicitLeast && dims > 0 && dims <= m/implicitShare
}

// implicit reports whether to search by products. Only Kt shows that a kernel is not positive
// semidefinite, so that must be known.
func (m *metric) implicit(x points.Points, refs, dims int) bool {
	_, given := x.(*points.Gram)
	return !given && !m.spectral() && implicitSize(refs, dims) && m.kernel.Definite()
}

// whole returns the next number of columns that fill vector registers: products are fast with it.
func whole(eng *engine.Engine, columns int) int {
	lanes := eng.Backend().Kernels().Lanes
	return (columns + lanes - 1) / lanes * lanes
}

// affordable returns the number of products with a vector whose time beyond that of products with
// Kt is the time that Kt takes. Solves count twice, because their products are small.
func (m *metric) affordable(g *evaluated) int {
	n, r, q := float64(g.x.Len()), float64(m.f.order()), float64(g.rotation.groups())
	return int(implicitSpeed * n * r * (n + r) / (2 * ((q+r)*(q+r) - n*n + r*r)))
}

// search finds the leading eigenpairs of the centered Kt by products, and completes g after the
// given number of them: then a search, however long, takes little more time than one that begins
// with Kt. It returns none if it does not converge, if too little of the kernel values is left in
// Kt, or if their size is immoderate: products might overflow.
func (m *metric) search(ctx context.Context, eng *engine.Engine, g *evaluated, dims,
	products int) (spectrum, error) {
	n, s, largest := g.x.Len(), spectrum{}, slices.Max(g.diagonal)
	if !(largest > 1e-100 && largest < 1e100 && largest/m.eps < 1e100) {
		return s, nil
	}
	for _, v := range g.diagonal {
		s.trace += v / m.eps
	}
	ones := blas.NewMatrix(n, 1) // vectors orthogonal to it sum to 0, which is what centering does
	for i := range ones.Data {
		ones.Data[i] = 1 / math.Sqrt(float64(n))
	}
	ones = g.rotation.apply(ones) // as everything until the vectors are found
	// Each element of a product with a unit vector has a rounding error of about u trace/n.
	pass := func(_, norm float64) float64 {
		return max(implicitTol*norm, 0x1p-50*s.trace/math.Sqrt(float64(n)))
	}
	p := krylov.Problem{
		N: n, K: dims, Block: whole(eng, implicitBlock), Basis: min(n/2-1, max(10*dims, implicitBasis)),
		Backend: eng.Backend(), Pass: pass, Budget: 2 * n, Seed: uint64(dims), Locked: ones,
		For:      func(n, block int, f func(lo, hi int) error) error { return eng.For(ctx, n, block, f) },
		Progress: func(int, int) error { return ctx.Err() },
		Multiply: func(x, y blas.Matrix) error {
			if products -= x.Cols; products < 0 && g.open {
				if err := m.complete(ctx, eng, g); err != nil {
					return err
				}
			}
			m.multiply(ctx, eng, g, y, x)
			return ctx.Err()
		},
	}
	memory := eng.GetMatrix(1, p.Space())
	defer eng.PutMatrix(memory)
	p.Memory = memory.Data
	found, err := p.Find()
	if err != nil || !found.Converged || found.Values[0] <= implicitLosses*s.trace {
		return spectrum{}, ctx.Err() // another error is one of values that are not finite
	}
	s.values = found.Values
	if !m.confirm(ctx, eng, g, &s, g.rotation.expand(found.Vectors), 4*pass(0, found.Norm)) {
		return spectrum{}, ctx.Err()
	}
	return s, ctx.Err()
}

// multiply writes Q'Kt Q x to y.
func (m *metric) multiply(ctx context.Context, eng *engine.Engine, g *evaluated, y, x blas.Matrix) {
	backend, n := eng.Backend(), float64(m.f.points())
	if !g.short {
		v, kv := g.rotation.expand(x), blas.NewMatrix(x.Rows, x.Cols)
		backend.Gemm(false, false, 1, g.kt, v, 0, kv)
		y.CopyFrom(g.rotation.apply(kv))
		return
	}
	t, first := m.turn(ctx, eng, g, x), len(g.rotation.columns)
	for i, c := range g.rotation.columns { // on one core: m numbers a column, where C has q^2
		for k, v := range x.Row(i) {
			y.Row(i)[k] = n * (v + t.At(c, k))
		}
	}
	backend.Gemm(false, false, -1/m.eps, g.turned.View(0, g.turned.Rows, 0, t.Rows), t, 0,
		y.View(first, y.Rows, 0, y.Cols))
}

// turn returns t of the vectors x = [v1 v2], with -v2 below it; undefined if ctx is done.
func (m *metric) turn(ctx context.Context, eng *engine.Engine, g *evaluated, x blas.Matrix) blas.Matrix {
	r, first, q := m.f.order(), len(g.rotation.columns), g.rotation.groups()
	all := blas.NewMatrix(r+q, x.Cols)
	t, v2 := all.View(0, r, 0, x.Cols), x.View(first, first+q, 0, x.Cols)
	eng.Backend().Gemm(true, false, 1, g.turned.View(0, q, 0, r), v2, 0, t)
	for i, c := range g.rotation.columns { // on one core, as in multiply
		blas.AddScaled(t.Row(c), -float64(m.f.points())*m.eps, x.Row(i))
	}
	g.factor.solve(ctx, eng, t)
	for i := range q {
		blas.AddScaled(all.Row(r+i), -1, v2.Row(i))
	}
	return all
}

// fold returns (L L')^-1 D'x, which is t + E v1.
func (m *metric) fold(ctx context.Context, eng *engine.Engine, g *evaluated, x blas.Matrix) blas.Matrix {
	if !g.short { // g.c is D L'^-1
		z := blas.NewMatrix(g.c.Cols, x.Cols)
		eng.Backend().Gemm(true, false, 1, g.c, x, 0, z)
		eng.Backend().Trsm(true, true, m.factor, z)
		return z
	}
	x = g.rotation.apply(x)
	z := m.turn(ctx, eng, g, x).View(0, m.f.order(), 0, x.Cols)
	for i, c := range g.rotation.columns {
		blas.AddScaled(z.Row(c), 1, x.Row(i))
	}
	return z
}

// confirm completes s, whose eigenvectors are the columns of u, and reports whether the residual of
// each is within the limit. The search only estimates residuals.
func (m *metric) confirm(ctx context.Context, eng *engine.Engine, g *evaluated, s *spectrum, u blas.Matrix,
	limit float64) bool {
	n, k := u.Rows, u.Cols
	x := blas.NewMatrix(n, whole(eng, k+1))
	y := blas.NewMatrix(n, x.Cols)
	x.View(0, n, 0, k).CopyFrom(u)
	for i := range n {
		x.Set(i, k, 1/float64(n))
	}
	m.multiply(ctx, eng, g, y, g.rotation.apply(x))
	y = g.rotation.expand(y)
	s.column, s.vectors = columnOf(y, k), blas.NewMatrix(k, n)
	for j, w := range s.values {
		v, rest := s.vectors.Row(j), columnOf(y, j)
		copy(v, columnOf(u, j))
		blas.AddScaled(rest, -w, v)
		subtractMean(rest)
		if !(math.Sqrt(blas.Dot(rest, rest)) <= limit) {
			return false
		}
	}
	return true
}

func columnOf(a blas.Matrix, j int) []float64 {
	out := make([]float64, a.Rows)
	for i := range out {
		out[i] = a.At(i, j)
	}
	return out
}

// substitution solves systems with L L' for few right sides, again and again. The triangles on the
// diagonal of L are inverted, because a substitution with one leaves nothing to other workers:
// products with the inverse, and with what is below it, are all that is left.
type substitution struct {
	l        blas.Matrix
	inverses blas.Matrix // scratch memory: of each triangle, in its rows from column 0 on
}

const (
	triangleOrder = 512 // of the triangles: inverses take 1/3 r triangleOrder^2 flops
	triangleRows  = 32  // of an inverse that a task multiplies
)

func newSubstitution(ctx context.Context, eng *engine.Engine, l blas.Matrix) (substitution, error) {
	s := substitution{l, eng.GetMatrix(l.Rows, min(triangleOrder, l.Rows))}
	return s, eng.For(ctx, l.Rows, triangleOrder, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := s.inverses.Row(i)
			clear(row[copy(row[:i-lo+1], l.Row(i)[lo:]):])
		}
		return eng.Backend().TriangularInverse(s.inverses.View(lo, hi, 0, hi-lo))
	})
}

// solve turns z into (L L')^-1 z. If ctx is done, the result is undefined.
func (s *substitution) solve(ctx context.Context, eng *engine.Engine, z blas.Matrix) {
	r, k, gemm := z.Rows, z.Cols, eng.Backend().Gemm
	y := blas.NewMatrix(r, k)
	for lo := 0; lo < r; lo += triangleOrder { // L y = z, of what is left of z
		hi := min(lo+triangleOrder, r)
		_ = eng.For(ctx, hi-lo, triangleRows, func(a, b int) error {
			gemm(false, false, 1, s.inverses.View(lo+a, lo+b, 0, b), z.View(lo, lo+b, 0, k), 0,
				y.View(lo+a, lo+b, 0, k))
			return nil
		})
		if hi < r {
			gemm(false, false, -1, s.l.View(hi, r, lo, hi), y.View(lo, hi, 0, k), 1, z.View(hi, r, 0, k))
		}
	}
	for lo := (r - 1) / triangleOrder * triangleOrder; lo >= 0; lo -= triangleOrder { // L'z = y
		hi := min(lo+triangleOrder, r)
		_ = eng.For(ctx, hi-lo, triangleRows, func(a, b int) error {
			gemm(true, false, 1, s.inverses.View(lo+a, hi, a, b), y.View(lo+a, hi, 0, k), 0,
				z.View(lo+a, lo+b, 0, k))
			return nil
		})
		if lo > 0 {
			gemm(true, false, -1, s.l.View(lo, hi, 0, lo), z.View(lo, hi, 0, k), 1, y.View(0, lo, 0, k))
		}
	}
}
