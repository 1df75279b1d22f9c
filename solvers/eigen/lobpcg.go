package eigen

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// lobpcg is the locally optimal block preconditioned conjugate gradient method (Knyazev 2001): in
// every iteration the best vectors in the span of the last ones, their preconditioned residuals
// and the last change. The span gets an orthonormal basis by Householder reflections, which makes
// it as robust as it is dear (Hetmaniuk & Lehoucq 2006, in its plainest form): 2 products and
// some 50 (k + 4) multiply-adds a row for each vector and iteration.
func (s *search) lobpcg() (*Result, error) {
	m := min(s.k+4, (s.n-s.Null.Rows)/3) // some more than wanted: the last ones come slowly
	if m < s.k {
		return s.decompose()
	}
	if err := s.eng.Check("spaces of LOBPCG", engine.MatrixBytes(s.n, 9*m+s.Null.Rows), "ask for fewer eigenvectors or raise the memory limit"); err != nil {
		return nil, err
	}
	null := columns(s.Null)
	rng := rand.New(rand.NewPCG(s.Seed, 2))
	span := s.eng.NewMatrix(s.n, m)
	for i := range span.Data {
		span.Data[i] = rng.NormFloat64()
	}
	s.without(null, span)
	s.eng.Backend().QR(span, blas.NewMatrix(m, m))
	x, err := s.rayleighRitz(span)
	if err != nil {
		return nil, err
	}
	products, norm := m, 0.0
	var change blas.Matrix // of x in the last iteration
	for {
		norm = max(norm, math.Abs(x.values[0]), math.Abs(x.values[m-1]), slices.Max(lengths(x.image))) // |A x|, which |A| is not below
		rest, passed := s.residuals(x, norm)
		s.progress(products, passed)
		if passed == s.k || products >= s.Products {
			res, err := s.measure(x.vectors, norm, products)
			if err != nil {
				return nil, err
			}
			res.Method = "lobpcg"
			return res, nil
		}
		better := s.eng.NewMatrix(s.n, m)
		if err := s.Preconditioner.Multiply(s.ctx, s.eng, better, rest); err != nil {
			return nil, err
		}
		span = beside(s.eng, x.vectors, better, change)
		s.without(null, span)
		s.eng.Backend().QR(span, blas.NewMatrix(span.Cols, span.Cols))
		all, err := s.rayleighRitz(span)
		if err != nil {
			return nil, err
		}
		products += span.Cols
		before := x.vectors
		x = &pairs{all.values[:m], all.vectors.View(0, s.n, 0, m).Clone(), all.image.View(0, s.n, 0, m).Clone()}
		change = s.difference(x.vectors, before)
	}
}

// without subtracts from the columns of x their projections on those of v, twice.
func (s *search) without(v, x blas.Matrix) {
	if v.Cols == 0 {
		return
	}
	c := blas.NewMatrix(v.Cols, x.Cols)
	for range 2 {
		s.eng.Backend().Gemm(true, false, 1, v, x, 0, c)
		s.eng.Backend().Gemm(false, false, -1, v, c, 1, x)
	}
}

// lengths returns those of the columns.
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

// residuals returns A x - w x for all pairs, and how many of the first k pass.
func (s *search) residuals(x *pairs, norm float64) (blas.Matrix, int) {
	m := x.vectors.Cols
	rest, squares := s.eng.NewMatrix(s.n, m), make([]float64, m)
	for i := range s.n {
		v, image, to := x.vectors.Row(i), x.image.Row(i), rest.Row(i)
		for j, w := range x.values {
			to[j] = image[j] - w*v[j]
			squares[j] += to[j] * to[j]
		}
	}
	for passed := range s.k {
		if !(math.Sqrt(squares[passed]) <= s.Tolerance*norm) {
			return rest, passed
		}
	}
	return rest, s.k
}

// difference returns what is in x beyond the span of the orthonormal columns of before.
func (s *search) difference(x, before blas.Matrix) blas.Matrix {
	d := x.Clone()
	s.without(before, d)
	return d
}

// beside returns a matrix with the columns of all of those.
func beside(eng *engine.Engine, parts ...blas.Matrix) blas.Matrix {
	cols := 0
	for _, p := range parts {
		cols += p.Cols
	}
	m, at := eng.NewMatrix(parts[0].Rows, cols), 0
	for _, p := range parts {
		if p.Cols > 0 {
			m.View(0, m.Rows, at, at+p.Cols).CopyFrom(p)
			at += p.Cols
		}
	}
	return m
}
