// Package krylov (internal: may change) finds eigenpairs at the upper end of the spectrum of a
// symmetric operator by a block Krylov space.
package krylov

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/blas"
)

// Problem is the search for the K largest eigenvalues of a symmetric operator of order N, and the
// Extra best approximations after these.
//
// The space is kept fully orthonormal, with Rayleigh-Ritz and thick restarts (Wu & Simon,
// "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix Anal.
// Appl. 2000, in its block form). It contains at most as many copies of a repeated eigenvalue as a
// block has columns. If that many equal ones are found, they count only after fresh random vectors
// have found nothing larger.
type Problem struct {
	N, K, Extra int
	// Multiply writes A x to y; both are N x Block, compact. An error ends the search.
	Multiply func(x, y blas.Matrix) error
	Backend  blas.Backend
	// For calls f for the blocks [0, block), [block, 2 block), ... of [0, n) on all workers.
	For func(n, block int, f func(lo, hi int) error) error

	// Block is the number of vectors that are multiplied at a time, Basis the maximum number of
	// vectors in the basis. K + Extra + 3 Block <= Basis, and Basis + columns of Locked <= N / 2.
	Block, Basis int
	// Pass returns the largest accepted |A v - w v| for an eigenvalue w, given a lower estimate of
	// |A|.
	Pass func(w, norm float64) float64
	// Budget is the number of products with a vector after which no new ones begin, once there are
	// K + Extra Ritz values.
	Budget int
	Seed   uint64
	// Locked, N x l, orthonormal, spans an invariant subspace that is excluded.
	Locked blas.Matrix
	// Start, N x s, has initial vectors, at most Block of them; others are random.
	Start blas.Matrix
	// Once computes the Ritz values only when the basis is full.
	Once bool
	// Restart, if set, is called before every restart with the K + Extra best Ritz values; false
	// ends the search without convergence.
	Restart func(values []float64) bool
	// Progress, if set, is called after every computation of the Ritz values, with the number of
	// the K that passed.
	Progress func(products, passed int) error
	// Memory, of at least Space elements, stores the basis; nil allocates it.
	Memory []float64
}

// Space returns the number of elements of the basis.
func (p *Problem) Space() int { return p.N * p.stride() }

// stride is chosen so that rows of the basis begin on a cache line, and not a power of two apart.
func (p *Problem) stride() int { return (p.Locked.Cols+p.Basis+p.Block+7)/8*8 + 8 }

// Result is the result of a search.
type Result struct {
	Values []float64 // K + Extra, descending
	// N x K + Extra, their eigenvectors as orthonormal columns, valid until the next Find
	Vectors   blas.Matrix
	Norm      float64 // estimate of |A|, from below
	Products  int     // with a vector
	Converged bool    // the residuals of the first K pass; otherwise these are the best so far
	// The smallest Ritz value of the search, and its residual: their difference is a bound on all
	// eigenvalues, in practice (Zhou & Li 2011).
	Least, LeastResidual float64
}

// Find runs the search. Its errors are those of Multiply, For and Progress, and that of the
// backend's SymEig if the operator returned NaN or Inf. Cost: 4 N Basis flops per product, in
// addition to the product itself.
func (p *Problem) Find() (*Result, error) {
	s := newSearch(p)
	if err := s.begin(); err != nil {
		return nil, err
	}
	confirming := false
	for {
		passed, err := s.expand()
		if err != nil {
			return nil, err
		}
		switch {
		case passed < p.K &&
			(s.products >= p.Budget || p.Restart != nil && !p.Restart(s.ritz.values[:p.K+p.Extra])):
			return s.result(false)
		case passed < p.K:
			confirming = false
			if err := s.restart(false); err != nil {
				return nil, err
			}
		case s.distinct() || confirming && s.unchanged() || s.products >= p.Budget:
			return s.result(true)
		default:
			confirming = true
			s.before = append(s.before[:0], s.ritz.values[:p.K]...)
			if err := s.restart(true); err != nil {
				return nil, err
			}
		}
	}
}

// search is the state of one call of Find.
type search struct {
	*Problem
	basis
	rng      *rand.Rand
	t        blas.Matrix // V'AV, its lower triangle, without the locked part
	m        int         // processed vectors: order of t in use. Block more are in the basis.
	r        blas.Matrix // A V = V T + Q r' for the last block, Q being the unprocessed one
	x, y, z  blas.Matrix // the current block, its image, and scratch memory
	products int
	norm     float64
	ritz     ritz
	least    int       // vectors to process before Ritz values are computed
	before   []float64 // values that a confirmation must not change

	// The smallest Ritz value so far with its residual: what a restart keeps does not hold it.
	smallest, smallestResidual float64
}

