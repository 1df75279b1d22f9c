package krylov

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// rowsEach is the number of rows of the basis that one task takes.
const rowsEach = 1024

// basis holds orthonormal vectors as the columns of a matrix: the locked ones first.
type basis struct {
	p *Problem
	v blas.Matrix
}

func newBasis(p *Problem) basis {
	cols := p.Locked.Cols + p.Basis + p.Block
	stride := (cols+7)/8*8 + 8 // rows begin on a line of the cache, and not a power of two apart
	b := basis{p, blas.Matrix{Rows: p.N, Cols: cols, Stride: stride, Data: make([]float64, p.N*stride)}}
	if p.Locked.Cols > 0 {
		b.v.View(0, p.N, 0, p.Locked.Cols).CopyFrom(p.Locked)
	}
	return b
}

// columns returns vectors [lo, hi), a view; the locked ones have no number.
func (b *basis) columns(lo, hi int) blas.Matrix {
	return b.v.View(0, b.p.N, b.p.Locked.Cols+lo, b.p.Locked.Cols+hi)
}

// store copies y to the vectors from number m on.
func (b *basis) store(y blas.Matrix, m int) error {
	to := b.columns(m, m+y.Cols)
	return b.p.For(b.p.N, rowsEach, func(lo, hi int) error {
		to.View(lo, hi, 0, y.Cols).CopyFrom(y.View(lo, hi, 0, y.Cols))
		return nil
	})
}

// partial collects a sum of small matrices over the blocks of rows, to be added up in their
// order.
type partial struct{ parts []blas.Matrix }

func newPartial(n, rows, cols int) *partial {
	p := &partial{make([]blas.Matrix, (n+rowsEach-1)/rowsEach)}
	for i := range p.parts {
		p.parts[i] = blas.NewMatrix(rows, cols)
	}
	return p
}

func (p *partial) of(lo int) blas.Matrix { return p.parts[lo/rowsEach] }

func (p *partial) sum() blas.Matrix {
	total := p.parts[0]
	for _, part := range p.parts[1:] {
		for i, v := range part.Data {
			total.Data[i] += v
		}
	}
	return total
}

// remove subtracts from the columns of y their projections on the locked vectors and the first
// m others. It returns the coefficients, a row for each column of y.
func (b *basis) remove(y blas.Matrix, m int) (blas.Matrix, error) {
	n, cols := b.p.N, b.p.Locked.Cols+m
	if cols == 0 {
		return blas.NewMatrix(y.Cols, 0), nil
	}
	v, backend := b.v.View(0, n, 0, cols), b.p.Backend
	sums := newPartial(n, y.Cols, cols)
	err := b.p.For(n, rowsEach, func(lo, hi int) error {
		backend.Gemm(true, false, 1, y.View(lo, hi, 0, y.Cols), v.View(lo, hi, 0, cols), 0, sums.of(lo))
		return nil
	})
	if err != nil {
		return blas.Matrix{}, err
	}
	c := sums.sum()
	return c, b.p.For(n, rowsEach, func(lo, hi int) error {
		backend.Gemm(false, true, -1, v.View(lo, hi, 0, cols), c, 1, y.View(lo, hi, 0, y.Cols))
		return nil
	})
}

// removeTwice leaves the columns of y orthogonal to working accuracy (Kahan's "twice is
// enough"), unless that leaves next to nothing of them.
func (b *basis) removeTwice(y blas.Matrix, m int) (blas.Matrix, error) {
	c, err := b.remove(y, m)
	if err != nil {
		return c, err
	}
	again, err := b.remove(y, m)
	for i, v := range again.Data {
		c.Data[i] += v
	}
	return c, err
}

// independent is the smallest part of a column that must be new, relative to its length, for
// Cholesky's method to make a block orthonormal: it loses the square of that.
const independent = 1e-6

