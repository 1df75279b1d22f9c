package native

import "github.com/mustlink/mustlink/blas"

// solveBlock is the order of the diagonal blocks of L that are solved directly; the rest
// of L acts through products.
const solveBlock = 64

// Trsm gives blocks of right-hand sides to the workers. Within one, each diagonal block
// of L is solved and its product with the rest of L taken from what is still unsolved.
func (b *backend) Trsm(left, trans bool, l, x blas.Matrix) {
	n, m := blas.CheckTrsm(left, l, x)
	if n == 0 || m == 0 {
		return
	}
	flops := float64(n) * float64(n) * float64(m)
	b.eachBlock(m, blockSize, flops, func(lo, hi int) {
		if left {
			b.solveLeft(trans, l, x.View(0, n, lo, hi))
		} else {
			b.solveRight(trans, l, x.View(lo, hi, 0, n))
		}
	})
}

// solveLeft computes X = L^-1 X, or L'^-1 X.
func (b *backend) solveLeft(trans bool, l, x blas.Matrix) {
	n := l.Rows
	for i := range blocks(n, solveBlock) {
		j0, j1 := diagonalBlock(n, i, trans)
		solved := x.View(j0, j1, 0, x.Cols)
		b.solveLeftDirect(trans, l.View(j0, j1, j0, j1), solved)
		p := product{alpha: -1, beta: 1, transA: trans, b: solved, k: j1 - j0}
		if trans {
			p.a, p.c = l.View(j0, j1, 0, j0), x.View(0, j0, 0, x.Cols)
		} else {
			p.a, p.c = l.View(j1, n, j0, j1), x.View(j1, n, 0, x.Cols)
		}
		b.multiplyAlone(&p)
	}
}

// solveRight computes X = X L^-1, or X L'^-1.
func (b *backend) solveRight(trans bool, l, x blas.Matrix) {
	n := l.Rows
	for i := range blocks(n, solveBlock) {
		j0, j1 := diagonalBlock(n, i, !trans)
		solved := x.View(0, x.Rows, j0, j1)
		b.solveRightDirect(trans, l.View(j0, j1, j0, j1), solved)
		p := product{alpha: -1, beta: 1, transB: trans, a: solved, k: j1 - j0}
		if trans {
			p.b, p.c = l.View(j1, n, j0, j1), x.View(0, x.Rows, j1, n)
		} else {
			p.b, p.c = l.View(j0, j1, 0, j0), x.View(0, x.Rows, 0, j0)
		}
		b.multiplyAlone(&p)
	}
}

// diagonalBlock returns the bounds of the i-th diagonal block to be solved, counted from
// the end of the diagonal if last is set. The bounds do not depend on that.
func diagonalBlock(n, i int, last bool) (lo, hi int) {
	if last {
		i = blocks(n, solveBlock) - 1 - i
	}
	return i * solveBlock, min((i+1)*solveBlock, n)
}

// solveLeftDirect is solveLeft for one diagonal block: substitution, row by row.
func (b *backend) solveLeftDirect(trans bool, l, x blas.Matrix) {
	n := l.Rows
	if !trans {
		for i := range n {
			for k := range i {
				b.t.Axpy(-l.At(i, k), x.Row(k), x.Row(i))
			}
			divide(x.Row(i), l.At(i, i))
		}
		return
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b.t.Axpy(-l.At(k, i), x.Row(k), x.Row(i))
		}
		divide(x.Row(i), l.At(i, i))
	}
}

// solveRightDirect is solveRight for one diagonal block: substitution within each row.
func (b *backend) solveRightDirect(trans bool, l, x blas.Matrix) {
	n := l.Rows
	for r := range x.Rows {
		row := x.Row(r)
		if trans {
			for j := range n {
				row[j] = (row[j] - b.t.Dot(l.Row(j)[:j], row)) / l.At(j, j)
			}
			continue
		}
		for k := n - 1; k >= 0; k-- {
			row[k] /= l.At(k, k)
			b.t.Axpy(-row[k], l.Row(k)[:k], row)
		}
	}
}

func divide(x []float64, by float64) {
	for i := range x {
		x[i] /= by
	}
}
