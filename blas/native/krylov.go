package native

import (
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
)

// From this order on, and for at most a tenth of the eigenpairs, [backend.SymEigTop] looks
// for the wanted ones only. Empirical: below, the full decomposition is as fast.
const (
	krylovOrder = 384
	krylovShare = 10
)

// krylovBlock is the number of columns that are multiplied by A together: enough to read A
// seldom, few enough that the space reaches a high power of A (16 and more columns needed
// several times the products on slowly decaying spectra).
const krylovBlock = 8

// krylov is a search for the k largest eigenpairs of a symmetric A of order n: a block
// Krylov space, kept orthonormal in full, with Rayleigh-Ritz and thick restarts (Wu & Simon,
// "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix
// Anal. Appl. 2000, in its block form). Nearly all work is in products of matrices.
//
// A Krylov space holds no more copies of a repeated eigenvalue than its block has
// columns. So a result counts only when a fresh random block, put into the basis and
// followed for a few steps, finds nothing larger.
type krylov struct {
	b           *backend
	a           blas.Matrix // both triangles valid
	n, k        int
	block, most int         // columns added at a time; size of the basis before a restart
	v, av       blas.Matrix // the basis as rows, and A times each of them
	rows        int         // of v and av in use
	products    int         // columns multiplied by A so far
	budget      int
	rng         *rand.Rand
	norm        float64   // estimate of |A|, from below
	values      []float64 // Ritz values of the last step, descending, k of them
}

func newKrylov(b *backend, a blas.Matrix, k int) *krylov {
	n := a.Rows
	most := min(n/2, max(10*k, 200))
	s := &krylov{b: b, a: a, n: n, k: k, block: krylovBlock, most: most, budget: 2 * n}
	s.v, s.av = blas.NewMatrix(most+krylovBlock, n), blas.NewMatrix(most+krylovBlock, n)
	// A fixed seed: the start is part of the method and the same in every call.
	s.rng = rand.New(rand.NewPCG(uint64(n), uint64(k)))
	return s
}

// find fills w and v with the k largest eigenpairs. It returns false when the budget of
// products is spent, and leaves A as it is.
func (s *krylov) find(w []float64, v blas.Matrix) bool {
	s.append(blas.NewMatrix(s.block, s.n))
	confirming := false
	for s.products < s.budget {
		for s.rows+s.block <= s.most {
			s.append(s.next())
		}
		next := s.next()
		before := s.values
		converged := s.restart(w, v)
		switch {
		case !converged:
			s.append(next)
		case confirming && s.unchanged(before):
			return true
		default:
			s.append(blas.NewMatrix(s.block, s.n))
		}
		confirming = converged
	}
	return false
}

// unchanged reports whether the Ritz values did not grow beyond rounding.
func (s *krylov) unchanged(before []float64) bool {
	for i, v := range s.values {
		if v-before[i] > s.tolerance() {
			return false
		}
	}
	return true
}

// tolerance is the largest residual that passes: n eps |A| / 4.
func (s *krylov) tolerance() float64 { return 0.25 * float64(s.n) * 0x1p-52 * s.norm }

// next returns A times the newest block, a copy.
func (s *krylov) next() blas.Matrix {
	return s.av.View(s.rows-s.block, s.rows, 0, s.n).Clone()
}

// append makes the rows of x orthonormal to the basis and each other, adds them and
// multiplies them by A. Rows with nothing new in them are replaced by random ones.
func (s *krylov) append(x blas.Matrix) {
	s.removeBasis(x)
	for i := range x.Rows {
		s.orthonormal(x, i)
	}
	to := s.v.View(s.rows, s.rows+x.Rows, 0, s.n)
	to.CopyFrom(x)
	s.b.Gemm(false, false, 1, to, s.a, 0, s.av.View(s.rows, s.rows+x.Rows, 0, s.n))
	s.rows += x.Rows
	s.products += x.Rows
}

