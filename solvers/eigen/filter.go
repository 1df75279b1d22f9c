package eigen

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/krylov"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/operator"
)

// filter is a Chebyshev polynomial of degree d in sign A, shifted and scaled so that it stays
// within [-1, 1] on the unwanted part [low, cut] of the spectrum, and grows beyond.
type filter struct {
	a         operator.Operator
	sign      float64
	low, cut  float64
	degree    int
	centre, e float64 // of the unwanted part: its middle and half its length
}

const (
	// filterRange is the largest value of the filter on the wanted part, relative to the unwanted:
	// the smallest wanted value should not drown in the rounding of the largest.
	filterRange = 100
	// nullRange is the same for the values of eigenvectors that are left out.
	nullRange = 1e7
	maxDegree = 1000
)

// newFilter returns the filter that has about the value filterRange at top, the largest wanted
// eigenvalue, or nullRange at null.
func newFilter(a operator.Operator, sign, low, cut, top, null float64) *filter {
	f := &filter{a: a, sign: sign, low: low, cut: cut, centre: (low + cut) / 2, e: (cut - low) / 2}
	degree := float64(maxDegree)
	for _, end := range []struct{ at, most float64 }{{top, filterRange}, {null, nullRange}} {
		if end.at > cut {
			degree = min(degree, math.Acosh(end.most)/math.Acosh(1+(end.at-cut)/f.e))
		}
	}
	f.degree = int(max(1, degree))
	return f
}

// apply writes p(A) x to y, with work of the same shape.
func (f *filter) apply(ctx context.Context, eng *engine.Engine, y, x, work blas.Matrix) error {
	even, odd := work, y // T_0 x, T_2 x, ... and T_1 x, T_3 x, ...
	if f.degree%2 == 0 {
		even, odd = y, work
	}
	copy(even.Data, x.Data)
	if err := operator.Recur(ctx, eng, f.a, f.sign/f.e, even, -f.centre/f.e, 0, odd); err != nil {
		return err
	}
	for d := 2; d <= f.degree; d++ {
		if err := operator.Recur(ctx, eng, f.a, 2*f.sign/f.e, odd, -2*f.centre/f.e, -1, even); err != nil {
			return err
		}
		even, odd = odd, even
	}
	return nil
}

// pass returns the residual of p(A) at the value w that ensures one of tolerance for A. What is
// wrong in the vector lies in eigenvectors of the unwanted part, where p differs from w by w - 1
// at least while A differs by its spread, or of the wanted part, where the slope of p is d^2 / e
// at least.
func (f *filter) pass(w, tolerance, top float64) float64 {
	if w <= 1 {
		return 0
	}
	factor := max((top-f.low)/(w-1), f.e/float64(f.degree*f.degree))
	return tolerance / factor
}

// filtered is krylov on a filter of A, for operators whose products cost little beside keeping the
// space orthonormal. A short search finds where to cut: its Ritz values do not exceed the
// eigenvalues that they stand for. Every later one starts with what the one before has found, and
// moves the cut; once that has come to rest, the search goes on until all pairs pass.
func (s *search) filtered() (*Result, error) {
	p, err := s.problem()
	if err != nil {
		return nil, err
	}
	p.Extra, p.Budget = p.Block/2, p.Basis-p.Block
	rough, err := p.Find()
	if err != nil || rough.Converged {
		return s.filteredResult(rough, rough.Products), err
	}
	low := rough.Least - rough.LeastResidual
	low -= 0.01 * (rough.Values[0] - low)
	null, err := s.nullValue()
	if err != nil {
		return nil, err
	}
	best, products := rough, rough.Products
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	work := s.eng.NewMatrix(s.n, p.Block)
	before := math.Inf(1)
	for {
		top, cut := best.Values[0], best.Values[len(best.Values)-1]
		f := newFilter(s.a, s.sign, low, cut, top, null)
		settled := top-cut > 0.5*before
		before = top - cut
		if settled {
			p.Budget = max(p.Budget, (s.Products-products)/f.degree)
		}
		p.Start = mixed(s.eng.Backend(), rng, best.Vectors, p.Block)
		p.Multiply = func(x, y blas.Matrix) error {
			products += f.degree * p.Block
			return f.apply(s.ctx, s.eng, y, x, work)
		}
		p.Pass = func(w, _ float64) float64 { return f.pass(w, s.Tolerance*rough.Norm, top) }
		p.Progress = func(_, passed int) error {
			s.progress(products, passed)
			return s.ctx.Err()
		}
		found, err := p.Find()
		if err != nil {
			return nil, err
		}
		if best, err = s.rayleighRitz(found.Vectors); err != nil {
			return nil, err
		}
		best.Norm = max(rough.Norm, best.Norm)
		products += best.Products
		if found.Converged || settled {
			return s.filteredResult(best, products), nil
		}
	}
}

// filteredResult takes the first k pairs of what was found for sign A.
func (s *search) filteredResult(r *krylov.Result, products int) *Result {
	res := &Result{Values: r.Values[:s.k], Vectors: r.Vectors.View(0, s.k, 0, s.n), Residuals: r.Residuals[:s.k], Norm: r.Norm, Products: products, Method: "filtered krylov"}
	for i := range res.Values {
		res.Values[i] *= s.sign
	}
	return res
}

// nullValue returns the largest eigenvalue of sign A on the known eigenvectors, -Inf if there are
// none.
func (s *search) nullValue() (float64, error) {
	if s.Null.Rows == 0 {
		return math.Inf(-1), nil
	}
	r, err := s.rayleighRitz(s.Null)
	if err != nil {
		return 0, err
	}
	return r.Values[0], nil
}

// rayleighRitz returns the Ritz pairs of sign A in the span of the orthonormal rows of v.
func (s *search) rayleighRitz(v blas.Matrix) (*krylov.Result, error) {
	m, backend := v.Rows, s.eng.Backend()
	x := columns(v)
	image := s.eng.NewMatrix(s.n, m)
	if err := s.a.Multiply(s.ctx, s.eng, image, x); err != nil {
		return nil, err
	}
	h, w := blas.NewMatrix(m, m), make([]float64, m)
	backend.Gemm(true, false, s.sign, x, image, 0, h)
	if err := s.eng.SymEig(s.ctx, h, w, true); err != nil {
		return nil, err
	}
	r := &krylov.Result{Values: make([]float64, m), Vectors: s.eng.NewMatrix(m, s.n), Residuals: make([]float64, m), Products: m}
	turn := blas.NewMatrix(m, m)
	for i := range m {
		r.Values[i] = w[m-1-i]
		copy(turn.Row(i), h.Row(m-1-i))
		r.Norm = max(r.Norm, math.Abs(w[i]))
	}
	backend.Gemm(false, true, 1, turn, x, 0, r.Vectors)
	turned := s.eng.NewMatrix(m, s.n)
	backend.Gemm(false, true, s.sign, turn, image, 0, turned)
	t := backend.Kernels()
	for i := range m {
		t.Axpy(-r.Values[i], r.Vectors.Row(i), turned.Row(i))
		r.Residuals[i] = math.Sqrt(t.Dot(turned.Row(i), turned.Row(i)))
	}
	return r, nil
}

// mixed returns random combinations of the rows of v, as columns.
func mixed(backend blas.Backend, rng *rand.Rand, v blas.Matrix, count int) blas.Matrix {
	c, x := blas.NewMatrix(v.Rows, count), blas.NewMatrix(v.Cols, count)
	for i := range c.Data {
		c.Data[i] = rng.NormFloat64()
	}
	backend.Gemm(true, false, 1, v, c, 0, x)
	return x
}
