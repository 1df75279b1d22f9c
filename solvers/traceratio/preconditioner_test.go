package traceratio

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestPreconditioner checks the residual of solutions, for orders of one block and more, whole and
// in part.
func TestPreconditioner(t *testing.T) {
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(6, 4))
	for _, m := range []int{1, block - 1, block, block + 1, 3*block + 70} {
		a := large(eng, rng, m, m+40, 10, 1)
		c := a.Clone()
		if err := eng.Cholesky(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if err := split(eng, c); err != nil {
			t.Fatal(err)
		}
		x, y, back := blas.NewMatrix(m, 5), blas.NewMatrix(m, 5), blas.NewMatrix(m, 5)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		p := preconditioner{factors: c}
		p.solve(eng, x.Clone(), y)
		eng.Backend().Gemm(false, false, 1, a, y, 0, back)
		// A backward stable solution has a residual of about n eps |A| |y|.
		residual, size := 0.0, 0.0
		for i := range m {
			sum := 0.0
			for k, v := range a.Row(i) {
				sum += math.Abs(v * y.At(k, 0))
			}
			size = max(size, sum)
			for j, v := range back.Row(i) {
				residual = max(residual, math.Abs(v-x.At(i, j)))
			}
		}
		if most := float64(m+4) * 0x1p-52 * size; !(residual <= most) {
			t.Errorf("order %d: residual %g, want at most %g", m, residual, most)
		}
	}
}
