package kernel

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// GramSingle writes the kernel matrix of points in single precision into dst, n x n, computed in
// single precision: for the kernels linear, rbf and exp, in half the memory and about half the time
// of [Kernel.GramTo].
//
// Squared distances come from inner products of centered points; those below 1/64 of |x|^2 + |y|^2
// are computed from differences in double precision instead. A squared distance has a relative
// error of about 64 (d^1/2 + 4) 2^-24, 4e-5 for d = 100, and of 2^-24 if it is small; equal rows
// have distance 0. An element of a linear kernel has an error of about d^1/2 2^-24 |x| |y|. dst is
// exactly symmetric and bit-identical for any number of workers; on processors without AVX-512 or
// AVX2 the last digits may differ.
//
// Errors: another kernel (*fault.ParamError); a NaN or Inf, or points whose squared lengths are
// beyond single precision, above 4e37 or (except for the linear kernel) below 1e-30
// (*fault.DataError); the memory limit, for packed points; ctx.Err(). It panics if dst is not n x
// n.
func (k Kernel) GramSingle(ctx context.Context, eng *engine.Engine, dst blas.Matrix32,
	x *points.Single) error {
	checkShape32(dst, x.N, x.N)
	ev, err := k.single(ctx, eng, x, x)
	if err != nil {
		return err
	}
	w := ev.into(dst)
	return ev.walk(ctx, eng, true, func(s *singleStrip, j0, cols int) {
		w.place(s, j0, cols)
		w.placeTransposed(s, j0, min(cols, s.lo-j0))
	}, w.end)
}

// CrossSingle writes the kernel matrix between x and y, |x| x |y|, as [Kernel.GramSingle] does.
// Points of different dimension are a *fault.ShapeError.
func (k Kernel) CrossSingle(ctx context.Context, eng *engine.Engine, dst blas.Matrix32, x,
	y *points.Single) error {
	checkShape32(dst, x.N, y.N)
	ev, err := k.single(ctx, eng, x, y)
	if err != nil {
		return err
	}
	w := ev.into(dst)
	return ev.walk(ctx, eng, false, w.place, w.end)
}

// walk evaluates all tiles, strip by strip, or with lower, if x is y, those of the lower triangle,
// the longest strips first. It calls use with each tile, and end after each strip.
func (ev *singles) walk(ctx context.Context, eng *engine.Engine, lower bool,
	use func(s *singleStrip, j0, cols int), end func()) error {
	blocks := (ev.x.N + singleRows - 1) / singleRows
	return eng.For(ctx, blocks, 1, func(b, _ int) error {
		if lower {
			b = blocks - 1 - b
		}
		s, err := ev.strip(b*singleRows, min((b+1)*singleRows, ev.x.N), singleCols)
		if err != nil {
			return err
		}
		n := ev.y.N
		if lower {
			n = s.hi
		}
		for j0 := 0; j0 < n; j0 += singleCols {
			if err := ctx.Err(); err != nil {
				return err
			}
			cols := min(singleCols, n-j0)
			s.tile(j0, cols)
			use(s, j0, cols)
		}
		end()
		ev.done(s)
		return nil
	})
}

func checkShape32(dst blas.Matrix32, rows, cols int) {
	if dst.Rows != rows || dst.Cols != cols || dst.Stride < cols || rows > 0 && cols > 0 &&
		len(dst.Data) < (rows-1)*dst.Stride+cols {
		panic("kernel: dst has the wrong shape")
	}
}

// The tiles: rows are whole lines of a transposed tile, cols whole register tiles of every level;
// 144 KiB.
const (
	singleRows = 96
	singleCols = 384
)

// refineSingle is the fraction of |x|^2 + |y|^2 below which a squared distance is computed from
// differences.
const refineSingle = 1.0 / 64

// singles is an evaluation in single precision.
type singles struct {
	t      *asm.Table
	stage  stage // linear, rbf or exponential
	x, y   *points.Single
	center []float32 // subtracted from all points: approximately their mean, or zeros
	right  []float32 // y in panels
	yy     []float32 // squared lengths, padded to whole panels
	spare  sync.Pool // of strips, all of one width
}

