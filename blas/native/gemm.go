package native

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
)

func (b *backend) Gemm(transA, transB bool, alpha float64, x, y blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckGemm(transA, transB, x, y, c)
	b.nest.Multiply(tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: x, Trans: transA}, B: tile.Operand{Matrix: y, Trans: transB},
		Beta: beta, C: c,
	})
}

func (b *backend) Syrk(trans bool, alpha float64, a blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckSyrk(trans, a, c)
	b.nest.Multiply(tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: a, Trans: trans}, B: tile.Operand{Matrix: a, Trans: !trans},
		Beta: beta, C: c, Lower: true,
	})
}

func (b *backend) Symm(left bool, alpha float64, a, x blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckSymm(left, a, x, c)
	p := tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: a, Symmetric: true}, B: tile.Operand{Matrix: x},
		Beta: beta, C: c,
	}
	if !left {
		p.A, p.B = p.B, p.A
	}
	b.nest.Multiply(p)
}
