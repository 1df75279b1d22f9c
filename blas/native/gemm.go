package native

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// blockSize is the side of the square blocks of C that are one task each. The packed parts
// of A and B, blockSize x KC, then take 256 KiB each and stay in the second-level cache,
// and an element that is packed is used blockSize times.
const blockSize = 128

// product is C = alpha op(A) op(B) + beta C, or the lower triangle of it.
type product struct {
	transA, transB bool
	alpha, beta    float64
	a, b, c        blas.Matrix
	k              int
	lower          bool // C is square, and only its lower triangle is computed
}

func (b *backend) Gemm(transA, transB bool, alpha float64, x, y blas.Matrix, beta float64, c blas.Matrix) {
	m, n, k := blas.CheckGemm(transA, transB, x, y, c)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		form.Scale(beta, c)
		return
	}
	b.multiply(&product{transA: transA, transB: transB, alpha: alpha, beta: beta, a: x, b: y, c: c, k: k})
}

func (b *backend) Syrk(trans bool, alpha float64, a blas.Matrix, beta float64, c blas.Matrix) {
	n, k := blas.CheckSyrk(trans, a, c)
	if n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		form.ScaleLower(beta, c)
		return
	}
	b.multiply(&product{transA: trans, transB: !trans, alpha: alpha, beta: beta, a: a, b: a, c: c, k: k, lower: true})
}

// multiply computes p with all workers.
func (b *backend) multiply(p *product) {
	b.each(p.tasks(), p.flops(), func(i int) {
		buf, put := b.scratch.get(p.scratch(b.t))
		p.block(b.t, i, buf)
		put()
	})
}

// multiplyAlone computes p on this goroutine, for use inside a task.
func (b *backend) multiplyAlone(p *product) {
	if p.c.Rows == 0 || p.c.Cols == 0 || p.k == 0 {
		return // the callers have beta = 1
	}
	buf, put := b.scratch.get(p.scratch(b.t))
	defer put()
	for i := range p.tasks() {
		p.block(b.t, i, buf)
	}
}

// tasks returns the number of blocks of C.
func (p *product) tasks() int {
	rows, cols := blocks(p.c.Rows, blockSize), blocks(p.c.Cols, blockSize)
	if p.lower {
		return rows * (rows + 1) / 2
	}
	return rows * cols
}

// place returns the first row and column of block number i. Blocks are numbered row by
// row, in the lower triangle if p.lower is set.
func (p *product) place(i int) (row, col int) {
	if !p.lower {
		cols := blocks(p.c.Cols, blockSize)
		return i / cols * blockSize, i % cols * blockSize
	}
	r := 0
	for ; i > r; r++ {
		i -= r + 1
	}
	return r * blockSize, i * blockSize
}

func (p *product) flops() float64 {
	f := 2 * float64(p.c.Rows) * float64(p.c.Cols) * float64(p.k)
	if p.lower {
		f /= 2
	}
	return f
}

// scratch returns the number of elements that block needs: the packed parts of A and B
// and one tile.
func (p *product) scratch(t *asm.Table) int {
	depth := min(p.k, t.KC)
	return depth*(roundUp(min(p.c.Rows, blockSize), t.MR)+roundUp(min(p.c.Cols, blockSize), t.NR)) + t.MR*t.NR
}

// block computes block number i of C.
func (p *product) block(t *asm.Table, i int, scratch []float64) {
	i0, j0 := p.place(i)
	i1, j1 := min(i0+blockSize, p.c.Rows), min(j0+blockSize, p.c.Cols)
	tile, scratch := scratch[:t.MR*t.NR], scratch[t.MR*t.NR:]
	for l0 := 0; l0 < p.k; l0 += t.KC {
		l1 := min(l0+t.KC, p.k)
		pa := scratch[:(l1-l0)*roundUp(i1-i0, t.MR)]
		pb := scratch[len(pa):][:(l1-l0)*roundUp(j1-j0, t.NR)]
		pack(pa, t.MR, p.a, p.transA, i0, i1, l0, l1)
		pack(pb, t.NR, p.b, !p.transB, j0, j1, l0, l1)
		beta := p.beta
		if l0 > 0 {
			beta = 1
		}
		p.tiles(t, l1-l0, pa, pb, tile, beta, i0, i1, j0, j1)
	}
}

// tiles multiplies the packed parts of depth k into rows [i0, i1), columns [j0, j1) of C.
func (p *product) tiles(t *asm.Table, k int, pa, pb, tile []float64, beta float64, i0, i1, j0, j1 int) {
	for j := j0; j < j1; j += t.NR {
		panelB := pb[(j-j0)*k:][:t.NR*k]
		for i := i0; i < i1; i += t.MR {
			if p.lower && i+t.MR <= j {
				continue // all of the tile is above the diagonal
			}
			t.Tile(k, pa[(i-i0)*k:][:t.MR*k], panelB, tile)
			p.store(tile, t.NR, beta, i, min(i+t.MR, i1), j, min(j+t.NR, j1))
		}
	}
}

// store adds a tile to rows [i0, i1), columns [j0, j1) of C: C = alpha tile + beta C.
func (p *product) store(tile []float64, width int, beta float64, i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		end := j1
		if p.lower {
			end = min(j1, i+1)
		}
		if end <= j0 {
			continue
		}
		row := p.c.Data[i*p.c.Stride+j0 : i*p.c.Stride+end]
		from := tile[(i-i0)*width:][:len(row)]
		switch beta {
		case 0:
			for j, v := range from {
				row[j] = p.alpha * v
			}
		case 1:
			for j, v := range from {
				row[j] += float64(p.alpha * v)
			}
		default:
			for j, v := range from {
				row[j] = float64(beta*row[j]) + float64(p.alpha*v)
			}
		}
	}
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
