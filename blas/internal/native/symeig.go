package native

import (
	"math"

	"gonum.org/v1/gonum/lapack"
	reflapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/krylov"
)

// smallEigen is the order up to which gonum's QR iteration is as fast.
const smallEigen = 24

// SymEig reduces A to a tridiagonal matrix by blocked Householder reflections, decomposes that
// by divide and conquer, and applies the reflections to its eigenvectors in blocks. About
// 4n^3/3 flops without vectors, half of them in products with a vector, and up to 14n^3/3 more
// with them, all in products of matrices; deflation saves much of the last part. Memory for
// three more matrices of A's size.
func (b *backend) SymEig(a blas.Matrix, w []float64, vectors bool) error {
	count := 0
	if n := blas.CheckSymEig(a, w); vectors {
		count = n
	}
	return b.symEig(a, w, count)
}

// symEig is SymEig with the eigenvectors of the largest count eigenvalues: the last rows of A.
func (b *backend) symEig(a blas.Matrix, w []float64, count int) error {
	if a.Rows <= smallEigen || !form.FiniteLower(a) {
		return b.small.SymEig(a, w, count > 0)
	}
	exponent := form.Normalize(a)
	scratch := b.newScratch()
	defer scratch.free()
	r := b.tridiagonalize(a, w, count > 0, scratch)
	if err := r.decompose(b, a, w, count, scratch); err != nil {
		return err
	}
	for i := range w {
		w[i] = math.Ldexp(w[i], exponent)
	}
	return nil
}

// decompose overwrites d with the eigenvalues of the tridiagonal matrix, in ascending order, and
// the last count rows of a with the eigenvectors of the matrix that was reduced.
func (r *reduction) decompose(b *backend, a blas.Matrix, d []float64, count int, s *scratch) error {
	form.Split(d, r.e)
	if count == 0 {
		// Dsteqr without vectors; gonum's Dsterf panics if it has to scale.
		var factor reflapack.Implementation
		if !factor.Dsteqr(lapack.EVCompNone, len(d), d, r.e, nil, 1, nil) {
			return &blas.NoConvergenceError{Routine: "dsteqr"}
		}
		return nil
	}
	space := a // the contents of a are no longer needed; the memory between its rows belongs to others
	if a.Stride != a.Cols {
		space = s.matrix(a.Rows, a.Cols)
	}
	q, order, err := b.divideAndConquer(d, r.e, count, space, s)
	if err != nil {
		return err
	}
	sorted := make([]float64, len(d))
	for i, from := range order {
		if sorted[i] = d[from]; i >= len(d)-count {
			copy(a.Row(i), q.Row(from))
		}
	}
	copy(d, sorted)
	r.apply(b, a.View(a.Rows-count, a.Rows, 0, a.Cols), s)
	return nil
}

// scratch is memory that is borrowed during a call.
type scratch struct {
	b    *backend
	held []*[]float64
}

func (b *backend) newScratch() *scratch { return &scratch{b: b} }

// matrix returns a compact matrix with undefined contents.
func (s *scratch) matrix(rows, cols int) blas.Matrix {
	m := s.b.nest.Borrow(rows * cols)
	s.held = append(s.held, m)
	return blas.MatrixOf(rows, cols, (*m)[:rows*cols])
}

func (s *scratch) free() {
	for _, m := range s.held {
		s.b.nest.Return(m)
	}
}

// SymEigTop searches a Krylov space for few eigenpairs of a large matrix: O(n^2) flops for each of
// usually some hundred products, while the decomposition takes O(n^3). It decomposes A if that is
// as fast, if the search does not converge, or if squares of the elements are outside the range of
// float64; the last merge and the reflections are then computed for k vectors only.
func (b *backend) SymEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	if blas.CheckSymEigTop(a, w, v); krylov.Top(b, b.nest.EachBlock, a, w, v) {
		return nil
	}
	all := make([]float64, a.Rows)
	if err := b.symEig(a, all, len(w)); err != nil {
		return err
	}
	form.TopRows(all, a, w, v)
	return nil
}