// removeBasis subtracts from the rows of x their projection on the basis, twice, which
// leaves them orthogonal to working accuracy (Kahan's "twice is enough").
func (s *krylov) removeBasis(x blas.Matrix) {
	if s.rows == 0 {
		return
	}
	basis := s.v.View(0, s.rows, 0, s.n)
	c := blas.NewMatrix(x.Rows, s.rows)
	for range 2 {
		s.b.Gemm(false, true, 1, x, basis, 0, c)
		s.b.Gemm(false, false, -1, c, basis, 1, x)
	}
}

// orthonormal makes row i of x, which is orthogonal to the basis, a unit vector orthogonal
// to the rows before it.
func (s *krylov) orthonormal(x blas.Matrix, i int) {
	t, row := s.b.t, x.Row(i)
	for {
		before := math.Sqrt(t.Dot(row, row))
		for range 2 {
			for j := range i {
				t.Axpy(-t.Dot(row, x.Row(j)), x.Row(j), row)
			}
		}
		after := math.Sqrt(t.Dot(row, row))
		// Below this nothing but rounding is left of the row, relative to A or to itself.
		if after > 1e-10*before && after > float64(s.n)*0x1p-52*s.norm && after > 0 {
			t.Scale(1/after, row)
			s.polish(x, i)
			return
		}
		for j := range row {
			row[j] = s.rng.NormFloat64()
		}
		t.Scale(1/math.Sqrt(t.Dot(row, row))*max(1, s.norm), row)
		s.removeBasis(x.View(i, i+1, 0, s.n))
	}
}

// polish removes what scaling up a short row i has magnified.
func (s *krylov) polish(x blas.Matrix, i int) {
	t, one := s.b.t, x.View(i, i+1, 0, s.n)
	s.removeBasis(one)
	for j := range i {
		t.Axpy(-t.Dot(one.Row(0), x.Row(j)), x.Row(j), one.Row(0))
	}
	normalise(t, one.Row(0))
}

func normalise(t *asm.Table, x []float64) { t.Scale(1/math.Sqrt(t.Dot(x, x)), x) }

// restart compresses the basis to its best Ritz vectors, k and a block more, and reports
// whether the first k are eigenvectors; then they are in w and v.
func (s *krylov) restart(w []float64, v blas.Matrix) bool {
	m := s.rows
	basis, image := s.v.View(0, m, 0, s.n), s.av.View(0, m, 0, s.n)
	small, theta := blas.NewMatrix(m, m), make([]float64, m)
	s.b.Gemm(false, true, 1, image, basis, 0, small)
	if s.b.SymEig(small, theta, true) != nil {
		return false // not with finite input; the caller falls back when the budget is spent
	}
	s.norm = max(s.norm, math.Abs(theta[0]), math.Abs(theta[m-1]))
	keep := min(s.k+s.block, m)
	best := blas.NewMatrix(keep, m)
	for i := range keep {
		copy(best.Row(i), small.Row(m-1-i))
	}
	for _, half := range []blas.Matrix{s.v, s.av} {
		short := blas.NewMatrix(keep, s.n)
		s.b.Gemm(false, false, 1, best, half.View(0, m, 0, s.n), 0, short)
		half.View(0, keep, 0, s.n).CopyFrom(short)
	}
	s.rows = keep
	s.values = make([]float64, s.k)
	for i := range s.values {
		s.values[i] = theta[m-1-i]
	}
	return s.accept(w, v)
}

// accept copies the first k Ritz pairs to w and v if their residuals pass.
func (s *krylov) accept(w []float64, v blas.Matrix) bool {
	t, rest := s.b.t, make([]float64, s.n)
	for i, theta := range s.values {
		copy(rest, s.av.Row(i))
		t.Axpy(-theta, s.v.Row(i), rest)
		if !(math.Sqrt(t.Dot(rest, rest)) <= s.tolerance()) {
			return false
		}
	}
	copy(w, s.values)
	v.CopyFrom(s.v.View(0, s.k, 0, s.n))
	for i := range s.k {
		normalise(t, v.Row(i))
	}
	return true
}
