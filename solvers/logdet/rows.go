package logdet

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Rows returns the A nearest to the identity for which the distances d(i, j) = (g_i - g_j)' A (g_i - g_j) of the
// rows of g, n x r, meet the constraints, by cyclic Bregman projections (Davis, Kulis, Jain, Sra & Dhillon,
// ICML 2007, in the form that is exact for every gamma): each meets one constraint and its slack, with its
// multiplier at least 0. For a metric or kernel M = G G' the learned one is G A G'.
//
// Cost: 4 r^2 flops for a constraint on a distance and sweep, twice that for Nearer; memory for the
// constraints' vectors.
//
// Errors: a *fault.ParamError or *fault.DataError for options and constraints that cannot be used; a request
// beyond the memory limit; ctx.Err(). That MaxSweeps are not enough is no error: Converged says so.
func Rows(ctx context.Context, eng *engine.Engine, g blas.Matrix, constraints []Constraint, o Options) (*Result, error) {
	s, err := newState(g.Rows, constraints, o)
	if err != nil {
		return nil, err
	}
	f, err := newRows(eng, g, s)
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx.Err, f.project); err != nil {
		return nil, err
	}
	s.A = f.a.matrix()
	return s.Result, nil
}

// rows is the form in the coordinates of g.
type rows struct {
	*state
	t      *asm.Table
	r, row int         // coordinates, and padded ones
	w      []float64   // the vectors of the constraints, row apart: I - J, and for Nearer I - K
	at     []int       // where those of a constraint begin in w
	a      quadratic   // A
	q, q2  []float64   // A w
	g      blas.Matrix // the points
}

// changed is a symmetric matrix that takes A += beta q q'.
type changed interface {
	add(beta float64, q []float64)
}

// quadratic is a symmetric matrix.
type quadratic interface {
	changed
	image(w, q []float64) // q = A w
	matrix() blas.Matrix  // a copy, both triangles
	set(a blas.Matrix)    // from both triangles
}

// crossover is the order from which on a matrix is left to the backend: half of it is read for an image, and its
// changes are products.
const crossover = 192

func newRows(eng *engine.Engine, g blas.Matrix, s *state) (*rows, error) {
	t := eng.Backend().Kernels()
	f := &rows{state: s, t: t, r: g.Cols, row: (g.Cols + t.Lanes - 1) / t.Lanes * t.Lanes, g: g}
	count := 0
	for _, c := range s.constraints {
		if f.at = append(f.at, count*f.row); c.Kind == Nearer {
			count++
		}
		count++
	}
	if err := eng.Check(fmt.Sprintf("LogDet projections on %d constraints in %d dimensions", len(s.constraints), f.r), engine.MatrixBytes(count, f.row)+engine.MatrixBytes(f.row, f.row), "use fewer constraints or dimensions"); err != nil {
		return nil, err
	}
	f.w = make([]float64, count*f.row)
	for k, c := range s.constraints {
		f.difference(f.at[k], c.I, c.J)
		if c.Kind == Nearer {
			f.difference(f.at[k]+f.row, c.I, c.K)
		}
	}
	f.q, f.q2 = make([]float64, f.row), make([]float64, f.row)
	f.a = newQuadratic(eng, f.r, f.row)
	total := 0.0
	for i := range g.Rows {
		for _, v := range g.Row(i) {
			total += v * v
		}
	}
	s.nothing = 1e-14 * total / math.Max(1, float64(g.Rows))
	if s.o.Start != nil {
		f.a.set(s.o.Start.A)
	}
	return f, nil
}

func (f *rows) difference(at, i, j int) {
	w, other := f.w[at:at+f.r], f.g.Row(j)
	for c, v := range f.g.Row(i) {
		w[c] = v - other[c]
	}
}

// project meets one constraint.
func (f *rows) project(k int) (change float64) {
	w := f.w[f.at[k]:][:f.row:f.row]
	f.a.image(w, f.q)
	p := f.t.Dot(w, f.q)
	if f.constraints[k].Kind == Nearer {
		return f.nearer(k, w, p)
	}
	if p <= f.nothing {
		f.skipped[k] = true
		return 0
	}
	a := f.single(k, p)
	if a == 0 {
		return 0
	}
	b := f.constraints[k].sign() * a
	f.a.add(b/(1-b*p), f.q)
	return math.Abs(a) * p
}

func (f *rows) nearer(k int, u []float64, near float64) float64 {
	v := f.w[f.at[k]+f.row:][:f.row:f.row]
	f.a.image(v, f.q2)
	far, cross := f.t.Dot(v, f.q2), f.t.Dot(u, f.q2)
	if far <= f.nothing {
		f.skipped[k] = true
		return 0
	}
	a := f.double(k, far, near, cross)
	if a == 0 {
		return 0
	}
	addPair(f.t, f.a, a, far, near, cross, f.q2, f.q)
	return math.Abs(a) * max(far, near)
}

// addPair changes A as weights says, by the images of v and u, which it destroys.
func addPair(t *asm.Table, m changed, a, far, near, cross float64, v, u []float64) {
	vv, vu, uu := weights(a, far, near, cross)
	m.add(vv-vu, v)
	m.add(uu-vu, u)
	t.Axpy(1, v, u)
	m.add(vu, u)
}

// newQuadratic returns the identity.
func newQuadratic(eng *engine.Engine, r, row int) quadratic {
	if r >= crossover {
		m := &lower{newBacklog(eng, blas.NewMatrix(r, r))}
		for i := range r {
			m.a.Set(i, i, 1)
		}
		return m
	}
	m := &whole{t: eng.Backend().Kernels(), r: r, row: row, a: make([]float64, r*row), start: []int{0, r}, index: make([]int32, r)}
	for i := range r {
		m.a[i*row+i], m.index[i] = 1, int32(i)
	}
	return m
}

// whole holds both triangles in padded rows, for matrices that fit the nearest caches.
type whole struct {
	t      *asm.Table
	r, row int
	a      []float64
	start  []int
	index  []int32
}

func (m *whole) image(w, q []float64) {
	m.t.SparseRows(m.start, m.index, w, m.a, m.row, m.row, q, m.row)
}

func (m *whole) add(beta float64, q []float64) {
	for i := range m.r {
		m.t.Axpy(beta*q[i], q, m.a[i*m.row:(i+1)*m.row])
	}
}

func (m *whole) matrix() blas.Matrix {
	return blas.Matrix{Rows: m.r, Cols: m.r, Stride: m.row, Data: m.a}.Clone()
}

func (m *whole) set(a blas.Matrix) {
	for i := range m.r {
		copy(m.a[i*m.row:], a.Row(i))
	}
}

// lower leaves a large matrix, in its lower triangle, to the backend, and its changes to a backlog.
type lower struct{ backlog }

func (m *lower) image(w, q []float64) {
	n, count := m.a.Rows, len(m.beta)
	m.b.Symv(1, m.a, w[:n], 0, q[:n])
	if count > 0 {
		m.b.Gemv(false, 1, m.images.View(0, count, 0, n), w[:n], 0, m.part[:count])
		m.correct(q[:n])
	}
}

func (m *lower) add(beta float64, q []float64) { m.backlog.add(beta, q[:m.a.Rows]) }
func (m *lower) set(a blas.Matrix)             { m.a.CopyFrom(a) }
func (m *lower) matrix() blas.Matrix {
	m.flush()
	out := m.a.Clone()
	out.Mirror()
	return out
}
