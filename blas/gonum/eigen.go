package gonum

import (
	"math"

	ref "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

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
