// Package native is the default backend: Go, on the kernels of an asm.Table.
//
// Products run in the loop nest of package tile. Triangular solves and products, the inverse of a
// triangle and the Cholesky factorization halve their matrix until small triangles are left, so
// that nearly all flops are in products; QR collects reflections into blocks for the same reason. A
// symmetric matrix is reduced to tridiagonal form in panels and decomposed by divide and conquer;
// SymEigTop finds few eigenpairs of a large one by a Krylov search. gonum computes the small blocks
// at the ends of these recursions.
//
// # Bits
//
// The summation order of an element of a product depends only on k (package tile). So the bits of a
// row of C depend neither on the other rows and columns of the call, nor on their addresses in
// memory, nor on the number of workers. The same holds for each right-hand side of Trsm and each
// vector that Trmm multiplies, for each element of Syrk, whose result is therefore exactly
// symmetric, and for Gemv, row by row or, transposed, column by column.
//
// No product is skipped because a factor is 0, so NaN and Inf propagate as the formulas imply; Trsm
// and Trmm skip the zeros on the other side of the triangle.
package native

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/gonum"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/internal/forks"
)

var _ blas.Backend = (*backend)(nil)

type backend struct {
	t      *asm.Table
	nest   *tile.Nest
	alone  *tile.Nest   // with one worker, for use inside tasks
	leaves sync.Pool    // of *leaf
	small  blas.Backend // for eigenvalues of small matrices
}

// New returns the backend on the kernels t, with up to workers goroutines a call, but not more than
// there are processors: more would share the caches and have smaller blocks. Fewer than 1 count as
// 1.
func New(t *asm.Table, workers int) blas.Backend {
	workers = forks.Processors(workers)
	return &backend{t: t, nest: tile.New(t, workers), alone: tile.New(t, 1), small: gonum.New(t)}
}

func (b *backend) Kernels() *asm.Table { return b.t }

func (b *backend) Name() string { return "native" }

func (b *backend) Describe() string {
	return fmt.Sprintf("Go, kernels %s, workers %d", b.t.Level, b.nest.Workers())
}

// blocks returns the number of blocks of the given size for n elements.
func blocks(n, size int) int { return (n + size - 1) / size }

func (b *backend) Gemm(transA, transB bool, alpha float64, x, y blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckGemm(transA, transB, x, y, c)
	b.nest.Multiply(tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: x, Trans: transA}, B: tile.Operand{Matrix: y, Trans: transB},
		Beta: beta, C: c,
	})
}

func (b *backend) Syrk(trans bool, alpha float64, a blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckSyrk(trans, a, c)
	b.nest.Multiply(tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: a, Trans: trans}, B: tile.Operand{Matrix: a, Trans: !trans},
		Beta: beta, C: c, Lower: true,
	})
}

func (b *backend) Symm(left bool, alpha float64, a, x blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckSymm(left, a, x, c)
	p := tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: a, Symmetric: true}, B: tile.Operand{Matrix: x},
		Beta: beta, C: c,
	}
	if !left {
		p.A, p.B = p.B, p.A
	}
	b.nest.Multiply(p)
}

// These are the rows and columns of one task of a matrix-vector operation.
const (
	vectorRows = 64
	vectorCols = 1024
)

// vectorFlops is the work from which such an operation, which is limited by memory, is distributed
// to the workers.
const vectorFlops = 250e3

// shared reports whether an operation of the given flops is distributed to the workers. Other
// operations allocate nothing; a function that is passed to a goroutine would be allocated.
func (b *backend) shared(flops float64) bool { return b.nest.Workers() > 1 && flops >= vectorFlops }

func (b *backend) Gemv(trans bool, alpha float64, a blas.Matrix, x []float64, beta float64, y []float64) {
	blas.CheckGemv(trans, a, x, y)
	form.Vector(beta, y)
	if len(x) == 0 || len(y) == 0 || alpha == 0 {
		return
	}
	switch shared := b.shared(2 * float64(len(x)) * float64(len(y))); {
	case !trans && shared:
		b.nest.EachBlock(len(y), vectorRows, func(lo, hi int) { b.gemvRows(alpha, a, x, y, lo, hi) })
	case !trans:
		b.gemvRows(alpha, a, x, y, 0, len(y))
	case shared:
		b.nest.EachBlock(len(y), vectorCols, func(lo, hi int) { b.gemvCols(alpha, a, x, y, lo, hi) })
	default:
		b.gemvCols(alpha, a, x, y, 0, len(y))
	}
}

// gemvRows adds alpha A x to elements [lo, hi) of y.
func (b *backend) gemvRows(alpha float64, a blas.Matrix, x, y []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		y[i] += float64(alpha * b.t.Dot(a.Row(i), x))
	}
}

// gemvCols adds alpha A'x to elements [lo, hi) of y.
func (b *backend) gemvCols(alpha float64, a blas.Matrix, x, y []float64, lo, hi int) {
	for i, v := range x {
		b.t.Axpy(alpha*v, a.Row(i)[lo:hi], y[lo:hi])
	}
}

