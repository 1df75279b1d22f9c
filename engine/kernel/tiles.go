package kernel

import (
	"cmp"
	"context"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// tiling is the shape of the tiles in which a kernel matrix is evaluated: while the maps are
// applied, a tile stays in the second-level cache and one of its rows in the first-level cache.
// cols is a multiple of the register tile widths.
type tiling struct{ rows, cols int }

// The tilings of the bases. The values are empirical; results do not depend on them.
var (
	denseTiling  = tiling{rows: 96, cols: 192}  // 144 KiB
	sparseTiling = tiling{rows: 32, cols: 4096} // one row of a tile fits the first-level cache
)

// Block is a part of a kernel matrix: its first element is element (Row, Col) of the matrix.
type Block struct {
	Row, Col int
	Matrix   blas.Matrix
	// Error bounds the rounding error of a squared distance between vectors, compared with the sum
	// of the squared differences of their features, in all blocks of [Kernel.Squared] of the linear
	// kernel. It is 0 for sparse vectors of whole numbers, for other kernels and for precomputed
	// inner products.
	Error float64
}

// DistanceError bounds the rounding error of the expanded squared distance |x|^2 + |y|^2 - 2<x,y>
// of vectors of d features, less a common center, compared with the sum of the squared differences
// of the features: 4 d eps (xx + yy) for products, norms and that sum, plus the error of centering.
// xx and yy are the largest squared lengths on either side.
func DistanceError(d int, xx, yy float64) float64 {
	if d == 0 {
		return 0
	}
	return 8 * float64(d+8) * 0x1p-53 * (xx + yy)
}

// evaluation is a base with a kernel's maps and the self products that each map needs.
type evaluation struct {
	eng      *engine.Engine
	t        *asm.Table
	base     base
	stages   []stage
	x, y     [][]float64 // per stage: <x_i,x_i> and <y_j,y_j> as inputs of that stage, or their square roots
	diagonal []float64   // k(x_i, x_i)
	checked  bool        // values may overflow
	error    float64     // value of [Block.Error]
}

// evaluate prepares the maps on a base of sets. If a self product is not representable, it releases
// the base and returns an error.
func (k Kernel) evaluate(eng *engine.Engine, b base, sets ...points.Points) (*evaluation, error) {
	ev, err := k.prepareMaps(eng, b)
	if err != nil {
		b.release()
		return nil, explain(err, sets...)
	}
	return ev, nil
}

func (k Kernel) prepareMaps(eng *engine.Engine, b base) (*evaluation, error) {
	xx, yy := b.norms()
	ev := &evaluation{eng: eng, t: eng.Backend().Kernels(), base: b, stages: k.stages, checked: !b.vectors()}
	if b.vectors() && len(k.stages) == 1 && k.stages[0].kind == distance && len(xx) > 0 && len(yy) > 0 {
		ev.error = DistanceError(b.terms(), slices.Max(xx), slices.Max(yy))
	}
	if n := len(k.stages); n > 0 {
		memory := make([][]float64, 2*n)
		ev.x, ev.y = memory[:0:n], memory[n:n]
	}
	for _, st := range k.stages {
		if err := cmp.Or(checkNorms(yy), checkNorms(xx)); err != nil {
			return nil, err
		}
		ev.x, ev.y = append(ev.x, st.terms(ev.t, xx)), append(ev.y, st.terms(ev.t, yy))
		if same := len(xx) > 0 && len(xx) == len(yy) && &xx[0] == &yy[0]; same {
			xx = st.selves(make([]float64, len(xx)), xx)
			yy = xx
		} else {
			xx, yy = st.selves(make([]float64, len(xx)), xx), st.selves(make([]float64, len(yy)), yy)
		}
		ev.checked = ev.checked || st.entry().grows
	}
	ev.diagonal = xx
	return ev, cmp.Or(checkNorms(yy), checkNorms(xx))
}

// selves writes the values of points with themselves to dst, given their squared lengths, and
// returns dst, which may be norms. A map of distances has one for all points.
func (s stage) selves(dst, norms []float64) []float64 {
	if len(norms) > 0 && s.entry().argument == ofDistance {
		v := s.self(0)
		for i := range dst {
			dst[i] = v
		}
		return dst
	}
	for i, v := range norms {
		dst[i] = s.self(v)
	}
	return dst
}

// sink receives a kernel matrix tile by tile, while the tile is in a cache. Tiles of the same rows
// arrive one after another in the order of their columns, others concurrently. A sink may change a
// tile but must not keep it.
type sink struct {
	tile func(b Block) error
	end  func() // after the last tile of some rows, if set
}

// rectangular evaluates an m x n matrix.
func (ev *evaluation) rectangular(ctx context.Context, m, n int, t tiling, to sink) error {
	t = cmp.Or(t, ev.base.tiling())
	return ev.eng.For(ctx, m, t.rows, func(lo, hi int) error {
		s := ev.newStrip(lo, hi, min(t.cols, n), to)
		defer s.end()
		return s.tiles(ctx, n, t.cols)
	})
}

// lower evaluates the lower triangle of a symmetric matrix of order n: the tiles of some rows end
// with the last column of their diagonal block, which is complete.
func (ev *evaluation) lower(ctx context.Context, n int, t tiling, to sink) error {
	t = cmp.Or(t, ev.base.tiling())
	blocks := (n + t.rows - 1) / t.rows
	return ev.eng.For(ctx, blocks, 1, func(b, _ int) error {
		// The last row blocks are the longest: they go first, to balance the workers.
		lo := (blocks - 1 - b) * t.rows
		hi := min(lo+t.rows, n)
		s := ev.newStrip(lo, hi, min(t.cols, hi), to)
		defer s.end()
		s.diagonal = ev.diagonal
		return s.tiles(ctx, hi, t.cols)
	})
}

// strip is the evaluation of some rows, in scratch memory.
type strip struct {
	*evaluation
	to       sink
	rows     rows
	dots     blas.Matrix // inner products of a tile, padded to whole register tiles
	values   blas.Matrix // kernel values of a tile
	diagonal []float64   // diagonal values to write into the tiles, or nil
}

func (ev *evaluation) newStrip(lo, hi, cols int, to sink) *strip {
	s := &strip{evaluation: ev, to: to, rows: ev.base.load(lo, hi)}
	height, width := padded(hi-lo, ev.t.MR), padded(cols, ev.t.NR)
	s.dots = ev.eng.GetMatrix(height, width)
	s.values = s.dots
	if len(ev.stages) > 0 {
		s.values = ev.eng.GetMatrix(height, width)
	}
	return s
}

func (s *strip) end() {
	if len(s.stages) > 0 {
		s.eng.PutMatrix(s.values)
	}
	s.eng.PutMatrix(s.dots)
	s.base.unload(s.rows)
}

// padded rounds a size up to whole register tiles.
func padded(n, unit int) int { return (n + unit - 1) / unit * unit }

// tiles evaluates columns [0, n), cols at a time.
func (s *strip) tiles(ctx context.Context, n, cols int) error {
	for j0 := 0; j0 < n; j0 += cols {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.tile(j0, min(cols, n-j0)); err != nil {
			return err
		}
	}
	if s.to.end != nil {
		s.to.end()
	}
	return nil
}

// tile evaluates the tile that begins at column j0.
func (s *strip) tile(j0, cols int) error {
	lo, hi := s.rows.lo, s.rows.hi
	b := Block{lo, j0, s.values.View(0, hi-lo, 0, cols), s.error}
	dots := s.dots.View(0, hi-lo, 0, cols)
	s.base.fill(s.dots, s.rows, j0, cols)
	d0, d1 := max(lo, j0), min(hi, j0+cols) // the part of the diagonal in the tile
	if s.diagonal == nil {
		d1 = d0
	}
	if len(s.stages) > 0 {
		for i := d0; i < d1; i++ {
			dots.Set(i-lo, i-j0, 0) // gives a large distance, which repair does not compute again
		}
		s.mapTile(b, dots)
	}
	for i := d0; i < d1; i++ {
		b.Matrix.Set(i-lo, i-j0, s.diagonal[i])
	}
	if err := s.check(b); err != nil {
		return err
	}
	return s.to.tile(b)
}

// check returns an error for the first value that has overflowed, if values can overflow.
func (s *strip) check(b Block) error {
	if !s.checked {
		return nil
	}
	for r := range b.Matrix.Rows {
		if j := points.FirstNotFinite(b.Matrix.Row(r)); j >= 0 {
			return &fault.DataError{Row: b.Row + r, Err: overflowError(b.Matrix.At(r, j), b.Col+j)}
		}
	}
	return nil
}

// mapTile applies the maps to the inner products of a tile.
func (ev *evaluation) mapTile(b Block, dots blas.Matrix) {
	m := b.Matrix
	var memory []float64 // for repairs
	for s := range ev.stages {
		st := &ev.stages[s]
		xx, yy := ev.x[s][b.Row:], ev.y[s][b.Col:b.Col+m.Cols]
		// Only the first map uses the distances of the points themselves.
		exact := s == 0 && ev.base.vectors()
		if s == 0 && st.entry().gaussian {
			near := ev.t.Gaussian(m.Rows, m.Cols, m.Data, m.Stride, dots.Data, dots.Stride, xx, yy,
				-st.decay(), refineBelow)
			for r := 0; near && exact && r < m.Rows; r++ {
				ev.repair(st, m.Row(r), dots.Row(r), b.Row+r, b.Col, &memory)
			}
			dots = m
			continue
		}
		for r := range m.Rows {
			near := st.row(ev.t, m.Row(r), dots.Row(r), xx[r], yy)
			if near && exact {
				ev.repair(st, m.Row(r), dots.Row(r), b.Row+r, b.Col, &memory)
			}
		}
		dots = m
	}
}

// repair computes elements of a row of a shift-invariant map again if the expansion has canceled,
// with distances from differences. It allocates its memory at first use.
func (ev *evaluation) repair(st *stage, row, dot []float64, i, j0 int, memory *[]float64) {
	const few = 32
	if *memory == nil {
		*memory = make([]float64, few)
	}
	xx, yy := ev.x[0][i], ev.y[0][j0:j0+len(row)]
	for lo := 0; lo < len(row); lo += few {
		hi := min(lo+few, len(row))
		d2 := (*memory)[:hi-lo]
		if !ev.t.SquaredDistances(d2, dot[lo:hi], xx, yy[lo:hi], refineBelow) {
			continue
		}
		for j, d := range d2 {
			if d < refineBelow*(xx+yy[lo+j]) {
				d2[j] = ev.base.exact(i, j0+lo+j)
			}
		}
		st.arguments(ev.t, d2, d2)
		copy(row[lo:hi], d2)
	}
}

// GramBlocks evaluates the kernel matrix of x without storing it: it calls f with blocks that cover
// the lower triangle. The row blocks are a fixed partition of the rows. The blocks of one row block
// come one after another in the order of their columns; different row blocks run concurrently on
// the engine's workers. The last ones contain the whole diagonal block of the row block: elements
// (i, j) with j beyond the row block never occur. Values, errors and cost are those of
// [Kernel.GramTo]; scratch memory is a packed copy of the points and a few blocks.
//
// f may change the block but must not keep it. After an error of f no further blocks start, and
// GramBlocks returns the error.
func (k Kernel) GramBlocks(ctx context.Context, eng *engine.Engine, x points.Points,
	f func(b Block) error) error {
	ev, err := k.gramEvaluation(ctx, eng, x)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.lower(ctx, x.Len(), tiling{}, sink{tile: f})
}

// CrossBlocks is GramBlocks for the whole kernel matrix between x and y. Errors are those of
// [Kernel.Cross] and of f.
func (k Kernel) CrossBlocks(ctx context.Context, eng *engine.Engine, x, y points.Points,
	f func(b Block) error) error {
	return k.crossBlocks(ctx, eng, x, y, tiling{}, f)
}

// CrossRows is like CrossBlocks, with blocks of the given number of whole rows, fewer in the last
// one; 0 means blocks of about 2 MiB. The |x| x |y| matrix is never stored: scratch memory is two
// blocks for each worker. Errors are those of CrossBlocks, and two blocks above the memory limit.
func (k Kernel) CrossRows(ctx context.Context, eng *engine.Engine, x, y points.Points, rows int,
	f func(b Block) error) error {
	if rows == 0 {
		rows = max(16, min(denseTiling.rows, (2<<20)/8/max(1, y.Len())/16*16))
	}
	if err := checkMemory(eng, 2*rows, y.Len()); err != nil {
		return err
	}
	return k.crossBlocks(ctx, eng, x, y, tiling{rows, max(1, y.Len())}, f)
}

func (k Kernel) crossBlocks(ctx context.Context, eng *engine.Engine, x, y points.Points, t tiling,
	f func(b Block) error) error {
	ev, err := k.crossEvaluation(ctx, eng, x, y)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.rectangular(ctx, x.Len(), y.Len(), t, sink{tile: f})
}

// Squared returns a kernel whose values are the squared distances in the feature space of k, K_ii +
// K_jj - 2 K_ij, never negative, with a diagonal of zeros. It is not positive semidefinite, and has
// no text of its own.
func (k Kernel) Squared() Kernel {
	stages := append(make([]stage, 0, len(k.stages)+1), k.stages...)
	return Kernel{spec: k.spec, stages: append(stages, stage{kind: distance})}
}

// gramBase reads inner products from precomputed Gram matrices over one set of reference
// objects.
type gramBase struct {
	x, y *points.Gram
	// self marks x == y: then <x_i, x_j> may also be read from row j, and must be the same element
	// for either order of i and j.
	self bool
}

func newGramCross(x, y *points.Gram) (*gramBase, error) {
	for j, r := range y.Reference {
		if r < 0 {
			return nil, fault.Row(j, "the object is not one of the %d reference objects of the Gram "+
				"matrix, so inner products with it are unknown: want an object of the training matrix", y.M)
		}
	}
	return &gramBase{x: x, y: y}, nil
}

// newGramSelf requires that all objects but one are reference objects: of any two objects, one must
// be a column.
func newGramSelf(x *points.Gram) (*gramBase, error) {
	unknown := -1
	for i, r := range x.Reference {
		if r >= 0 {
			continue
		}
		if unknown >= 0 {
			return nil, unknownPair(x, i, unknown)
		}
		unknown = i
	}
	return &gramBase{x: x, y: x, self: true}, nil
}

func unknownPair(x *points.Gram, i, j int) error {
	return fault.Row(i, "neither this object nor object %d is one of the %d reference objects of the Gram "+
		"matrix, so their inner product is unknown: want one of them in the training matrix", j, x.M)
}

func (b *gramBase) norms() (x, y []float64) { return b.x.Diagonal, b.y.Diagonal }
func (b *gramBase) load(lo, hi int) rows    { return rows{lo: lo, hi: hi} }
func (b *gramBase) unload(rows)             {}
func (b *gramBase) release()                {}

func (b *gramBase) fill(dst blas.Matrix, r rows, j0, cols int) {
	for i := r.lo; i < r.hi; i++ {
		row := dst.Row(i - r.lo)[:cols]
		for c := range row {
			if b.self {
				row[c] = gramEntry(b.x, i, j0+c)
			} else {
				row[c] = b.x.Data[i*b.x.M+b.y.Reference[j0+c]]
			}
		}
	}
}

func (b *gramBase) vectors() bool          { return false }
func (b *gramBase) terms() int             { return 0 }
func (b *gramBase) tiling() tiling         { return denseTiling }
func (b *gramBase) exact(int, int) float64 { panic("kernel: precomputed products have no differences") }

// gramEntry returns <x_i, x_j>, the same value for either order. One of the two objects
// must be a reference object, or i == j.
func gramEntry(x *points.Gram, i, j int) float64 {
	if i == j {
		return x.Diagonal[i]
	}
	i, j = max(i, j), min(i, j)
	if r := x.Reference[j]; r >= 0 {
		return x.Data[i*x.M+r]
	}
	return x.Data[j*x.M+x.Reference[i]]
}
