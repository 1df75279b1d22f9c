package sdp

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// polish continues from the end of the path by Newton's method on a factor F, n x r. r is the rank
// of Z without the eigenvalues that only the barrier keeps above 0.
func (s *search) polish(res *Result, o Options) error {
	f, err := s.reduced()
	if err != nil || s.n*f.Cols > 4000 {
		return err
	}
	best := *res
	for range 12 {
		s.evaluate(f)
		res.Steps++
		if err := s.measure(res, o); err != nil {
			return err
		}
		if res.Gap < best.Gap {
			best = *res
			best.Factor = f.Clone()
		}
		if res.Converged {
			break
		}
		if ok, err := s.newton(f); err != nil || !ok {
			*res = best
			return err
		}
	}
	steps := res.Steps
	*res = best
	res.Steps = steps
	return nil
}

// reduced returns the factor of Z without its small eigenvalues.
func (s *search) reduced() (blas.Matrix, error) {
	v, w := s.z.Clone(), make([]float64, s.n)
	if err := s.eng.SymEig(s.ctx, v, w, true); err != nil {
		return blas.Matrix{}, err
	}
	r := 0
	for r < s.n && w[s.n-1-r] > math.Sqrt(finest)*1e-1*max(w[s.n-1], 1e-300) && w[s.n-1-r] > 100*s.mu {
		r++
	}
	f := blas.NewMatrix(s.n, max(1, r)) // a column of zeros for Z = 0
	for c := range r {
		root := math.Sqrt(w[s.n-1-c])
		for i, x := range v.Row(s.n - 1 - c) {
			f.Set(i, c, root*x)
		}
	}
	return f, nil
}

// newton moves F by a Newton step for <A, F F'> + the terms: the gradient is 2 S F, and the Hessian
// 2 S x I + sum d2 g g', where g is the gradient of an entry. The Hessian has a null space, the
// rotations of F, so a multiple of the identity is added to make it definite. newton returns false
// if that multiple is too large.
func (s *search) newton(f blas.Matrix) (bool, error) {
	r, size := f.Cols, s.n*f.Cols
	s.dual(s.d1)
	gradient := blas.NewMatrix(s.n, r)
	s.eng.Backend().Gemm(false, false, 2, s.q, f, 0, gradient)
	h := s.eng.GetMatrix(size, size)
	defer s.eng.PutMatrix(h)
	clear(h.Data)
	scale := 0.0
	for i := range s.n {
		for j := range i + 1 {
			for c := range r {
				h.Set(i*r+c, j*r+c, 2*s.q.At(i, j))
			}
		}
	}
	for e, u := range s.terms {
		add := func(i, j int, x, y []float64) { // adds the part of g g' in the rows of i and the columns of j
			for c := range r {
				for d := range r {
					if a, b := i*r+c, j*r+d; b <= a {
						h.Set(a, b, h.At(a, b)+s.d2[e]*x[c]*y[d])
					}
				}
			}
		}
		if u.I == u.J {
			x := make([]float64, r)
			for c, v := range f.Row(u.I) {
				x[c] = 2 * v
			}
			add(u.I, u.I, x, x)
			continue
		}
		x, y := f.Row(u.J), f.Row(u.I) // the gradients with respect to rows I and J
		add(u.I, u.I, x, x)
		add(u.J, u.J, y, y)
		add(u.I, u.J, x, y)
		add(u.J, u.I, y, x)
	}
	for i := range size {
		scale = max(scale, math.Abs(h.At(i, i)))
	}
	if !(scale > 0) || math.IsInf(scale, 1) {
		return false, nil // no value depends on F any more, or too much
	}
	l := s.eng.GetMatrix(size, size)
	defer s.eng.PutMatrix(l)
	for damping := 1e-11 * scale; ; damping *= 100 {
		l.CopyFrom(h)
		for i := range size {
			l.Set(i, i, l.At(i, i)+damping)
		}
		if err := s.eng.Cholesky(s.ctx, l); err == nil {
			break
		}
		if !(damping <= scale) || s.ctx.Err() != nil {
			return false, s.ctx.Err()
		}
	}
	x := blas.MatrixOf(size, 1, gradient.Data[:size])
	s.eng.Backend().Trsm(true, false, l, x)
	s.eng.Backend().Trsm(true, true, l, x)
	s.eng.Backend().Kernels().Axpy(-1, x.Data, f.Data[:size])
	return true, nil
}
