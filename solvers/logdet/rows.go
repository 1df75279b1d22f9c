package logdet

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Rows returns the A nearest to the identity for which the distances d(i, j) = (g_i - g_j)' A (g_i
// - g_j) of the rows of g, n x r, satisfy the constraints. It uses cyclic Bregman projections
// (Davis, Kulis, Jain, Sra & Dhillon, ICML 2007, in the form that is exact for every gamma): each
// satisfies one constraint with its slack, and keeps its multiplier nonnegative. For a metric or
// kernel M = G G' the learned one is G A G'.
//
// Projections are slow where gamma is large or constraints are many. After some sweeps, and with
// bounds that give way, Newton's method for the dual does the rest, if it takes at most 2 GiB. For
// many constraints on distances, Newton's method for A itself takes less time, and comes first. The
// sweeps go on if rounding stops them.
//
// The constraints are taken in an order that depends on them and the distances of their points, not
// on the numbers of rows: with rows or constraints in another order, the result differs by rounding
// alone, unless constraints at equal distances are alike in all else.
//
// Cost: 4 r^2 flops per constraint on a distance and sweep, twice that for Nearer; up to 4 m^3 for
// a step of Newton's method for the dual of m constraints, about 100 m r^2 for one of that for A;
// memory for the constraints' vectors, and up to 8 m^2 or 2 m r values for Newton's method.
//
// Errors: a *fault.ParamError or *fault.DataError for invalid options and constraints; a request
// beyond the memory limit; ctx.Err(). If MaxSweeps are not enough, this is no error, but Converged
// is false.
func Rows(ctx context.Context, eng *engine.Engine, g blas.Matrix, constraints []Constraint,
	o Options) (*Result, error) {
	s, err := newState(g.Rows, constraints, o)
	if err != nil {
		return nil, err
	}
	f, err := newRows(eng, g, s)
	if err != nil {
		return nil, err
	}
	s.learned = f
	return s.solve(ctx, eng)
}

// rows is the problem in the coordinates of g.
type rows struct {
	*state
	eng       *engine.Engine
	quadratic             // A
	w         blas.Matrix // the vectors of the constraints, rows padded to r: I - J, and for Nearer I - K
	at        []int       // the first vector of each constraint
	g         blas.Matrix // the points
}

// quadratic is a symmetric matrix A and vectors w whose products with A are needed, usually one
// after the other.
type quadratic interface {
	changed
	// squareOf is square of learned for vector v.
	squareOf(v int, q []float64) float64
	finish(q []float64)
	matrix() blas.Matrix // a copy, both triangles
	set(a blas.Matrix)   // from both triangles
}

// crossover is the order from which the backend does the work: images of many vectors are a product
// of matrices, and so are many changes.
const crossover = 192

func newRows(eng *engine.Engine, g blas.Matrix, s *state) (*rows, error) {
	t := eng.Backend().Kernels()
	f := &rows{state: s, eng: eng, g: g}
	squares := make([]float64, g.Rows)
	each(eng, g.Rows, func(i int) { squares[i] = t.Dot(g.Row(i), g.Row(i)) })
	s.nothing = 1e-14 * blas.Sum(squares) / math.Max(1, float64(g.Rows))
	err := s.arrange(eng, func(i, j int) float64 { return t.SquaredDistance(g.Row(i), g.Row(j)) }, squares)
	if err != nil {
		return nil, err
	}
	first, pairs := vectors(s.constraints)
	count, row := len(pairs), (g.Cols+t.Lanes-1)/t.Lanes*t.Lanes
	f.at = first
	if err := eng.Check(fmt.Sprintf("LogDet projections on %d constraints in %d dimensions",
		len(s.constraints), g.Cols), engine.MatrixBytes(count, row)+engine.MatrixBytes(row, row),
		"use fewer constraints or dimensions"); err != nil {
		return nil, err
	}
	f.w = blas.Matrix{Rows: count, Cols: g.Cols, Stride: row, Data: make([]float64, count*row)}
	each(eng, count, func(v int) { f.difference(v, pairs[v][0], pairs[v][1]) })
	s.t, s.q, s.q2 = t, make([]float64, row), make([]float64, row)
	f.quadratic = newQuadratic(eng, f.w)
	s.wait = s.patience(count, g.Cols, 4*float64(count)*float64(g.Cols*g.Cols))
	s.many = count == len(s.constraints) && s.descends(count, g.Cols)
	return f, nil
}

