package operator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/krylov"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// EigenOptions are the settings of a search. The zero value is usable.
type EigenOptions struct {
	// Tolerance is the largest accepted residual |A v - w v|, relative to |A|; 0 for 1e-10. Values
	// below n eps are raised to n eps.
	Tolerance float64
	// Products is the maximum number of products of A with a vector, 0 for 100,000 + 1000 k. With
	// 0, orders up to 4096 whose search fails are decomposed.
	Products int
	// Seed determines the random initial vectors.
	Seed uint64
	// Null, l x n, has orthonormal rows that span an invariant subspace to exclude.
	Null blas.Matrix
	// Start, l x n, has initial rows, such as the eigenvectors of a similar operator. A Krylov
	// search of an operator that is not cheap uses them.
	Start blas.Matrix
}

// Eigenpairs holds eigenpairs.
type Eigenpairs struct {
	Values    []float64   // k, the extreme one first: descending from Top, ascending from Bottom
	Vectors   blas.Matrix // k x n, unit eigenvectors as rows
	Residuals []float64   // |A v - w v| of each, measured
	Norm      float64     // |A|, or a lower estimate of it
	Products  int         // of A with a vector
	Method    string      // "decomposition", "krylov", "filtered krylov", "components" or "none"
	Converged bool        // all residuals are within the tolerance
}

// NoEigenpairsError reports a search that reached its limit. Best has the best pairs so far.
type NoEigenpairsError struct {
	Best   *Eigenpairs
	Passed int // number of residuals within the tolerance
}

func (e *NoEigenpairsError) Error() string {
	worst := 0.0
	for _, r := range e.Best.Residuals {
		worst = max(worst, r)
	}
	return fmt.Sprintf("%d of %d eigenpairs found after %d products, the largest residual is %.2g of the "+
		"norm: allow more products or a larger tolerance",
		e.Passed, len(e.Best.Values), e.Best.Products, worst/e.Best.Norm)
}

const (
	defaultTolerance = 1e-10
	// Up to this order, and if more than one in wholeShare eigenvalues are requested, A is formed
	// and decomposed.
	wholeOrder = 256
	wholeShare = 8
	// Up to this order, a search without its own limit that fails, or takes this many products per
	// row, ends in a decomposition.
	rescueOrder    = 4096
	rescueProducts = 40
	// Operators below this cost are filtered: a product costs less than orthogonalizing vectors.
	cheap = 500
)

// TopEigenpairs computes a few eigenpairs of symmetric operators.
//
// TopEigenpairs returns the k largest eigenvalues of A, of order n, and their eigenvectors.
//
// Small orders are decomposed. Otherwise a block Krylov space finds the pairs by products with A;
// wider operators use larger blocks. The result is bit-identical for any number of workers with the
// same seed. Every residual is measured. Repeated eigenvalues are found with all their copies.
//
// Errors: a *fault.ParamError for k outside [0, n] and for a negative tolerance or limit; a request
// of about n x (7k + 200) values above the memory limit; *NoConvergenceError at the limit, together
// with its result; *blas.NoConvergenceError if A gives NaN or Inf; ctx.Err().
func TopEigenpairs(ctx context.Context, eng *engine.Engine, a Operator, k int,
	o EigenOptions) (*Eigenpairs, error) {
	return find(ctx, eng, a, k, o, 1)
}

// BottomEigenpairs is [TopEigenpairs] for the k smallest eigenvalues.
// Errors and cost are those of Top.
func BottomEigenpairs(ctx context.Context, eng *engine.Engine, a Operator, k int,
	o EigenOptions) (*Eigenpairs, error) {
	return find(ctx, eng, a, k, o, -1)
}

func (o *EigenOptions) check(n, k int) error {
	switch {
	case k < 0 || k > n-o.Null.Rows:
		want := fmt.Sprintf("a number from 0 to %d, the order of the matrix", n)
		if o.Null.Rows > 0 {
			want = fmt.Sprintf("a number from 0 to %d, the order of the matrix without %d known eigenvectors",
				n-o.Null.Rows, o.Null.Rows)
		}
		return &fault.ParamError{Param: "number of eigenvalues", Value: k, Want: want}
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1):
		return fault.Param("tolerance of eigenvectors", o.Tolerance, "a number >= 0 (0 for 1e-10)")
	case o.Products < 0:
		return fault.Param("products of an eigenvalue search", o.Products,
			"a number >= 0 (0 for a bound that suffices)")
	case o.Start.Rows > 0 && o.Start.Cols != n:
		return fault.Shape("length of vectors to start with", o.Start.Cols, "%d, the order of the matrix", n)
	case o.Null.Rows > 0 && o.Null.Cols != n:
		return fault.Shape("length of known eigenvectors", o.Null.Cols, "%d, the order of the matrix", n)
	}
	return nil
}