func newSearch(p *Problem) *search {
	s := &search{Problem: p, rng: rand.New(rand.NewPCG(p.Seed, uint64(p.N))), smallest: math.Inf(1)}
	s.basis = newBasis(p)
	s.t = blas.NewMatrix(p.Basis, p.Basis)
	s.x, s.y, s.z = blas.NewMatrix(p.N, p.Block), blas.NewMatrix(p.N, p.Block), blas.NewMatrix(p.N, p.Block)
	return s
}

// begin fills the first block.
func (s *search) begin() error {
	s.random()
	if s.Start.Data != nil {
		some := min(s.Block, s.Start.Cols)
		s.y.View(0, s.N, 0, some).CopyFrom(s.Start.View(0, s.N, 0, some))
	}
	_, err := s.extend()
	return err
}

// random fills y.
func (s *search) random() {
	for i := range s.y.Data {
		s.y.Data[i] = s.rng.NormFloat64()
	}
}

// expand adds blocks until all K pairs pass or the basis is full, and returns how many pass.
func (s *search) expand() (passed int, err error) {
	next, earlier := max(s.least, s.K+s.Extra+2*s.Block), look{}
	for {
		if err := s.step(); err != nil {
			return 0, err
		}
		full := s.m+s.Block > s.Basis-s.Block || s.products >= s.Budget && s.m >= s.K+s.Extra
		if (s.m < next || s.Once) && !full {
			continue
		}
		if err := s.findRitz(); err != nil {
			return 0, err
		}
		passed = s.passed()
		if s.Progress != nil {
			if err := s.Progress(s.products, passed); err != nil {
				return 0, err
			}
		}
		if passed == s.K || full {
			return passed, nil
		}
		now := look{s.m, s.excess()}
		next, earlier = now.next(earlier, s.Block), now
	}
}

// look is the state of the Ritz pairs at some size of the space.
type look struct {
	size  int
	worst float64 // residual, relative to what passes
}

// next returns the size at which to compute Ritz pairs again: residuals fall geometrically once
// they fall, so two results predict where they pass. It stops slightly before that, because Ritz
// pairs cost less than products.
func (l look) next(earlier look, block int) int {
	step := l.size / 4
	if rate := math.Log(earlier.worst/l.worst) / float64(l.size-earlier.size); earlier.size > 0 && rate > 0 {
		step = min(step, int(0.8*math.Log(l.worst)/rate))
	}
	return l.size + max(block, step)
}

// step processes the newest block: t gets its products with the whole basis, and the basis gets the
// new part of its image.
func (s *search) step() error {
	if err := s.load(s.x, s.m); err != nil {
		return err
	}
	if err := s.Multiply(s.x, s.y); err != nil {
		return err
	}
	s.products += s.Block
	s.m += s.Block
	c, err := s.extend()
	if err != nil {
		return err
	}
	for j := range s.Block {
		row := s.m - s.Block + j
		copy(s.t.Row(row)[:row+1], c.Row(j)[s.Locked.Cols:])
	}
	return nil
}

// extend makes the columns of y orthonormal to the first m vectors of the basis and to each other,
// and stores them after these. It returns the coefficients c, Block x (locked + m), of what it
// subtracted, and sets r: y = V c' + Q r'. Everything is done at least twice: the first pass loses
// accuracy by the condition of y; the second starts with nearly orthonormal columns, and the change
// of their lengths shows whether it was enough.
func (s *search) extend() (c blas.Matrix, err error) {
	s.r = blas.Identity(s.Block)
	c = blas.NewMatrix(s.Block, s.Locked.Cols+s.m)
	var scale blas.Matrix
	for pass := 0; ; pass++ {
		next, err := s.project(s.y, s.m, s.z, scale)
		if err != nil {
			return c, err
		}
		if next.Cols > 0 {
			s.Backend.Gemm(false, false, 1, s.r, next, 1, c) // y = V c' + (V next' + ...) r'
		}
		gram, err := s.subtract(s.y, s.m, next)
		if err != nil {
			return c, err
		}
		l, ok := lower(s.Backend, gram)
		if !ok {
			l, err = s.oneByOne(s.y)
		}
		s.Backend.Trmm(false, false, l, s.r)
		if err != nil || !ok {
			return c, err
		}
		least := leastDiagonal(l)
		if err := s.Backend.TriangularInverse(l); err != nil {
			return c, err // not with a Cholesky factor
		}
		scale = l
		if pass > 0 && least > 0.5 {
			return c, s.store(s.y, s.m, scale)
		}
		s.y, s.z = s.z, s.y
	}
}

func leastDiagonal(l blas.Matrix) float64 {
	least := math.Inf(1)
	for i := range l.Rows {
		least = min(least, l.At(i, i))
	}
	return least
}

