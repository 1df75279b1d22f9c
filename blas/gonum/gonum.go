// Package gonum (internal: may change) is the reference backend: gonum's pure Go BLAS and
// LAPACK, called directly.
//
// It calls gonum's Implementation values and does not change the process-wide blas64.Use. gonum's
// own LAPACK, however, runs on the implementation that was set there, so a program that sets one
// changes the factorizations of this backend.
//
// gonum skips products whose left factor is 0, so 0*NaN counts as 0 there. To keep the contract of
// [blas.Backend], Gemm and Syrk with a NaN or Inf in the input use a plain loop, at about a tenth
// of the speed.
package gonum

import (
	"math"
	"runtime/debug"

	ref "gonum.org/v1/gonum/blas"
	refblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	reflapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

var _ blas.Backend = backend{}

type backend struct{ t *asm.Table }

// New returns the backend; Gemm uses up to GOMAXPROCS goroutines. The backend does not use the
// kernels t itself, but returns them from Kernels.
func New(t *asm.Table) blas.Backend { return backend{t} }

var (
	dense  refblas.Implementation
	factor reflapack.Implementation
)

func (b backend) Kernels() *asm.Table { return b.t }

func (backend) Name() string { return "gonum" }

func (backend) Describe() string { return "gonum " + version() + "pure Go BLAS and LAPACK" }

// version returns gonum's version as the build recorded it, with a space, or "".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "gonum.org/v1/gonum" {
			return m.Version + ", "
		}
	}
	return ""
}

func (backend) Gemm(transA, transB bool, alpha float64, a, b blas.Matrix, beta float64, c blas.Matrix) {
	m, n, k := blas.CheckGemm(transA, transB, a, b, c)
	form.Scale(beta, c)
	if m == 0 || n == 0 || k == 0 || alpha == 0 {
		return
	}
	if !form.Finite(a) || !form.Finite(b) {
		plainGemm(transA, transB, alpha, a, b, c, k, false)
		return
	}
	if !transA && transB {
		b, transB = transpose(b), false
	}
	dense.Dgemm(form.Trans(transA), form.Trans(transB), m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, 1,
		c.Data, c.Stride)
}

func (backend) Syrk(transA bool, alpha float64, a blas.Matrix, beta float64, c blas.Matrix) {
	n, k := blas.CheckSyrk(transA, a, c)
	form.ScaleLower(beta, c)
	if n == 0 || k == 0 || alpha == 0 {
		return
	}
	if !form.Finite(a) {
		plainGemm(transA, !transA, alpha, a, a, c, k, true)
		return
	}
	dense.Dsyrk(ref.Lower, form.Trans(transA), n, k, alpha, a.Data, a.Stride, 1, c.Data, c.Stride)
}

func (g backend) Symm(left bool, alpha float64, a, b blas.Matrix, beta float64, c blas.Matrix) {
	m, n := blas.CheckSymm(left, a, b, c)
	form.Scale(beta, c)
	if m == 0 || n == 0 || alpha == 0 {
		return
	}
	if !form.FiniteLower(a) || !form.Finite(b) {
		full := form.Mirror(a)
		if !left {
			full, b = b, full
		}
		plainGemm(false, false, alpha, full, b, c, full.Cols, false)
		return
	}
	dense.Dsymm(form.Side(left), ref.Lower, m, n, alpha, a.Data, a.Stride, b.Data, b.Stride, 1, c.Data,
		c.Stride)
}

// transpose returns a copy of m'. It is for A B', the one case of Gemm in which gonum's bits depend
// on the size of the call: a large call splits the inner products at every 64th element of k, a
// small one does not. The other cases add the terms in the order of k.
func transpose(m blas.Matrix) blas.Matrix {
	t := blas.NewMatrix(m.Cols, m.Rows)
	m.TransposeTo(t)
	return t
}

// plainGemm computes C += alpha op(A) op(B) without skipping a product; only the lower triangle of
// C if lower is set.
func plainGemm(transA, transB bool, alpha float64, a, b, c blas.Matrix, k int, lower bool) {
	at := func(m blas.Matrix, trans bool, i, j int) float64 {
		if trans {
			return m.At(j, i)
		}
		return m.At(i, j)
	}
	for i := range c.Rows {
		cols := c.Cols
		if lower {
			cols = i + 1
		}
		for j := range cols {
			var sum float64
			for l := range k {
				sum += float64(at(a, transA, i, l) * at(b, transB, l, j))
			}
			c.Set(i, j, c.At(i, j)+float64(alpha*sum))
		}
	}
}

func (backend) Syr(alpha float64, x []float64, a blas.Matrix) {
	if n := blas.CheckSyr(x, a); n > 0 {
		dense.Dsyr(ref.Lower, n, alpha, x, 1, a.Data, a.Stride)
	}
}

func (backend) Gemv(transA bool, alpha float64, a blas.Matrix, x []float64, beta float64, y []float64) {
	blas.CheckGemv(transA, a, x, y)
	form.Vector(beta, y)
	if len(x) > 0 && len(y) > 0 && alpha != 0 {
		dense.Dgemv(form.Trans(transA), a.Rows, a.Cols, alpha, a.Data, a.Stride, x, 1, 1, y, 1)
	}
}

