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
// Cost: 2 n^2 flops per constraint and sweep, and reading n delay / 2 values. Errors are those of
// Rows.
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
	s.learned, s.t, s.q, s.q2 = f, eng.Backend().Kernels(), make([]float64, n), make([]float64, n)
	total := 0.0
	for i := range n {
		total += k.At(i, i)
	}
	s.nothing = 1e-14 * total / math.Max(1, float64(n))
	return s.solve(ctx.Err)
}

// delayed is the problem in terms of a whole kernel matrix.
type delayed struct {
	*state
	backlog // of the kernel matrix
}

// square writes the whole image K (e_i - e_j) to q.
func (f *delayed) square(k int, far bool, q []float64) float64 {
	c := f.constraints[k]
	i, j := c.I, c.J
	if far {
		j = c.K
	}
	f.image(i, j, q)
	return q[i] - q[j]
}

func (f *delayed) finish([]float64) {}

func (f *delayed) cross(k int, q []float64) float64 {
	return q[f.constraints[k].I] - q[f.constraints[k].J]
}

func (f *delayed) add(beta float64, q []float64) { f.backlog.add(beta, q) }

func (f *delayed) set(a blas.Matrix) { f.a.CopyFrom(a) }

func (f *delayed) matrix() blas.Matrix {
	f.flush()
	f.a.Mirror()
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
