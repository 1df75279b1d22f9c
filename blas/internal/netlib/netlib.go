//go:build netlib && cgo && !purego

package netlib

import (
	"fmt"
	"math"
	"strings"

	ref "gonum.org/v1/gonum/blas"
	cblas "gonum.org/v1/netlib/blas/netlib"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/krylov"
	"github.com/mustlink/mustlink/blas/tile"
)

const (
	errTooLarge = "netlib: dimension or stride exceeds 2147483647"
	errRefused  = "netlib: LAPACK refused an argument"
)

var _ blas.Backend = backend{}

type backend struct {
	t       *asm.Table
	threads int
	nest    *tile.Nest // for operations that OpenBLAS lacks, or does slowly
}

// New returns the backend whose large calls use the given number of OpenBLAS threads; less than 1
// counts as 1. The backend does not use the kernels t itself, but returns them from Kernels.
func New(t *asm.Table, threads int) blas.Backend {
	return backend{t, max(1, threads), tile.New(t, threads)}
}

var dense cblas.Implementation

func (b backend) Kernels() *asm.Table { return b.t }

func (backend) Name() string { return "netlib" }

func (b backend) Describe() string {
	return fmt.Sprintf("%s, threads %d", library(), b.threads)
}

// Core returns the core whose kernels OpenBLAS runs.
func (backend) Core() string { return core() }

// Advice says what to set if OpenBLAS runs kernels of an older processor than this one, as it does
// on processors that are newer than the library.
func (backend) Advice() string { return advice(library(), core(), asm.Best()) }

// advice compares the core that OpenBLAS chose with the best kernels that the processor can run.
func advice(library, core string, best asm.Level) string {
	better := blas.BetterCore(core, best)
	if better == "" {
		return ""
	}
	what := fmt.Sprintf("OpenBLAS runs its kernels for %s, this processor has %s: ", core,
		strings.ToUpper(best.String()))
	if !strings.Contains(library, "DYNAMIC_ARCH") { // it has no others
		return what + "link an OpenBLAS that is built with DYNAMIC_ARCH"
	}
	return what + "set " + blas.CoreVariable + "=" + better
}

// fit panics unless the sizes of all matrices fit the 32-bit integers of the C interface.
func fit(ms ...blas.Matrix) {
	for _, m := range ms {
		if max(m.Rows, m.Cols, m.Stride) > math.MaxInt32 {
			panic(errTooLarge)
		}
	}
}

func (g backend) Gemm(transA, transB bool, alpha float64, a, b blas.Matrix, beta float64, c blas.Matrix) {
	m, n, k := blas.CheckGemm(transA, transB, a, b, c)
	fit(a, b, c)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		form.Scale(beta, c)
		return
	}
	if !transA && !transB && slim(m, n, k) {
		g.nest.Multiply(tile.Product{Alpha: alpha, A: tile.Operand{Matrix: a}, B: tile.Operand{Matrix: b},
			Beta: beta, C: c})
		return
	}
	defer enter(2*float64(m)*float64(n)*float64(k), g.threads)()
	dense.Dgemm(form.Trans(transA), form.Trans(transB), m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride,
		beta, c.Data, c.Stride)
}

// slim reports whether a large matrix is multiplied by one with few columns, which is limited by
// reading the large one: OpenBLAS copies it first, and takes two to four times as long (4000 x
// 4000, up to 24 columns).
func slim(m, n, k int) bool { return n <= 24 && m >= 512 && k >= 256 && m*k >= 1<<20 }

func (g backend) Syrk(transA bool, alpha float64, a blas.Matrix, beta float64, c blas.Matrix) {
	n, k := blas.CheckSyrk(transA, a, c)
	fit(a, c)
	if n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		form.ScaleLower(beta, c)
		return
	}
	defer enter(float64(n)*float64(n)*float64(k), g.threads)()
	dense.Dsyrk(ref.Lower, form.Trans(transA), n, k, alpha, a.Data, a.Stride, beta, c.Data, c.Stride)
}

func (g backend) Symm(left bool, alpha float64, a, b blas.Matrix, beta float64, c blas.Matrix) {
	m, n := blas.CheckSymm(left, a, b, c)
	fit(a, b, c)
	if m == 0 || n == 0 {
		return
	}
	if alpha == 0 {
		form.Scale(beta, c)
		return
	}
	defer enter(2*float64(m)*float64(n)*float64(a.Rows), g.threads)()
	dense.Dsymm(form.Side(left), ref.Lower, m, n, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data,
		c.Stride)
}

func (g backend) Syr(alpha float64, x []float64, a blas.Matrix) {
	n := blas.CheckSyr(x, a)
	fit(a)
	if n == 0 || alpha == 0 {
		return
	}
	defer enter(float64(n)*float64(n), g.threads)()
	dense.Dsyr(ref.Lower, n, alpha, x, 1, a.Data, a.Stride)
}

func (g backend) Gemv(transA bool, alpha float64, a blas.Matrix, x []float64, beta float64, y []float64) {
	blas.CheckGemv(transA, a, x, y)
	fit(a)
	form.Vector(beta, y)
	if len(x) == 0 || len(y) == 0 || alpha == 0 {
		return
	}
	defer enter(2*float64(len(x))*float64(len(y)), g.threads)()
	dense.Dgemv(form.Trans(transA), a.Rows, a.Cols, alpha, a.Data, a.Stride, x, 1, 1, y, 1)
}

