package kernel

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Pairs returns k(x_i, x_j) for each listed pair {i, j}; the order within a pair does not matter. A
// pair of a point with itself gives its value in [Kernel.Diagonal]. A row out of range is a
// *fault.DataError whose Row is the number of the pair. Cost: O(d) per pair.
func (k Kernel) Pairs(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	value, err := k.Values(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(pairs))
	err = eng.For(ctx, len(pairs), normBlock, func(lo, hi int) error {
		for p := lo; p < hi; p++ {
			if err := checkPair(x, p, pairs[p]); err != nil {
				return err
			}
			i, j := pairs[p][0], pairs[p][1]
			out[p] = value(i, j)
			if math.IsNaN(out[p]) || math.IsInf(out[p], 0) {
				return &fault.DataError{Row: max(i, j), Err: overflowError(out[p], min(i, j))}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Values returns the function (i, j) -> k(x_i, x_j) for single values; it is safe for concurrent
// use, and panics for a row out of range. Errors: points of a kind that the kernel does not accept,
// or whose squared lengths are not representable. Cost: O(nd) for Values, O(d) per value.
func (k Kernel) Values(ctx context.Context, eng *engine.Engine,
	x points.Points) (func(i, j int) float64, error) {
	x, _, err := k.prepare(x, nil)
	if err != nil {
		return nil, err
	}
	diagonal, err := k.diagonal(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	t, of := eng.Backend().Kernels(), (*offsets)(nil)
	if k.center != nil {
		if x, of, err = k.center.relative(ctx, eng, x); err != nil {
			return nil, err
		}
	}
	return func(i, j int) float64 {
		switch {
		case i == j:
			return diagonal[i]
		case of != nil:
			return of.product(productOf(t, x, i, j), i, j)
		}
		return k.pair(t, x, i, j)
	}, nil
}

// checkPair checks that the rows of pair p exist, and that a Gram matrix contains their product.
func checkPair(x points.Points, p int, pair [2]int) error {
	for side, i := range pair {
		if i < 0 || i >= x.Len() {
			return fault.Cell(p, strconv.Itoa(side), "point %d does not exist: want 0 to %d", i, x.Len()-1)
		}
	}
	i, j := pair[0], pair[1]
	if g, isGram := x.(*points.Gram); isGram && i != j && g.Reference[i] < 0 && g.Reference[j] < 0 {
		return unknownPair(g, i, j)
	}
	return nil
}

// pair evaluates the kernel on two different points.
func (k Kernel) pair(t *asm.Table, x points.Points, i, j int) float64 {
	xx, yy := rawNorm(t, x, i), rawNorm(t, x, j)
	stages := k.stages
	var v float64
	if _, isGram := x.(*points.Gram); k.centered() && !isGram {
		v = stages[0].of(distanceOf(t, x, x, i, j))
		xx, yy = stages[0].self(xx), stages[0].self(yy)
		stages = stages[1:]
	} else {
		v = productOf(t, x, i, j)
	}
	for _, st := range stages {
		v = st.apply(v, xx, yy)
		xx, yy = st.self(xx), st.self(yy)
	}
	return v
}

// productOf returns <x_i, x_j>, exactly symmetric.
func productOf(t *asm.Table, x points.Points, i, j int) float64 {
	switch p := x.(type) {
	case *points.Dense:
		return t.Dot(p.Row(i), p.Row(j))
	case *points.Gram:
		return gramEntry(p, i, j)
	}
	s := 0.0
	mergeSparse(x, x, i, j, func(a, b float64) { s += a * b })
	return s
}

// Distances returns the function of two rows of x that is their squared distance in the feature
// space of the kernel: of vectors under the linear kernel the sum of the squared differences of
// their features, otherwise k(x, x) + k(y, y) - 2 k(x, y), at least 0. It is safe for concurrent
// use. Errors and cost are those of [Kernel.Values].
func (k Kernel) Distances(ctx context.Context, eng *engine.Engine, x points.Points) (func(i, j int) float64,
	error) {
	switch x.(type) {
	case *points.Dense, *points.CSR:
		if k.IsLinear() {
			return func(i, j int) float64 { return SquaredDistance(x, x, i, j) }, nil
		}
	}
	value, err := k.Values(ctx, eng, x)
	return func(i, j int) float64 { return max(0, value(i, i)+value(j, j)-2*value(i, j)) }, err
}

// SquaredDistance returns |x_i - y_j|^2 of two vectors as the sum of the squared differences of
// their features: bit-identical in every build and for either order. It panics for points that are
// not vectors. Cost: O(d), or O(nonzero values) for sparse vectors.
func SquaredDistance(x, y points.Points, i, j int) float64 {
	xd, xIsDense := x.(*points.Dense)
	yd, yIsDense := y.(*points.Dense)
	if xIsDense && yIsDense {
		return points.SquaredDistance(xd.Row(i), yd.Row(j))
	}
	return distanceOf(nil, x, y, i, j) // nil: sparse vectors use no vector kernels
}

// distanceOf returns |x_i - y_j|^2 from the differences of the raw values of vectors.
func distanceOf(t *asm.Table, x, y points.Points, i, j int) float64 {
	xd, xIsDense := x.(*points.Dense)
	yd, yIsDense := y.(*points.Dense)
	if xIsDense && yIsDense {
		return t.SquaredDistance(xd.Row(i), yd.Row(j))
	}
	xs, xIsSparse := x.(*points.CSR)
	ys, yIsSparse := y.(*points.CSR)
	if xIsSparse && yIsSparse {
		return distanceSparse(xs, ys, i, j)
	}
	s := 0.0
	mergeSparse(x, y, i, j, func(a, b float64) { s += float64((a - b) * (a - b)) })
	return s
}

// distanceSparse walks both rows in the order of their features.
func distanceSparse(x, y *points.CSR, i, j int) float64 {
	xc, xv := x.Row(i)
	yc, yv := y.Row(j)
	xv, yv = xv[:len(xc)], yv[:len(yc)]
	s, a, b := 0.0, 0, 0
	for a < len(xc) && b < len(yc) {
		var d float64
		switch {
		case xc[a] == yc[b]:
			d = xv[a] - yv[b]
			a++
			b++
		case xc[a] < yc[b]:
			d = xv[a]
			a++
		default:
			d = yv[b]
			b++
		}
		s += float64(d * d) // not fused, so bit-identical on all machines
	}
	for ; a < len(xc); a++ {
		s += float64(xv[a] * xv[a])
	}
	for ; b < len(yc); b++ {
		s += float64(yv[b] * yv[b])
	}
	return s
}

// mergeSparse calls f with both values of each feature that is stored in at least one of the two
// vectors, in ascending order.
func mergeSparse(x, y points.Points, i, j int, f func(a, b float64)) {
	a, b := newCursor(x, i), newCursor(y, j)
	for {
		c := min(a.feature(), b.feature())
		if c == endOfRow {
			return
		}
		f(a.take(c), b.take(c))
	}
}

const endOfRow = math.MaxInt

// cursor iterates over the stored features of one vector; a dense vector stores all.
type cursor struct {
	col []int32
	val []float64
	at  int
}

func newCursor(x points.Points, i int) cursor {
	if p, ok := x.(*points.CSR); ok {
		col, val := p.Row(i)
		return cursor{col: col, val: val}
	}
	return cursor{val: x.(*points.Dense).Row(i)}
}

// feature returns the next feature, or endOfRow.
func (c *cursor) feature() int {
	switch {
	case c.at == len(c.val):
		return endOfRow
	case c.col == nil:
		return c.at
	default:
		return int(c.col[c.at])
	}
}

// take returns the value of feature f and moves past it, or 0 if the vector lacks it.
func (c *cursor) take(f int) float64 {
	if c.feature() != f {
		return 0
	}
	c.at++
	return c.val[c.at-1]
}

func overflowError(v float64, j int) error {
	return fmt.Errorf("kernel value with point %d is %v: want smaller values or a lower degree; "+
		"standardize the data", j, v)
}

// MultiplyTo writes the |x| x r matrix K V to dst, where K is the |x| x |y| kernel matrix between x
// and y, which is never stored, and V is |y| x r. With r = 1 it is a kernel-vector product. Every
// bit of row i of the result depends only on point i of x, on y and on V.
//
// Errors are those of [Kernel.Cross]. It panics if the shapes do not agree. Cost: |x| |y| (2d + 2r)
// flops and one map per pair; scratch memory is a packed copy of y and of V.
func (k Kernel) MultiplyTo(ctx context.Context, eng *engine.Engine, dst blas.Matrix, x, y points.Points,
	v blas.Matrix) error {
	checkShape(v, y.Len(), v.Cols)
	checkShape(dst, x.Len(), v.Cols)
	if err := eng.Check("packed copy of the factor", engine.MatrixBytes(v.Rows, v.Cols),
		"use fewer columns or raise the memory limit"); err != nil {
		return err
	}
	ev, err := k.crossEvaluation(ctx, eng, x, y)
	if err != nil {
		return err
	}
	defer ev.base.release()
	t := tiling{multiplyRows, multiplyCols}
	if y.Len() == 0 {
		for i := range dst.Rows {
			clear(dst.Row(i))
		}
		return nil
	}
	if v.Cols < fewColumns {
		return ev.multiplyFew(ctx, dst, v, t)
	}
	return ev.multiply(ctx, dst, v, t)
}

// The tiles of a product, and the number of columns of V from which the register tile pays.
const (
	multiplyRows = 96
	multiplyCols = 576
	fewColumns   = 4
)

// Terms are summed in blocks of sumDepth. The terms of a metric may exceed their sum thousands of
// times: short blocks lose less than half as much to rounding as those that fill a cache, and take
// 13 to 18 percent more time. The sums of sumColumns columns of V stay in a cache meanwhile.
const (
	sumDepth   = 32
	sumColumns = 192
)

// multiply sums the products of tiles with the corresponding rows of V, which are packed once.
func (ev *evaluation) multiply(ctx context.Context, dst, v blas.Matrix, t tiling) error {
	height := padded(t.rows, ev.t.MR)
	width, step := padded(v.Cols, ev.t.NR), padded(sumColumns, ev.t.NR)
	memory := ev.eng.GetMatrix(1, width*v.Rows)
	defer ev.eng.PutMatrix(memory)
	shallow := *ev.t
	shallow.KC = sumDepth
	parts := (v.Rows + t.cols - 1) / t.cols
	right := make([]tile.Packed, parts)
	err := ev.eng.For(ctx, parts, 1, func(p, _ int) error {
		lo, hi := p*t.cols, min((p+1)*t.cols, v.Rows)
		right[p] = tile.NewRight(&shallow, v.Cols, hi-lo, memory.Data[width*lo:width*hi])
		right[p].PackColumns(v.View(lo, hi, 0, v.Cols), 0)
		return nil
	})
	if err != nil {
		return err
	}
	return ev.eng.For(ctx, dst.Rows, t.rows, func(lo, hi int) error {
		sum := ev.eng.GetMatrix(height, width)
		defer ev.eng.PutMatrix(sum)
		packed := ev.eng.GetMatrix(1, tile.LeftSize(ev.t, t.rows, t.cols))
		defer ev.eng.PutMatrix(packed)
		beta := 0.0
		s := ev.newStrip(lo, hi, min(t.cols, v.Rows), sink{tile: func(b Block) error {
			left := tile.NewLeft(&shallow, b.Matrix.Rows, b.Matrix.Cols, packed.Data)
			left.Pack(b.Matrix, 0)
			for j := 0; j < width; j += step {
				to := sum.View(0, padded(hi-lo, ev.t.MR), j, min(j+step, width))
				tile.MultiplyPacked(beta, to, &left, &right[b.Col/t.cols], j)
			}
			beta = 1
			return nil
		}})
		defer s.end()
		if err := s.tiles(ctx, v.Rows, t.cols); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			copy(dst.Row(i), sum.Row(i - lo)[:v.Cols])
		}
		return nil
	})
}

// multiplyFew is multiply for a V of few columns, which it copies to contiguous memory.
func (ev *evaluation) multiplyFew(ctx context.Context, dst, v blas.Matrix, t tiling) error {
	columns := ev.eng.GetMatrix(v.Cols, v.Rows)
	defer ev.eng.PutMatrix(columns)
	v.TransposeTo(columns)
	return ev.rectangular(ctx, dst.Rows, v.Rows, t, sink{tile: func(b Block) error {
		for r := range b.Matrix.Rows {
			row := dst.Row(b.Row + r)
			if b.Col == 0 {
				clear(row)
			}
			for c := range row {
				row[c] += ev.t.Dot(b.Matrix.Row(r), columns.Row(c)[b.Col:b.Col+b.Matrix.Cols])
			}
		}
		return nil
	}})
}
