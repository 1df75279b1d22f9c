package tile

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// Operand is a factor of a product.
type Operand struct {
	Matrix blas.Matrix
	Trans  bool // whether the transpose is meant
	// Symmetric: the lower triangle represents the whole square matrix.
	Symmetric bool
}

// depth returns the columns of the factor, as a left one.
func (o *Operand) depth() int {
	if o.Trans {
		return o.Matrix.Rows
	}
	return o.Matrix.Cols
}

// Product is C = Alpha op(A) op(B) + Beta C. The shapes must agree and C must not overlap a factor;
// nothing is checked. Beta == 0: C is not read; Alpha == 0: the factors are not.
type Product struct {
	Alpha, Beta float64
	A, B        Operand
	C           blas.Matrix

	// Lower: C is square, and only its lower triangle is computed, read and written.
	Lower bool
}

// parallelFlops is the work from which a call is distributed to the workers, and the least work of
// each of them: a few times the cost of waking one, which is some ten microseconds, or a hundred on
// a virtual machine.
const parallelFlops = 4e6

// packFlops is the flops in which an element of a factor is packed.
const packFlops = 16

// sizes are those of the blocks. The bits of C do not depend on them.
type sizes struct {
	rows   int // of A that a worker packs at a time, at most
	least  int // the same, at least
	cols   int // of B that are packed at a time, at most
	packed int // elements of B that are packed at a time, if that holds one block of k
	panels int // minimum number of panels of B in a task, to be worth a packing of A

	// Products whose sides are all at most this, or that have so few rows, are not packed.
	directSide, directRows int
}

// blockSizes: 192 rows at a KC of 384 take 576 KiB, which leaves room in a second-level cache of 1
// MiB. 8 MiB of B are one worker's share of a last-level cache, and so much work that the workers
// rarely synchronize.
var blockSizes = sizes{rows: 192, least: 48, cols: 4096, packed: 1 << 20, panels: 10, directSide: 320,
	directRows: 96}

// tasksEach is the desired number of tasks for each worker, to balance their speeds.
const tasksEach = 8

// job is the state of one product.
type job struct {
	Product
	nest *Nest
	t    *asm.Table
	k    int

	workers int
	depth   int // of a block of k
	group   int // blocks of k packed at a time
	width   int // columns packed at a time, a multiple of NR
	rows    int // of a task, a multiple of MR
	chunk   int // columns of a task, a multiple of NR
	part    int // rows of a transposed A that are summed on their own

	// The part of B that is packed, and the columns and blocks of k that it holds.
	packed *[]float64
	j0, j1 int
	b0, b1 int

	crew crew
	// packTask, multiplyTask, tallTask, directTask and stripTask, bound once
	pack, work, inPlace, whole, across func(i int)
}

// Multiply computes p. It does not allocate once the nest is warm, except to start goroutines.
func (n *Nest) Multiply(p Product) {
	if p.C.Rows == 0 || p.C.Cols == 0 {
		return
	}
	k := p.A.depth()
	if p.Alpha == 0 {
		k = 0
	}
	if k == 0 {
		if p.Lower {
			form.ScaleLower(p.Beta, p.C)
		} else {
			form.Scale(p.Beta, p.C)
		}
		return
	}
	j, _ := n.jobs.Get().(*job)
	if j == nil {
		j = newJob(n)
	}
	j.Product, j.k = p, k
	j.plan()
	switch {
	case j.inStrips():
		j.strips()
	case j.deep():
		j.sumBlocks()
	case j.unpacked():
		j.direct()
	default:
		j.run()
	}
	j.Product = Product{} // keep no reference to the caller's memory
	n.jobs.Put(j)
}

func newJob(n *Nest) *job {
	j := &job{nest: n, t: n.t}
	j.pack, j.work, j.inPlace, j.whole = j.packTask, j.multiplyTask, j.tallTask, j.directTask
	j.across = j.stripTask
	return j
}

// plan chooses the sizes of the blocks. Only depth enters the bits. It does not depend on m.
func (j *job) plan() {
	m, n, size := j.C.Rows, j.C.Cols, &j.nest.sizes
	depth := j.t.KC
	if j.inStrips() {
		depth = stripDepth
	}
	j.depth = share(j.k, depth, 1)
	flops := 2 * float64(m) * float64(n) * float64(j.k)
	if j.Lower {
		flops /= 2
	}
	j.workers = j.nest.WorkersFor(flops + packFlops*float64(m+n)*float64(j.k))
	j.width = share(n, size.cols, j.t.NR)
	j.group = share(blocks(j.k, j.depth), max(1, size.packed/max(1, j.depth*j.width)), 1)
	j.rows, j.chunk = share(m, size.rows, j.t.MR), j.width
	if j.workers == 1 {
		return
	}
	if j.tall() {
		j.rows = share(m, min(size.rows, m/(tasksEach*j.workers)), j.t.MR)
		return
	}
	// Lower blocks of A first, which cost nothing; then columns, each chunk of which packs
	// the block of A again.
	j.rows = share(m, max(size.least, min(size.rows, m/(tasksEach*j.workers))), j.t.MR)
	if tasks := blocks(m, j.rows); tasks < tasksEach*j.workers/2 {
		least := size.panels * j.t.NR
		j.chunk = max(min(least, j.width), share(j.width, j.width*tasks/(tasksEach*j.workers), j.t.NR))
	}
}

// share cuts n into equal parts of at most size elements, and returns the size of the parts,
// a multiple of unit and at least one.
func share(n, size, unit int) int {
	size = max(size, unit)
	parts := max(1, blocks(n, size))
	return max(1, blocks(blocks(n, parts), unit)) * unit
}

