package native

import (
	"math"

	"gonum.org/v1/gonum/lapack"
	reflapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/krylov"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/internal/forks"
)

// smallEigen is the order up to which gonum's QR iteration is as fast.
const smallEigen = 24

// SymEig reduces A to a tridiagonal matrix by blocked Householder reflections, decomposes that
// by divide and conquer, and applies the reflections to its eigenvectors in blocks. About
// 4n^3/3 flops without vectors, half of them in products with a vector, and up to 14n^3/3 more
// with them, all in products of matrices; deflation saves much of the last part. Memory for
// three more matrices of A's size.
func (b *backend) SymEig(a blas.Matrix, w []float64, vectors bool) error {
	count := 0
	if n := blas.CheckSymEig(a, w); vectors {
		count = n
	}
	return b.symEig(a, w, count)
}

// symEig is SymEig with the eigenvectors of the largest count eigenvalues: the last rows of A.
func (b *backend) symEig(a blas.Matrix, w []float64, count int) error {
	if a.Rows <= smallEigen || !form.FiniteLower(a) {
		return b.small.SymEig(a, w, count > 0)
	}
	exponent := form.Normalize(a)
	scratch := b.newScratch()
	defer scratch.free()
	r := b.tridiagonalize(a, w, count > 0, scratch)
	if err := r.decompose(b, a, w, count, scratch); err != nil {
		return err
	}
	for i := range w {
		w[i] = math.Ldexp(w[i], exponent)
	}
	return nil
}

// decompose overwrites d with the eigenvalues of the tridiagonal matrix, in ascending order, and
// the last count rows of a with the eigenvectors of the matrix that was reduced.
func (r *reduction) decompose(b *backend, a blas.Matrix, d []float64, count int, s *scratch) error {
	form.Split(d, r.e)
	if count == 0 {
		// Dsteqr without vectors; gonum's Dsterf panics if it has to scale.
		var factor reflapack.Implementation
		if !factor.Dsteqr(lapack.EVCompNone, len(d), d, r.e, nil, 1, nil) {
			return &blas.NoConvergenceError{Routine: "dsteqr"}
		}
		return nil
	}
	space := a // the contents of a are no longer needed; the memory between its rows belongs to others
	if a.Stride != a.Cols {
		space = s.matrix(a.Rows, a.Cols)
	}
	q, order, err := b.divideAndConquer(d, r.e, count, space, s)
	if err != nil {
		return err
	}
	sorted := make([]float64, len(d))
	for i, from := range order {
		if sorted[i] = d[from]; i >= len(d)-count {
			copy(a.Row(i), q.Row(from))
		}
	}
	copy(d, sorted)
	r.apply(b, a.View(a.Rows-count, a.Rows, 0, a.Cols), s)
	return nil
}

// scratch is memory that is borrowed during a call.
type scratch struct {
	b    *backend
	held []*[]float64
}

func (b *backend) newScratch() *scratch { return &scratch{b: b} }

// matrix returns a compact matrix with undefined contents.
func (s *scratch) matrix(rows, cols int) blas.Matrix {
	m := s.b.nest.Borrow(rows * cols)
	s.held = append(s.held, m)
	return blas.MatrixOf(rows, cols, (*m)[:rows*cols])
}

func (s *scratch) free() {
	for _, m := range s.held {
		s.b.nest.Return(m)
	}
}

// SymEigTop searches a Krylov space for few eigenpairs of a large matrix: O(n^2) flops for each of
// usually some hundred products, while the decomposition takes O(n^3). It decomposes A if that is
// as fast, if the search does not converge, or if squares of the elements are outside the range of
// float64; the last merge and the reflections are then computed for k vectors only.
func (b *backend) SymEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	if blas.CheckSymEigTop(a, w, v); krylov.Top(b, b.nest.EachBlock, a, w, v) {
		return nil
	}
	all := make([]float64, a.Rows)
	if err := b.symEig(a, all, len(w)); err != nil {
		return err
	}
	form.TopRows(all, a, w, v)
	return nil
}

// reduction is A = Q T Q' with T tridiagonal. Q is the product of reflections I - tau v v', whose
// vectors are the rows of v (zeros up to element i of row i, then 1). e is the subdiagonal of T.
type reduction struct {
	e, tau []float64
	v      blas.Matrix
}

// panelColumns is the number of columns that are reduced before the rest of A is updated.
const panelColumns = 32

