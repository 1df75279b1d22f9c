// Package blastest is the conformance suite that every blas.Backend passes.
//
// [Run] checks results by residuals in units of n eps and by plain loops, on shapes around block
// edges, in matrices between guards: NaNs of one bit pattern fill the padding of every row, the
// strict upper triangle of symmetric and triangular operands, and the memory before and after. If a
// backend reads a guard, it computes NaN, and every comparison here fails on NaN; if it writes a
// guard, its bits change.
package blastest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/internal/racetest"
)

// eps is the distance from 1 to the next float64.
const eps = 0x1p-52

// edges are sizes around the block edges of the backends, with the smallest ones.
var edges = racetest.Some([]int{0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129},
	[]int{0, 1, 3, 33, 64, 65, 129})

// suite is one backend under test, with the random numbers of one subtest.
type suite struct {
	b   blas.Backend
	rng *rand.Rand
}

// Run checks that b fulfills the contract of [blas.Backend], one subtest per operation or property.
// It takes some seconds, mostly in the plain loops of the comparison.
func Run(t *testing.T, b blas.Backend) {
	tests := []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"Gemm", testGemm},
		{"GemmLarge", testGemmLarge},
		{"GemmRows", testGemmRows},
		{"Syrk", testSyrk},
		{"Symm", testSymm},
		{"Syr", testSyr},
		{"Gemv", testGemv},
		{"Symv", testSymv},
		{"Trsm", testTrsm},
		{"Trmm", testTrmm},
		{"NaN", testNaN},
		{"TriangleNaN", testTriangleNaN},
		{"AlphaZero", testAlphaZero},
		{"Cholesky", testCholesky},
		{"CholeskyIndefinite", testCholeskyIndefinite},
		{"CholeskySingular", testCholeskySingular},
		{"CholeskyRankDeficient", testCholeskyRankDeficient},
		{"CholeskyNaN", testCholeskyNaN},
		{"TriangularInverse", testTriangularInverse},
		{"TriangularSingular", testTriangularSingular},
		{"QR", testQR},
		{"QRNaN", testQRNaN},
		{"SymEig", testSymEig},
		{"SymEigKnown", testSymEigKnown},
		{"SymEigScaled", testSymEigScaled},
		{"SymEigGraded", testSymEigGraded},
		{"SymEigTop", testSymEigTop},
		{"SymEigNaN", testSymEigNaN},
		{"Describe", testDescribe},
		{"Panics", testPanics},
		{"Concurrent", testConcurrent}, // the thirtieth behind the first, which racetest.Part takes
	}
	for i, test := range racetest.Part(tests) {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, &suite{b, rand.New(rand.NewPCG(1, uint64(i)))})
		})
	}
}

// size returns a random element of edges.
func (s *suite) size() int { return edges[s.rng.IntN(len(edges))] }

// factor returns a value for alpha or beta, the special ones often.
func (s *suite) factor() float64 {
	values := []float64{0, 1, -1, 0.7, -2.5}
	return values[s.rng.IntN(len(values))]
}

func (s *suite) coin() bool { return s.rng.IntN(2) == 0 }

func testDescribe(t *testing.T, s *suite) {
	if s.b.Name() == "" || s.b.Describe() == "" {
		t.Errorf("name %q, description %q: want both", s.b.Name(), s.b.Describe())
	}
}

