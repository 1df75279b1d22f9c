package kernel

import (
	"context"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// denseBase is the inner product of dense points, centred or not. y is packed once for all
// tiles, rows of x as they are needed.
type denseBase struct {
	eng    *engine.Engine
	t      *asm.Table
	x, y   *points.Dense
	centre []float64 // or nil
	right  tile.Packed
	memory blas.Matrix // of right
	xx, yy []float64
}

// newDense packs y, and measures both sets. centre, if any, is subtracted from all points.
func newDense(ctx context.Context, eng *engine.Engine, x, y *points.Dense, centre []float64) (*denseBase, error) {
	t := eng.Backend().Kernels()
	size := tile.RightSize(t, y.N, y.D)
	if err := eng.Check("packed copy of the points", engine.MatrixBytes(1, size), "use fewer points or raise the memory limit"); err != nil {
		return nil, err
	}
	b := &denseBase{eng: eng, t: t, x: x, y: y, centre: centre, memory: eng.GetMatrix(1, size), yy: make([]float64, y.N)}
	b.right = tile.NewRight(t, y.N, y.D, b.memory.Data)
	err := b.eachBlock(ctx, y, packRows/b.right.Unit()*b.right.Unit(), func(lo int, rows blas.Matrix) {
		b.right.Pack(rows, lo)
		b.measure(b.yy[lo:], rows)
	})
	if b.xx = b.yy; err == nil && x != y {
		b.xx = make([]float64, x.N)
		err = b.eachBlock(ctx, x, normBlock, func(lo int, rows blas.Matrix) { b.measure(b.xx[lo:], rows) })
	}
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// packRows is about the number of rows that a worker packs at a time.
const packRows = 192

// eachBlock calls f with blocks of so many rows of p, centred, in parallel.
func (b *denseBase) eachBlock(ctx context.Context, p *points.Dense, rows int, f func(lo int, rows blas.Matrix)) error {
	return b.eng.For(ctx, p.N, rows, func(lo, hi int) error {
		m := b.centred(p, lo, hi)
		f(lo, m)
		b.done(m)
		return nil
	})
}

// centred returns rows [lo, hi) of p, in scratch memory if they have to be centred, and done
// gives that back.
func (b *denseBase) centred(p *points.Dense, lo, hi int) blas.Matrix {
	if b.centre == nil {
		return blas.Matrix{Rows: hi - lo, Cols: p.D, Stride: max(1, p.D), Data: p.Data[lo*p.D : hi*p.D]}
	}
	rows := b.eng.GetMatrix(hi-lo, p.D)
	for r := range rows.Rows {
		subtract(rows.Row(r), p.Row(lo+r), b.centre)
	}
	return rows
}

func (b *denseBase) done(rows blas.Matrix) {
	if b.centre != nil {
		b.eng.PutMatrix(rows)
	}
}

// measure writes the squared lengths of the rows.
func (b *denseBase) measure(dst []float64, rows blas.Matrix) {
	for r := range rows.Rows {
		dst[r] = b.t.Dot(rows.Row(r), rows.Row(r))
	}
}

func (b *denseBase) norms() (x, y []float64) { return b.xx, b.yy }

func (b *denseBase) load(lo, hi int) rows {
	s := rows{lo: lo, hi: hi, memory: b.eng.GetMatrix(1, tile.LeftSize(b.t, hi-lo, b.x.D))}
	s.packed = tile.NewLeft(b.t, hi-lo, b.x.D, s.memory.Data)
	rows := b.centred(b.x, lo, hi)
	s.packed.Pack(rows, 0)
	b.done(rows)
	return s
}

func (b *denseBase) unload(r rows) { b.eng.PutMatrix(r.memory) }

func (b *denseBase) fill(dst blas.Matrix, r rows, j0, cols int) {
	cols = (cols + b.t.NR - 1) / b.t.NR * b.t.NR
	tile.MultiplyPacked(dst.View(0, dst.Rows, 0, cols), &r.packed, &b.right, j0)
}

func (b *denseBase) vectors() bool  { return true }
func (b *denseBase) tiling() tiling { return denseTiling }

func (b *denseBase) exact(i, j int) float64 { return b.t.SquaredDistance(b.x.Row(i), b.y.Row(j)) }

func (b *denseBase) release() { b.eng.PutMatrix(b.memory) }

// subtract writes x - y into dst.
func subtract(dst, x, y []float64) {
	y = y[:len(x)]
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

// columnMeans returns the mean of each feature. Any point near the data would do as a centre;
// the mean only has to be the same for every worker count.
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
