package native_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/native"
)

func random(rng *rand.Rand, rows, cols int) blas.Matrix {
	m := blas.NewMatrix(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// triangle returns a lower triangle with zeros above it and a dominant diagonal.
func triangle(rng *rand.Rand, n int) blas.Matrix {
	l := blas.NewMatrix(n, n)
	for i := range n {
		for j := range i {
			l.Set(i, j, rng.NormFloat64()/float64(n))
		}
		l.Set(i, i, 1+rng.Float64())
	}
	return l
}

func sameBits(t *testing.T, what string, got, want blas.Matrix) {
	t.Helper()
	for i := range want.Rows {
		row := got.Row(i)
		for j, v := range want.Row(i) {
			if math.Float64bits(row[j]) != math.Float64bits(v) {
				t.Fatalf("%s: element (%d,%d) is %v, was %v: want the same bits", what, i, j, row[j], v)
			}
		}
	}
}

func vector(x []float64) blas.Matrix {
	return blas.MatrixOf(1, len(x), x)
}

// TestWorkers checks that every operation is bit-identical for any number of workers.
func TestWorkers(t *testing.T) {
	eachVariant(t, func(t *testing.T, table *asm.Table) {
		const n = 270 // more than two blocks of each kind
		rng := rand.New(rand.NewPCG(1, 1))
		a, x, l := random(rng, n, n), random(rng, 1, n).Data, triangle(rng, n)
		large, spd := random(rng, 2*n, 2*n), blas.NewMatrix(n, n)
		native.New(table, 1).Syrk(false, 1, l, 0, spd)
		ops := map[string]func(b blas.Backend) blas.Matrix{
			"Cholesky": func(b blas.Backend) blas.Matrix {
				c := spd.Clone()
				if err := b.Cholesky(c); err != nil {
					t.Fatal(err)
				}
				return c
			},
			"TriangularInverse": func(b blas.Backend) blas.Matrix {
				c := l.Clone()
				if err := b.TriangularInverse(c); err != nil {
					t.Fatal(err)
				}
				return c
			},
			"QR/Q": func(b blas.Backend) blas.Matrix {
				c := a.Clone()
				b.QR(c,
					blas.NewMatrix(n, n))
				return c
			},
			"QR/L": func(b blas.Backend) blas.Matrix {
				c := blas.NewMatrix(n, n)
				b.QR(a.Clone(),
					c)
				return c
			},
			"Syr": func(b blas.Backend) blas.Matrix { c := a.Clone(); b.Syr(0.3, x, c); return c },
			"SymEig of many rows": func(b blas.Backend) blas.Matrix {
				c := large.Clone()
				if err := b.SymEig(c, make([]float64, c.Rows), true); err != nil {
					t.Fatal(err)
				}
				return c
			},
			"Symv of many rows": func(b blas.Backend) blas.Matrix {
				y := make([]float64, large.Rows)
				b.Symv(0.3, large, large.Row(0), 0, y)
				return vector(y)
			},
			"Symv": func(b blas.Backend) blas.Matrix {
				y := make([]float64, n)
				b.Symv(0.3, a, x, 0,
					y)
				return vector(y)
			},
		}
		for _, trans := range []bool{false, true} {
			ops[fmt.Sprintf("Gemm/%t", trans)] = func(b blas.Backend) blas.Matrix {
				c := a.Clone()
				b.Gemm(trans, !trans, 0.3, a, a, 0.7, c)
				return c
			}
			ops[fmt.Sprintf("Syrk/%t", trans)] = func(b blas.Backend) blas.Matrix {
				c := a.Clone()
				b.Syrk(trans, 0.3, a, 0.7, c)
				return c
			}
			ops[fmt.Sprintf("Gemv/%t", trans)] = func(b blas.Backend) blas.Matrix {
				y := make([]float64, n)
				b.Gemv(trans, 0.3, a, x, 0, y)
				return vector(y)
			}
			for _, left := range []bool{false, true} {
				ops[fmt.Sprintf("Symm/%t", left)] = func(b blas.Backend) blas.Matrix {
					c := a.Clone()
					b.Symm(left, 0.3, spd, a, 0.7, c)
					return c
				}
				ops[fmt.Sprintf("Trmm/%t/%t", left, trans)] = func(b blas.Backend) blas.Matrix {
					c := a.Clone()
					b.Trmm(left, trans, l, c)
					return c
				}
				ops[fmt.Sprintf("Trsm/%t/%t", left, trans)] = func(b blas.Backend) blas.Matrix {
					c := a.Clone()
					b.Trsm(left, trans, l, c)
					return c
				}
			}
		}
		for name, op := range ops {
			want := op(native.New(table, 1))
			for _, workers := range []int{-1, 2, 3, 16} {
				sameBits(t, fmt.Sprintf("%s with %d workers", name, workers), op(native.New(table, workers)),
					want)
			}
		}
	})
}

// Columns of C are as independent of their neighbors as rows are, and so is everything of
// the offset in memory.
func TestGemmColumns(t *testing.T) {
	eachVariant(t, func(t *testing.T, table *asm.Table) {
		b := native.New(table, 2)
		rng := rand.New(rand.NewPCG(2, 2))
		const m, n, k = 5, 261, 300
		x, y, whole := random(rng, m, k), random(rng, k, n), blas.NewMatrix(m, n)
		b.Gemm(false, false, 1, x, y, 0, whole)
		for _, cols := range [][2]int{{0, 1}, {63, 64}, {64, 65}, {100, 103}, {1, 130}, {128, 261}} {
			lo, hi := cols[0], cols[1]
			part := blas.NewMatrix(m, hi-lo)
			b.Gemm(false, false, 1, x, y.View(0, k, lo, hi), 0, part)
			sameBits(t, fmt.Sprintf("columns %d to %d", lo, hi), part, whole.View(0, m, lo, hi))
		}
	})
}

// TestSymmetry checks that a product with its own transpose is exactly symmetric, and that Syrk
// gives its lower half.
func TestSymmetry(t *testing.T) {
	eachVariant(t, func(t *testing.T, table *asm.Table) {
		b := native.New(table, 2)
		x := random(rand.New(rand.NewPCG(3, 3)), 135, 270)
		c, s := blas.NewMatrix(135, 135), blas.NewMatrix(135, 135)
		b.Gemm(false, true, 0.7, x, x, 0, c)
		b.Syrk(false, 0.7, x, 0, s)
		for i := range c.Rows {
			sameBits(t, fmt.Sprintf("row %d against column %d", i, i), vector(c.Row(i)), column(c, i))
			sameBits(t, fmt.Sprintf("row %d of Syrk", i), vector(s.Row(i)[:i+1]), vector(c.Row(i)[:i+1]))
		}
	})
}

func column(m blas.Matrix, j int) blas.Matrix {
	x := make([]float64, m.Rows)
	for i := range x {
		x[i] = m.At(i, j)
	}
	return vector(x)
}

// A right-hand side's solution, and the product of a vector with a triangle, do not depend on
// the others in the call.
func TestTriangularSplit(t *testing.T) {
	eachVariant(t, func(t *testing.T, table *asm.Table) {
		b := native.New(table, 2)
		rng := rand.New(rand.NewPCG(4, 4))
		const n, m = 150, 261
		l := triangle(rng, n)
		for _, left := range []bool{false, true} {
			for _, trans := range []bool{false, true} {
				rhs := random(rng, m, n)
				view := func(x blas.Matrix, lo, hi int) blas.Matrix { return x.View(lo, hi, 0, n) }
				if left {
					rhs = random(rng, n, m)
					view = func(x blas.Matrix, lo, hi int) blas.Matrix { return x.View(0, n, lo, hi) }
				}
				for name, op := range map[string]func(left, trans bool, l, x blas.Matrix){"Trsm": b.Trsm,
					"Trmm": b.Trmm} {
					whole := rhs.Clone()
					op(left, trans, l, whole)
					for _, part := range [][2]int{{0, 1}, {63, 64}, {100, 103}, {1, 130}, {128, 261}} {
						some := view(rhs, part[0], part[1]).Clone()
						op(left, trans, l, some)
						what := fmt.Sprintf("%s,left=%t,trans=%t: right-hand sides %v", name, left, trans,
							part)
						sameBits(t, what, some, view(whole, part[0], part[1]))
					}
				}
			}
		}
	})
}

// TestGemvRows checks that a row of Gemv equals that of a call with only this row.
func TestGemvRows(t *testing.T) {
	eachVariant(t, func(t *testing.T, table *asm.Table) {
		b := native.New(table, 2)
		rng := rand.New(rand.NewPCG(5, 5))
		const m, n = 700, 601
		a, x, y := random(rng, m, n), random(rng, 1, n).Data, make([]float64, m)
		b.Gemv(false, 0.3, a, x, 0, y)
		for i := range m {
			one := make([]float64, 1)
			b.Gemv(false, 0.3, a.View(i, i+1, 0, n), x, 0, one)
			sameBits(t, fmt.Sprintf("row %d", i), vector(one), vector(y[i:i+1]))
		}
	})
}
