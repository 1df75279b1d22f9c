package kernel

import (
	"context"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

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
func newDense(ctx context.Context, eng *engine.Engine, x, y points.Points, center []float64) (*denseBase, error) {
	t := eng.Backend().Kernels()
	size := tile.RightSize(t, y.Len(), y.Dim())
	if err := eng.Check("packed copy of the points", engine.MatrixBytes(1, size), "use fewer points or raise the memory limit"); err != nil {
		return nil, err
	}
	b := &denseBase{eng: eng, t: t, x: x, y: y, center: center, memory: eng.GetMatrix(1, size), yy: make([]float64, y.Len())}
	b.right = tile.NewRight(t, y.Len(), y.Dim(), b.memory.Data)
	err := b.eachBlock(ctx, y, packRows/b.right.Unit()*b.right.Unit(), func(lo int, rows blas.Matrix) {
		b.right.Pack(rows, lo)
		b.measure(b.yy[lo:], y, lo, rows)
	})
	if b.xx = b.yy; err == nil && x != y {
		b.xx = make([]float64, x.Len())
		err = b.eachBlock(ctx, x, normBlock, func(lo int, rows blas.Matrix) { b.measure(b.xx[lo:], x, lo, rows) })
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
func (b *denseBase) eachBlock(ctx context.Context, p points.Points, rows int, f func(lo int, rows blas.Matrix)) error {
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
