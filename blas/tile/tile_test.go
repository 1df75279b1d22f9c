package tile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/internal/racetest"
)

const eps = 0x1p-52

func random(rng *rand.Rand, rows, cols int) blas.Matrix {
	m := blas.NewMatrix(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

func operand(rng *rand.Rand, trans bool, rows, cols int) Operand {
	if trans {
		rows, cols = cols, rows
	}
	return Operand{Matrix: random(rng, rows, cols), Trans: trans}
}

// at returns element (i, j) of the factor, which no product writes.
//
//go:norace
func (o *Operand) at(i, j int) float64 {
	if o.Trans || o.Symmetric && j > i {
		i, j = j, i
	}
	return o.Matrix.At(i, j)
}

// tiny returns a nest whose blocks are so small that a small product has several of each.
func tiny(t *asm.Table, workers int) *Nest {
	n := New(t, workers)
	n.sizes = sizes{rows: 2 * t.MR, least: 1, cols: 3 * t.NR, packed: 4 * t.KC * t.NR, panels: 1}
	return n
}

// plain checks p's result by plain loops: |C - exact| <= 4 k eps (|A||B| + |beta C|).
func plain(t *testing.T, what string, p Product, start blas.Matrix) {
	t.Helper()
	k := p.A.depth()
	row, columns := make([]float64, k), blas.NewMatrix(p.C.Cols, k)
	for j := range columns.Rows {
		for l := range k {
			columns.Set(j, l, p.B.at(l, j))
		}
	}
	for i := range p.C.Rows {
		for l := range k {
			row[l] = p.Alpha * p.A.at(i, l)
		}
		for j := range p.C.Cols {
			if p.Lower && j > i {
				if !math.IsNaN(p.C.At(i, j)) {
					t.Fatalf("%s: C[%d,%d], above the diagonal, was written", what, i, j)
				}
				continue
			}
			want, size := dot(p.Beta*start.At(i, j), row, columns.Row(j))
			if got := p.C.At(i, j); !(math.Abs(got-want) <= 4*float64(k+1)*eps*size) {
				t.Fatalf("%s: C[%d,%d] is %v: want %v", what, i, j, got, want)
			}
		}
	}
}

// dot returns start + x y by a plain loop, and the sum of the absolute values of the terms. No
// other goroutine knows x and y, so the race detector does not watch: it would take most of its
// time here.
//
//go:norace
func dot(start float64, x, y []float64) (sum, size float64) {
	sum, size = start, math.Abs(start)
	for l, v := range x {
		v *= y[l]
		sum += v
		size += math.Abs(v)
	}
	return sum, size
}

// Every combination of flags, on shapes around the edges of tiles and blocks, in many small
// blocks and in few large ones, agrees with plain loops and with itself bit for bit.
func TestMultiply(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(1, 1))
		mr, nr, kc := table.MR, table.NR, table.KC
		for _, size := range [][3]int{
			{1, 1, 1}, {mr, nr, 3}, {mr + 1, nr - 1, 7}, {5*mr - 1, 7*nr + 1, 20},
			{2 * mr, nr, kc}, {3, 5, kc + 1}, {4*mr + 1, 3*nr + 2, 3*kc - 5}, {9, 8, 0},
			{3*mr + 1, nr + table.Lanes, 3*stripDepth - 1}, {30 * mr, nr, kc + 1}, {2 * mr, nr, 4*kc + 1},
		} {
			for flags := range 8 {
				m, n, k := size[0], size[1], size[2]
				lower := flags&4 != 0
				if lower {
					n = m
				}
				p := Product{Alpha: 0.7, Beta: float64(flags % 3), Lower: lower}
				p.A, p.B = operand(rng, flags&1 != 0, m, k), operand(rng, flags&2 != 0, k, n)
				start := random(rng, m, n)
				for i := range m {
					for j := range n {
						if lower && j > i {
							start.Set(i, j, math.NaN())
						}
					}
				}
				what := fmt.Sprintf("m=%d,n=%d,k=%d,flags=%b", m, n, k, flags)
				p.C = start.Clone()
				New(table, 1).Multiply(p)
				plain(t, what, p, start)
				for workers := 1; workers <= 3; workers++ {
					again := p
					again.C = start.Clone()
					tiny(table, workers).force(again, false)
					sameBits(t, what, again.C, p.C)
					again.C = start.Clone()
					New(table, workers).force(again, true)
					sameBits(t, what+", not packed", again.C, p.C)
				}
			}
		}
	})
}

