package tile

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// tallPanels is the number of panels of B up to which A is not packed: what a packed block of
// A gains, it gains every time it is read, once for each panel.
const tallPanels = 3

// If so many elements of B are packed, 1 MiB, they do not stay in a second-level cache next to the
// rows of A. So many of these rows then share a block of k while it is there.
const (
	tallPacked = 1 << 17
	tallGroup  = 128
)

// tall reports whether the product is to be computed with A where it is: when C has so few
// columns that the product waits for A to come from memory, and a packed copy would be more
// of that.
func (j *job) tall() bool {
	return j.C.Cols <= tallPanels*j.t.NR && !j.A.Trans && !j.A.Symmetric && !j.Lower && j.k > 0
}

// tallTask multiplies a block of rows of A, in place, with all columns of B that are packed.
func (j *job) tallTask(i int) {
	t, i0, i1 := j.t, i*j.rows, min((i+1)*j.rows, j.C.Rows)
	if (j.j1-j.j0)%t.Lanes == 0 {
		i0 = j.tallRows(i0, i1)
	}
	if i0 == i1 {
		return
	}
	wide := blocks(j.j1-j.j0, t.NR) * t.NR
	scratch := j.nest.Borrow(t.MR * (wide + j.depth))
	c, edge := (*scratch)[:t.MR*wide], (*scratch)[t.MR*wide:]
	for i := i0; i < i1; i += t.MR {
		rows := min(t.MR, i1-i)
		beta := 1.0
		if j.b0 == 0 {
			beta = j.Beta
		}
		if beta != 0 {
			for r := range rows {
				copy(c[r*wide:], j.C.Row(i + r)[j.j0:j.j1])
			}
		}
		for b := j.b0; b < j.b1; b++ {
			j.tallTile(c, wide, edge, beta, b, i, rows)
			beta = 1
		}
		for r := range rows {
			copy(j.C.Row(i + r)[j.j0:j.j1], c[r*wide:])
		}
	}
	j.nest.Return(scratch)
}

// tallRows computes rows of C from i0 on where they are, as many as are whole tiles, if its columns
// are whole vectors. It returns the first of the others. A long row of A is read along, if B stays
// in the cache; of short ones many at a time.
func (j *job) tallRows(i0, i1 int) int {
	t, c := j.t, j.C
	whole := (i1 - i0) / t.MR * t.MR
	group := whole
	if j.b1-j.b0 > 1 {
		group = t.MR
		if j.width*j.depth*(j.b1-j.b0) > tallPacked {
			group = tallGroup
		}
	}
	for i := i0; i < i0+whole; i += group {
		step := min(group, i0+whole-i)
		beta := 1.0
		if j.b0 == 0 {
			beta = j.Beta
		}
		for b := j.b0; b < j.b1; b++ {
			l0, _ := j.span(b)
			packed, depth := j.panels(b)
			a, stride := j.A.Matrix.Data[i*j.A.Matrix.Stride+l0:], j.A.Matrix.Stride
			for from := j.j0; from < j.j1; from += t.NR {
				t.Direct(step, min(t.NR, j.j1-from), depth, j.Alpha, beta, a, stride, 1,
					packed[(from-j.j0)*depth:], t.NR, c.Data[i*c.Stride+from:], c.Stride)
			}
			beta = 1
		}
	}
	return i0 + whole
}

// tallTile adds block b of k to a tile of C of MR rows, from row i of A on. Rows beyond the last
// are made up of zeros in edge.
func (j *job) tallTile(c []float64, wide int, edge []float64, beta float64, b, i, rows int) {
	t := j.t
	l0, l1 := j.span(b)
	packed, depth := j.panels(b)
	a, aRow, aCol := j.A.Matrix.Data[i*j.A.Matrix.Stride+l0:], j.A.Matrix.Stride, 1
	if rows < t.MR {
		Pack(t, edge, t.MR, t.MR*depth, j.A.Matrix, true, i, i+rows, l0, l1)
		a, aRow, aCol = edge, 1, t.MR
	}
	for from := 0; from < j.j1-j.j0; from += t.NR {
		lanes := blocks(min(t.NR, j.j1-j.j0-from), t.Lanes) * t.Lanes
		t.Direct(t.MR, lanes, depth, j.Alpha, beta, a, aRow, aCol, packed[from*depth:], t.NR, c[from:], wide)
	}
}