func (backend) Symv(alpha float64, a blas.Matrix, x []float64, beta float64, y []float64) {
	n := blas.CheckSymv(a, x, y)
	form.Vector(beta, y)
	if n > 0 && alpha != 0 {
		dense.Dsymv(ref.Lower, n, alpha, a.Data, a.Stride, x, 1, 1, y, 1)
	}
}

func (backend) Trsm(left, transL bool, l, b blas.Matrix) {
	n, m := blas.CheckTrsm(left, l, b)
	if n == 0 || m == 0 {
		return
	}
	dense.Dtrsm(form.Side(left), ref.Lower, form.Trans(transL), ref.NonUnit, b.Rows, b.Cols, 1, l.Data,
		l.Stride, b.Data, b.Stride)
}

func (backend) Trmm(left, transL bool, l, b blas.Matrix) {
	n, m := blas.CheckTrsm(left, l, b)
	if n == 0 || m == 0 {
		return
	}
	dense.Dtrmm(form.Side(left), ref.Lower, form.Trans(transL), ref.NonUnit, b.Rows, b.Cols, 1, l.Data,
		l.Stride, b.Data, b.Stride)
}

func (backend) TriangularInverse(l blas.Matrix) error {
	n := blas.CheckSquare(l)
	if i := form.ZeroDiagonal(l); i >= 0 {
		return &blas.SingularError{Index: i}
	}
	if n > 0 {
		factor.Dtrtri(ref.Lower, ref.NonUnit, n, l.Data, l.Stride)
	}
	return nil
}

func (backend) QR(a, l blas.Matrix) {
	m, n := blas.CheckQR(a, l)
	if n == 0 {
		return
	}
	if !form.Finite(a) {
		form.FillNaN(a, l)
		return
	}
	var size [1]float64
	factor.Dgeqrf(m, n, a.Data, a.Stride, nil, size[:], -1)
	best := int(size[0])
	factor.Dorgqr(m, n, n, a.Data, a.Stride, nil, size[:], -1)
	tau, work := make([]float64, n), make([]float64, max(best, int(size[0]), n))
	factor.Dgeqrf(m, n, a.Data, a.Stride, tau, work, len(work))
	form.LowerFromUpper(l, a)
	factor.Dorgqr(m, n, n, a.Data, a.Stride, tau, work, len(work))
	form.PositiveDiagonal(a, l)
}

func (backend) Cholesky(a blas.Matrix) error {
	n := blas.CheckSquare(a)
	if n == 0 || factor.Dpotrf(ref.Lower, n, a.Data, a.Stride) {
		return nil
	}
	return &blas.NotPositiveDefiniteError{Pivot: form.FailedPivot(a)}
}

// SymEig runs the parts of LAPACK's dsyev separately, because gonum's dsyev fails in one of them:
// without vectors it calls Dsterf, which panics on a block of the tridiagonal matrix that it has to
// scale (v0.17.0 passes the wrong stride to Dlascl). Dsteqr computes eigenvalues without vectors,
// too.
func (backend) SymEig(a blas.Matrix, w []float64, vectors bool) error {
	n := blas.CheckSymEig(a, w)
	if n == 0 {
		return nil
	}
	if !form.FiniteLower(a) {
		return &blas.NoConvergenceError{Routine: "dsyev"}
	}
	exponent := form.Normalize(a)
	e, tau, work := make([]float64, n), make([]float64, n), workspace(a)
	factor.Dsytrd(ref.Lower, n, a.Data, a.Stride, w, e, tau, work, len(work))
	job := lapack.EVCompNone
	if vectors {
		job = lapack.EVOrig
		factor.Dorgtr(ref.Lower, n, a.Data, a.Stride, tau, work, len(work))
	}
	form.Split(w, e[:n-1])
	if !factor.Dsteqr(job, n, w, e, a.Data, a.Stride, work) {
		return &blas.NoConvergenceError{Routine: "dsteqr", Count: nonzero(e[:n-1])}
	}
	if vectors {
		form.Transpose(a) // columns to rows
	}
	for i := range w {
		w[i] = math.Ldexp(w[i], exponent)
	}
	return nil
}

func (g backend) SymEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	n, k := blas.CheckSymEigTop(a, w, v)
	if k == 0 {
		return nil
	}
	all := make([]float64, n)
	if err := g.SymEig(a, all, true); err != nil {
		return err
	}
	form.TopRows(all, a, w, v)
	return nil
}

// workspace returns a work array of the best size for the reduction to tridiagonal form and its
// vectors, which is enough for the iteration.
func workspace(a blas.Matrix) []float64 {
	n := a.Rows
	var size [1]float64
	factor.Dsytrd(ref.Lower, n, a.Data, a.Stride, nil, nil, nil, size[:], -1)
	best := int(size[0])
	factor.Dorgtr(ref.Lower, n, a.Data, a.Stride, nil, size[:], -1)
	return make([]float64, max(best, int(size[0]), 2*n))
}

func nonzero(e []float64) (count int) {
	for _, v := range e {
		if v != 0 {
			count++
		}
	}
	return count
}
