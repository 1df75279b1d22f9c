package native

import (
	"math"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/tile"
)

// leaf is a triangle of order at most applyOrder, packed for the register tile, and its operand. M
// is L or L', the one that multiplies a lane of X as a column vector: lanes are the columns of X,
// or its rows if L acts from the right.
//
// Panels of NR lanes are packed like a B. Block r of MR rows of a panel is changed by
//
//	solve:     P_r = M_rr^-1 (P_r - M_rs P_s ...)     multiply:  P_r = M_rr P_r + M_rs P_s ...
//
// Both are tile products, with a precomputed inverse of M_rr. The residual of a solution then grows
// with the condition of M_rr, so a block whose condition exceeds tameCondition is substituted row
// by row instead.
type leaf struct {
	operation
	nest   *tile.Nest
	t      *asm.Table
	n      int
	blocks int
	memory *[]float64
	panels []float64 // of M without its diagonal blocks: block r at r*MR*blocks*MR
	inner  []float64 // the diagonal blocks or their inverses, packed: MR*MR each
	wild   []bool    // whether inner has the block itself, for substitution
	work   func(i int)
}

// tameCondition is the condition up to which a diagonal block is inverted: || |M^-1| |M| ||, after
// Bauer and Skeel, a bound of the loss in the residual compared with substitution.
const tameCondition = 100

// leafPanels is the number of panels that one worker processes at a time.
const leafPanels = 4

// applyLeaf is triangular for small L.
func (b *backend) applyLeaf(nest *tile.Nest, o *operation) {
	f, _ := b.leaves.Get().(*leaf)
	if f == nil {
		f = &leaf{t: b.t}
		f.work = f.task
	}
	f.operation, f.nest, f.n = *o, nest, o.l.Rows
	f.pack()
	flops := float64(f.n) * float64(f.n) * float64(f.lanes())
	nest.Each(flops, blocks(f.lanes(), leafPanels*b.t.NR), f.work)
	nest.Return(f.memory)
	f.operation, f.nest, f.memory, f.panels, f.inner = operation{}, nil, nil, nil, nil
	b.leaves.Put(f)
}

// pack packs M.
func (f *leaf) pack() {
	mr := f.t.MR
	f.blocks = blocks(f.n, mr)
	size := f.blocks * mr
	f.memory = f.nest.Borrow(size*size + size*mr + mr*mr)
	f.panels, f.inner = (*f.memory)[:size*size], (*f.memory)[size*size:]
	f.wild = f.wild[:0]
	for r := range f.blocks {
		i0, i1 := r*mr, min((r+1)*mr, f.n)
		panel := f.panels[i0*size:]
		if f.forward() {
			tile.Pack(f.t, panel, mr, size*mr, f.l, true, i0, i1, 0, i0)
		} else if i1 < f.n {
			tile.Pack(f.t, panel, mr, size*mr, f.l, false, i0, i1, i1, f.n)
			clear(panel[(f.n-i1)*mr : (size-i1)*mr])
		}
		f.wild = append(f.wild, f.packInner(f.inner[r*mr*mr:][:mr*mr], f.inner[size*mr:][:mr*mr], i0, i1))
	}
}

// packInner packs a diagonal block of M, or its inverse, with the identity after the end of L. The
// block is built in d, row by row. wild reports that the inverse was requested but would lose too
// much accuracy.
func (f *leaf) packInner(dst, d []float64, i0, i1 int) (wild bool) {
	mr := f.t.MR
	f.diagonalBlock(d, i0, i1)
	if f.solve {
		sizes := f.sums(dst[:mr], d)
		invert(d, mr)
		if wild = !(f.condition(sizes, d) <= tameCondition); wild { // NaN too
			f.diagonalBlock(d, i0, i1)
		}
	}
	for i := range mr {
		for l := range mr {
			if f.forward() {
				dst[l*mr+i] = d[i*mr+l]
			} else {
				dst[l*mr+i] = d[l*mr+i]
			}
		}
	}
	return wild
}

// diagonalBlock copies a diagonal block of L, with the identity after its end.
func (f *leaf) diagonalBlock(d []float64, i0, i1 int) {
	mr := f.t.MR
	clear(d)
	for i := range mr {
		d[i*mr+i] = 1
	}
	for i := i0; i < i1; i++ {
		copy(d[(i-i0)*mr:], f.l.Row(i)[i0:i+1])
	}
}

// sums writes the absolute row sums of M_rr, whose block of L is d: sums of rows, or of columns if
// M is L'.
func (f *leaf) sums(sizes, d []float64) []float64 {
	n := len(sizes)
	clear(sizes)
	for i := range n {
		for j, v := range d[i*n:][:i+1] {
			if f.forward() {
				sizes[i] += math.Abs(v)
			} else {
				sizes[j] += math.Abs(v)
			}
		}
	}
	return sizes
}

