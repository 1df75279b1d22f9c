package operator

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// FactorOptions say when a factor is good enough.
type FactorOptions struct {
	// Rest is the trace of K - G G', relative to that of K, at which the factor ends; 0 <= Rest <
	// 1.
	Rest float64
	// Most is the maximum number of pivots, at least 1.
	Most int
	Seed uint64
}

// Factor is the approximation K ~ G G' of a kernel matrix of n points. The rest K - G G' is
// positive semidefinite, and zero in the rows of the pivots.
type Factor struct {
	Pivots []int       // r points, in the order of choice
	G      blas.Matrix // n x r; the rows of the pivots are lower triangular
	Rest   float64     // trace of the rest, relative to that of K
}

// block is the number of pivots that are drawn at a time.
const block = 64

// dependent is the rest of a candidate, relative to its rest before the block, up to which it is no
// pivot: the others of its block have explained it.
const dependent = 1e-3

// NewFactor approximates a kernel matrix by a few of its columns: a
// Cholesky factor whose pivots are drawn at random, in blocks.
//
// NewFactor returns a factor for the points x. Each block of pivots is drawn with probabilities in
// proportion to the diagonal of the rest (Chen, Epperly, Tropp & Webber, "Randomly pivoted
// Cholesky", 2022), which comes close to the best factor of its rank. The same arguments give the
// same bits for any number of workers.
//
// Errors: a *[fault.ParamError] for invalid options, a *[fault.DataError] for a kernel matrix with
// trace 0 or a negative diagonal, those of the kernel, a request beyond the memory limit, and
// ctx.Err(). Cost: n r kernel values and n r^2 flops; memory for 2 n r values.
func NewFactor(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	o FactorOptions) (*Factor, error) {
	switch {
	case !(o.Rest >= 0 && o.Rest < 1):
		return nil, &fault.ParamError{Param: "rest", Value: o.Rest, Want: "a number from 0 to 1, without 1"}
	case o.Most < 1:
		return nil, &fault.ParamError{Param: "most", Value: o.Most, Want: "a number >= 1"}
	}
	n := x.Len()
	most := min(o.Most, n)
	hint := "use fewer points"
	if fit := eng.MemoryLimit() / (2 * engine.MatrixBytes(n, 1)); fit > 0 {
		hint = fmt.Sprintf("use landmarks=%d or fewer", fit)
	}
	if err := eng.Check(fmt.Sprintf("%d columns of a kernel matrix of %d points", most, n),
		2*engine.MatrixBytes(n, most), hint); err != nil {
		return nil, err
	}
	f := &growing{eng: eng, k: k, x: x, rng: rand.New(rand.NewPCG(o.Seed, 0x6c6f7772616e6b)),
		columns: blas.Matrix{Cols: n, Stride: n}}
	var err error
	if f.rest, err = k.Diagonal(ctx, eng, x); err != nil {
		return nil, err
	}
	f.first = slices.Clone(f.rest)
	if f.trace, err = total(f.rest); err != nil {
		return nil, err
	}
	for f.columns.Rows < most && f.share() > o.Rest {
		grown, err := f.grow(ctx, min(block, most-f.columns.Rows))
		if err != nil {
			return nil, err
		}
		if !grown {
			break
		}
	}
	return f.factor(), nil
}

// total returns the sum of a diagonal.
func total(diagonal []float64) (float64, error) {
	sum := 0.0
	for i, v := range diagonal {
		if !(v >= 0) || math.IsInf(v, 1) {
			return 0, fault.Row(i, "diagonal element of the kernel matrix is %g: want a finite number >= 0", v)
		}
		sum += v
	}
	if sum == 0 {
		return 0, fault.Data("", "the kernel matrix is 0: want points that differ under the kernel")
	}
	return sum, nil
}

// growing is a factor during the choice of pivots.
type growing struct {
	eng     *engine.Engine
	k       kernel.Kernel
	x       points.Points
	rng     *rand.Rand
	first   []float64   // diagonal of K
	rest    []float64   // diagonal of K - G G'
	trace   float64     // of K
	pivots  []int       // rows of columns
	columns blas.Matrix // G'
}

func (f *growing) share() float64 {
	return blas.Sum(f.rest) / f.trace
}