// restart keeps the best Ritz vectors and the unprocessed block or, to confirm the result, a random
// block instead.
func (s *search) restart(confirm bool) error {
	keep := min(s.K+max(s.Block, s.Extra, (s.m-s.K)/3), s.m-s.Block)
	if confirm { // others would lose what couples them to the space
		keep = s.K
	}
	s.least = keep + (s.m-keep)/2
	if err := s.compress(s.ritz.vectors, keep, s.m); err != nil {
		return err
	}
	for i := range keep {
		clear(s.t.Row(i))
		s.t.Set(i, i, s.ritz.values[i])
	}
	s.m = keep
	if !confirm {
		return nil
	}
	s.random()
	_, err := s.extend()
	return err
}

// distinct reports whether no value is among the first K as many times as a block could hold.
func (s *search) distinct() bool {
	run := 1
	for i := 1; i < s.K; i++ {
		if s.ritz.values[i-1]-s.ritz.values[i] > 8*(s.ritz.residuals[i-1]+s.ritz.residuals[i])+s.rounding() {
			run = 0
		}
		if run++; run >= s.Block {
			return false
		}
	}
	return true
}

// unchanged reports whether a confirmation has found nothing larger.
func (s *search) unchanged() bool {
	for i, v := range s.before {
		if s.ritz.values[i]-v > max(s.Pass(v, s.norm), s.rounding()) {
			return false
		}
	}
	return true
}

// rounding bounds the error of a Ritz value.
func (s *search) rounding() float64 { return 0x1p-52 * s.norm * math.Sqrt(float64(s.N)) }

// From this order on, and for at most one in leastShare of the eigenpairs, [Top] computes only the
// requested ones. Chosen by experiment: for smaller problems a decomposition with only the
// requested eigenvectors is as fast.
const (
	leastOrder = 512
	leastShare = 16
)

// topBlock is the number of columns that are multiplied by A together: as many as cost little more
// than one, which is limited by memory.
const topBlock = 8

// topRows is the number of rows of vectors that a task copies.
const topRows = 1024

// Each calls f for the blocks [lo, hi) of the given size that make up [0, n), on all workers.
type Each func(n, size int, f func(lo, hi int))

// Top computes the largest eigenpairs of A like [blas.Backend].SymEigTop, with O(n^2) flops for
// each of usually some hundred products, and copies the lower triangle to the upper one. It returns
// false, and leaves the lower triangle unchanged, if a decomposition is better: for small orders
// and many pairs, elements whose squares are outside the range of float64, NaN, and spectra on
// which the search does not converge within 2n products.
func Top(backend blas.Backend, each Each, a blas.Matrix, w []float64, v blas.Matrix) bool {
	n, k := a.Rows, len(w)
	if k == 0 || n < leastOrder || k > n/leastShare || !moderate(each, a) {
		return false
	}
	mirror(each, a)
	p := Problem{
		N: n, K: k, Backend: backend, Block: topBlock, Basis: min(n/2, max(10*k, 240)),
		Pass: func(_, norm float64) float64 { return 0.25 * float64(n) * 0x1p-52 * norm }, Budget: 2 * n,
		Seed: uint64(k), // the start is part of the method and the same in every call
		Multiply: func(x, y blas.Matrix) error {
			backend.Gemm(false, false, 1, a, x, 0, y)
			return nil
		},
		For: func(n, block int, f func(lo, hi int) error) error {
			each(n, block, func(lo, hi int) { _ = f(lo, hi) }) // it never fails
			return nil
		},
	}
	res, err := p.Find()
	if err != nil || !res.Converged {
		return false // no error with finite input
	}
	copy(w, res.Values)
	each(n, topRows, func(lo, hi int) { res.Vectors.View(lo, hi, 0, k).TransposeTo(v.View(0, k, lo, hi)) })
	return true
}

// moderate reports whether all elements of the lower triangle are finite and the largest
// can be squared and summed without overflow or loss to underflow. The zero matrix is not.
func moderate(each Each, a blas.Matrix) bool {
	largest := make([]float64, (a.Rows+mirrorTile-1)/mirrorTile)
	each(a.Rows, mirrorTile, func(lo, hi int) {
		most := 0.0
		for i := lo; i < hi; i++ {
			for _, x := range a.Row(i)[:i+1] {
				if x = math.Abs(x); x > most {
					most = x
				} else if x != x {
					largest[lo/mirrorTile] = x
					return
				}
			}
		}
		largest[lo/mirrorTile] = most
	})
	most := slices.Max(largest) // NaN if there is one
	return most >= 1e-100 && most <= 1e100
}

// mirrorTile is the side of tiles that fit the cache twice, as rows and as columns.
const mirrorTile = 32

// mirror copies the lower triangle of a to the upper one, in tiles.
func mirror(each Each, a blas.Matrix) {
	each(a.Rows, mirrorTile, func(lo, hi int) {
		for i0 := lo; i0 < a.Rows; i0 += mirrorTile {
			for i := i0; i < min(i0+mirrorTile, a.Rows); i++ {
				for j := lo; j < min(hi, i); j++ {
					a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j]
				}
			}
		}
	})
}