// TestPlan: whatever the shapes and the workers are, blocks are whole tiles, and only the depth of
// the blocks, which enters the bits, is the same for any number of workers.
func TestPlan(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(6, 6))
		for range 200 {
			m, n, k := 1+rng.IntN(5000), 1+rng.IntN(5000), 1+rng.IntN(5000)
			lower, depth := rng.IntN(2) == 0, 0
			if lower {
				n = m
			}
			for workers := 1; workers <= 16; workers *= 2 {
				j := newJob(New(table, workers))
				j.C, j.k, j.Lower = blas.Matrix{Rows: m, Cols: n, Stride: n}, k, lower
				j.plan()
				if j.rows%table.MR != 0 || j.width%table.NR != 0 || j.chunk%table.NR != 0 || j.rows < 1 ||
					j.chunk < 1 || j.chunk > j.width || j.depth < 1 || j.depth > k || j.group < 1 ||
					depth != 0 && depth != j.depth {
					t.Errorf("m=%d,n=%d,k=%d, %d workers: rows %d, columns %d of %d, depth %d, groups of %d",
						m, n, k, workers, j.rows, j.chunk, j.width, j.depth, j.group)
				}
				depth = j.depth
			}
		}
	})
}

// force multiplies on all workers however small the product, in the nest's blocks or, where
// that is possible, from where the factors are.
func (n *Nest) force(p Product, direct bool) {
	k := p.A.depth()
	j := newJob(n)
	j.Product, j.k = p, k
	j.plan()
	j.workers = n.workers
	if j.inStrips() {
		j.strips()
	} else if direct && j.unpacked() {
		j.direct()
	} else {
		j.run()
	}
}

func sameBits(t *testing.T, what string, got, want blas.Matrix) {
	t.Helper()
	for i := range want.Rows {
		row := got.Row(i)
		for j, v := range want.Row(i) {
			if math.Float64bits(row[j]) != math.Float64bits(v) && !(math.IsNaN(v) && math.IsNaN(row[j])) {
				t.Fatalf("%s: element (%d,%d) is %v, was %v: want the same bits", what, i, j, row[j], v)
			}
		}
	}
}

// TestSymmetric checks that a symmetric factor is bit-identical to the full matrix.
func TestSymmetric(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(2, 2))
		for _, k := range []int{1, table.NR, 3*table.NR + 1, table.KC + 5} {
			full := random(rng, k, k)
			half := full.Clone()
			for i := range k {
				for j := range i {
					full.Set(j, i, full.At(i, j))
					half.Set(j, i, math.NaN())
				}
			}
			other := random(rng, k, 9)
			for _, left := range []bool{true, false} {
				multiply := func(o Operand) blas.Matrix {
					p := Product{Alpha: 1, A: o, B: Operand{Matrix: other}}
					p.C = blas.NewMatrix(k, 9)
					if !left {
						p.A, p.B = Operand{Matrix: other, Trans: true}, o
						p.C = blas.NewMatrix(9, k)
					}
					tiny(table, 1).Multiply(p)
					return p.C
				}
				sameBits(t, fmt.Sprintf("k=%d,left=%t", k, left),
					multiply(Operand{Matrix: half, Symmetric: true}), multiply(Operand{Matrix: full}))
			}
		}
	})
}