func (f *rows) order() int { return f.w.Cols }

func (f *rows) reset() {
	f.set(blas.Identity(f.w.Cols))
}

func (f *rows) factor(ctx context.Context, eng *engine.Engine) (blas.Matrix, error) {
	if f.w.Rows >= f.w.Cols {
		return f.w, nil
	}
	gram := blas.NewMatrix(f.w.Rows, f.w.Rows)
	eng.Backend().Syrk(false, 1, f.w, 0, gram)
	return root(ctx, eng, gram)
}

func (f *rows) square(k int, far bool, q []float64) float64 {
	v := f.at[k]
	if far {
		v++
	}
	return f.squareOf(v, q)
}

// squares returns the function of the squares of all constraints, which it computes at once.
func (f *rows) squares() func(k int, far bool) float64 {
	const block = 256
	a, p := f.matrix(), make([]float64, f.w.Rows)
	_ = f.eng.For(context.Background(), len(p), block, func(lo, hi int) error { // see each
		image := f.eng.GetMatrix(hi-lo, a.Cols)
		defer f.eng.PutMatrix(image)
		f.eng.Backend().Gemm(false, false, 1, f.w.View(lo, hi, 0, a.Cols), a, 0, image)
		for v := lo; v < hi; v++ {
			p[v] = f.t.Dot(f.w.Row(v), image.Row(v-lo))
		}
		return nil
	})
	return func(k int, far bool) float64 {
		if far {
			return p[f.at[k]+1]
		}
		return p[f.at[k]]
	}
}

func (f *rows) cross(k int, q []float64) float64 {
	return f.t.Dot(f.w.Row(f.at[k]), q[:f.w.Cols])
}

func (f *rows) difference(v, i, j int) {
	w, other := f.w.Row(v), f.g.Row(j)
	for c, v := range f.g.Row(i) {
		w[c] = v - other[c]
	}
}

// newQuadratic returns the identity with the vectors in the rows of w.
func newQuadratic(eng *engine.Engine, w blas.Matrix) quadratic {
	r := w.Cols
	if r >= crossover {
		m := &lower{backlog: newBacklog(eng, eng.NewMatrix(r, r)), w: w,
			products: eng.NewMatrix(mostAhead, r)}
		m.a.Shift(1)
		return m
	}
	m := &whole{t: eng.Backend().Kernels(), w: w, a: make([]float64, r*w.Stride), start: []int{0, r},
		index: make([]int32, r)}
	for i := range r {
		m.a[i*w.Stride+i], m.index[i] = 1, int32(i)
	}
	return m
}

// whole has both triangles in padded rows, for matrices that fit the first caches.
type whole struct {
	t     *asm.Table
	w     blas.Matrix
	a     []float64 // r rows, with the stride of w
	start []int
	index []int32
}

func (m *whole) squareOf(v int, q []float64) float64 {
	row := m.w.Stride
	w := m.w.Data[v*row:][:row:row]
	m.t.SparseRows(m.start, m.index, w, m.a, row, row, q, row)
	return m.t.Dot(w, q)
}

func (m *whole) finish([]float64) {}

func (m *whole) add(beta float64, q []float64) {
	for i := range m.w.Cols {
		m.t.Axpy(beta*q[i], q, m.a[i*m.w.Stride:(i+1)*m.w.Stride])
	}
}

func (m *whole) matrix() blas.Matrix {
	return blas.Matrix{Rows: m.w.Cols, Cols: m.w.Cols, Stride: m.w.Stride, Data: m.a}.Clone()
}

func (m *whole) set(a blas.Matrix) {
	for i := range m.w.Cols {
		copy(m.a[i*m.w.Stride:], a.Row(i))
	}
}