// blocks returns the number of blocks of that size that n elements need.
func blocks(n, size int) int { return (n + size - 1) / size }

// run is the outer loops: over columns, then over groups of blocks of k.
func (j *job) run() {
	n, kBlocks := j.C.Cols, max(1, blocks(j.k, j.depth))
	work, tasks := j.work, blocks(j.C.Rows, j.rows)
	if j.tall() {
		work = j.inPlace
	}
	j.packed = j.nest.Borrow(j.width * j.depth * min(j.group, kBlocks))
	for j.j0 = 0; j.j0 < n; j.j0 += j.width {
		j.j1 = min(j.j0+j.width, n)
		for j.b0 = 0; j.b0 < kBlocks; j.b0 += j.group {
			j.b1 = min(j.b0+j.group, kBlocks)
			elements := float64(j.j1-j.j0) * float64(j.b1-j.b0) * float64(j.depth)
			packers := min(j.workers, j.nest.WorkersFor(packFlops*elements))
			j.each(packers, blocks(j.j1-j.j0, packPanels*j.t.NR)*(j.b1-j.b0), j.pack)
			j.each(j.workers, tasks*blocks(j.j1-j.j0, j.chunk), work)
		}
	}
	j.nest.Return(j.packed)
	j.packed = nil
}

// each calls f for so many tasks on up to so many workers.
func (j *job) each(workers, tasks int, f func(i int)) {
	if workers = min(workers, tasks); workers > 1 {
		j.crew.run(workers, tasks, f)
		return
	}
	for i := range tasks {
		f(i)
	}
}

// unpacked reports whether the product is computed from the factors in place: if it is so small
// that packing costs more than it gains, or has so few rows that a packed B would be read only a
// few times. A B that is stored in the wrong order is still packed.
func (j *job) unpacked() bool {
	if j.B.Trans || j.B.Symmetric || j.A.Symmetric || j.Lower || j.k == 0 {
		return false
	}
	size := &j.nest.sizes
	return max(j.C.Rows, j.C.Cols, j.k) <= size.directSide || j.C.Rows <= size.directRows
}

// fringe is scratch for tiles at the edges, which are computed from copies padded with zeros.
type fringe struct {
	a, b, c []float64
}

// directTask computes the i-th chunk of columns without packing more than its edges.
func (j *job) directTask(i int) {
	t := j.t
	c0, c1 := i*j.chunk, min((i+1)*j.chunk, j.C.Cols)
	whole := c0 + (c1-c0)/t.Lanes*t.Lanes
	var f fringe
	if whole < c1 || j.C.Rows%t.MR != 0 {
		scratch := j.nest.Borrow(j.depth*(t.MR+t.Lanes) + t.MR*t.NR)
		defer j.nest.Return(scratch)
		edge := *scratch
		f = fringe{c: edge[:t.MR*t.NR], a: edge[t.MR*t.NR:][:j.depth*t.MR], b: edge[t.MR*t.NR+j.depth*t.MR:]}
	}
	beta, stride := j.Beta, j.B.Matrix.Stride
	for b := range blocks(j.k, j.depth) {
		l0, l1 := j.span(b)
		for c := c0; c < whole; c += t.NR {
			j.column(&f, beta, l0, l1, c, min(t.NR, whole-c), j.B.Matrix.Data[l0*stride+c:], stride)
		}
		if whole < c1 {
			Pack(t, f.b, t.Lanes, j.depth*t.Lanes, j.B.Matrix, false, whole, c1, l0, l1)
			j.column(&f, beta, l0, l1, whole, c1-whole, f.b, t.Lanes)
		}
		beta = 1
	}
}

// direct computes the product from the factors in place, in chunks of columns.
func (j *job) direct() {
	j.chunk = j.C.Cols
	if j.workers > 1 {
		j.chunk = share(j.C.Cols, j.C.Cols/(tasksEach*j.workers), j.t.NR)
	}
	j.each(j.workers, blocks(j.C.Cols, j.chunk), j.whole)
}

// column computes the columns [c, c+cols) of C, over depths [l0, l1): B's part starts at b.
func (j *job) column(f *fringe, beta float64, l0, l1, c, cols int, b []float64, bRow int) {
	t, m, stride := j.t, j.C.Rows, j.C.Stride
	lanes := blocks(cols, t.Lanes) * t.Lanes
	a, aRow, aCol := j.A.Matrix.Data, j.A.Matrix.Stride, 1
	if j.A.Trans {
		aRow, aCol = 1, aRow
	}
	i := 0
	if lanes == cols {
		if i = m / t.MR * t.MR; i > 0 {
			t.Direct(i, cols, l1-l0, j.Alpha, beta, a[l0*aCol:], aRow, aCol, b, bRow, j.C.Data[c:], stride)
		}
	}
	for ; i < m; i += t.MR {
		rows := min(t.MR, m-i)
		from, fromRow, fromCol := a[i*aRow+l0*aCol:], aRow, aCol
		if rows < t.MR {
			Pack(t, f.a, t.MR, j.depth*t.MR, j.A.Matrix, !j.A.Trans, i, m, l0, l1)
			from, fromRow, fromCol = f.a, 1, t.MR
		}
		if beta != 0 {
			for r := range rows {
				copy(f.c[r*t.NR:], j.C.Data[(i+r)*stride+c:][:cols])
			}
		}
		t.Direct(t.MR, lanes, l1-l0, j.Alpha, beta, from, fromRow, fromCol, b, bRow, f.c, t.NR)
		for r := range rows {
			copy(j.C.Data[(i+r)*stride+c:][:cols], f.c[r*t.NR:])
		}
	}
}
