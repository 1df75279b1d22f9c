package logdet

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Kernel returns the kernel matrix nearest to k, n x n, symmetric positive definite, lower triangle, whose
// distances d(i, j) = K_ii + K_jj - 2 K_ij meet the constraints, by the projections of [Rows]. k is
// overwritten and becomes the result's A.
//
// The rank-one changes are kept back until there are some dozens, and then made at once, so that the n^2 flops of
// each run at the speed of products of matrices.
//
// Cost: 2 n^2 flops for a constraint and sweep, and reading n delay / 2 values. Errors are those of Rows.
func Kernel(ctx context.Context, eng *engine.Engine, k blas.Matrix, constraints []Constraint, o Options) (*Result, error) {
	n := blas.CheckSquare(k)
	s, err := newState(n, constraints, o)
	if err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("LogDet projections of a kernel matrix of order %d", n), 3*engine.MatrixBytes(delay, n), "use fewer points"); err != nil {
		return nil, err
	}
	f := &delayed{state: s, backlog: newBacklog(eng, k), t: eng.Backend().Kernels()}
	f.q, f.q2 = make([]float64, n), make([]float64, n)
	total := 0.0
	for i := range n {
		total += k.At(i, i)
	}
	s.nothing = 1e-14 * total / math.Max(1, float64(n))
	if err := f.begin(ctx.Err); err != nil {
		return nil, err
	}
	if err := s.run(ctx.Err, f.project); err != nil {
		return nil, err
	}
	f.flush()
	k.Mirror()
	s.A = k
	return s.Result, nil
}

// begin makes the matrix that of the start.
func (f *delayed) begin(done func() error) error {
	if f.o.Start == nil {
		return nil
	}
	if f.o.Start.A.Data != nil {
		f.a.CopyFrom(f.o.Start.A)
		return nil
	}
	return f.replay(done, f, func(k int, far bool) (float64, []float64) {
		i, j := f.constraints[k].I, f.constraints[k].J
		if far {
			j = f.constraints[k].K
		}
		f.image(i, j, f.q)
		return f.q[i] - f.q[j], f.q
	})
}

// delayed is the form on a whole kernel matrix.
type delayed struct {
	*state
	backlog // of the kernel matrix
	t       *asm.Table
	q, q2   []float64
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

func (f *delayed) add(beta float64, q []float64) { f.backlog.add(beta, q) }

func (f *delayed) project(k int) float64 {
	c := f.constraints[k]
	f.image(c.I, c.J, f.q)
	p := f.q[c.I] - f.q[c.J]
	if c.Kind == Nearer {
		return f.nearer(k, p)
	}
	if p <= f.nothing {
		f.skipped[k] = true
		return 0
	}
	a := f.single(k, p)
	if a == 0 {
		return 0
	}
	b := c.sign() * a
	f.add(b/(1-b*p), f.q)
	return math.Abs(a) * p
}

func (f *delayed) nearer(k int, near float64) float64 {
	c := f.constraints[k]
	f.image(c.I, c.K, f.q2)
	far, cross := f.q2[c.I]-f.q2[c.K], f.q2[c.I]-f.q2[c.J]
	if far <= f.nothing {
		f.skipped[k] = true
		return 0
	}
	a := f.double(k, far, near, cross)
	if a == 0 {
		return 0
	}
	addPair(f.t, f, a, far, near, cross, f.q2, f.q)
	return math.Abs(a) * max(far, near)
}
