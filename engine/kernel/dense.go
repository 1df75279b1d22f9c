package kernel

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// denseBase is the inner product of dense points, centred by the mean of y or not.
type denseBase struct {
	eng    *engine.Engine
	x, y   *points.Dense
	centre []float64   // mean of y, or nil
	yt     blas.Matrix // d x m: y centred and transposed once
	xx, yy []float64
}

// newDense centres, transposes and measures. The product x·yt then runs over contiguous rows
// of both, and sums each element over the features in order, whatever the tile.
func newDense(ctx context.Context, eng *engine.Engine, x, y *points.Dense, centred bool) (*denseBase, error) {
	if err := eng.Check("centred copy of the points", engine.MatrixBytes(y.D, y.N), "use fewer points or raise the memory limit"); err != nil {
		return nil, err
	}
	b := &denseBase{eng: eng, x: x, y: y}
	if centred && y.N > 0 {
		b.centre = columnMeans(y)
	}
	b.yt = eng.GetMatrix(y.D, y.N)
	b.yy = make([]float64, y.N)
	err := b.eachRow(ctx, y, func(j int, row []float64) {
		for c, v := range row {
			b.yt.Data[c*b.yt.Stride+j] = v
		}
		b.yy[j] = dot(row, row)
	})
	if b.xx = b.yy; err == nil && x != y {
		b.xx = make([]float64, x.N)
		err = b.eachRow(ctx, x, func(i int, row []float64) { b.xx[i] = dot(row, row) })
	}
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// eachRow calls f with every row of p, centred, in parallel. f must not keep or write row.
func (b *denseBase) eachRow(ctx context.Context, p *points.Dense, f func(i int, row []float64)) error {
	return b.eng.For(ctx, p.N, normBlock, func(lo, hi int) error {
		if b.centre == nil {
			for i := lo; i < hi; i++ {
				f(i, p.Row(i))
			}
			return nil
		}
		row := b.eng.GetMatrix(1, p.D)
		defer b.eng.PutMatrix(row)
		for i := lo; i < hi; i++ {
			subtract(row.Row(0), p.Row(i), b.centre)
			f(i, row.Row(0))
		}
		return nil
	})
}

func (b *denseBase) norms() (x, y []float64) { return b.xx, b.yy }

// load returns rows [lo, hi) of x, centred into scratch memory if need be.
func (b *denseBase) load(lo, hi int) blas.Matrix {
	if b.centre == nil {
		d := b.x.D
		return blas.Matrix{Rows: hi - lo, Cols: d, Stride: max(1, d), Data: b.x.Data[lo*d : hi*d]}
	}
	rows := b.eng.GetMatrix(hi-lo, b.x.D)
	for r := range rows.Rows {
		subtract(rows.Row(r), b.x.Row(lo+r), b.centre)
	}
	return rows
}

func (b *denseBase) unload(rows blas.Matrix) {
	if b.centre != nil {
		b.eng.PutMatrix(rows)
	}
}

func (b *denseBase) fill(dst, rows blas.Matrix, _, j0 int) {
	b.eng.Backend().Gemm(false, false, 1, rows, b.yt.View(0, b.yt.Rows, j0, j0+dst.Cols), 0, dst)
}

func (b *denseBase) vectors() bool  { return true }
func (b *denseBase) tiling() tiling { return denseTiling }

func (b *denseBase) exact(i, j int) float64 { return distanceDense(b.x.Row(i), b.y.Row(j)) }

func (b *denseBase) release() { b.eng.PutMatrix(b.yt) }

// distanceDense is the sum of squared differences, in order.
func distanceDense(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		d := v - y[i]
		s += d * d
	}
	return s
}

// subtract writes x - y into dst.
func subtract(dst, x, y []float64) {
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

// columnMeans returns the mean of each feature. Any point near the data would do as a centre;
// the mean only has to be the same for every worker count.
func columnMeans(p *points.Dense) []float64 {
	means := make([]float64, p.D)
	for i := range p.N {
		for c, v := range p.Row(i) {
			means[c] += v
		}
	}
	for c := range means {
		means[c] /= float64(p.N)
	}
	return means
}