// lower has a large matrix in its lower triangle, for the backend. The products of the next few
// dozen vectors are computed at once and corrected by later changes, which are also applied at
// once. While few vectors change the matrix, they are computed further ahead.
type lower struct {
	backlog
	w           blas.Matrix
	products    blas.Matrix // W A, for the remaining rows of w from first on
	first, left int
	ahead       int // vectors whose products are computed at once
}

// mostAhead is the largest number of vectors whose products are computed at once.
const mostAhead = 8 * delay

func (m *lower) squareOf(v int, q []float64) float64 {
	if v < m.first || v >= m.first+m.left {
		m.flush()
		m.ahead = min(2*m.ahead, mostAhead)
		if m.left == 0 { // other changes have ended the last products
			m.ahead = delay
		}
		m.first, m.left = v, min(m.ahead, m.w.Rows-v)
		m.b.Symm(false, 1, m.a, m.w.View(v, v+m.left, 0, m.w.Cols), 0,
			m.products.View(0, m.left, 0, m.w.Cols))
	}
	w, product := m.w.Row(v), m.products.Row(v-m.first)
	copy(q, product)
	p, count := m.b.Kernels().Dot(w, product), len(m.beta)
	if count > 0 {
		m.b.Gemv(false, 1, m.images.View(0, count, 0, len(w)), w, 0, m.part[:count])
	}
	for c, beta := range m.beta {
		p += beta * m.part[c] * m.part[c]
	}
	return p
}

func (m *lower) finish(q []float64) { m.correct(q[:m.w.Cols]) }

func (m *lower) add(beta float64, q []float64) {
	if m.backlog.add(beta, q[:m.w.Cols]) {
		m.left = 0 // the products belong to another matrix
	}
}

func (m *lower) set(a blas.Matrix) {
	m.backlog.set(a)
	m.left = 0
}

func (m *lower) matrix() blas.Matrix {
	m.flush()
	out := m.a.Clone()
	m.eng.Mirror(out)
	return out
}

// Kernel returns the kernel matrix nearest to k whose distances d(i, j) = K_ii + K_jj - 2 K_ij
// satisfy the constraints, by the projections of [Rows]. k is n x n, symmetric positive definite,
// lower triangle; it is overwritten and becomes the result's A.
//
// Some dozens of rank-one changes are collected and then applied at once, so that their n^2 flops
// run at the speed of matrix products.
//
// Cost: 2 n^2 flops per constraint that moves and sweep, and reading n delay / 2 values; up to 4
// m^3 flops for a step of Newton's method and m constraints. Errors are those of Rows.
func Kernel(ctx context.Context, eng *engine.Engine, k blas.Matrix, constraints []Constraint,
	o Options) (*Result, error) {
	n := blas.CheckSquare(k)
	s, err := newState(n, constraints, o)
	if err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("LogDet projections of a kernel matrix of order %d", n),
		3*engine.MatrixBytes(delay, n), "use fewer points"); err != nil {
		return nil, err
	}
	apart := func(i, j int) float64 { return k.At(i, i) - 2*k.At(max(i, j), min(i, j)) + k.At(j, j) }
	if err := s.arrange(eng, apart, distant(k)); err != nil {
		return nil, err
	}
	f := &delayed{state: s, backlog: newBacklog(eng, k)}
	_, f.pairs = vectors(s.constraints)
	if s.wait = s.patience(len(f.pairs), n, 2*float64(n)*float64(n)*float64(len(f.pairs))); s.wait > 0 {
		if err := eng.Check(fmt.Sprintf("copy of a kernel matrix of order %d", n), engine.MatrixBytes(n, n),
			"use fewer points"); err != nil {
			return nil, err
		}
		f.prior = eng.Clone(k)
	}
	s.learned, s.t, s.q, s.q2 = f, eng.Backend().Kernels(), make([]float64, n), make([]float64, n)
	s.nothing = 1e-14 * k.Trace() / math.Max(1, float64(n))
	return s.solve(ctx, eng)
}

