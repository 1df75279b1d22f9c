package krylov

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// ritz has the best approximations in the basis, as coefficients.
type ritz struct {
	values    []float64   // all m, descending
	vectors   blas.Matrix // m x m, a row each
	residuals []float64   // of the first K
}

// findRitz computes the Ritz pairs.
func (s *search) findRitz() error {
	m := s.m
	small, w := blas.NewMatrix(m, m), make([]float64, m)
	small.CopyFrom(s.t.View(0, m, 0, m))
	if err := s.Backend.SymEig(small, w, true); err != nil {
		return err
	}
	s.norm = max(s.norm, math.Abs(w[0]), math.Abs(w[m-1]))
	form.ReverseRows(w, small)
	s.ritz = ritz{values: w, vectors: small, residuals: make([]float64, s.K)}
	for i := range s.ritz.residuals {
		s.ritz.residuals[i] = s.residual(s.ritz.vectors.Row(i))
	}
	if w[m-1] < s.smallest {
		s.smallest, s.smallestResidual = w[m-1], s.residual(s.ritz.vectors.Row(m-1))
	}
	return nil
}

// residual returns |A V x - w V x| = |r x_last| for a Ritz vector V x.
func (s *search) residual(x []float64) float64 {
	last, sum := x[s.m-s.Block:s.m], 0.0
	for i := range s.Block {
		v := 0.0
		for j := i; j < s.Block; j++ {
			v += s.r.At(j, i) * last[j] // r is the transpose of what is stored
		}
		sum += v * v
	}
	return math.Sqrt(sum)
}

// passed counts the pairs, from the largest, whose residuals pass.
func (s *search) passed() int {
	for i, r := range s.ritz.residuals {
		if !(r <= s.Pass(s.ritz.values[i], s.norm)) {
			return i
		}
	}
	return s.K
}

// excess returns the largest residual relative to its limit.
func (s *search) excess() float64 {
	worst := 0.0
	for i, r := range s.ritz.residuals {
		worst = max(worst, r/s.Pass(s.ritz.values[i], s.norm))
	}
	return worst
}

// result forms the vectors.
func (s *search) result(converged bool) (*Result, error) {
	all := s.K + s.Extra
	res := &Result{
		Values: append([]float64(nil), s.ritz.values[:all]...), Norm: s.norm, Products: s.products, Converged: converged,
		Least: s.smallest, LeastResidual: s.smallestResidual,
	}
	err := s.compress(s.ritz.vectors, all, s.m)
	res.Vectors = s.columns(0, all)
	return res, err
}
