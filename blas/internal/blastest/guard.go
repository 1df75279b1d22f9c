package blastest

import (
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

// guardBits is a signaling NaN: arithmetic makes it a quiet one, so that even adding to a
// guard changes its bits, which adding to a quiet NaN would not.
const guardBits = 0x7ff4_dead_0000_beef

const fence = 9 // guards before and after the data; odd, so that the data is not aligned

// guarded is a matrix in a block of memory filled with guards.
type guarded struct {
	blas.Matrix
	slab   []float64
	before []uint64 // bits of the memory when freeze was called
}

// empty returns a rows x cols matrix of guards whose stride is a random few elements
// more than it needs.
func (s *suite) empty(rows, cols int) *guarded {
	stride := max(1, cols) + []int{0, 1, 3}[s.rng.IntN(3)]
	length := 0
	if rows > 0 && cols > 0 {
		length = (rows-1)*stride + cols
	}
	g := &guarded{slab: make([]float64, fence+rows*stride+fence)}
	for i := range g.slab {
		g.slab[i] = math.Float64frombits(guardBits)
	}
	g.Matrix = blas.Matrix{Rows: rows, Cols: cols, Stride: stride, Data: g.slab[fence : fence+length : fence+length]}
	return g
}

// fill sets every element; fillLower the lower triangle, leaving guards above it.
func (g *guarded) fill(f func(i, j int) float64) *guarded {
	for i := range g.Rows {
		for j := range g.Cols {
			g.Set(i, j, f(i, j))
		}
	}
	return g
}

func (g *guarded) fillLower(f func(i, j int) float64) *guarded {
	for i := range g.Rows {
		for j := range i + 1 {
			g.Set(i, j, f(i, j))
		}
	}
	return g
}

// normal is a fill of standard normal numbers.
func (s *suite) normal(_, _ int) float64 { return s.rng.NormFloat64() }

func (s *suite) random(rows, cols int) *guarded { return s.empty(rows, cols).fill(s.normal) }

func (s *suite) vector(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = s.rng.NormFloat64()
	}
	return x
}

// freeze stores the memory for untouched.
func (g *guarded) freeze() *guarded {
	g.before = bits(g.slab)
	return g
}

// untouched fails the test if anything changed since freeze.
func (g *guarded) untouched(t *testing.T, name string) {
	t.Helper()
	if !slices.Equal(bits(g.slab), g.before) {
		t.Errorf("%s was written", name)
	}
}

// fenced fails the test if a guard outside the matrix changed; with lower, also those
// above the diagonal.
func (g *guarded) fenced(t *testing.T, name string, lower bool) {
	t.Helper()
	for p, v := range g.slab {
		if math.Float64bits(v) == guardBits {
			continue
		}
		i, j := -1, -1
		if q := p - fence; q >= 0 && q < g.Rows*g.Stride {
			i, j = q/g.Stride, q%g.Stride
		}
		if i < 0 || j >= g.Cols || lower && j > i {
			t.Fatalf("%s: guard at element %d of the slab (row %d, column %d) was written with %v", name, p, i, j, v)
		}
	}
}

func bits(x []float64) []uint64 {
	b := make([]uint64, len(x))
	for i, v := range x {
		b[i] = math.Float64bits(v)
	}
	return b
}
