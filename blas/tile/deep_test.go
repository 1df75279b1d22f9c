package tile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestDeep: a small C of a long k is bit-identical, whether workers share the blocks of k, in
// one wave or several, or one worker adds them in turn.
func TestDeep(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(1, 1))
		every := 3 // of every so many cases one is enough for the large size
		if racetest.Enabled {
			every = 7
		}
		for _, size := range [][4]int{{20, 20, 6000, 2}, {9, 5, 40000, 3}, {33, 20, 6000, 3},
			{250, 250, 17*table.KC + 1, 16}} {
			m, n, k, workers := size[0], size[1], size[2], size[3]
			for flags := range 8 {
				lower := flags&4 != 0
				if lower && m != n || m > 100 && flags%every > 0 {
					continue
				}
				p := Product{Alpha: 1 - 2*float64(flags&1), Beta: float64(flags / 2 % 2), Lower: lower}
				p.A, p.B = operand(rng, flags&1 != 0, m, k), operand(rng, flags&2 == 0, k, n)
				if p.A.Trans && n%table.Lanes == 0 {
					continue // these have strips, see TestStrips
				}
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

// TestStrips: the product of a transposed matrix of many rows has the same bits for any number of
// workers, whether they share strips or their parts, in one wave or several, and is right.
func TestStrips(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng, lanes := rand.New(rand.NewPCG(1, 1)), table.Lanes
		for _, size := range [][4]int{{20, lanes, 6000, 2}, {table.MR, 2 * lanes, 40000, 3},
			{1, lanes, 257, 3}, {stripWidth + 3, lanes, 3*stripRows + 1, 4},
			{2*stripWidth - 1, lanes, 3 * stripRows, 2}, {5 * stripWidth, lanes, 2*stripRows + 7, 2},
			{9, 3 * lanes, stripRows, 2}} {
			m, n, k, workers := size[0], size[1], size[2], size[3]
			p := Product{Alpha: -0.3, Beta: 1.7, A: operand(rng, true, m, k), B: operand(rng, m%2 > 0, k, n)}
			start := random(rng, m, n)
			p.C = start.Clone()
			New(table, 1).Multiply(p)
			plain(t, fmt.Sprint(size), p, start)
			for _, workers := range []int{workers, 40} {
				again := p
				again.C = start.Clone()
				New(table, workers).force(again, false)
				sameBits(t, fmt.Sprint(size, workers), again.C, p.C)
			}
			p.Beta, p.C = 0, random(rng, m, n)
			p.C.Set(0, 0, math.NaN())
			New(table, workers).Multiply(p)
			plain(t, fmt.Sprint(size), p, blas.NewMatrix(m, n))
		}
	})
}
