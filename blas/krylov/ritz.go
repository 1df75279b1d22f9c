package krylov

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// ritz holds the best approximations in the basis, as coefficients.
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
	s.ritz = ritz{values: make([]float64, m), vectors: blas.NewMatrix(m, m), residuals: make([]float64, s.K)}
	for i := range m {
		s.ritz.values[i] = w[m-1-i]
		copy(s.ritz.vectors.Row(i), small.Row(m-1-i))
	}
	for i := range s.ritz.residuals {
		s.ritz.residuals[i] = s.residual(s.ritz.vectors.Row(i))
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

// excess returns the largest residual relative to what passes.
func (s *search) excess() float64 {
	worst := 0.0
	for i, r := range s.ritz.residuals {
		worst = max(worst, r/s.Pass(s.ritz.values[i], s.norm))
	}
	return worst
}

// result forms the vectors and measures their residuals with the operator.
func (s *search) result(converged bool) (*Result, error) {
	all := s.K + s.Extra
	if err := s.compress(s.ritz.vectors, all, s.m); err != nil {
		return nil, err
	}
	res := &Result{
		Values: append([]float64(nil), s.ritz.values[:all]...), Vectors: blas.NewMatrix(all, s.N), Residuals: make([]float64, all),
		Norm: s.norm, Products: s.products, Converged: converged, Least: s.ritz.values[s.m-1], LeastResidual: s.residual(s.ritz.vectors.Row(s.m - 1)),
	}
	x, y := blas.NewMatrix(s.N, s.Block), blas.NewMatrix(s.N, s.Block)
	for k0 := 0; k0 < all; k0 += s.Block {
		k1 := min(k0+s.Block, all)
		x.View(0, s.N, 0, k1-k0).CopyFrom(s.columns(k0, k1))
		if err := s.Multiply(x, y); err != nil {
			return nil, err
		}
		res.Products += k1 - k0
		for k := k0; k < k1; k++ {
			v := res.Vectors.Row(k)
			for i := range v {
				v[i] = x.At(i, k-k0)
			}
			norm := math.Sqrt(s.Backend.Kernels().Dot(v, v))
			s.Backend.Kernels().Scale(1/norm, v)
			sum := 0.0
			for i := range v {
				d := y.At(i, k-k0)/norm - res.Values[k]*v[i]
				sum += d * d
			}
			res.Residuals[k] = math.Sqrt(sum)
		}
	}
	return res, nil
}
