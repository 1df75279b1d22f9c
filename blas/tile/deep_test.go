package tile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
)

// TestDeep: a small C of a long k is bit-identical, whether workers share the blocks of k, in
// one wave or several, or one worker adds them in turn.
func TestDeep(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(1, 1))
		for _, size := range [][4]int{{20, 20, 6000, 2}, {9, 5, 40000, 3}, {33, 20, 6000, 3},
			{250, 250, 17*table.KC + 1, 16}} {
			m, n, k, workers := size[0], size[1], size[2], size[3]
			for flags := range 8 {
				lower := flags&4 != 0
				if lower && m != n || m > 100 && flags%3 > 0 { // three cases of the large one are enough
					continue
				}
				p := Product{Alpha: 1 - 2*float64(flags&1), Beta: float64(flags / 2 % 2), Lower: lower}
				p.A, p.B = operand(rng, flags&1 != 0, m, k), operand(rng, flags&2 == 0, k, n)
				start := random(rng, m, n)
				for i := range m {
					for j := i + 1; j < n && lower; j++ {
						start.Set(i, j, math.NaN())
					}
				}
				p.C = start.Clone()
				New(table, 1).Multiply(p)
				again := p
				again.C = start.Clone()
				nest := New(table, workers)
				j := newJob(nest)
				j.Product, j.k = again, k
				if j.plan(); !j.deep() {
					t.Fatalf("m=%d,n=%d,k=%d,flags=%b: the workers do not share k", m, n, k, flags)
				}
				j.sumBlocks()
				sameBits(t, fmt.Sprintf("m=%d,n=%d,k=%d,flags=%b", m, n, k, flags), again.C, p.C)
			}
		}
		for _, alpha := range []float64{0.7, 1} { // a factor that rounds
			j := newJob(New(table, 2))
			j.Product, j.k = Product{Alpha: alpha, A: operand(rng, false, 20, 6000),
				B: operand(rng, false, 6000, 20), C: random(rng, 20, 20)}, 6000
			if j.plan(); j.deep() != (alpha == 1) {
				t.Errorf("alpha %v: the workers share k", alpha)
			}
		}
	})
}