// find computes the largest eigenvalues of sign A.
func find(ctx context.Context, eng *engine.Engine, a Operator, k int, o EigenOptions,
	sign float64) (*Eigenpairs, error) {
	n := a.Order()
	if err := o.check(n, k); err != nil {
		return nil, err
	}
	if o.Tolerance == 0 {
		o.Tolerance = defaultTolerance
	}
	o.Tolerance = max(o.Tolerance, float64(n)*0x1p-52)
	rescue := o.Products == 0 && n <= rescueOrder
	if o.Products == 0 {
		o.Products = 100000 + 1000*k
	}
	if rescue {
		o.Products = min(o.Products, rescueProducts*n)
	}
	if k == 0 {
		return &Eigenpairs{Values: []float64{}, Vectors: blas.NewMatrix(0, n), Residuals: []float64{},
			Method: "none", Converged: true}, ctx.Err()
	}
	s := search{ctx: ctx, eng: eng, a: a, n: n, k: k, sign: sign, EigenOptions: o}
	defer func() { s.eng.PutMatrix(s.basis) }()
	var res *Eigenpairs
	var err error
	switch {
	case n <= wholeOrder || k+o.Null.Rows > n/wholeShare:
		res, err = s.decompose()
	case a.Cost() < cheap:
		res, err = s.filtered()
	default:
		res, err = s.krylov()
	}
	if err == nil {
		err = s.check(res)
	}
	if _, failed := errors.AsType[*NoEigenpairsError](err); failed && rescue {
		if res, err = s.decompose(); err == nil {
			err = s.check(res)
		}
	}
	if _, failed := errors.AsType[*NoEigenpairsError](err); err != nil && !failed {
		return nil, err
	}
	return res, err
}

// search is the state of one call of Top or Bottom.
type search struct {
	EigenOptions
	ctx  context.Context
	eng  *engine.Engine
	a    Operator
	n, k int
	sign float64

	basis blas.Matrix // memory of a Krylov space, released at the end
}

// check returns an error for residuals above the tolerance. Measured residuals may exceed the
// estimates that ended the search, because of rounding.
func (s *search) check(res *Eigenpairs) error {
	passed := 0
	for _, r := range res.Residuals {
		if r <= 2*s.Tolerance*res.Norm {
			passed++
		}
	}
	if res.Converged = passed == s.k; !res.Converged {
		return &NoEigenpairsError{Best: res, Passed: passed}
	}
	return nil
}

// basisSize is the number of vectors in a Krylov space.
func basisSize(k, block int) int { return max(3*k, k+10*block, 120) }

// startRandom is the number of random vectors in addition to those of Start.
const startRandom = 4

// block returns the number of vectors that are multiplied at a time.
func (s *search) block() int {
	if s.Start.Rows > 0 {
		return min(s.Start.Rows+startRandom, max(2, s.n/16))
	}
	return min(s.a.Width(), max(2, s.n/64))
}

// problem returns the search of a Krylov space of sign A.
func (s *search) problem() (*krylov.Problem, error) {
	block := s.block()
	basis := min(basisSize(s.k, block), s.n/2-s.Null.Rows)
	need := engine.MatrixBytes(s.n, basis+s.Null.Rows+6*block+4*s.k)
	if err := s.eng.Check(fmt.Sprintf("search for %d eigenvectors of length %d", s.k, s.n), need,
		"ask for fewer eigenvectors or raise the memory limit"); err != nil {
		return nil, err
	}
	p := &krylov.Problem{
		N: s.n, K: s.k, Block: block, Basis: basis, Budget: s.Products, Seed: s.Seed,
		Backend: s.eng.Backend(),
		Pass:    func(_, norm float64) float64 { return s.Tolerance * norm },
		Multiply: func(x, y blas.Matrix) error {
			if err := s.a.Multiply(s.ctx, s.eng, y, x); err != nil {
				return err
			}
			if s.sign < 0 {
				s.eng.Backend().Kernels().Scale(-1, y.Data[:len(x.Data)])
			}
			return nil
		},
		For:      func(n, block int, f func(lo, hi int) error) error { return s.eng.For(s.ctx, n, block, f) },
		Progress: func(int, int) error { return s.ctx.Err() },
	}
	if s.Null.Rows > 0 {
		p.Locked = s.eng.Transposed(s.Null)
	}
	if s.Start.Rows > 0 {
		p.Start = s.eng.Transposed(s.Start)
	}
	s.basis = s.eng.GetMatrix(1, p.Space())
	p.Memory = s.basis.Data
	return p, nil
}

func (s *search) krylov() (*Eigenpairs, error) {
	p, err := s.problem()
	if err != nil {
		return nil, err
	}
	found, err := p.Find()
	if err != nil {
		return nil, err
	}
	res, err := s.measure(found.Vectors, found.Norm, found.Products)
	if err != nil {
		return nil, err
	}
	res.Method = "krylov"
	return res, nil
}

// decompose forms A and decomposes it. Known eigenvectors are first shifted beyond the other end of
// the spectrum.
func (s *search) decompose() (*Eigenpairs, error) {
	n := s.n
	if err := s.eng.Check("matrix of the operator", 2*engine.MatrixBytes(n, n),
		"ask for fewer eigenvalues or raise the memory limit"); err != nil {
		return nil, err
	}
	id, full := s.eng.GetMatrix(n, n), s.eng.GetMatrix(n, n)
	defer s.eng.PutMatrix(id)
	defer s.eng.PutMatrix(full)
	clear(id.Data)
	id.Shift(1)
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
	res := &Eigenpairs{Values: make([]float64, s.k), Vectors: blas.NewMatrix(s.k, n),
		Residuals: make([]float64, s.k), Products: n, Method: "decomposition"}
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
func (s *search) measure(v blas.Matrix, norm float64, products int) (*Eigenpairs, error) {
	values, turn, err := s.projection(v)
	if err != nil {
		return nil, err
	}
	return s.pick(v, values, turn, norm, products+v.Cols)
}

// pick is measure for a known projection, values and turn.
func (s *search) pick(v blas.Matrix, values []float64, turn blas.Matrix, norm float64,
	products int) (*Eigenpairs, error) {
	res := &Eigenpairs{Values: make([]float64, s.k), Vectors: s.eng.NewMatrix(s.k, s.n),
		Residuals: make([]float64, s.k), Norm: norm, Products: products + s.k}
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
