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
func (k Kernel) centered() bool {
	return len(k.stages) > 0 && k.stages[0].entry().argument == ofDistance
}

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
		return nil, fault.Param("points", "a precomputed Gram matrix and vectors", "points of one kind")
	}
	if x.Dim() != y.Dim() {
		what := "number of features"
		if xIsGram {
			what = "number of reference objects"
		}
		return nil, fault.Shape(what, x.Dim(), "%d, as for the other points", y.Dim())
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
	return fault.Row(e.row,
		"kernel value %v is not representable: want smaller values; standardize the data", e.value)
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

// denseBase computes inner products of vectors in the register tile, centered or not: for dense
// points, and for sparse points that are not sparse enough for sparseBase to be faster. y is packed
// once for all tiles, rows of x when they are needed.
type denseBase struct {
	eng    *engine.Engine
	t      *asm.Table
	x, y   points.Points
	center []float64 // nil for none
	right  tile.Packed
	memory blas.Matrix // of right
	xx, yy []float64
}

// newDense packs y and computes the squared lengths of both sets. center, unless nil, is subtracted
// from all points.
func newDense(ctx context.Context, eng *engine.Engine, x, y points.Points,
	center []float64) (*denseBase, error) {
	t := eng.Backend().Kernels()
	size := tile.RightSize(t, y.Len(), y.Dim())
	if err := eng.Check("packed copy of the points", engine.MatrixBytes(1, size),
		"use fewer points or raise the memory limit"); err != nil {
		return nil, err
	}
	b := &denseBase{eng: eng, t: t, x: x, y: y, center: center, memory: eng.GetMatrix(1, size),
		yy: make([]float64, y.Len())}
	b.right = tile.NewRight(t, y.Len(), y.Dim(), b.memory.Data)
	err := b.eachBlock(ctx, y, packRows/b.right.Unit()*b.right.Unit(), func(lo int, rows blas.Matrix) {
		b.right.Pack(rows, lo)
		b.measure(b.yy[lo:], y, lo, rows)
	})
	if b.xx = b.yy; err == nil && x != y {
		b.xx = make([]float64, x.Len())
		err = b.eachBlock(ctx, x, normBlock, func(lo int, rows blas.Matrix) {
			b.measure(b.xx[lo:], x, lo, rows)
		})
	}
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// packRows is the approximate number of rows that a worker packs at a time.
const packRows = 192

// eachBlock calls f with blocks of the given number of rows of p, centered, in parallel.
func (b *denseBase) eachBlock(ctx context.Context, p points.Points, rows int,
	f func(lo int, rows blas.Matrix)) error {
	return b.eng.For(ctx, p.Len(), rows, func(lo, hi int) error {
		m, scratch := b.vectorsOf(p, lo, hi)
		f(lo, m)
		b.eng.PutMatrix(scratch)
		return nil
	})
}

// vectorsOf returns rows [lo, hi) of p, centered, and the scratch matrix that contains them, unless
// they are a view of p.
func (b *denseBase) vectorsOf(p points.Points, lo, hi int) (rows, scratch blas.Matrix) {
	d := p.Dim()
	dense, isDense := p.(*points.Dense)
	if isDense && b.center == nil {
		return blas.MatrixOf(hi-lo, d, dense.Data[lo*d:hi*d]), blas.Matrix{}
	}
	rows = b.eng.GetMatrix(hi-lo, d)
	for r := range rows.Rows {
		if row := rows.Row(r); isDense {
			subtract(row, dense.Row(lo+r), b.center)
		} else {
			scatter(row, p.(*points.CSR), lo+r)
			if b.center != nil {
				subtract(row, row, b.center)
			}
		}
	}
	return rows, rows
}

// scatter writes sparse point i with all its zeros.
func scatter(row []float64, p *points.CSR, i int) {
	clear(row)
	col, val := p.Row(i)
	for k, c := range col {
		row[c] = val[k]
	}
}

// measure writes the squared lengths of rows, the centered rows of p from lo on. Without centering
// they equal those of rawNorms.
func (b *denseBase) measure(dst []float64, p points.Points, lo int, rows blas.Matrix) {
	for r := range rows.Rows {
		if b.center == nil {
			dst[r] = rawNorm(b.t, p, lo+r)
		} else {
			dst[r] = b.t.Dot(rows.Row(r), rows.Row(r))
		}
	}
}

func (b *denseBase) norms() (x, y []float64) { return b.xx, b.yy }

func (b *denseBase) load(lo, hi int) rows {
	s := rows{lo: lo, hi: hi, memory: b.eng.GetMatrix(1, tile.LeftSize(b.t, hi-lo, b.x.Dim()))}
	s.packed = tile.NewLeft(b.t, hi-lo, b.x.Dim(), s.memory.Data)
	rows, scratch := b.vectorsOf(b.x, lo, hi)
	s.packed.Pack(rows, 0)
	b.eng.PutMatrix(scratch)
	return s
}

func (b *denseBase) unload(r rows) { b.eng.PutMatrix(r.memory) }

func (b *denseBase) fill(dst blas.Matrix, r rows, j0, cols int) {
	cols = (cols + b.t.NR - 1) / b.t.NR * b.t.NR
	tile.MultiplyPacked(0, dst.View(0, dst.Rows, 0, cols), &r.packed, &b.right, j0)
}

func (b *denseBase) vectors() bool  { return true }
func (b *denseBase) terms() int     { return terms(b.x, b.y, b.xx, b.yy) }
func (b *denseBase) tiling() tiling { return denseTiling }

func (b *denseBase) exact(i, j int) float64 { return distanceOf(b.t, b.x, b.y, i, j) }

func (b *denseBase) release() { b.eng.PutMatrix(b.memory) }

// subtract writes x - y into dst.
func subtract(dst, x, y []float64) {
	y = y[:len(x)]
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

// columnMeans returns the mean of each feature. Any point near the data is suitable as a center;
// the result only has to be the same for every worker count.
func columnMeans(ctx context.Context, eng *engine.Engine, p *points.Dense) ([]float64, error) {
	const block = 4096
	t, blocks := eng.Backend().Kernels(), (p.N+block-1)/block
	sums := blas.NewMatrix(max(1, blocks), p.D)
	err := eng.For(ctx, p.N, block, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			t.Axpy(1, p.Row(i), sums.Row(lo/block))
		}
		return nil
	})
	means := sums.Row(0)
	for b := 1; b < blocks; b++ {
		t.Axpy(1, sums.Row(b), means)
	}
	t.Scale(1/float64(p.N), means)
	return means, err
}

// Center replaces the symmetric matrix k (both triangles) by H K H with H = I - 11'/n, the kernel
// of the points minus their mean in feature space: it subtracts the means of rows and columns and
// adds the overall mean. It returns the row means of the original matrix. The error is ctx.Err().
// Cost: 4n^2 flops.
func Center(ctx context.Context, eng *engine.Engine, k blas.Matrix) (means []float64, err error) {
	means = make([]float64, k.Rows)
	if err := eng.Each(ctx, k.Rows, 64, func(i int) { means[i] = Mean(k.Row(i)) }); err != nil {
		return nil, err
	}
	all := Mean(means)
	err = eng.Each(ctx, k.Rows, 64, func(i int) {
		row := k.Row(i)
		for j := range row {
			row[j] -= means[i] + means[j] - all
		}
	})
	return means, err
}

// Mean returns the mean of some values, 0 for none. Their sum may exceed float64.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}

// sparseBase computes inner products, uncentered, of which at least one operand is sparse. Its
// memory grows with the values of sparse points, not with the number of their features.
type sparseBase struct {
	t       *asm.Table
	x, y    points.Points
	yt      *points.CSR   // y transposed, if y is sparse: a row for each feature that occurs in it
	columns []int32       // these features
	shared  *points.CSR   // x, if both are sparse, over these features
	dense   *points.Dense // y transposed, if y is dense
	xx, yy  []float64
}

func newSparse(ctx context.Context, eng *engine.Engine, x, y points.Points) (*sparseBase, error) {
	b := &sparseBase{t: eng.Backend().Kernels(), x: x, y: y}
	var err error
	if b.yy, err = rawNorms(ctx, eng, y); err != nil {
		return nil, err
	}
	if b.xx = b.yy; x != y {
		if b.xx, err = rawNorms(ctx, eng, x); err != nil {
			return nil, err
		}
	}
	switch p := y.(type) {
	case *points.CSR:
		if err := b.transpose(eng, p); err != nil {
			return nil, err
		}
	case *points.Dense:
		if err := eng.Check("transposed copy of the points", engine.MatrixBytes(p.D, p.N),
			"use fewer points or raise the memory limit"); err != nil {
			return nil, err
		}
		b.dense = &points.Dense{N: p.D, D: p.N, Data: make([]float64, len(p.Data))}
		Matrix(p).TransposeTo(Matrix(b.dense))
	}
	return b, nil
}

// transpose prepares the features of sparse points y, and those of x that y has too.
func (b *sparseBase) transpose(eng *engine.Engine, y *points.CSR) error {
	x, both := b.x.(*points.CSR)
	values := int64(len(y.Col))
	if both && x != y {
		values += int64(len(x.Col))
	}
	// For each value at most: a table of four features, or two row starts, and its copies.
	if err := eng.Check("transposed copy of the points", 40*values,
		"use fewer points or raise the memory limit"); err != nil {
		return err
	}
	compact, columns := y.Compact()
	b.yt, b.columns = transposeSparse(compact), columns
	switch {
	case both && x == y:
		b.shared = compact
	case both:
		b.shared = x.Restrict(columns)
	}
	return nil
}

func (b *sparseBase) norms() (x, y []float64) { return b.xx, b.yy }
func (b *sparseBase) load(lo, hi int) rows    { return rows{lo: lo, hi: hi} }
func (b *sparseBase) unload(rows)             {}
func (b *sparseBase) release()                {}

// fill adds, for every feature of x_i in ascending order, its value times that feature's column of
// y.
func (b *sparseBase) fill(dst blas.Matrix, r rows, j0, cols int) {
	if b.dense != nil { // and x is sparse
		x := b.x.(*points.CSR)
		b.t.SparseRows(x.Start[r.lo:r.hi+1], x.Col, x.Val, b.dense.Data[j0:], b.dense.D, cols, dst.Data,
			dst.Stride)
		return
	}
	for i := r.lo; i < r.hi; i++ {
		row := dst.Row(i - r.lo)[:cols]
		clear(row)
		if b.shared != nil {
			col, val := b.shared.Row(i)
			for k, c := range col {
				b.addFeature(row, val[k], int(c), j0)
			}
			continue
		}
		x := b.x.(*points.Dense).Row(i)
		for k, c := range b.columns {
			if v := x[c]; v != 0 {
				b.addFeature(row, v, k, j0)
			}
		}
	}
}

// addFeature adds v times feature columns[c] of y, from point j0 on, to row.
func (b *sparseBase) addFeature(row []float64, v float64, c, j0 int) {
	who, val := b.yt.Row(c)
	if j0 > 0 {
		k, _ := slices.BinarySearch(who, int32(j0))
		who, val = who[k:], val[k:]
	}
	val = val[:len(who)]
	for k, j := range who {
		at := uint(int(j) - j0)
		if at >= uint(len(row)) {
			break // ascending: the rest is beyond the tile
		}
		row[at] += v * val[k]
	}
}

func (b *sparseBase) vectors() bool  { return true }
func (b *sparseBase) terms() int     { return terms(b.x, b.y, b.xx, b.yy) }
func (b *sparseBase) tiling() tiling { return sparseTiling }

func (b *sparseBase) exact(i, j int) float64 { return distanceOf(b.t, b.x, b.y, i, j) }

// transposeSparse returns p transposed: row c lists the points with feature c, ascending.
func transposeSparse(p *points.CSR) *points.CSR {
	t := &points.CSR{N: p.D, D: p.N, Start: make([]int, p.D+1), Col: make([]int32, len(p.Col)),
		Val: make([]float64, len(p.Val))}
	for _, c := range p.Col {
		t.Start[c+1]++
	}
	for c := range p.D {
		t.Start[c+1] += t.Start[c]
	}
	next := slices.Clone(t.Start)
	for i := range p.N {
		col, val := p.Row(i)
		for k, c := range col {
			t.Col[next[c]], t.Val[next[c]] = int32(i), val[k]
			next[c]++
		}
	}
	return t
}

// Rows returns the rows of a matrix as points. They share memory, unless the rows have gaps between
// them.
func Rows(m blas.Matrix) *points.Dense {
	if m.Stride != m.Cols {
		m = m.Clone()
	}
	return &points.Dense{N: m.Rows, D: m.Cols, Data: m.Data[:m.Rows*m.Cols]}
}

// Matrix returns dense points as a matrix that shares memory with them.
func Matrix(x *points.Dense) blas.Matrix { return blas.MatrixOf(x.N, x.D, x.Data) }
