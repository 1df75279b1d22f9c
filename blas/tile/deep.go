package tile

import "math"

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
		j.each(blocks(b1-b0, each), func(i int) {
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
		for c, v := range from {
			to[c] += v
		}
	}
}
