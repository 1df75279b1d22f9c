package krylov

import (
	"math"
	"sync"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// A task processes leastRows to mostRows rows of the basis: as many as take taskWork multiply-adds,
// some times the cost of waking a worker. Less work than sharedWork in total stays on one.
const (
	leastRows  = 256
	mostRows   = 1024
	taskWork   = 1 << 18
	sharedWork = 1 << 20
)

// basis holds orthonormal vectors as the columns of a matrix: the locked ones first.
type basis struct {
	p *Problem
	v blas.Matrix
}

func newBasis(p *Problem) basis {
	if p.Memory == nil {
		p.Memory = make([]float64, p.Space())
	}
	b := basis{p, blas.Matrix{Rows: p.N, Cols: p.Locked.Cols + p.Basis + p.Block, Stride: p.stride(),
		Data: p.Memory[:p.Space()]}}
	if p.Locked.Cols > 0 {
		b.v.View(0, p.N, 0, p.Locked.Cols).CopyFrom(p.Locked)
	}
	return b
}

// columns returns vectors [lo, hi), a view; the locked ones have no number.
func (b *basis) columns(lo, hi int) blas.Matrix {
	return b.v.View(0, b.p.N, b.p.Locked.Cols+lo, b.p.Locked.Cols+hi)
}

// task returns the number of rows of a task, for work multiply-adds per row.
func (b *basis) task(work int) int {
	if b.p.N*work < sharedWork {
		return b.p.N
	}
	return min(max(leastRows, taskWork/max(1, work)), mostRows)
}

// each calls f for blocks of rows of the basis, for work multiply-adds per row.
func (b *basis) each(work int, f func(lo, hi int)) error {
	return b.p.For(b.p.N, b.task(work), func(lo, hi int) error {
		f(lo, hi)
		return nil
	})
}

// load copies the vectors from number m on to x.
func (b *basis) load(x blas.Matrix, m int) error {
	from := b.columns(m, m+x.Cols)
	return b.each(8*x.Cols, func(lo, hi int) {
		x.View(lo, hi, 0, x.Cols).CopyFrom(from.View(lo, hi, 0, x.Cols))
	})
}

// store writes y scale' to the vectors from number m on.
func (b *basis) store(y blas.Matrix, m int, scale blas.Matrix) error {
	to := b.columns(m, m+y.Cols)
	return b.each(y.Cols*y.Cols, func(lo, hi int) {
		b.p.Backend.Gemm(false, true, 1, y.View(lo, hi, 0, y.Cols), scale, 0, to.View(lo, hi, 0, y.Cols))
	})
}

// sums adds the small matrices that f computes for each block of rows, in order. work is as for
// each.
func (b *basis) sums(rows, cols, work int, f func(lo, hi int, part blas.Matrix)) (blas.Matrix, error) {
	task := b.task(work)
	parts := make([]blas.Matrix, (b.p.N+task-1)/task)
	err := b.each(work, func(lo, hi int) {
		part := blas.NewMatrix(rows, cols)
		f(lo, hi, part)
		parts[lo/task] = part
	})
	if err != nil {
		return blas.Matrix{}, err
	}
	for _, part := range parts[1:] {
		for i, v := range part.Data {
			parts[0].Data[i] += v
		}
	}
	return parts[0], nil
}

// project returns the coefficients of the projections of y's columns on the locked vectors and the
// first m others, a row for each column. If there is a scale, y becomes x scale' first.
func (b *basis) project(y blas.Matrix, m int, x, scale blas.Matrix) (blas.Matrix, error) {
	cols, backend := b.p.Locked.Cols+m, b.p.Backend
	whole := min((cols+7)/8*8, b.v.Cols) // the last lines of the cache; what is beyond cols is dropped
	c, err := b.sums(y.Cols, whole, y.Cols*whole, func(lo, hi int, part blas.Matrix) {
		of := y.View(lo, hi, 0, y.Cols)
		if scale.Data != nil {
			backend.Gemm(false, true, 1, x.View(lo, hi, 0, y.Cols), scale, 0, of)
		}
		if cols > 0 {
			backend.Gemm(true, false, 1, of, b.v.View(lo, hi, 0, whole), 0, part)
		}
	})
	if err != nil {
		return c, err
	}
	return c.View(0, y.Cols, 0, cols).Clone(), nil
}

// subtract subtracts the projections with the coefficients c from y, and returns y'y.
func (b *basis) subtract(y blas.Matrix, m int, c blas.Matrix) (blas.Matrix, error) {
	cols, backend := b.p.Locked.Cols+m, b.p.Backend
	return b.sums(y.Cols, y.Cols, y.Cols*(cols+y.Cols), func(lo, hi int, part blas.Matrix) {
		of := y.View(lo, hi, 0, y.Cols)
		if cols > 0 {
			backend.Gemm(false, true, -1, b.v.View(lo, hi, 0, cols), c, 1, of)
		}
		backend.Gemm(true, false, 1, of, of, 0, part)
	})
}

// remove subtracts from y its projection on the basis, twice, which makes it orthogonal to working
// accuracy (Kahan's "twice is enough") unless almost nothing remains. It returns the coefficients
// and the length of the remainder. y has one column.
func (b *basis) remove(y blas.Matrix, m int) (c blas.Matrix, length float64, err error) {
	for pass := range 2 {
		next, err := b.project(y, m, blas.Matrix{}, blas.Matrix{})
		if err != nil {
			return c, 0, err
		}
		gram, err := b.subtract(y, m, next)
		if err != nil {
			return c, 0, err
		}
		length = math.Sqrt(gram.At(0, 0))
		if pass == 0 {
			c = next
			continue
		}
		for i, v := range next.Data {
			c.Data[i] += v
		}
	}
	return c, length, nil
}

// independent is the smallest new part of a column, relative to its length, for which Cholesky's
// method can make a block orthonormal: the method loses the square of this.
const independent = 1e-6

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

// oneByOne makes the columns of y, which are nearly dependent, orthonormal to the basis and to each
// other, one at a time, and stores them. It returns the lower triangular r with y = V c' + Q r'. A
// column without a new part is replaced by a random one, with zeros in r.
func (s *search) oneByOne(y blas.Matrix) (r blas.Matrix, err error) {
	r = blas.NewMatrix(s.Block, s.Block)
	noise := float64(s.N) * 0x1p-52 * max(s.norm, largest(y))
	t, one := s.Backend.Kernels(), blas.NewMatrix(s.N, 1)
	for j := range s.Block {
		one.CopyFrom(y.View(0, s.N, j, j+1))
		before := math.Sqrt(t.Dot(one.Data, one.Data))
		c, length, err := s.remove(one, s.m+j)
		if err != nil {
			return r, err
		}
		copy(r.Row(j)[:j], c.Row(0)[s.Locked.Cols+s.m:])
		r.Set(j, j, length)
		for small := max(1e-10*before, noise); !(length > small); small = 0 {
			r.Set(j, j, 0)
			for i := range one.Data {
				one.Data[i] = s.rng.NormFloat64()
			}
			if _, length, err = s.remove(one, s.m+j); err != nil {
				return r, err
			}
		}
		// Scaling up a short column magnifies its remaining component in the basis.
		t.Scale(1/length, one.Data)
		if _, length, err = s.remove(one, s.m+j); err != nil {
			return r, err
		}
		scale := blas.MatrixOf(1, 1, []float64{1 / length})
		if err := s.store(one, s.m+j, scale); err != nil {
			return r, err
		}
	}
	return r, nil
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
	task := b.task(m * keep)
	free := sync.Pool{New: func() any { s := make([]float64, task*(keep+rest.Cols)); return &s }}
	return b.each(m*keep, func(lo, hi int) {
		scratch := free.Get().(*[]float64)
		defer free.Put(scratch)
		both := blas.MatrixOf(hi-lo, keep+rest.Cols, *scratch)
		b.p.Backend.Gemm(false, true, 1, all.View(lo, hi, 0, m), x, 0, both.View(0, hi-lo, 0, keep))
		both.View(0, hi-lo, keep, both.Cols).CopyFrom(rest.View(lo, hi, 0, rest.Cols))
		to.View(lo, hi, 0, keep).CopyFrom(both.View(0, hi-lo, 0, keep))
		restTo.View(lo, hi, 0, rest.Cols).CopyFrom(both.View(0, hi-lo, keep, both.Cols))
	})
}

// ritz has the best approximations in the basis, as coefficients.
type ritz struct {
	values    []float64   // all m, descending
	vectors   blas.Matrix // m x m, a row each
	residuals []float64   // of the first K
}

// findRitz computes the Ritz pairs.
func (s *search) findRitz() error {
	m := s.m
	small, w := blas.NewMatrix(m, m), make([]float64, m)
	small.CopyFrom(s.t.View(0, m, 0, m))
	if err := s.Backend.SymEig(small, w, true); err != nil {
		return err
	}
	s.norm = max(s.norm, math.Abs(w[0]), math.Abs(w[m-1]))
	form.ReverseRows(w, small)
	s.ritz = ritz{values: w, vectors: small, residuals: make([]float64, s.K)}
	for i := range s.ritz.residuals {
		s.ritz.residuals[i] = s.residual(s.ritz.vectors.Row(i))
	}
	if w[m-1] < s.smallest {
		s.smallest, s.smallestResidual = w[m-1], s.residual(s.ritz.vectors.Row(m-1))
	}
	return nil
}

// residual returns |A V x - w V x| = |r x_last| for a Ritz vector V x.
func (s *search) residual(x []float64) float64 {
	last, sum := x[s.m-s.Block:s.m], 0.0
	for i := range s.Block {
		v := 0.0
		for j := i; j < s.Block; j++ {
			v += s.r.At(j, i) * last[j] // r is the transpose of what is stored
		}
		sum += v * v
	}
	return math.Sqrt(sum)
}

// passed counts the pairs, from the largest, whose residuals pass.
func (s *search) passed() int {
	for i, r := range s.ritz.residuals {
		if !(r <= s.Pass(s.ritz.values[i], s.norm)) {
			return i
		}
	}
	return s.K
}

// excess returns the largest residual relative to its limit.
func (s *search) excess() float64 {
	worst := 0.0
	for i, r := range s.ritz.residuals {
		worst = max(worst, r/s.Pass(s.ritz.values[i], s.norm))
	}
	return worst
}

// result forms the vectors.
func (s *search) result(converged bool) (*Result, error) {
	all := s.K + s.Extra
	res := &Result{
		Values: append([]float64(nil), s.ritz.values[:all]...), Norm: s.norm, Products: s.products,
		Converged: converged,
		Least:     s.smallest, LeastResidual: s.smallestResidual,
	}
	err := s.compress(s.ritz.vectors, all, s.m)
	res.Vectors = s.columns(0, all)
	return res, err
}
