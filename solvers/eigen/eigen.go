// Package eigen (engine room: may change) computes a few eigenpairs of symmetric operators.
package eigen

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/krylov"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Options are the settings of a search. The zero value is usable.
type Options struct {
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

// Result holds eigenpairs.
type Result struct {
	Values    []float64   // k, the extreme one first: descending from Top, ascending from Bottom
	Vectors   blas.Matrix // k x n, unit eigenvectors as rows
	Residuals []float64   // |A v - w v| of each, measured
	Norm      float64     // |A|, or a lower estimate of it
	Products  int         // of A with a vector
	Method    string      // "decomposition", "krylov", "filtered krylov", "components" or "none"
	Converged bool        // all residuals are within the tolerance
}

// NoConvergenceError reports a search that reached its limit. Best has the best pairs so far.
type NoConvergenceError struct {
	Best   *Result
	Passed int // number of residuals within the tolerance
}

func (e *NoConvergenceError) Error() string {
	worst := 0.0
	for _, r := range e.Best.Residuals {
		worst = max(worst, r)
	}
	return fmt.Sprintf("%d of %d eigenpairs found after %d products, the largest residual is %.2g of the norm: allow more products or a larger tolerance",
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

// Top returns the k largest eigenvalues of A, of order n, and their eigenvectors.
//
// Small orders are decomposed. Otherwise a block Krylov space finds the pairs by products with A;
// wider operators use larger blocks. The result is bit-identical for any number of workers with the
// same seed. Every residual is measured. Repeated eigenvalues are found with all their copies.
//
// Errors: a *fault.ParamError for k outside [0, n] and for a negative tolerance or limit; a request
// of about n x (7k + 200) values above the memory limit; *NoConvergenceError at the limit, together
// with its result; *blas.NoConvergenceError if A gives NaN or Inf; ctx.Err().
func Top(ctx context.Context, eng *engine.Engine, a operator.Operator, k int, o Options) (*Result, error) {
	return find(ctx, eng, a, k, o, 1)
}

// Bottom is [Top] for the k smallest eigenvalues.
// Errors and cost are those of Top.
func Bottom(ctx context.Context, eng *engine.Engine, a operator.Operator, k int, o Options) (*Result, error) {
	return find(ctx, eng, a, k, o, -1)
}

func (o *Options) check(n, k int) error {
	switch {
	case k < 0 || k > n-o.Null.Rows:
		want := fmt.Sprintf("a number from 0 to %d, the order of the matrix", n)
		if o.Null.Rows > 0 {
			want = fmt.Sprintf("a number from 0 to %d, the order of the matrix without %d known eigenvectors", n-o.Null.Rows, o.Null.Rows)
		}
		return &fault.ParamError{Param: "number of eigenvalues", Value: k, Want: want}
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 1):
		return &fault.ParamError{Param: "tolerance of eigenvectors", Value: o.Tolerance, Want: "a number >= 0 (0 for 1e-10)"}
	case o.Products < 0:
		return &fault.ParamError{Param: "products of an eigenvalue search", Value: o.Products, Want: "a number >= 0 (0 for a bound that suffices)"}
	case o.Start.Rows > 0 && o.Start.Cols != n:
		return &fault.ShapeError{What: "length of vectors to start with", Got: o.Start.Cols, Want: fmt.Sprintf("%d, the order of the matrix", n)}
	case o.Null.Rows > 0 && o.Null.Cols != n:
		return &fault.ShapeError{What: "length of known eigenvectors", Got: o.Null.Cols, Want: fmt.Sprintf("%d, the order of the matrix", n)}
	}
	return nil
}

// find computes the largest eigenvalues of sign A.
func find(ctx context.Context, eng *engine.Engine, a operator.Operator, k int, o Options, sign float64) (*Result, error) {
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
		return &Result{Values: []float64{}, Vectors: blas.NewMatrix(0, n), Residuals: []float64{}, Method: "none", Converged: true}, ctx.Err()
	}
	s := search{ctx: ctx, eng: eng, a: a, n: n, k: k, sign: sign, Options: o}
	defer func() { s.eng.PutMatrix(s.basis) }()
	var res *Result
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
	if _, failed := errors.AsType[*NoConvergenceError](err); failed && rescue {
		if res, err = s.decompose(); err == nil {
			err = s.check(res)
		}
	}
	if _, failed := errors.AsType[*NoConvergenceError](err); err != nil && !failed {
		return nil, err
	}
	return res, err
}

// search is the state of one call of Top or Bottom.
type search struct {
	Options
	ctx  context.Context
	eng  *engine.Engine
	a    operator.Operator
	n, k int
	sign float64

	basis blas.Matrix // memory of a Krylov space, released at the end
}

// check returns an error for residuals above the tolerance. Measured residuals may exceed the
// estimates that ended the search, because of rounding.
func (s *search) check(res *Result) error {
	passed := 0
	for _, r := range res.Residuals {
		if r <= 2*s.Tolerance*res.Norm {
			passed++
		}
	}
	if res.Converged = passed == s.k; !res.Converged {
		return &NoConvergenceError{Best: res, Passed: passed}
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
	if err := s.eng.Check(fmt.Sprintf("search for %d eigenvectors of length %d", s.k, s.n), need, "ask for fewer eigenvectors or raise the memory limit"); err != nil {
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

func (s *search) krylov() (*Result, error) {
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