// grow adds up to count pivots, and reports whether there was one.
func (f *growing) grow(ctx context.Context, count int) (bool, error) {
	candidates := f.draw(count)
	if len(candidates) == 0 {
		return false, nil
	}
	n, done, backend := f.x.Len(), f.columns.Rows, f.eng.Backend()
	c := f.eng.UnclearedMatrix(len(candidates), n)
	if err := f.k.CrossTo(ctx, f.eng, c, f.x.Select(candidates), f.x); err != nil {
		return false, err
	}
	if done > 0 {
		of := blas.NewMatrix(done, len(candidates))
		for q := range done {
			for a, p := range candidates {
				of.Set(q, a, f.columns.At(q, p))
			}
		}
		backend.Gemm(true, false, -1, of, f.columns, 1, c)
	}
	chosen, l := f.independent(c, candidates)
	if len(chosen) == 0 {
		return false, nil
	}
	// by blocks, so that all copies cost less than one product
	larger := f.eng.UnclearedMatrix(done+len(chosen), n)
	f.eng.Copy(larger.View(0, done, 0, n), f.columns)
	f.columns = larger
	added := larger.View(done, larger.Rows, 0, n)
	for a, at := range chosen {
		copy(added.Row(a), c.Row(at))
		f.pivots = append(f.pivots, candidates[at])
	}
	backend.Trsm(true, false, l, added)
	return true, f.subtract(ctx, added)
}

// draw returns different points, in proportion to the rest of their diagonal, ascending by draw.
func (f *growing) draw(count int) []int {
	cumulative, sum := make([]float64, len(f.rest)), 0.0
	for i, v := range f.rest {
		sum += v
		cumulative[i] = sum
	}
	if !(sum > 0) {
		return nil
	}
	var out []int
	for range 2 * count { // repeated draws are lost
		i, _ := slices.BinarySearch(cumulative, f.rng.Float64()*sum)
		for i < len(f.rest)-1 && f.rest[i] == 0 {
			i++
		}
		if f.rest[i] > 0 && !slices.Contains(out, i) && len(out) < count {
			out = append(out, i)
		}
	}
	return out
}

// independent returns the candidates whose columns, the rows of c without the factor so far, are
// not nearly combinations of others, largest rest first, and the Cholesky factor of their block.
func (f *growing) independent(c blas.Matrix, candidates []int) (chosen []int, l blas.Matrix) {
	b := len(candidates)
	s, rest := blas.NewMatrix(b, b), make([]float64, b)
	for a := range b {
		for at, p := range candidates {
			s.Set(a, at, c.At(a, p))
		}
		rest[a] = s.At(a, a)
	}
	first := slices.Clone(rest)
	l = blas.NewMatrix(b, b) // rows of candidates, columns of chosen ones
	for len(chosen) < b {
		p := -1
		for a, v := range rest {
			if v > max(dependent*first[a], f.noise(candidates[a])) && (p < 0 || v > rest[p]) {
				p = a
			}
		}
		if p < 0 {
			break
		}
		q, root := len(chosen), math.Sqrt(rest[p])
		for a := range b {
			v := s.At(a, p)
			for j := range q {
				v -= l.At(a, j) * l.At(p, j)
			}
			l.Set(a, q, v/root)
			rest[a] -= l.At(a, q) * l.At(a, q)
		}
		rest[p] = 0
		chosen = append(chosen, p)
	}
	small := blas.NewMatrix(len(chosen), len(chosen))
	for a, p := range chosen {
		copy(small.Row(a)[:a+1], l.Row(p)[:a+1])
	}
	return chosen, small
}

// noise is the rest of the diagonal that is rounding.
func (f *growing) noise(i int) float64 {
	return float64(f.columns.Rows+block) * 0x1p-52 * f.first[i]
}

// subtract takes the squares of new columns from the diagonal of the rest.
func (f *growing) subtract(ctx context.Context, added blas.Matrix) error {
	err := f.eng.For(ctx, len(f.rest), 1024, func(lo, hi int) error {
		for q := range added.Rows {
			for i, v := range added.Row(q)[lo:hi] {
				f.rest[lo+i] -= v * v
			}
		}
		for i := lo; i < hi; i++ {
			if f.rest[i] <= f.noise(i) {
				f.rest[i] = 0
			}
		}
		return nil
	})
	for _, p := range f.pivots[len(f.pivots)-added.Rows:] {
		f.rest[p] = 0
	}
	return err
}

// factor returns the result.
func (f *growing) factor() *Factor {
	g := f.eng.Transposed(f.columns)
	for a, p := range f.pivots {
		clear(g.Row(p)[a+1:]) // rounding
	}
	return &Factor{Pivots: f.pivots, G: g, Rest: f.share()}
}

// Triangle returns the rows of G for the pivots: L with L L' = K on these points.
func (f *Factor) Triangle() blas.Matrix { return f.G.Select(f.Pivots) }