// single prepares the evaluation of x with y.
func (k Kernel) single(ctx context.Context, eng *engine.Engine, x, y *points.Single) (*singles, error) {
	ev := &singles{t: eng.Backend().Kernels(), x: x, y: y}
	switch {
	case len(k.stages) == 0:
	case len(k.stages) == 1 && k.stages[0].entry().single != nil:
		ev.stage = k.stages[0]
		if d := ev.stage.decay(); !(d >= minSingle && d <= maxSingle) {
			return nil, fault.Param("kernel", k.String(),
				"a bandwidth whose decay is representable in single precision; standardize the data")
		}
	default:
		return nil, fault.Param("kernel", k.String(), "linear, rbf or exp in single precision")
	}
	if x.D != y.D {
		return nil, fault.Shape("number of features", x.D, "%d, as for the other points", y.D)
	}
	wide := padded(y.N, ev.t.Single.NR)
	if err := eng.Check("packed copy of the points", engine.MatrixBytes(wide, y.D)/2,
		"use fewer points or raise the memory limit"); err != nil {
		return nil, err
	}
	ev.center = make([]float32, y.D)
	if ev.stage.kind != linear && y.N > 0 {
		centerOf(ev.center, y)
	}
	ev.right, ev.yy = make([]float32, wide*y.D), make([]float32, wide)
	nr := ev.t.Single.NR
	err := eng.For(ctx, wide/nr, 1, func(b, _ int) error {
		lo := b * nr
		return ev.pack(y, lo, min(lo+nr, y.N), nr, ev.right[lo*y.D:], ev.yy[lo:])
	})
	return ev, err
}

// centerOf writes the mean of the points, summed in order.
func centerOf(center []float32, p *points.Single) {
	mean := make([]float64, p.D)
	for i := range p.N {
		for l, v := range p.Row(i) {
			mean[l] += float64(v)
		}
	}
	for l, v := range mean {
		center[l] = float32(v / float64(p.N))
	}
}

// pack copies the centered points [lo, hi) into one panel, and writes their squared lengths.
func (ev *singles) pack(p *points.Single, lo, hi, width int, panel, norms []float32) error {
	var rows [largestPanel][]float32
	var sums [largestPanel]float32
	count := hi - lo
	for r := range count {
		rows[r] = p.Row(lo + r)
	}
	for l, center := range ev.center {
		column := panel[l*width:][:count]
		for r := range column {
			v := rows[r][l] - center
			column[r] = v
			sums[r] += v * v
		}
	}
	for r, sum := range sums[:count] {
		// The length 0 of the center itself is correct and not an underflow.
		if !(sum <= maxSingle) || sum < minSingle && ev.stage.kind != linear &&
			!slices.Equal(rows[r], ev.center) {
			return fault.Row(lo+r, "squared length %g is beyond single precision: want 0 or %g to %.2g; "+
				"standardize the data", sum, minSingle, maxSingle)
		}
		norms[r] = sum
	}
	return nil
}

// The range of squared lengths for which single precision can represent their sums and differences.
const (
	minSingle = 1e-30
	maxSingle = math.MaxFloat32 / 8
)

// largestPanel bounds the number of vectors of a panel on all SIMD levels.
const largestPanel = 64

// singleStrip is the evaluation of some rows.
type singleStrip struct {
	*singles
	lo, hi int
	left   []float32 // x in panels
	xx     []float32 // squared lengths
	values []float32 // of a tile with a stride of wide elements
	wide   int
}