// tridiagonalize reduces the lower triangle of a, which it overwrites (Dongarra, Sorensen &
// Hammarling 1989), and writes the diagonal of T to d. The vectors are kept if vectors is set.
func (b *backend) tridiagonalize(a blas.Matrix, d []float64, vectors bool, s *scratch) *reduction {
	n := a.Rows
	r := &reduction{e: make([]float64, n-1), tau: make([]float64, n-1)}
	if vectors {
		r.v = s.matrix(n-1, n)
	}
	// The update uses V and W, and W and V, as one matrix each.
	p := newPanel(b, a, s)
	for j0 := 0; j0 < n-1; j0 += panelColumns {
		j1 := min(j0+panelColumns, n-1)
		p.v, p.w = p.left.View(0, j1-j0, 0, n), p.left.View(j1-j0, 2*(j1-j0), 0, n)
		p.symv.gather(b, n-j0)
		for j := j0; j < j1; j++ {
			d[j], r.e[j], r.tau[j] = p.column(j, j-j0)
			if vectors {
				copy(r.v.Row(j), p.v.Row(j-j0))
			}
		}
		p.symv.disperse()
		p.update(j1)
	}
	d[n-1] = a.At(n-1, n-1)
	return r
}

// panel is a block of columns under reduction: the matrix is A - V'W - W'V until A is updated.
type panel struct {
	b           *backend
	a           blas.Matrix
	left, right blas.Matrix
	v, w        blas.Matrix // views of left
	symv        symv

	// The column under reduction, its number in the panel, and the parts of its steps, bound once.
	j, c                     int
	parts                    int
	subtract, image, correct func(i int)
	ofV, ofW                 [panelColumns]float64 // products of V and W with the vector of the reflection
}

// sharedValues is the number of values of V from which the workers share the steps of a column.
const sharedValues = 1 << 13

func newPanel(b *backend, a blas.Matrix, s *scratch) *panel {
	n := a.Rows
	p := &panel{b: b, a: a, left: s.matrix(2*panelColumns, n), right: s.matrix(2*panelColumns, n),
		symv: symv{t: b.t, sums: s.matrix(symvTasks, n).Data}}
	p.symv.work = p.symv.part
	p.subtract, p.image, p.correct = p.subtractPart, p.imagePart, p.correctPart
	return p
}

// begin takes column j, number c of the panel.
func (p *panel) begin(j, c int) {
	p.j, p.c, p.parts = j, c, 1
	if p.symv.team != nil && c*(p.a.Rows-j) >= sharedValues {
		p.parts = symvTasks
	}
}

// each calls a step for all its parts.
func (p *panel) each(step func(i int)) {
	if p.parts == 1 {
		step(0)
		return
	}
	p.symv.team.run(step)
}

// cut returns part i of the rows from lo on.
func (p *panel) cut(i, lo int) (from, to int) {
	n := p.a.Rows - lo
	return lo + n*i/p.parts, lo + n*(i+1)/p.parts
}

// subtractPart updates a part of the column by the columns before it.
func (p *panel) subtractPart(i int) {
	lo, hi := p.cut(i, p.j)
	to, t := p.v.Row(p.c)[lo:hi], p.b.t
	for k := range p.c {
		t.Axpy(-p.w.At(k, p.j), p.v.Row(k)[lo:hi], to)
		t.Axpy(-p.v.At(k, p.j), p.w.Row(k)[lo:hi], to)
	}
}

// imagePart multiplies a part of the vectors of V and W by that of the reflection.
func (p *panel) imagePart(i int) {
	x := p.v.Row(p.c)[p.j+1:]
	for k := i; k < p.c; k += p.parts {
		p.ofV[k], p.ofW[k] = p.b.t.Dot(p.v.Row(k)[p.j+1:], x), p.b.t.Dot(p.w.Row(k)[p.j+1:], x)
	}
}

// correctPart subtracts what A lacks from a part of its product with the vector of the reflection.
func (p *panel) correctPart(i int) {
	lo, hi := p.cut(i, p.j+1)
	to, t := p.w.Row(p.c)[lo:hi], p.b.t
	for k := range p.c {
		t.Axpy(-p.ofW[k], p.v.Row(k)[lo:hi], to)
		t.Axpy(-p.ofV[k], p.w.Row(k)[lo:hi], to)
	}
}

// column reduces column j, number c of the panel. It returns the diagonal and the subdiagonal
// element, and leaves the vector of the reflection in row c of v and the vector of the update in w.
func (p *panel) column(j, c int) (diagonal, below, tau float64) {
	n, t := p.a.Rows, p.b.t
	v, w := p.v.Row(c), p.w.Row(c)
	for i := j; i < n; i++ {
		v[i] = p.a.Data[i*p.a.Stride+j]
	}
	p.begin(j, c)
	p.each(p.subtract)
	diagonal = v[j]
	clear(v[:j+1])
	x, y := v[j+1:], w[j+1:]
	below, tau = p.b.householder(x)
	clear(w[:j+1])
	if tau == 0 {
		clear(y)
		return diagonal, below, 0
	}
	p.symv.multiply(p.a.View(j+1, n, j+1, n), x, y)
	p.each(p.image)
	p.each(p.correct)
	t.Scale(tau, y)
	t.Axpy(-tau/2*t.Dot(y, x), x, y)
	return diagonal, below, tau
}