// Bench times the operations that dominate the methods, as op/n=.../backend=..., and reports
// GFLOP/s by the operation counts in [blas.Backend] (SymEig: 9 n^3 for every algorithm, so that
// backends can be compared).
func Bench(b *testing.B, backend blas.Backend) {
	s := &suite{backend, rand.New(rand.NewPCG(1, 1))}
	for _, n := range []int{100, 300, 1000} {
		x := s.random(n, n).Matrix
		spd := mirror(s.spd(n).Matrix)
		c, l, w := blas.NewMatrix(n, n), blas.NewMatrix(n, n), make([]float64, n)
		cube := float64(n) * float64(n) * float64(n)
		check := func(err error) {
			if err != nil {
				b.Fatal(err)
			}
		}
		for _, op := range []struct {
			name  string
			flops float64
			run   func()
		}{
			{"Gemm", 2 * cube, func() { backend.Gemm(false, false, 1, x, x, 0, c) }},
			{"GemmNT", 2 * cube, func() { backend.Gemm(false, true, 1, x, x, 0, c) }},
			{"Syrk", cube, func() { backend.Syrk(false, 1, x, 0, c) }},
			{"Cholesky", cube / 3, func() { c.CopyFrom(spd); check(backend.Cholesky(c)) }},
			{"Trsm", cube, func() { c.CopyFrom(x); backend.Trsm(true, false, spd, c) }},
			{"Symm", 2 * cube, func() { backend.Symm(true, 1, spd, x, 0, c) }},
			{"Trmm", cube, func() { c.CopyFrom(x); backend.Trmm(true, false, spd, c) }},
			{"Inverse", cube / 3, func() { c.CopyFrom(spd); check(backend.TriangularInverse(c)) }},
			{"QR", 8 * cube / 3, func() { c.CopyFrom(x); backend.QR(c, l) }},
			{"SymEig", 9 * cube, func() { c.CopyFrom(spd); check(backend.SymEig(c, w, true)) }},
		} {
			b.Run(fmt.Sprintf("%s/n=%d/backend=%s", op.name, n, backend.Name()), func(b *testing.B) {
				for b.Loop() {
					op.run()
				}
				b.ReportMetric(op.flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// testConcurrent checks that many goroutines at once, on small and large problems, get the same
// bits as one alone, repeatedly.
func testConcurrent(t *testing.T, s *suite) {
	jobs := s.jobs()
	alone := make([][]uint64, len(jobs))
	for i, job := range jobs {
		alone[i] = bits(job())
	}
	const rounds = 3
	again := make([][]uint64, rounds*len(jobs))
	var wg sync.WaitGroup
	for i := range again {
		wg.Go(func() { again[i] = bits(jobs[i%len(jobs)]()) })
	}
	wg.Wait()
	for i, got := range again {
		want := alone[i%len(jobs)]
		for p := range want {
			if got[p] != want[p] {
				t.Fatalf("job %d: element %d is %v, was %v when alone: want the same bits",
					i%len(jobs), p, math.Float64frombits(got[p]), math.Float64frombits(want[p]))
			}
		}
	}
}

// jobs returns calls of every operation, each on its own inputs, that return their output.
func (s *suite) jobs() []func() []float64 {
	var jobs []func() []float64
	for _, n := range []int{17, 65, 190} {
		a, x := s.random(n, n).Matrix, s.vector(n)
		spd := mirror(s.spd(n).Matrix)
		l := s.triangle(n, 0.01).Matrix
		fresh := func() blas.Matrix { return blas.NewMatrix(n, n) }
		check := func(err error) {
			if err != nil {
				panic(fmt.Sprintf("blastest: n=%d: %v", n, err))
			}
		}
		for _, trans := range []bool{false, true} {
			jobs = append(jobs,
				func() []float64 { c := fresh(); s.b.Gemm(trans, !trans, 0.3, a, a, 0, c); return c.Data },
				func() []float64 { c := fresh(); s.b.Syrk(trans, 0.3, a, 0, c); return c.Data },
				func() []float64 { y := make([]float64, n); s.b.Gemv(trans, 0.3, a, x, 0, y); return y },
				func() []float64 { b := a.Clone(); s.b.Trsm(trans, trans, l, b); return b.Data },
				func() []float64 { b := a.Clone(); s.b.Trsm(!trans, trans, l, b); return b.Data },
				func() []float64 { b := a.Clone(); s.b.Trmm(!trans, trans, l, b); return b.Data },
				func() []float64 { c := fresh(); s.b.Symm(trans, 0.3, spd, a, 0, c); return c.Data },
			)
		}
		jobs = append(jobs,
			func() []float64 { c := spd.Clone(); s.b.Syr(0.3, x, c); return c.Data },
			func() []float64 { y := make([]float64, n); s.b.Symv(0.3, spd, x, 0, y); return y },
			func() []float64 { c := spd.Clone(); check(s.b.Cholesky(c)); return c.Data },
			func() []float64 { c := l.Clone(); check(s.b.TriangularInverse(c)); return c.Data },
			func() []float64 { q, r := a.Clone(), fresh(); s.b.QR(q, r); return append(q.Data, r.Data...) },
			func() []float64 {
				c, w := spd.Clone(), make([]float64, n)
				check(s.b.SymEig(c, w, true))
				return append(w, c.Data...)
			},
			func() []float64 {
				v, w := blas.NewMatrix(3, n), make([]float64, 3)
				check(s.b.SymEigTop(spd.Clone(), w, v))
				return append(w, v.Data...)
			},
		)
	}
	return jobs
}

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
	g.Matrix = blas.Matrix{Rows: rows, Cols: cols, Stride: stride,
		Data: g.slab[fence : fence+length : fence+length]}
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
			t.Fatalf("%s: guard at element %d of the slab (row %d, column %d) was written with %v", name, p,
				i, j, v)
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