// distant returns the mean squared distance of each point from all, less what is the same for all.
func distant(k blas.Matrix) []float64 {
	out, n := make([]float64, k.Rows), float64(k.Rows)
	for i := range out {
		out[i] += k.At(i, i) * (1 - 2/n)
		for j, v := range k.Row(i)[:i] {
			out[i] -= 2 * v / n
			out[j] -= 2 * v / n
		}
	}
	return out
}

// delayed is the problem in terms of a whole kernel matrix.
type delayed struct {
	*state
	backlog             // of the kernel matrix
	pairs   [][2]int    // of the constraints' vectors
	prior   blas.Matrix // lower triangle; empty if nothing needs it
	i, j    int         // of the last square
}

// square computes the distance alone: the image has n times as many values, and few constraints
// move in a late sweep.
func (f *delayed) square(k int, far bool, _ []float64) float64 {
	c := f.constraints[k]
	i, j := c.I, c.J
	if far {
		j = c.K
	}
	f.i, f.j = i, j
	cross := f.a.At(max(i, j), min(i, j))
	p := (f.a.At(i, i) - cross) - (cross - f.a.At(j, j))
	for c, beta := range f.beta {
		row := f.images.Row(c)
		d := row[i] - row[j]
		p += beta * d * d
	}
	return p
}

// finish writes the whole image K (e_i - e_j) of the last square to q.
func (f *delayed) finish(q []float64) { f.image(f.i, f.j, q) }

func (f *delayed) cross(k int, q []float64) float64 {
	return q[f.constraints[k].I] - q[f.constraints[k].J]
}

func (f *delayed) add(beta float64, q []float64) { f.backlog.add(beta, q) }

func (f *delayed) set(a blas.Matrix) { f.backlog.set(a) }
func (f *delayed) reset()            { f.set(f.prior) }
func (f *delayed) order() int        { return f.a.Rows }

// factor takes the smaller one of the kernel matrix and the Gram matrix of the vectors.
func (f *delayed) factor(ctx context.Context, eng *engine.Engine) (blas.Matrix, error) {
	if len(f.pairs) < f.prior.Rows {
		return root(ctx, eng, f.products())
	}
	points, err := root(ctx, eng, eng.Clone(f.prior))
	if err != nil {
		return points, err
	}
	out := eng.NewMatrix(len(f.pairs), points.Cols)
	each(eng, len(f.pairs), func(v int) {
		copy(out.Row(v), points.Row(f.pairs[v][0]))
		f.t.Axpy(-1, points.Row(f.pairs[v][1]), out.Row(v))
	})
	return out, nil
}

// products returns the inner products of the vectors under the prior, lower triangle.
func (f *delayed) products() blas.Matrix {
	out := f.eng.UnclearedMatrix(len(f.pairs), len(f.pairs))
	at := func(i, j int) float64 { return f.prior.At(max(i, j), min(i, j)) }
	each(f.eng, len(f.pairs), func(v int) {
		p := f.pairs[v]
		for w, q := range f.pairs[:v+1] {
			out.Set(v, w, at(p[0], q[0])-at(p[0], q[1])-at(p[1], q[0])+at(p[1], q[1]))
		}
	})
	return out
}

func (f *delayed) matrix() blas.Matrix {
	f.flush()
	f.eng.Mirror(f.a)
	return f.a
}

// image writes K (e_i - e_j) to q.
func (f *delayed) image(i, j int, q []float64) {
	f.column(1, i, q, true)
	f.column(-1, j, q, false)
	for c := range f.beta {
		row := f.images.Row(c)
		f.part[c] = row[i] - row[j]
	}
	f.correct(q)
}

// column adds a multiple of a column of K to q, or overwrites q with it.
func (f *delayed) column(alpha float64, i int, q []float64, first bool) {
	if first {
		clear(q)
	}
	f.t.Axpy(alpha, f.a.Row(i)[:i+1], q[:i+1])
	for at, j := (i+1)*f.a.Stride+i, i+1; j < f.a.Rows; at, j = at+f.a.Stride, j+1 {
		q[j] += alpha * f.a.Data[at]
	}
}
