package native

import (
	"runtime"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
)

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
	p := &panel{b: b, a: a, left: s.matrix(2*panelColumns, n), right: s.matrix(2*panelColumns, n), symv: symv{t: b.t, sums: s.matrix(symvTasks, n).Data}}
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
}

// column reduces column j, number c of the panel. It returns the diagonal and the subdiagonal
// element, and leaves the vector of the reflection in row c of v and the vector of the update in w.
func (p *panel) column(j, c int) (diagonal, below, tau float64) {
	n, t := p.a.Rows, p.b.t
	v, w := p.v.Row(c), p.w.Row(c)
	for i := j; i < n; i++ {
		v[i] = p.a.Data[i*p.a.Stride+j]
	}
	for k := range c {
		t.Axpy(-p.w.At(k, j), p.v.Row(k)[j:], v[j:])
		t.Axpy(-p.v.At(k, j), p.w.Row(k)[j:], v[j:])
	}
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
	for k := range c {
		vk, wk := p.v.Row(k)[j+1:], p.w.Row(k)[j+1:]
		ofW, ofV := t.Dot(wk, x), t.Dot(vk, x)
		t.Axpy(-ofW, vk, y)
		t.Axpy(-ofV, wk, y)
	}
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
	workers := min(b.nest.Workers(), symvTasks, runtime.GOMAXPROCS(0), runtime.NumCPU())
	if helpers := workers - 1; helpers > 0 && n >= symvOrder {
		s.team = newTeam(helpers, symvTasks, s.part)
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
		s.team.run()
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
