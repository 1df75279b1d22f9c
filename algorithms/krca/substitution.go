package krca

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// substitution solves systems with L L' for few right sides, again and again. The triangles on the
// diagonal of L are inverted, because a substitution with one leaves nothing to other workers:
// products with the inverse, and with what is below it, are all that is left.
type substitution struct {
	l        blas.Matrix
	inverses blas.Matrix // scratch memory: of each triangle, in its rows from column 0 on
}

const (
	triangleOrder = 512 // of the triangles: inverses take 1/3 r triangleOrder^2 flops
	triangleRows  = 32  // of an inverse that a task multiplies
)

func newSubstitution(ctx context.Context, eng *engine.Engine, l blas.Matrix) (substitution, error) {
	s := substitution{l, eng.GetMatrix(l.Rows, min(triangleOrder, l.Rows))}
	return s, eng.For(ctx, l.Rows, triangleOrder, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := s.inverses.Row(i)
			clear(row[copy(row[:i-lo+1], l.Row(i)[lo:]):])
		}
		return eng.Backend().TriangularInverse(s.inverses.View(lo, hi, 0, hi-lo))
	})
}

// solve turns z into (L L')^-1 z. If ctx is done, the result is undefined.
func (s *substitution) solve(ctx context.Context, eng *engine.Engine, z blas.Matrix) {
	r, k, gemm := z.Rows, z.Cols, eng.Backend().Gemm
	y := blas.NewMatrix(r, k)
	for lo := 0; lo < r; lo += triangleOrder { // L y = z, of what is left of z
		hi := min(lo+triangleOrder, r)
		_ = eng.For(ctx, hi-lo, triangleRows, func(a, b int) error {
			gemm(false, false, 1, s.inverses.View(lo+a, lo+b, 0, b), z.View(lo, lo+b, 0, k), 0,
				y.View(lo+a, lo+b, 0, k))
			return nil
		})
		if hi < r {
			gemm(false, false, -1, s.l.View(hi, r, lo, hi), y.View(lo, hi, 0, k), 1, z.View(hi, r, 0, k))
		}
	}
	for lo := (r - 1) / triangleOrder * triangleOrder; lo >= 0; lo -= triangleOrder { // L'z = y
		hi := min(lo+triangleOrder, r)
		_ = eng.For(ctx, hi-lo, triangleRows, func(a, b int) error {
			gemm(true, false, 1, s.inverses.View(lo+a, hi, a, b), y.View(lo+a, hi, 0, k), 0,
				z.View(lo+a, lo+b, 0, k))
			return nil
		})
		if lo > 0 {
			gemm(true, false, -1, s.l.View(lo, hi, 0, lo), z.View(lo, hi, 0, k), 1, y.View(0, lo, 0, k))
		}
	}
}
