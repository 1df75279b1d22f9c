package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// base is the base inner product between two fixed sets of points, x (rows) and y (columns).
type base interface {
	// norms returns <x_i,x_i> and <y_j,y_j>, of centered points if the base centers them. The
	// caller owns the slices.
	norms() (x, y []float64)
	// load prepares rows [lo, hi) of x for calls of fill; unload releases them.
	load(lo, hi int) rows
	// fill writes <x_i, y_j> for these rows and for cols columns from j0 to the beginning of dst.
	// It may overwrite all of dst, which is padded to whole register tiles.
	fill(dst blas.Matrix, r rows, j0, cols int)
	unload(r rows)
	// vectors reports whether the points are vectors. For vectors, exact returns the squared
	// distance of x_i and y_j from the differences of their raw values.
	vectors() bool
	// terms returns the number of features whose products are summed with rounding, 0 if all sums
	// are of whole numbers and therefore exact.
	terms() int
	// tiling returns the fastest tile shape for the base.
	tiling() tiling
	exact(i, j int) float64
	// release returns scratch memory to the engine.
	release()
}

// rows is a prepared range of rows [lo, hi) of x.
type rows struct {
	lo, hi int
	packed tile.Packed // of dense points, in memory
	memory blas.Matrix
}

// centered reports whether the points should be centered, because the first map depends only on
// differences.
func (k Kernel) centered() bool { return len(k.stages) > 0 && k.stages[0].kind.shiftInvariant() }

// gramBase returns the base of x with itself, prepared.
func (k Kernel) gramBase(ctx context.Context, eng *engine.Engine, x points.Points) (base, error) {
	if g, ok := x.(*points.Gram); ok {
		b, err := newGramSelf(g)
		if err != nil || k.center == nil {
			return b, err
		}
		of := k.center.offsetsOf(g)
		return newAround(b, of, of), nil
	}
	return k.crossBase(ctx, eng, x, x)
}

// crossBase returns the base of x with y, both prepared.
func (k Kernel) crossBase(ctx context.Context, eng *engine.Engine, x, y points.Points) (base, error) {
	return k.baseAround(ctx, eng, x, y, y)
}

// baseAround returns the base of x with y. If points are centered, the center is the mean of the
// set mean, which is x or y.
func (k Kernel) baseAround(ctx context.Context, eng *engine.Engine, x, y, mean points.Points) (base, error) {
	xg, xIsGram := x.(*points.Gram)
	yg, yIsGram := y.(*points.Gram)
	if xIsGram != yIsGram {
		return nil, &fault.ParamError{Param: "points", Value: "a precomputed Gram matrix and vectors", Want: "points of one kind"}
	}
	if x.Dim() != y.Dim() {
		what := "number of features"
		if xIsGram {
			what = "number of reference objects"
		}
		return nil, &fault.ShapeError{What: what, Got: x.Dim(), Want: fmt.Sprintf("%d, as for the other points", y.Dim())}
	}
	if xIsGram {
		b, err := newGramCross(xg, yg)
		if err != nil || k.center == nil {
			return b, err
		}
		return newAround(b, k.center.offsetsOf(xg), k.center.offsetsOf(yg)), nil
	}
	_, xIsDense := x.(*points.Dense)
	_, yIsDense := y.(*points.Dense)
	if xIsDense && yIsDense {
		var center []float64
		if k.center != nil {
			center = k.center.Point
		} else if k.centered() && mean.Len() > 0 {
			var err error
			if center, err = columnMeans(ctx, eng, mean.(*points.Dense)); err != nil {
				return nil, err
			}
		}
		return newDense(ctx, eng, x, y, center)
	}
	if k.center != nil {
		return k.center.base(ctx, eng, x, y)
	}
	if !xIsDense && !yIsDense && dense(eng, y.(*points.CSR)) {
		return newDense(ctx, eng, x, y, nil)
	}
	return newSparse(ctx, eng, x, y)
}

// dense reports whether products with the sparse points y are faster in the register tile, zeros
// included. It depends on y alone, so that the bits of a row do not depend on its batch.
func dense(eng *engine.Engine, y *points.CSR) bool {
	t := eng.Backend().Kernels()
	const limit = 1 << 30 // bytes of the packed copy
	if bytes := engine.MatrixBytes(y.N, y.D); bytes > limit || eng.Check("", bytes, "") != nil {
		return false
	}
	// The sparse method does one addition, somewhere in a row, for every shared feature of every
	// pair; the tile does its multiply-adds several times as fast.
	tile, times := float64(y.N)*float64(y.N)*float64(y.D), float64(t.MR*t.NR)/8
	if tile >= times*(float64(y.N)*float64(len(y.Col))) {
		return false // for any counts, since none exceeds y.N: no need to take memory for all features
	}
	counts := make([]float64, y.D)
	for _, c := range y.Col {
		counts[c]++
	}
	return tile < times*t.Dot(counts, counts)
}

// terms returns the number of features of x and y, or 0 if both are sparse vectors of whole
// numbers, small enough for squared distances to be exact.
func terms(x, y points.Points, xx, yy []float64) int {
	for _, s := range []struct {
		p     points.Points
		norms []float64
	}{{x, xx}, {y, yy}} {
		p, sparse := s.p.(*points.CSR)
		if !sparse || p.N == 0 || slices.Max(s.norms) > 0x1p50 {
			return x.Dim()
		}
		for _, v := range p.Val {
			if v != math.Trunc(v) {
				return x.Dim()
			}
		}
	}
	return 0
}

// maxNorm bounds squared lengths and kernel values: below it |x|^2 + |y|^2 - 2<x,y> cannot
// overflow.
const maxNorm = math.MaxFloat64 / 8

// errNorm reports the first squared length that is NaN or too large.
type errNorm struct {
	row   int
	value float64
}

func (e *errNorm) Error() string {
	return fmt.Sprintf("squared length %v at row %d is not representable: want smaller values; scale the data", e.value, e.row)
}

// checkNorms returns an *errNorm for the first value that is NaN or beyond maxNorm.
func checkNorms(norms []float64) error {
	for i, v := range norms {
		if !(math.Abs(v) <= maxNorm) {
			return &errNorm{i, v}
		}
	}
	return nil
}

// explain turns an *errNorm into a DataError that names the first bad value of the points, or the
// length itself if all values are good.
func explain(err error, sets ...points.Points) error {
	e, ok := err.(*errNorm)
	if !ok {
		return err
	}
	for _, x := range sets {
		if bad := x.Validate(); bad != nil {
			return bad
		}
	}
	return &fault.DataError{Row: e.row, Err: fmt.Errorf("kernel value %v is not representable: want smaller values; standardize the data", e.value)}
}

// rawNorms returns <x_i, x_i> as the base computes it, uncentered.
func rawNorms(ctx context.Context, eng *engine.Engine, x points.Points) ([]float64, error) {
	norms, t := make([]float64, x.Len()), eng.Backend().Kernels()
	err := eng.For(ctx, len(norms), normBlock, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			norms[i] = rawNorm(t, x, i)
		}
		return nil
	})
	return norms, err
}

// normBlock is the number of rows that a worker takes at a time in passes of O(d) per row.
const normBlock = 256

func rawNorm(t *asm.Table, x points.Points, i int) float64 {
	switch p := x.(type) {
	case *points.Dense:
		return t.Dot(p.Row(i), p.Row(i))
	case *points.CSR:
		_, val := p.Row(i)
		return t.Dot(val, val)
	case *points.Gram:
		return p.Diagonal[i]
	default:
		panic("kernel: unknown kind of points")
	}
}
