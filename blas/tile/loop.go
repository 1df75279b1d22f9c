package tile

// span returns the bounds of block b of k.
func (j *job) span(b int) (l0, l1 int) { return b * j.depth, min((b+1)*j.depth, j.k) }

// panels returns the packed columns of B in block b of k, and its depth.
func (j *job) panels(b int) (packed []float64, depth int) {
	l0, l1 := j.span(b)
	return (*j.packed)[(b-j.b0)*j.width*j.depth:], l1 - l0
}

// packPanels is the number of panels of B that one task packs.
const packPanels = 8

// packTask packs panels of B in one block of k.
func (j *job) packTask(i int) {
	cols := packPanels * j.t.NR
	parts := blocks(j.j1-j.j0, cols)
	b := j.b0 + i/parts
	l0, l1 := j.span(b)
	packed, depth := j.panels(b)
	c0 := j.j0 + i%parts*cols
	j.packOperand(packed[(c0-j.j0)*depth:], j.t.NR, &j.B, j.B.Trans, c0, min(c0+cols, j.j1), l0, l1)
}

// packOperand packs lanes [i0, i1) and depths [l0, l1) of an operand.
func (j *job) packOperand(dst []float64, width int, o *Operand, byRow bool, i0, i1, l0, l1 int) {
	if o.Symmetric {
		packSymmetric(j.t, dst, width, o.Matrix, i0, i1, l0, l1)
	} else {
		Pack(j.t, dst, width, width*(l1-l0), o.Matrix, byRow, i0, i1, l0, l1)
	}
}

// multiplyTask multiplies a block of rows of A by a chunk of the packed columns of B, over all
// packed blocks of k.
func (j *job) multiplyTask(i int) {
	chunks := blocks(j.j1-j.j0, j.chunk)
	i0 := i / chunks * j.rows
	if j.Lower { // the longest rows first
		i0 = (blocks(j.C.Rows, j.rows) - 1 - i/chunks) * j.rows
	}
	i1 := min(i0+j.rows, j.C.Rows)
	c0 := j.j0 + i%chunks*j.chunk
	c1 := min(c0+j.chunk, j.j1)
	if j.Lower && c0 >= i1 {
		return
	}
	size := j.t.MR * j.t.NR
	scratch := j.nest.Borrow(size + j.rows*j.depth)
	tile, pa := (*scratch)[:size], (*scratch)[size:]
	for b := j.b0; b < j.b1; b++ {
		l0, l1 := j.span(b)
		packed, depth := j.panels(b)
		j.packOperand(pa, j.t.MR, &j.A, !j.A.Trans, i0, i1, l0, l1)
		s := sweep{job: j, depth: depth, beta: 1, tile: tile, i1: i1, j1: c1}
		if b == 0 {
			s.beta = j.Beta
		}
		s.tiles(pa, packed[(c0-j.j0)*depth:], i0, c0)
	}
	j.nest.Return(scratch)
}

// sweep is one pass of the tile over a block of C.
type sweep struct {
	*job
	depth  int
	beta   float64
	tile   []float64 // scratch for tiles that cannot be stored directly
	i1, j1 int       // the ends of the block
}

// tiles multiplies the packed panels into the block of C that starts at (i0, j0). A panel of B
// stays in the first-level cache while the panels of A are read one after the other.
func (s *sweep) tiles(pa, pb []float64, i0, j0 int) {
	mr, nr, stride := s.t.MR, s.t.NR, s.C.Stride
	for j := j0; j < s.j1; j += nr {
		panelB := pb[(j-j0)*s.depth:][:nr*s.depth]
		i := i0
		if s.Lower && j > i0 { // above the diagonal
			i += (j - i0) / mr * mr
		}
		for ; i < s.i1; i += mr {
			panelA := pa[(i-i0)*s.depth:][:mr*s.depth]
			if i+mr <= s.i1 && j+nr <= s.j1 && !(s.Lower && j+nr-1 > i) {
				s.t.TileTo(s.depth, s.Alpha, s.beta, panelA, panelB, s.C.Data[i*stride+j:], stride)
				continue
			}
			s.partial(panelA, panelB, i, j, min(mr, s.i1-i), min(nr, s.j1-j))
		}
	}
}

// partial computes a tile in scratch memory: one at an edge or across the diagonal. The same kernel
// computes it, so it is bit-identical to a whole tile.
func (s *sweep) partial(panelA, panelB []float64, i, j, rows, cols int) {
	nr := s.t.NR
	if s.beta != 0 {
		for r := range rows {
			copy(s.tile[r*nr:], s.row(i+r, j, cols))
		}
	}
	s.t.TileTo(s.depth, s.Alpha, s.beta, panelA, panelB, s.tile, nr)
	for r := range rows {
		copy(s.row(i+r, j, cols), s.tile[r*nr:])
	}
}

// row returns the part of row i of C that a tile of cols columns from j on may access.
func (s *sweep) row(i, j, cols int) []float64 {
	if s.Lower {
		cols = min(cols, i+1-j)
	}
	if cols <= 0 {
		return nil
	}
	return s.C.Data[i*s.C.Stride+j:][:cols]
}
