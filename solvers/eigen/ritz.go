package eigen

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// projection returns the eigenvalues of sign V'AV, the largest first, and its eigenvectors as rows,
// for the orthonormal columns of v. It processes a few columns at a time, because v may be large.
func (s *search) projection(v blas.Matrix) ([]float64, blas.Matrix, error) {
	m, backend := v.Cols, s.eng.Backend()
	h := blas.NewMatrix(m, m)
	err := s.chunks(m, func(c0, c1 int, x, image blas.Matrix) error {
		x.View(0, s.n, 0, c1-c0).CopyFrom(v.View(0, s.n, c0, c1))
		if err := s.a.Multiply(s.ctx, s.eng, image, x); err != nil {
			return err
		}
		backend.Gemm(true, false, s.sign, v, image.View(0, s.n, 0, c1-c0), 0, h.View(0, m, c0, c1))
		return nil
	})
	if err != nil {
		return nil, h, err
	}
	return s.eng.SymEigTop(s.ctx, h, m)
}

// chunks calls f for the columns [c0, c1) of m, as many at a time as the operator takes, with two
// matrices of that width to work in.
func (s *search) chunks(m int, f func(c0, c1 int, x, image blas.Matrix) error) error {
	width := s.a.Width()
	x, image := s.eng.GetMatrix(s.n, width), s.eng.GetMatrix(s.n, width)
	defer s.eng.PutMatrix(x)
	defer s.eng.PutMatrix(image)
	clear(x.Data)
	for c0 := 0; c0 < m; c0 += width {
		if err := f(c0, min(c0+width, m), x, image); err != nil {
			return err
		}
	}
	return nil
}

// measure returns the best k pairs in the span of the orthonormal columns of v, with their
// residuals. norm is an estimate of |A|.
func (s *search) measure(v blas.Matrix, norm float64, products int) (*Result, error) {
	values, turn, err := s.projection(v)
	if err != nil {
		return nil, err
	}
	return s.pick(v, values, turn, norm, products+v.Cols)
}

// pick is measure for a known projection, values and turn.
func (s *search) pick(v blas.Matrix, values []float64, turn blas.Matrix, norm float64, products int) (*Result, error) {
	res := &Result{Values: make([]float64, s.k), Vectors: s.eng.NewMatrix(s.k, s.n), Residuals: make([]float64, s.k), Norm: norm, Products: products + s.k}
	for j := range s.k {
		res.Values[j] = s.sign * values[j]
		res.Norm = max(res.Norm, math.Abs(values[j]))
	}
	err := s.chunks(s.k, func(c0, c1 int, x, image blas.Matrix) error {
		s.eng.Backend().Gemm(false, true, 1, v, turn.View(c0, c1, 0, v.Cols), 0, x.View(0, s.n, 0, c1-c0))
		if err := s.a.Multiply(s.ctx, s.eng, image, x); err != nil {
			return err
		}
		for i := range s.n {
			to := image.Row(i)
			for j, x := range x.Row(i)[:c1-c0] {
				d := to[j] - res.Values[c0+j]*x
				res.Residuals[c0+j] += d * d
				res.Vectors.Set(c0+j, i, x)
			}
		}
		return nil
	})
	for j, r := range res.Residuals {
		res.Residuals[j] = math.Sqrt(r)
	}
	return res, err
}

// nullValue returns the largest eigenvalue of sign A on the known eigenvectors, or -Inf if there
// are none.
func (s *search) nullValue() (float64, error) {
	if s.Null.Rows == 0 {
		return math.Inf(-1), nil
	}
	values, _, err := s.projection(s.eng.Transposed(s.Null))
	if err != nil {
		return 0, err
	}
	return values[0], nil
}

// lengths returns the lengths of the columns.
func lengths(m blas.Matrix) []float64 {
	out := make([]float64, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			out[j] += v * v
		}
	}
	for j, v := range out {
		out[j] = math.Sqrt(v)
	}
	return out
}