// factor makes the columns of y orthonormal, but for a loss by the square of their condition, by
// the Cholesky factorisation of y'y. It returns its factor l, so that y = Q l'. ok is false, and
// y as it was, if they are nearly dependent.
func (b *basis) factor(y blas.Matrix) (l blas.Matrix, ok bool, err error) {
	sums := newPartial(b.p.N, y.Cols, y.Cols)
	err = b.p.For(b.p.N, rowsEach, func(lo, hi int) error {
		part := y.View(lo, hi, 0, y.Cols)
		b.p.Backend.Gemm(true, false, 1, part, part, 0, sums.of(lo))
		return nil
	})
	if err != nil {
		return l, false, err
	}
	if l, ok = lower(b.p.Backend, sums.sum()); !ok {
		return l, false, nil
	}
	return l, true, b.p.For(b.p.N, rowsEach, func(lo, hi int) error {
		b.p.Backend.Trsm(false, true, l, y.View(lo, hi, 0, y.Cols))
		return nil
	})
}

// lower returns the Cholesky factor of a Gram matrix, and whether every column is independent
// enough of those before it.
func lower(backend blas.Backend, gram blas.Matrix) (blas.Matrix, bool) {
	n := gram.Rows
	lengths := make([]float64, n)
	for i := range n {
		if lengths[i] = math.Sqrt(gram.At(i, i)); !(lengths[i] > 0) || math.IsInf(lengths[i], 0) {
			return gram, false
		}
	}
	for i := range n {
		for j := range n {
			if j > i {
				gram.Set(i, j, 0)
			} else {
				gram.Set(i, j, gram.At(i, j)/(lengths[i]*lengths[j]))
			}
		}
	}
	if backend.Cholesky(gram) != nil {
		return gram, false
	}
	for i := range n {
		if gram.At(i, i) < independent {
			return gram, false
		}
		for j := range i + 1 {
			gram.Set(i, j, gram.At(i, j)*lengths[i])
		}
	}
	return gram, true
}

// oneByOne makes the columns of y, which are nearly dependent, orthonormal to the basis and each
// other, one at a time, and stores them. It returns the lower triangular r with y = V c' + Q r'. A
// column with nothing new in it is replaced by a random one, with zeros in r.
func (s *search) oneByOne(y blas.Matrix) (r blas.Matrix, err error) {
	r = blas.NewMatrix(s.Block, s.Block)
	noise := float64(s.N) * 0x1p-52 * max(s.norm, largest(y))
	for j := range s.Block {
		one := blas.NewMatrix(s.N, 1)
		one.CopyFrom(y.View(0, s.N, j, j+1))
		length := s.length(one)
		c, err := s.removeTwice(one, s.m+j)
		if err != nil {
			return r, err
		}
		copy(r.Row(j)[:j], c.Row(0)[s.Locked.Cols+s.m:])
		rest := s.length(one)
		r.Set(j, j, rest)
		for small := max(1e-10*length, noise); !(rest > small); small = 0 {
			r.Set(j, j, 0)
			for i := range one.Data {
				one.Data[i] = s.rng.NormFloat64()
			}
			if _, err := s.removeTwice(one, s.m+j); err != nil {
				return r, err
			}
			rest = s.length(one)
		}
		s.Backend.Kernels().Scale(1/rest, one.Data)
		// Scaling up a short column magnifies what was left of the basis in it.
		if _, err := s.remove(one, s.m+j); err != nil {
			return r, err
		}
		s.Backend.Kernels().Scale(1/s.length(one), one.Data)
		if err := s.store(one, s.m+j); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (s *search) length(one blas.Matrix) float64 {
	return math.Sqrt(s.Backend.Kernels().Dot(one.Data, one.Data))
}

func largest(y blas.Matrix) float64 {
	longest := 0.0
	for _, v := range y.Data {
		longest = max(longest, math.Abs(v))
	}
	return longest
}

// compress replaces the first m vectors by the combinations whose coefficients are the first
// keep rows of x, and moves the block behind them up.
func (b *basis) compress(x blas.Matrix, keep, m int) error {
	all, rest := b.columns(0, m), b.columns(m, m+b.p.Block)
	to, restTo := b.columns(0, keep), b.columns(keep, keep+b.p.Block)
	x = x.View(0, keep, 0, m)
	return b.p.For(b.p.N, rowsEach, func(lo, hi int) error {
		short, tail := blas.NewMatrix(hi-lo, keep), rest.View(lo, hi, 0, rest.Cols).Clone()
		b.p.Backend.Gemm(false, true, 1, all.View(lo, hi, 0, m), x, 0, short)
		to.View(lo, hi, 0, keep).CopyFrom(short)
		restTo.View(lo, hi, 0, rest.Cols).CopyFrom(tail)
		return nil
	})
}