// A transposed A is read where it is, too, in strips: so many elements, since memory is slow to
// deliver the first ones, of so many rows at a time, which are a block of k. Sums over so many
// rows, or more if C is wide, are parts that workers compute side by side.
const (
	stripWidth   = 1024
	stripDepth   = 16
	stripRows    = 256
	stripColumns = 16 // rows of a part for each column of C, at least
)

// inStrips reports whether A is transposed and read in strips: if C has few columns, which are
// whole vectors.
func (j *job) inStrips() bool {
	few := j.C.Cols <= tallPanels*j.t.NR && j.C.Cols%j.t.Lanes == 0
	return few && j.A.Trans && !j.A.Symmetric && !j.Lower && j.k > 0
}

// strips computes the product of a transposed A. The first part of k goes to C, and the others are
// added in order. A worker does all of that for one strip after the other.
func (j *job) strips() {
	m, n := j.C.Rows, j.C.Cols
	j.rows, j.part = share(m, stripWidth, j.t.MR), share(j.k, max(stripRows, stripColumns*n), j.depth)
	if j.workers > 1 && blocks(m, j.rows) < tasksEach*j.workers/2 {
		j.sharedStrips()
		return
	}
	j.each(j.workers, blocks(m, j.rows), j.across)
}

// stripTask computes the i-th strip.
func (j *job) stripTask(i int) {
	n, i0, i1 := j.C.Cols, i*j.rows, min((i+1)*j.rows, j.C.Rows)
	j.strip(j.C.View(i0, i1, 0, n), i0, 0, j.part)
	if j.part >= j.k {
		return
	}
	memory := j.nest.Borrow((i1 - i0) * n)
	for l := j.part; l < j.k; l += j.part {
		j.strip(blas.Matrix{Rows: i1 - i0, Cols: n, Stride: n, Data: *memory}, i0, l, l+j.part)
		for i := i0; i < i1; i++ {
			j.t.Axpy(1, (*memory)[(i-i0)*n:][:n], j.C.Row(i))
		}
	}
	j.nest.Return(memory)
}

// sharedStrips is strips for few of them: the workers share their parts, in waves of as many as
// memory is spent on.
func (j *job) sharedStrips() {
	m, n, parts, strips := j.C.Rows, j.C.Cols, blocks(j.k, j.part), blocks(j.C.Rows, j.rows)
	wave := min(parts, max(blocks(tasksEach*j.workers/2, strips), deepMemory/(m*n)))
	memory := j.nest.Borrow(wave * m * n)
	for p0 := 0; p0 < parts; p0 += wave {
		p1 := min(p0+wave, parts)
		j.each(j.workers, (p1-p0)*strips, func(i int) {
			p, i0 := p0+i/strips, i%strips*j.rows
			i1 := min(i0+j.rows, m)
			to := blas.Matrix{Rows: i1 - i0, Cols: n, Stride: n, Data: (*memory)[((p-p0)*m+i0)*n:]}
			if p == 0 {
				to = j.C.View(i0, i1, 0, n)
			}
			j.strip(to, i0, p*j.part, (p+1)*j.part)
		})
		j.nest.Each(float64(p1-p0)*float64(m*n), m, func(i int) {
			for p := max(1, p0); p < p1; p++ {
				j.t.Axpy(1, (*memory)[((p-p0)*m+i)*n:][:n], j.C.Row(i))
			}
		})
	}
	j.nest.Return(memory)
}

// strip computes rows of C, from i0 on, for the rows [l0, l1) of A and B. A B that is stored in
// another order is copied.
func (j *job) strip(to blas.Matrix, i0, l0, l1 int) {
	l1 = min(l1, j.k)
	n, b := to.Cols, j.B.Matrix
	if j.B.Trans || j.B.Symmetric {
		plain := j.nest.Borrow((l1 - l0) * n)
		defer j.nest.Return(plain)
		j.packOperand(*plain, n, &j.B, j.B.Trans, 0, n, l0, l1)
		b = blas.Matrix{Rows: l1 - l0, Cols: n, Stride: n, Data: *plain}
	} else {
		b = b.View(l0, l1, 0, n)
	}
	part := job{nest: j.nest, t: j.t, k: l1 - l0, depth: j.depth, chunk: n, Product: Product{
		A: Operand{Matrix: j.A.Matrix.View(l0, l1, i0, i0+to.Rows), Trans: true},
		B: Operand{Matrix: b}, C: to, Alpha: j.Alpha}}
	if l0 == 0 {
		part.Beta = j.Beta
	}
	part.directTask(0)
}