// update subtracts V'W + W'V from the lower triangle of A, from row and column j1 on.
func (p *panel) update(j1 int) {
	n, c := p.a.Rows, p.v.Rows
	for k := range c {
		copy(p.right.Row(k)[j1:], p.w.Row(k)[j1:])
		copy(p.right.Row(c + k)[j1:], p.v.Row(k)[j1:])
	}
	p.b.nest.Multiply(tile.Product{
		Alpha: -1, Beta: 1, Lower: true, C: p.a.View(j1, n, j1, n),
		A: tile.Operand{Matrix: p.left.View(0, 2*c, j1, n), Trans: true},
		B: tile.Operand{Matrix: p.right.View(0, 2*c, j1, n)},
	})
}

// apply multiplies the rows of x by Q', so that eigenvectors of T become those of A.
func (r *reduction) apply(b *backend, x blas.Matrix, s *scratch) {
	n := x.Cols
	factor := s.matrix(reflectors, reflectors)
	for p := blocks(n-1, reflectors) - 1; p >= 0; p-- {
		j0, j1 := p*reflectors, min((p+1)*reflectors, n-1)
		v, t := r.v.View(j0, j1, j0+1, n), factor.View(0, j1-j0, 0, j1-j0)
		b.blockFactor(v, r.tau[j0:j1], t)
		b.reflectRows(x.View(0, x.Rows, j0+1, n), v, t, true)
	}
}

// symv multiplies a symmetric matrix, its lower triangle, by a vector.
type symv struct {
	t    *asm.Table
	team *team
	work func(i int) // part, bound once, for the team
	// the current product, and the partial results of its parts
	a    blas.Matrix
	x    []float64
	sums []float64
	four [symvTasks]struct{ alpha, dots [4]float64 } // what the four rows of a part need
}

// symvTasks is the number of parts into which the rows of a large matrix are divided. It depends
// only on the order, so that the bits do not depend on the workers.
const (
	symvTasks = 8
	symvOrder = 256
)

// gather prepares the workers for products of about order n; disperse releases them.
func (s *symv) gather(b *backend, n int) {
	// Helpers that spin would take the processors of those that work.
	if workers := forks.Processors(min(b.nest.Workers(), symvTasks)); workers > 1 && n >= symvOrder {
		s.team = newTeam(workers, symvTasks)
	}
}

func (s *symv) disperse() {
	if s.team != nil {
		s.team.stop()
		s.team = nil
	}
}

// multiply writes A x to y.
func (s *symv) multiply(a blas.Matrix, x, y []float64) {
	n := len(x)
	clear(y)
	if n < symvOrder {
		s.rows(a, x, y, 0, n, 0)
		return
	}
	s.a, s.x = a, x
	if s.team != nil {
		s.team.run(s.work)
	} else {
		for i := range symvTasks {
			s.part(i)
		}
	}
	s.add(1, y)
}

// add adds alpha times the sums of all parts to y.
func (s *symv) add(alpha float64, y []float64) {
	n := len(s.x)
	for i := range symvTasks {
		hi := symvCut(n, i+1)
		s.t.Axpy(alpha, s.sums[i*n:i*n+hi], y[:hi])
	}
}

// part computes the contribution of part i of the rows.
func (s *symv) part(i int) {
	n := len(s.x)
	lo, hi := symvCut(n, i), symvCut(n, i+1)
	sum := s.sums[i*n : i*n+hi]
	clear(sum)
	s.rows(s.a, s.x, sum, lo, hi, i)
}

// symvCut returns where part i of n rows of a triangle begins: at about sqrt(i/8) n.
func symvCut(n, i int) int {
	// Eighths of the area: sqrt(i/8) in 1/64ths.
	cuts := [symvTasks + 1]int{0, 23, 32, 39, 45, 51, 55, 60, 64}
	return n * cuts[i] / 64
}

// rows adds the products with rows [lo, hi) of the triangle, a part: each is read once and used
// twice, as a row and as a column, four of them at a time.
func (s *symv) rows(a blas.Matrix, x, y []float64, lo, hi, part int) {
	alpha, dots := &s.four[part].alpha, &s.four[part].dots
	i := lo
	for ; i+4 <= hi; i += 4 {
		copy(alpha[:], x[i:])
		s.t.Sweep(i, a.Data[i*a.Stride:], a.Stride, x, y, alpha, dots)
		for r := range 4 {
			y[i+r] += dots[r]
			for c, v := range a.Row(i + r)[i : i+r] {
				y[i+r] += float64(v * x[i+c])
				y[i+c] += float64(v * x[i+r])
			}
			y[i+r] += float64(a.At(i+r, i+r) * x[i+r])
		}
	}
	for ; i < hi; i++ {
		row := a.Row(i)[:i+1]
		s.t.Axpy(x[i], row[:i], y)
		y[i] += s.t.Dot(row, x)
	}
}