// strip returns the evaluation of rows [lo, hi) in tiles of up to wide columns, a multiple of the
// panel width.
func (ev *singles) strip(lo, hi, wide int) (*singleStrip, error) {
	mr, d := ev.t.Single.MR, ev.x.D
	tall := padded(hi-lo, mr)
	s, ok := ev.spare.Get().(*singleStrip)
	if !ok {
		s = &singleStrip{singles: ev, wide: wide}
	}
	s.lo, s.hi = lo, hi
	s.left, s.xx, s.values = sized(s.left, tall*d), sized(s.xx, tall), sized(s.values, tall*wide)
	clear(s.left[(tall-mr)*d:]) // rows after the last
	for i := 0; i < hi-lo; i += mr {
		if err := ev.pack(ev.x, lo+i, min(lo+i+mr, hi), mr, s.left[i*d:], s.xx[i:]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// done returns a strip to the pool.
func (ev *singles) done(s *singleStrip) { ev.spare.Put(s) }

// sized returns a slice of n elements with undefined values, in the memory of x if it fits.
func sized(x []float32, n int) []float32 {
	if cap(x) < n {
		return make([]float32, n)
	}
	return x[:n]
}

// row returns the values of row r of the tile.
func (s *singleStrip) row(r, cols int) []float32 { return s.values[r*s.wide:][:cols] }

// tile evaluates columns [j0, j0 + cols), and more up to a whole panel.
func (s *singleStrip) tile(j0, cols int) {
	t, d := &s.t.Single, s.x.D
	cols = padded(cols, t.NR)
	for j := 0; j < cols; j += t.NR {
		b := s.right[(j0+j)*d:]
		for i := 0; i < s.hi-s.lo; i += t.MR {
			t.Tile(d, s.left[i*d:], b, s.values[i*s.wide+j:], s.wide)
		}
	}
	if s.stage.kind == linear {
		return
	}
	yy := s.yy[j0 : j0+cols]
	for r := range s.hi - s.lo {
		row := s.row(r, cols)
		if t.SquaredDistances(row, row, s.xx[r], yy, refineSingle) {
			s.refine(row, s.lo+r, j0)
		}
		s.stage.entry().single(s.stage, t, row)
	}
}

// refine computes canceled squared distances of a row again, from differences.
func (s *singleStrip) refine(row []float32, i, j0 int) {
	xx := s.xx[i-s.lo]
	for j := range min(len(row), s.y.N-j0) {
		if row[j] < refineSingle*(xx+s.yy[j0+j]) {
			row[j] = float32(s.x.SquaredDistance(i, s.y, j0+j))
		}
	}
}

// singleMatrix writes tiles to a matrix.
type singleMatrix struct {
	t        *asm.Table
	dst      blas.Matrix32
	streamed bool
	aligned  bool // its rows begin at cache lines
}

func (ev *singles) into(dst blas.Matrix32) singleMatrix {
	return singleMatrix{ev.t, dst, 4*len(dst.Data) >= streamBytes,
		dst.Stride%16 == 0 && asm.AtLine32(dst.Data)}
}

func (w singleMatrix) place(s *singleStrip, j0, cols int) {
	to := w.dst.Data[s.lo*w.dst.Stride+j0:]
	if w.streamed {
		w.t.Single.Stream(s.hi-s.lo, cols, to, w.dst.Stride, s.values, s.wide)
		return
	}
	for r := range s.hi - s.lo {
		copy(to[r*w.dst.Stride:], s.row(r, cols))
	}
}

// placeTransposed writes the first columns of a tile as rows.
func (w singleMatrix) placeTransposed(s *singleStrip, j0, cols int) {
	if cols <= 0 {
		return
	}
	to := w.dst.Data[j0*w.dst.Stride+s.lo:]
	if w.streamed && w.aligned {
		w.t.Single.StreamTransposed(to, w.dst.Stride, s.values, s.wide, s.hi-s.lo, cols)
		return
	}
	for c := range cols {
		row := to[c*w.dst.Stride:]
		for r := range s.hi - s.lo {
			row[r] = s.values[r*s.wide+c]
		}
	}
}

func (w singleMatrix) end() {
	if w.streamed {
		w.t.Fence()
	}
}

// MultiplySingle writes the |x| x p product K(x, y) v into dst, for v of |y| x p:
// [Kernel.MultiplyTo] in single precision, with the kernels and accuracy of [Kernel.GramSingle];
// sums over |y| terms are in single precision, too. The kernel matrix is never stored. Errors are
// those of [Kernel.CrossSingle]. It panics if the shapes do not agree.
//
// Cost: 2 |x| |y| (d + p) flops.
func (k Kernel) MultiplySingle(ctx context.Context, eng *engine.Engine, dst blas.Matrix32, x,
	y *points.Single, v blas.Matrix32) error {
	checkShape32(dst, x.N, v.Cols)
	checkShape32(v, y.N, v.Cols)
	ev, err := k.single(ctx, eng, x, y)
	if err != nil {
		return err
	}
	if v.Cols == 0 {
		return nil
	}
	t := &ev.t.Single
	wide := min(padded(y.N, t.NR), productCols)
	right := panelsOf(t, v)
	return eng.For(ctx, x.N, productRows, func(lo, hi int) error {
		s, err := ev.strip(lo, hi, wide)
		if err != nil {
			return err
		}
		p := newProduct(t, hi-lo, wide, v.Cols, y.N > wide)
		for j0 := 0; j0 < y.N; j0 += wide {
			if err := ctx.Err(); err != nil {
				return err
			}
			cols := min(wide, y.N-j0)
			s.tile(j0, cols)
			p.add(s, cols, right[j0*t.NR:], y.N*t.NR)
		}
		for r := range hi - lo {
			copy(dst.Row(lo+r), p.sums[r*p.wide:])
		}
		ev.done(s)
		return nil
	})
}

// The numbers of rows and of columns of kernel values in memory at a time.
const (
	productRows = singleRows
	productCols = 4 * singleCols
)

// panelsOf copies the columns of v into panels of NR, with zeros after the last.
func panelsOf(t *asm.Single, v blas.Matrix32) []float32 {
	out := make([]float32, padded(v.Cols, t.NR)*v.Rows)
	for l := range v.Rows {
		for c, value := range v.Row(l) {
			out[c/t.NR*t.NR*v.Rows+l*t.NR+c%t.NR] = value
		}
	}
	return out
}

// product accumulates the sums of some rows.
type product struct {
	t    *asm.Single
	sums []float32 // rows of wide elements
	wide int
	left []float32 // a panel of kernel values
	part []float32 // a register tile, nil if the first is the sum
}

func newProduct(t *asm.Single, rows, depth, cols int, several bool) *product {
	wide := padded(cols, t.NR)
	p := &product{t: t, sums: make([]float32, padded(rows, t.MR)*wide), wide: wide,
		left: make([]float32, t.MR*depth)}
	if several {
		p.part = make([]float32, t.MR*t.NR)
	}
	return p
}

// add adds the product of the first cols columns of a strip's tile with cols rows of the panels,
// which are apart elements from one another.
func (p *product) add(s *singleStrip, cols int, right []float32, apart int) {
	t := p.t
	for i := 0; i < s.hi-s.lo; i += t.MR {
		p.load(s, i, cols)
		for j := 0; j < p.wide; j += t.NR {
			sums := p.sums[i*p.wide+j:]
			if p.part == nil {
				t.Tile(cols, p.left, right[j/t.NR*apart:], sums, p.wide)
				continue
			}
			t.Tile(cols, p.left, right[j/t.NR*apart:], p.part, t.NR)
			for r := range t.MR {
				row := sums[r*p.wide:][:t.NR]
				for c, v := range p.part[r*t.NR:][:t.NR] {
					row[c] += v
				}
			}
		}
	}
}

// load copies the first columns of the rows from i on into a panel.
func (p *product) load(s *singleStrip, i, cols int) {
	var rows [largestPanel][]float32
	mr := p.t.MR
	for r := range mr {
		rows[r] = s.row(i+r, cols)
	}
	for l := range cols {
		column := p.left[l*mr:][:mr]
		for r := range column {
			column[r] = rows[r][l]
		}
	}
}
