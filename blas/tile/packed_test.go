package tile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/blas"
)

// TestPacked checks that packed vectors have bit-identical products to Multiply, from any column
// on, for any way of packing, and that padding vectors have products of zero.
func TestPacked(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(25, 26))
		for _, k := range []int{0, 1, 9, table.KC, 2*table.KC + 3} {
			const m, n = 61, 83
			x, y := random(rng, m, k), random(rng, n, k)
			want := blas.NewMatrix(m, n)
			New(table, 1).Multiply(Product{Alpha: 1, A: Operand{Matrix: x},
				B: Operand{Matrix: y, Trans: true}, C: want})
			a := NewLeft(table, m, k, make([]float64, LeftSize(table, m, k)))
			b := NewRight(table, n, k, make([]float64, RightSize(table, n, k)))
			a.Pack(x, 0)
			if k > 0 && k < 10 { // the same from columns
				turned := blas.NewMatrix(k, m)
				for i := range m {
					for l := range k {
						turned.Set(l, i, x.At(i, l))
					}
				}
				from := NewLeft(table, m, k, make([]float64, LeftSize(table, m, k)))
				from.PackColumns(turned, 0)
				if !slices.Equal(a.data, from.data) {
					t.Fatalf("k=%d: packed from columns they differ", k)
				}
			}
			for i := 0; i < n; i += 2 * b.Unit() { // in pieces, the last first
				from := (n - 1) / (2 * b.Unit()) * 2 * b.Unit()
				lo := from - i
				b.Pack(y.View(lo, min(lo+2*b.Unit(), n), 0, k), lo)
			}
			for j0 := 0; j0 < n; j0 += table.NR {
				c := blas.NewMatrix(blocks(m, table.MR)*table.MR, blocks(n-j0, table.NR)*table.NR)
				for i := range c.Data {
					c.Data[i] = rng.Float64()
				}
				MultiplyPacked(0, c, &a, &b, j0)
				sameBits(t, fmt.Sprintf("k=%d from column %d", k, j0), c.View(0, m, 0, n-j0),
					want.View(0, m, j0, n))
				for i := m; i < c.Rows; i++ {
					for _, v := range c.Row(i) {
						if v != 0 {
							t.Fatalf("k=%d: row %d, behind the last vector, holds %v: want 0", k, i, v)
						}
					}
				}
			}
		}
	})
}
