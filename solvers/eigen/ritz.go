package eigen

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// pairs holds Ritz pairs of sign A, the largest first.
type pairs struct {
	values         []float64
	vectors, image blas.Matrix // n x m, and A times it
}

// rayleighRitz returns the Ritz pairs in the span of the orthonormal columns of v.
func (s *search) rayleighRitz(v blas.Matrix) (*pairs, error) {
	m, backend := v.Cols, s.eng.Backend()
	wide := (m + 7) / 8 * 8 // whole lines of the cache for the product
	x, image := s.eng.NewMatrix(s.n, wide), s.eng.NewMatrix(s.n, wide)
	x.View(0, s.n, 0, m).CopyFrom(v)
	if err := s.a.Multiply(s.ctx, s.eng, image, x); err != nil {
		return nil, err
	}
	v, image = x.View(0, s.n, 0, m), image.View(0, s.n, 0, m)
	h, w := blas.NewMatrix(m, m), make([]float64, m)
	backend.Gemm(true, false, s.sign, v, image, 0, h)
	if err := s.eng.SymEig(s.ctx, h, w, true); err != nil {
		return nil, err
	}
	p := &pairs{make([]float64, m), s.eng.NewMatrix(s.n, m), s.eng.NewMatrix(s.n, m)}
	turn := blas.NewMatrix(m, m)
	for i := range m {
		p.values[i] = w[m-1-i]
		copy(turn.Row(i), h.Row(m-1-i))
	}
	backend.Gemm(false, true, 1, v, turn, 0, p.vectors)
	backend.Gemm(false, true, s.sign, image, turn, 0, p.image)
	return p, nil
}

// measure returns the best k pairs in the span of the orthonormal columns of v, with their
// residuals. norm is an estimate of |A|.
func (s *search) measure(v blas.Matrix, norm float64, products int) (*Result, error) {
	p, err := s.rayleighRitz(v)
	if err != nil {
		return nil, err
	}
	res := &Result{Values: make([]float64, s.k), Vectors: s.eng.NewMatrix(s.k, s.n), Residuals: make([]float64, s.k), Norm: norm, Products: products + v.Cols}
	squares := make([]float64, s.k)
	for i := range s.n {
		image := p.image.Row(i)
		for j, x := range p.vectors.Row(i)[:s.k] {
			d := image[j] - p.values[j]*x
			squares[j] += d * d
			res.Vectors.Set(j, i, x)
		}
	}
	for j := range s.k {
		res.Values[j] = s.sign * p.values[j]
		res.Residuals[j] = math.Sqrt(squares[j])
		res.Norm = max(res.Norm, math.Abs(p.values[j]))
	}
	return res, nil
}

// nullValue returns the largest eigenvalue of sign A on the known eigenvectors, -Inf if there are
// none.
func (s *search) nullValue() (float64, error) {
	if s.Null.Rows == 0 {
		return math.Inf(-1), nil
	}
	p, err := s.rayleighRitz(columns(s.Null))
	if err != nil {
		return 0, err
	}
	return p.values[0], nil
}

// columns returns the transpose.
func columns(m blas.Matrix) blas.Matrix {
	t := blas.NewMatrix(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			t.Set(j, i, v)
		}
	}
	return t
}