func (g backend) Symv(alpha float64, a blas.Matrix, x []float64, beta float64, y []float64) {
	n := blas.CheckSymv(a, x, y)
	fit(a)
	form.Vector(beta, y)
	if n == 0 || alpha == 0 {
		return
	}
	defer enter(2*float64(n)*float64(n), g.threads)()
	dense.Dsymv(ref.Lower, n, alpha, a.Data, a.Stride, x, 1, 1, y, 1)
}

func (g backend) Trsm(left, transL bool, l, b blas.Matrix) {
	n, m := blas.CheckTrsm(left, l, b)
	fit(l, b)
	if n == 0 || m == 0 {
		return
	}
	defer enter(float64(n)*float64(n)*float64(m), g.threads)()
	dense.Dtrsm(form.Side(left), ref.Lower, form.Trans(transL), ref.NonUnit, b.Rows, b.Cols, 1, l.Data,
		l.Stride, b.Data, b.Stride)
}

func (g backend) Trmm(left, transL bool, l, b blas.Matrix) {
	n, m := blas.CheckTrsm(left, l, b)
	fit(l, b)
	if n == 0 || m == 0 {
		return
	}
	defer enter(float64(n)*float64(n)*float64(m), g.threads)()
	dense.Dtrmm(form.Side(left), ref.Lower, form.Trans(transL), ref.NonUnit, b.Rows, b.Cols, 1, l.Data,
		l.Stride, b.Data, b.Stride)
}

func (g backend) TriangularInverse(l blas.Matrix) error {
	n := blas.CheckSquare(l)
	fit(l)
	if i := form.ZeroDiagonal(l); i >= 0 {
		return &blas.SingularError{Index: i}
	}
	if n > 0 {
		defer enter(float64(n)*float64(n)*float64(n)/3, g.threads)()
		accepted(dtrtri(l))
	}
	return nil
}

func (g backend) QR(a, l blas.Matrix) {
	m, n := blas.CheckQR(a, l)
	fit(a, l)
	if n == 0 {
		return
	}
	if !form.Finite(a) {
		form.FillNaN(a, l)
		return
	}
	defer enter(4*float64(m)*float64(n)*float64(n), g.threads)()
	tau, work := make([]float64, n), make([]float64, qrBlock*n)
	accepted(dgelqf(a, tau, work))
	form.LowerFromUpper(l, a)
	accepted(dorglq(a, tau, work))
	form.PositiveDiagonal(a, l)
}

// accepted panics if LAPACK's info shows that the checks above did not find a bad argument.
func accepted(info int) {
	if info < 0 {
		panic(errRefused)
	}
}

func (g backend) Cholesky(a blas.Matrix) error {
	n := blas.CheckSquare(a)
	fit(a)
	if n == 0 {
		return nil
	}
	defer enter(float64(n)*float64(n)*float64(n)/3, g.threads)()
	dpotrf(a)
	// OpenBLAS compares pivots with <= 0 and so accepts NaN: check all pivots, whatever info is.
	if p := form.FailedPivot(a); p >= 0 {
		return &blas.NotPositiveDefiniteError{Pivot: p}
	}
	return nil
}

// SymEig needs a workspace of 2n^2 elements with vectors.
func (g backend) SymEig(a blas.Matrix, w []float64, vectors bool) error {
	n := blas.CheckSymEig(a, w)
	fit(a)
	if n == 0 {
		return nil
	}
	if !form.FiniteLower(a) { // LAPACK may loop forever on NaN
		return &blas.NoConvergenceError{Routine: "dsyevd"}
	}
	defer enter(4*float64(n)*float64(n)*float64(n), g.threads)()
	if vectors && n > maxDivideOrder {
		v := blas.NewMatrix(n, n)
		if err := convergence("dsyevr", dsyevr(a, 0, w, v)); err != nil {
			return err
		}
		a.CopyFrom(v)
		return nil
	}
	return convergence("dsyevd", dsyevd(a, w, vectors))
}

func (g backend) SymEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	n, k := blas.CheckSymEigTop(a, w, v)
	fit(a, v)
	if k == 0 {
		return nil
	}
	if krylov.Top(g, g.nest.EachBlock, a, w, v) {
		return nil
	}
	all := make([]float64, n)
	if 4*k >= n && n <= maxDivideOrder {
		if err := g.SymEig(a, all, true); err != nil {
			return err
		}
		form.TopRows(all, a, w, v)
		return nil
	}
	if !form.FiniteLower(a) {
		return &blas.NoConvergenceError{Routine: "dsyevr"}
	}
	defer enter(4*float64(n)*float64(n)*float64(n)/3, g.threads)()
	if err := convergence("dsyevr", dsyevr(a, n-k, all, v)); err != nil {
		return err
	}
	copy(w, all[:k])
	form.ReverseRows(w, v)
	return nil
}

// convergence turns LAPACK's info into an error. A negative info means that the checks above did
// not find a bad argument.
func convergence(routine string, info int) error {
	accepted(info)
	if info > 0 {
		return &blas.NoConvergenceError{Routine: routine, Count: info}
	}
	return nil
}