// condition returns the largest sum of a row of |M^-1| |M|, where d holds the inverse of the
// block of L and sizes the sums of the rows of |M|.
func (f *leaf) condition(sizes, d []float64) (largest float64) {
	n := len(sizes)
	for i := range n {
		var sum float64
		for j, size := range sizes {
			switch {
			case f.forward() && j <= i:
				sum += math.Abs(d[i*n+j]) * size
			case !f.forward() && j >= i:
				sum += math.Abs(d[j*n+i]) * size
			}
		}
		largest = max(largest, sum) // NaN stays
	}
	return largest
}

// invert overwrites the lower triangle d of order n with its inverse, row by row: row i is
// (e_i - sum_k d[i,k] row k) / d[i,i].
func invert(d []float64, n int) {
	for i := range n {
		pivot := 1 / d[i*n+i]
		for j := range i {
			var s float64
			for k := j; k < i; k++ {
				s += d[i*n+k] * d[k*n+j]
			}
			// Columns before j are done and the others of row i are still L's, but (i, j) itself is
			// no longer needed: sums for later columns start after it.
			d[i*n+j] = -pivot * s
		}
		d[i*n+i] = pivot
	}
}

// task applies M to the i-th group of panels, which are packed and unpacked together, so that rows
// of X are read and written in longer pieces.
func (f *leaf) task(i int) {
	mr, nr := f.t.MR, f.t.NR
	size := f.blocks * mr * nr
	j0 := i * leafPanels * nr
	j1 := min(j0+leafPanels*nr, f.lanes())
	scratch := f.nest.Borrow(leafPanels*size + mr*nr)
	spare, panels := (*scratch)[:mr*nr], (*scratch)[mr*nr:]
	tile.Pack(f.t, panels, nr, size, f.x, !f.left, j0, j1, 0, f.n)
	for j := j0; j < j1; j += nr {
		p := panels[(j-j0)/nr*size:][:size]
		clear(p[f.n*nr:])
		f.apply(p, spare)
		if s := f.t.Sum(p); s-s != 0 {
			f.repair(p, j, min(j+nr, j1))
		}
	}
	tile.Unpack(panels, nr, size, f.x, !f.left, j0, j1, 0, f.n)
	f.nest.Return(scratch)
}

// apply applies M to a panel. A block's neighbors must be done before it in a solution, and
// after it in a product.
func (f *leaf) apply(p, spare []float64) {
	mr, nr := f.t.MR, f.t.NR
	for s := range f.blocks {
		r := s
		if f.forward() != f.solve {
			r = f.blocks - 1 - s
		}
		block := p[r*mr*nr:][:mr*nr]
		panel, inner := f.panels[r*mr*f.blocks*mr:], f.inner[r*mr*mr:]
		depth, others := r*mr, p
		if !f.forward() {
			depth, others = (f.blocks-1-r)*mr, p[(r+1)*mr*nr:]
		}
		if f.solve && depth > 0 {
			f.t.TileTo(depth, -1, 1, panel, others, block, nr)
		}
		if f.wild[r] {
			f.substitute(inner, block)
		} else {
			copy(spare, block)
			f.t.Tile(mr, inner, spare, block)
		}
		if !f.solve && depth > 0 {
			f.t.TileTo(depth, 1, 1, panel, others, block, nr)
		}
	}
}

// substitute solves M_rr X = P for a block of a panel, in place.
func (f *leaf) substitute(inner, block []float64) {
	mr, nr := f.t.MR, f.t.NR
	for s := range mr {
		i, lo, hi := s, 0, s
		if !f.forward() {
			i = mr - 1 - s
			lo, hi = i+1, mr
		}
		row := block[i*nr:][:nr]
		for l := lo; l < hi; l++ {
			f.t.Axpy(-inner[l*mr+i], block[l*nr:][:nr], row)
		}
		for j := range row {
			row[j] /= inner[i*mr+i]
		}
	}
}

// repair recomputes, element by element, the lanes of a panel that contain a NaN or Inf: the
// products with the zeros of a triangular block may have spread it to elements that do not depend
// on it, and the inverse of a block may have overflowed where division does not.
func (f *leaf) repair(p []float64, j0, j1 int) {
	nr := f.t.NR
	lane := make([]float64, f.n)
	for j := j0; j < j1; j++ {
		for i := range lane {
			lane[i] = p[i*nr+j-j0]
		}
		if form.FiniteVector(lane) {
			continue
		}
		for i := range lane {
			if f.left {
				lane[i] = f.x.At(i, j)
			} else {
				lane[i] = f.x.At(j, i)
			}
		}
		f.plain(lane)
		for i, v := range lane {
			p[i*nr+j-j0] = v
		}
	}
}

// plain computes M x, or M^-1 x, by the formula.
func (f *leaf) plain(x []float64) {
	n := f.n
	for s := range n {
		i := s
		if f.forward() != f.solve {
			i = n - 1 - s
		}
		v := x[i]
		if !f.solve {
			v *= f.l.At(i, i)
		}
		lo, hi := 0, i
		if !f.forward() {
			lo, hi = i+1, n
		}
		for k := lo; k < hi; k++ {
			m := f.l.At(max(i, k), min(i, k))
			if f.solve {
				m = -m
			}
			v += m * x[k]
		}
		if f.solve {
			v /= f.l.At(i, i)
		}
		x[i] = v
	}
}
