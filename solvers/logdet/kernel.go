package logdet

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Kernel returns the kernel matrix nearest to k whose distances d(i, j) = K_ii + K_jj - 2 K_ij
// satisfy the constraints, by the projections of [Rows]. k is n x n, symmetric positive definite,
// lower triangle; it is overwritten and becomes the result's A.
//
// Some dozens of rank-one changes are collected and then applied at once, so that their n^2 flops
// run at the speed of matrix products.
//
// Cost: 2 n^2 flops per constraint that moves and sweep, and reading n delay / 2 values; up to 4
// m^3 flops for a step of Newton's method and m constraints. Errors are those of Rows.
func Kernel(ctx context.Context, eng *engine.Engine, k blas.Matrix, constraints []Constraint, o Options) (*Result, error) {
	n := blas.CheckSquare(k)
	s, err := newState(n, constraints, o)
	if err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("LogDet projections of a kernel matrix of order %d", n), 3*engine.MatrixBytes(delay, n), "use fewer points"); err != nil {
		return nil, err
	}
	f := &delayed{state: s, backlog: newBacklog(eng, k)}
	_, f.pairs = vectors(constraints)
	if s.wait = s.patience(len(f.pairs), n, 2*float64(n)*float64(n)*float64(len(f.pairs))); s.wait > 0 {
		if err := eng.Check(fmt.Sprintf("copy of a kernel matrix of order %d", n), engine.MatrixBytes(n, n), "use fewer points"); err != nil {
			return nil, err
		}
		f.prior = eng.Clone(k)
	}
	s.learned, s.t, s.q, s.q2 = f, eng.Backend().Kernels(), make([]float64, n), make([]float64, n)
	total := 0.0
	for i := range n {
		total += k.At(i, i)
	}
	s.nothing = 1e-14 * total / math.Max(1, float64(n))
	return s.solve(ctx, eng)
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
