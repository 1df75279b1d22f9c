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
// Cost: 4 r^2 flops per constraint on a distance and sweep, twice that for Nearer; up to 4 m^3 for
// a step of Newton's method for the dual of m constraints, about 100 m r^2 for one of that for A;
// memory for the constraints' vectors, and up to 8 m^2 or 2 m r values for Newton's method.
//
// Errors: a *fault.ParamError or *fault.DataError for invalid options and constraints; a request
// beyond the memory limit; ctx.Err(). If MaxSweeps are not enough, this is no error, but Converged
// is false.
func Rows(ctx context.Context, eng *engine.Engine, g blas.Matrix, constraints []Constraint, o Options) (*Result, error) {
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
	first, pairs := vectors(s.constraints)
	count, row := len(pairs), (g.Cols+t.Lanes-1)/t.Lanes*t.Lanes
	f.at = first
	if err := eng.Check(fmt.Sprintf("LogDet projections on %d constraints in %d dimensions", len(s.constraints), g.Cols), engine.MatrixBytes(count, row)+engine.MatrixBytes(row, row), "use fewer constraints or dimensions"); err != nil {
		return nil, err
	}
	f.w = blas.Matrix{Rows: count, Cols: g.Cols, Stride: row, Data: make([]float64, count*row)}
	each(eng, count, func(v int) { f.difference(v, pairs[v][0], pairs[v][1]) })
	s.t, s.q, s.q2 = t, make([]float64, row), make([]float64, row)
	f.quadratic = newQuadratic(eng, f.w)
	squares, total := make([]float64, g.Rows), 0.0
	each(eng, g.Rows, func(i int) { squares[i] = t.Dot(g.Row(i), g.Row(i)) })
	for _, v := range squares {
		total += v
	}
	s.nothing = 1e-14 * total / math.Max(1, float64(g.Rows))
	s.wait = s.patience(count, g.Cols, 4*float64(count)*float64(g.Cols*g.Cols))
	s.many = count == len(s.constraints) && s.descends(count, g.Cols)
	return f, nil
}

func (f *rows) order() int { return f.w.Cols }

func (f *rows) reset() {
	one := blas.NewMatrix(f.w.Cols, f.w.Cols)
	for i := range one.Rows {
		one.Set(i, i, 1)
	}
	f.set(one)
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
		m := &lower{backlog: newBacklog(eng, eng.NewMatrix(r, r)), w: w, products: eng.NewMatrix(mostAhead, r)}
		for i := range r {
			m.a.Set(i, i, 1)
		}
		return m
	}
	m := &whole{t: eng.Backend().Kernels(), w: w, a: make([]float64, r*w.Stride), start: []int{0, r}, index: make([]int32, r)}
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
		m.b.Symm(false, 1, m.a, m.w.View(v, v+m.left, 0, m.w.Cols), 0, m.products.View(0, m.left, 0, m.w.Cols))
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