func (b *backend) Symv(alpha float64, a blas.Matrix, x []float64, beta float64, y []float64) {
	blas.CheckSymv(a, x, y)
	form.Vector(beta, y)
	if alpha == 0 {
		return
	}
	if len(x) >= symvOrder {
		b.symvParts(alpha, a, x, y)
		return
	}
	// Each row of the triangle is read once and used twice, as a row and as a column: four at a
	// time, and then their part of the diagonal.
	const rows = 4
	i := 0
	memory := b.nest.Borrow(2 * rows)
	defer b.nest.Return(memory)
	multiples, dots := (*[rows]float64)((*memory)[:rows]), (*[rows]float64)((*memory)[rows:])
	for ; i+rows <= len(x); i += rows {
		for r := range rows {
			multiples[r] = alpha * x[i+r]
		}
		b.t.Sweep(i, a.Data[i*a.Stride:], a.Stride, x, y, multiples, dots)
		for r := range rows {
			y[i+r] += float64(alpha * dots[r])
			symvRow(alpha, a.Row(i + r)[i:i+r+1], x[i:], y[i:])
		}
	}
	for ; i < len(x); i++ {
		symvRow(alpha, a.Row(i)[:i+1], x, y)
	}
}

// symvParts adds alpha A x to y for a large matrix: the sums of parts of its rows, in their order.
func (b *backend) symvParts(alpha float64, a blas.Matrix, x, y []float64) {
	const slower = 8 // than a product of matrices, because memory limits it
	n := len(x)
	sums := b.nest.Borrow(symvTasks * n)
	defer b.nest.Return(sums)
	s := &symv{t: b.t, a: a, x: x, sums: *sums}
	b.nest.Each(slower*2*float64(n)*float64(n), symvTasks, s.part)
	s.add(alpha, y)
}

// symvRow is Symv for the last row of a triangle.
func symvRow(alpha float64, row, x, y []float64) {
	i := len(row) - 1
	sum, v := 0.0, alpha*x[i]
	for j, e := range row[:i] {
		sum += float64(e * x[j])
		y[j] += float64(v * e)
	}
	y[i] += float64(alpha * (sum + float64(row[i]*x[i])))
}

func (b *backend) Syr(alpha float64, x []float64, a blas.Matrix) {
	n := blas.CheckSyr(x, a)
	if alpha == 0 {
		return
	}
	if b.shared(float64(n) * float64(n)) {
		b.nest.EachBlock(n, vectorRows, func(lo, hi int) { b.syrRows(alpha, x, a, lo, hi) })
		return
	}
	b.syrRows(alpha, x, a, 0, n)
}

// syrRows is Syr for rows [lo, hi).
func (b *backend) syrRows(alpha float64, x []float64, a blas.Matrix, lo, hi int) {
	for i := lo; i < hi; i++ {
		b.t.Axpy(alpha*x[i], x[:i+1], a.Row(i))
	}
}

// team is a few goroutines that repeat numbered tasks, for steps so short that the time to wake
// goroutines would matter. Between two runs the goroutines spin, so a team should exist only
// while the steps follow each other closely.
type team struct {
	workers    int
	tasks      int64
	f          func(i int)
	next, done atomic.Int64
	over       atomic.Bool
	wg         sync.WaitGroup
}

// newTeam starts the helpers of one of so many workers, for runs of that many tasks.
func newTeam(workers, tasks int) *team {
	t := &team{workers: workers, tasks: int64(tasks)}
	t.next.Store(t.tasks)
	if forks.Watched() {
		return t // the observer runs the tasks
	}
	for range workers - 1 {
		t.wg.Go(t.help)
	}
	return t
}

// run calls f(0), ..., f(tasks-1), on the caller and on the helpers that are awake.
func (t *team) run(f func(i int)) {
	if forks.Observed(t.workers, int(t.tasks), f) {
		return
	}
	t.f = f // for the helpers that see next below tasks
	t.done.Store(0)
	t.next.Store(0)
	for t.take() {
	}
	for spins := 0; t.done.Load() < t.tasks; spins++ {
		rest(spins)
	}
}

// take does one task if one is left.
func (t *team) take() bool {
	if t.next.Load() >= t.tasks {
		return false
	}
	i := t.next.Add(1) - 1
	if i >= t.tasks {
		return false
	}
	t.f(int(i))
	t.done.Add(1)
	return true
}

func (t *team) help() {
	for spins := 0; !t.over.Load(); spins++ {
		if t.take() {
			spins = 0
		}
		rest(spins)
	}
}

// rest occasionally lets other goroutines run.
func rest(spins int) {
	if spins%64 == 63 {
		runtime.Gosched()
	}
}

// stop ends the helpers and waits for them.
func (t *team) stop() {
	t.over.Store(true)
	t.wg.Wait()
}
