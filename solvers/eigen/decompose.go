package eigen

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// decompose forms A and decomposes it. Known eigenvectors are first shifted beyond the other end of
// the spectrum.
func (s *search) decompose() (*Result, error) {
	n := s.n
	if err := s.eng.Check("matrix of the operator", 2*engine.MatrixBytes(n, n), "ask for fewer eigenvalues or raise the memory limit"); err != nil {
		return nil, err
	}
	id, full := s.eng.GetMatrix(n, n), s.eng.GetMatrix(n, n)
	defer s.eng.PutMatrix(id)
	defer s.eng.PutMatrix(full)
	clear(id.Data)
	for i := range n {
		id.Set(i, i, 1)
	}
	if err := s.a.Multiply(s.ctx, s.eng, full, id); err != nil {
		return nil, err
	}
	bound := 0.0
	for i := range n {
		sum := 0.0
		for j, v := range full.Row(i) {
			sum += math.Abs(v)
			full.Set(i, j, s.sign*v)
		}
		bound = max(bound, sum)
	}
	work := id // the identity is no longer needed
	work.CopyFrom(full)
	if s.Null.Rows > 0 {
		s.eng.Backend().Syrk(true, -3*bound, s.Null, 1, work)
	}
	w := make([]float64, n)
	if err := s.eng.SymEig(s.ctx, work, w, true); err != nil {
		return nil, err
	}
	res := &Result{Values: make([]float64, s.k), Vectors: blas.NewMatrix(s.k, n), Residuals: make([]float64, s.k), Products: n, Method: "decomposition"}
	image := blas.NewMatrix(s.k, n)
	for i := range s.k {
		res.Values[i] = s.sign * w[n-1-i]
		copy(res.Vectors.Row(i), work.Row(n-1-i))
	}
	s.eng.Backend().Gemm(false, true, s.sign, res.Vectors, full, 0, image)
	for i := range s.k {
		sum := 0.0
		for j, v := range image.Row(i) {
			d := v - res.Values[i]*res.Vectors.At(i, j)
			sum += d * d
		}
		res.Residuals[i] = math.Sqrt(sum)
	}
	for _, v := range w {
		if math.Abs(v) <= bound*(1+1e-8) {
			res.Norm = max(res.Norm, math.Abs(v))
		}
	}
	return res, nil
}