// A C of few tiles has too few tasks for the workers. If k is long, they compute the products of
// the blocks of k side by side, and then add them in order. These are the elements of C up to which
// that is done, the number of blocks from which on, and the elements of products that are stored.
const (
	deepSize   = 1 << 16
	deepBlocks = 4
	deepMemory = 1 << 20
)

// deep reports whether the workers share the blocks of k. The bits are those of every other path if
// no factor rounds the products: a tile is added to C with one rounding there, too.
func (j *job) deep() bool {
	exact := math.Abs(j.Alpha) == 1 && (j.Beta == 0 || j.Beta == 1)
	if j.workers == 1 || !exact || j.C.Rows*j.C.Cols > deepSize || blocks(j.k, j.depth) < deepBlocks {
		return false
	}
	tasks := blocks(j.C.Rows, j.rows) * blocks(j.C.Cols, j.chunk)
	if j.unpacked() {
		tasks = blocks(j.C.Cols, j.t.NR)
	}
	return tasks < tasksEach*j.workers/2
}

// sumBlocks computes the product in waves: the products of some blocks of k, and their sum.
func (j *job) sumBlocks() {
	m, n, count := j.C.Rows, j.C.Cols, blocks(j.k, j.depth)
	wave := min(count, deepMemory/(m*n))
	memory := j.nest.Borrow(wave * m * n)
	for b0 := 0; b0 < count; b0 += wave {
		b1 := min(b0+wave, count)
		each := max(1, (b1-b0)/(tasksEach*j.workers))
		j.each(j.workers, blocks(b1-b0, each), func(i int) {
			for b := b0 + i*each; b < min(b0+(i+1)*each, b1); b++ {
				j.block((*memory)[(b-b0)*m*n:][:m*n], b)
			}
		})
		j.nest.Each(float64(b1-b0)*float64(m*n), m, func(i int) { j.addRow((*memory)[i*n:], i, b0, b1) })
	}
	j.nest.Return(memory)
}

// block writes the product of block b of k.
func (j *job) block(to []float64, b int) {
	m, n := j.C.Rows, j.C.Cols
	l0, l1 := j.span(b)
	size, a := j.t.MR*j.t.NR, blocks(m, j.t.MR)*j.t.MR*(l1-l0)
	scratch := j.nest.Borrow(size + a + blocks(n, j.t.NR)*j.t.NR*(l1-l0))
	tile, pa, pb := (*scratch)[:size], (*scratch)[size:size+a], (*scratch)[size+a:]
	j.packOperand(pa, j.t.MR, &j.A, !j.A.Trans, 0, m, l0, l1)
	j.packOperand(pb, j.t.NR, &j.B, j.B.Trans, 0, n, l0, l1)
	part := job{Product: Product{Alpha: j.Alpha, C: j.C, Lower: j.Lower}, t: j.t}
	part.C.Stride, part.C.Data = n, to
	s := sweep{job: &part, depth: l1 - l0, tile: tile, i1: m, j1: n}
	s.tiles(pa, pb, 0, 0)
	j.nest.Return(scratch)
}

// addRow adds row i of the products of the blocks [b0, b1) to C; rows begin with that of b0.
func (j *job) addRow(rows []float64, i, b0, b1 int) {
	cols, size := j.C.Cols, j.C.Rows*j.C.Cols
	if j.Lower {
		cols = i + 1
	}
	to := j.C.Data[i*j.C.Stride:][:cols]
	for b := b0; b < b1; b++ {
		from := rows[(b-b0)*size:][:cols]
		if b == 0 && j.Beta == 0 {
			copy(to, from)
			continue
		}
		j.t.Axpy(1, from, to)
	}
}