// TestPack checks that Unpack reverses Pack, and that neither accesses other parts of the matrix.
func TestPack(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(4, 4))
		m := random(rng, 50, 51)
		for _, width := range []int{1, table.MR, table.NR} {
			for _, byRow := range []bool{false, true} {
				lanes := 1 + rng.IntN(30)
				panels := make([]float64, blocks(lanes, width)*width*9)
				i0, l0 := rng.IntN(9), rng.IntN(9)
				Pack(table, panels, width, 9*width, m, byRow, i0, i0+lanes, l0, l0+9)
				for l := range 9 {
					for i := range len(panels) / 9 {
						want := 0.0
						if i < lanes && byRow {
							want = m.At(i0+i, l0+l)
						} else if i < lanes {
							want = m.At(l0+l, i0+i)
						}
						if got := panels[i/width*width*9+l*width+i%width]; got != want {
							t.Fatalf("width=%d,byRow=%t: lane %d, depth %d is %v: want %v", width, byRow, i,
								l, got, want)
						}
					}
				}
				hole := m.Clone()
				part := hole.View(i0, i0+lanes, l0, l0+9)
				if !byRow {
					part = hole.View(l0, l0+9, i0, i0+lanes)
				}
				for i := range part.Rows {
					clear(part.Row(i))
				}
				Unpack(panels, width, 9*width, hole, byRow, i0, i0+lanes, l0, l0+9)
				sameBits(t, "unpacked", hole, m)
			}
		}
	})
}

// TestAllocations checks that a warm nest allocates nothing for a product on one goroutine.
func TestAllocations(t *testing.T) {
	table, err := asm.Select(asm.Best())
	if err != nil {
		t.Fatal(err)
	}
	n := New(table, 2)
	x, c := blas.NewMatrix(64, 64), blas.NewMatrix(64, 64)
	allocs := testing.AllocsPerRun(100, func() {
		n.Multiply(Product{Alpha: 1, A: Operand{Matrix: x}, B: Operand{Matrix: x}, C: c})
		n.Multiply(Product{Alpha: 1, A: Operand{Matrix: x}, B: Operand{Matrix: x, Trans: true}, C: c,
			Lower: true})
		n.Multiply(Product{Alpha: 1, A: Operand{Matrix: x, Trans: true}, B: Operand{Matrix: x}, C: c})
	})
	if allocs >= 1 && !racetest.Enabled { // the race detector empties pools at random
		t.Errorf("%v allocations for two small products: want none", allocs)
	}
}

func TestBorrow(t *testing.T) {
	n := New(nil, 1)
	for _, size := range []int{0, 1, 1 << 13, 1<<13 + 1, 1 << 20} {
		s := n.Borrow(size)
		if len(*s) < size {
			t.Errorf("borrowed %d elements: want at least %d", len(*s), size)
		}
		n.Return(s)
	}
}

// TestEach checks that Each calls every number once, on one worker or more.
func TestEach(t *testing.T) {
	for _, flops := range []float64{0, parallelFlops, math.Inf(1)} {
		var calls [100]atomic.Int32
		New(nil, 3).Each(flops, len(calls), func(i int) { calls[i].Add(1) })
		for i := range calls {
			if calls[i].Load() != 1 {
				t.Errorf("%g flops: task %d was called %d times: want once", flops, i, calls[i].Load())
			}
		}
	}
}

// TestWorkersFor: each worker has its share of the work, and the nest has no more than its workers.
func TestWorkersFor(t *testing.T) {
	for flops, want := range map[float64]int{0: 1, parallelFlops - 1: 1, parallelFlops: 2,
		3 * parallelFlops: 4, 1e3 * parallelFlops: 6, math.Inf(1): 6} {
		if got := New(nil, 6).WorkersFor(flops); got != want {
			t.Errorf("%g flops: %d workers, want %d", flops, got, want)
		}
	}
}
