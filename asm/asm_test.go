package asm_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/asm/asmtest"
)

const eps = 0x1p-52

// lengths returns all short lengths, where vector loops and their remainders meet, and some long
// ones.
func lengths() []int {
	var n []int
	for i := range 70 {
		n = append(n, i)
	}
	return append(n, 127, 128, 129, 1000, 1023)
}

// eachPair calls f with random vectors of every length, at several alignments against
// each other, and checks that the guards around them stay as they are.
func eachPair(t *testing.T, f func(what string, x, y []float64)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range lengths() {
		for _, offset := range [][2]int{{0, 0}, {1, 0}, {0, 3}, {2, 1}, {5, 7}} {
			x, y := asmtest.NewVector(n, offset[0], rng.NormFloat64),
				asmtest.NewVector(n, offset[1], rng.NormFloat64)
			what := fmt.Sprintf("n=%d,offsets=%v", n, offset)
			f(what, x.Data, y.Data)
			x.Check(t, what+": x")
			y.Check(t, what+": y")
		}
	}
}

func within(t *testing.T, what string, got, want, bound float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= bound) { // equal infinities have a NaN difference
		t.Fatalf("%s is %v: want %v within %.3g", what, got, want, bound)
	}
}

// reductions are the kernels that return a number, as functions of two vectors, with the
// term that each sums.
func reductions(table *asm.Table) map[string]struct {
	kernel func(x, y []float64) float64
	term   func(x, y float64) float64
} {
	type entry = struct {
		kernel func(x, y []float64) float64
		term   func(x, y float64) float64
	}
	return map[string]entry{
		"Dot": {table.Dot, func(x, y float64) float64 { return x * y }},
		"Sum": {func(x, _ []float64) float64 {
			return table.Sum(x)
		}, func(x, _ float64) float64 { return x }},
		"SquaredDistance": {table.SquaredDistance, func(x, y float64) float64 { d := x - y; return d * d }},
	}
}

// TestReductions checks that each reduction is within n eps of the plain loop, reads nothing
// outside x, writes nothing, and is bit-identical at any alignment.
func TestReductions(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		for name, r := range reductions(table) {
			eachPair(t, func(what string, x, y []float64) {
				x0, y0 := slices.Clone(x), slices.Clone(y)
				got := r.kernel(x, y)
				var want, size float64
				for i := range x {
					v := r.term(x[i], y[i])
					want += v
					size += math.Abs(v)
				}
				within(t, name+": "+what, got, want, 2*float64(len(x)+1)*eps*size)
				if !slices.Equal(x, x0) || !slices.Equal(y, y0) {
					t.Fatalf("%s: %s: an input was written", name, what)
				}
				if again := r.kernel(x0, y0); math.Float64bits(again) != math.Float64bits(got) {
					t.Fatalf("%s: %s: %v elsewhere in memory, %v here: want the same bits", name, what, again,
						got)
				}
				if len(x) > 0 && name != "Sum" {
					if swapped := r.kernel(y, x); math.Float64bits(swapped) != math.Float64bits(got) {
						t.Fatalf("%s: %s: %v with x and y swapped, was %v: want the same bits", name, what,
							swapped, got)
					}
				}
			})
		}
	})
}

// TestGenericOrder checks the documented order of summation of the generic kernels.
func TestGenericOrder(t *testing.T) {
	table, err := asm.Select(asm.Generic)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range reductions(table) {
		eachPair(t, func(what string, x, y []float64) {
			var s [4]float64
			whole := len(x) / 4 * 4
			for i := range x {
				at := i % 4
				if i >= whole {
					at = 0
				}
				s[at] += float64(r.term(x[i], y[i]))
			}
			if got, want := r.kernel(x, y),
				(s[0]+s[1])+(s[2]+s[3]); math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s: %s: %v, want %v bit for bit", name, what, got, want)
			}
		})
	}
}

// TestReductionsNaN checks that a NaN at any element reaches the result, also if the other factor
// is 0.
func TestReductionsNaN(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		for name, r := range reductions(table) {
			for n := 1; n < 40; n++ {
				for i := range n {
					for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
						x, y := make([]float64, n), make([]float64, n)
						x[i] = bad
						got := r.kernel(x, y)
						want := r.term(bad, 0)
						if math.IsNaN(want) != math.IsNaN(got) || !math.IsNaN(want) && got != want {
							t.Fatalf("%s: n=%d, %v at %d: %v, want %v", name, n, bad, i, got, want)
						}
					}
				}
			}
		}
	})
}

func TestSquaredDistanceOfEqual(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		eachPair(t, func(what string, x, _ []float64) {
			if d := table.SquaredDistance(x, slices.Clone(x)); d != 0 || math.Signbit(d) {
				t.Fatalf("%s: distance of equal vectors is %v: want 0", what, d)
			}
		})
	})
}

func TestAxpy(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		for _, alpha := range []float64{0, 1, -0.3} {
			eachPair(t, func(what string, x, y []float64) {
				x0, y0 := slices.Clone(x), slices.Clone(y)
				table.Axpy(alpha, x, y)
				for i := range x {
					within(t, fmt.Sprintf("%s: y[%d]", what, i), y[i], y0[i]+alpha*x[i],
						2*eps*(math.Abs(y0[i])+math.Abs(alpha*x[i])))
				}
				if !slices.Equal(x, x0) {
					t.Fatalf("%s: x was written", what)
				}
				one := slices.Clone(y0)
				for i := range x { // elements are independent: the bits do not depend on the neighbors
					table.Axpy(alpha, x0[i:i+1], one[i:i+1])
				}
				if !slices.Equal(one, y) {
					t.Fatalf("%s: element by element gives other bits", what)
				}
				table.Axpy(1, x, x) // the same slice
				for i := range x {
					within(t, fmt.Sprintf("%s: x+x at %d", what, i), x[i], 2*x0[i], 0)
				}
			})
		}
		y := []float64{1, 2, 3}
		table.Axpy(0, []float64{math.NaN(), 0, math.Inf(1)}, y)
		if !math.IsNaN(y[0]) || y[1] != 2 || !math.IsNaN(y[2]) {
			t.Errorf("0 * (NaN, 0, Inf) + (1, 2, 3) = %v: want (NaN, 2, NaN)", y)
		}
	})
}

func TestScale(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		for _, alpha := range []float64{0, 1, -0.3} {
			eachPair(t, func(what string, x, _ []float64) {
				x0 := slices.Clone(x)
				table.Scale(alpha, x)
				for i := range x {
					within(t, fmt.Sprintf("%s: x[%d]", what, i), x[i], alpha*x0[i], 0)
				}
			})
		}
		x := []float64{math.NaN(), math.Inf(1)}
		if table.Scale(0, x); !math.IsNaN(x[0]) || !math.IsNaN(x[1]) {
			t.Errorf("0 * (NaN, Inf) = %v: want NaN twice", x)
		}
	})
}

func TestExp(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		rng := rand.New(rand.NewPCG(3, 4))
		for round := range 400 {
			n := round % 37
			spread := []float64{1e-9, 1, 30, 350, 708}[round%5]
			x := asmtest.NewVector(n, round%3, func() float64 { return spread * (2*rng.Float64() - 1) })
			dst := asmtest.NewVector(n, round%4, math.NaN)
			in := slices.Clone(x.Data)
			table.Exp(dst.Data, x.Data)
			x.Check(t, "x")
			dst.Check(t, "dst")
			for i, v := range in {
				want := exp(v)
				ulp := math.Nextafter(want, math.Inf(1)) - want
				within(t, fmt.Sprintf("exp(%v)", v), dst.Data[i], want, ulp)
			}
			if !slices.Equal(x.Data, in) {
				t.Fatal("x was written")
			}
			table.Exp(x.Data, x.Data) // in place
			if !slices.Equal(x.Data, dst.Data) {
				t.Fatal("in place gives other bits")
			}
		}
	})
}

// exp returns e^x rounded from 300 bits: the Taylor series of x/2^20, squared 20 times.
func exp(x float64) float64 {
	const prec, halvings = 300, 20
	r := new(big.Float).SetPrec(prec).SetMantExp(big.NewFloat(x), -halvings)
	sum, term := big.NewFloat(1).SetPrec(prec), big.NewFloat(1).SetPrec(prec)
	for k := 1; k < 30; k++ {
		term.Mul(term, r)
		term.Quo(term, big.NewFloat(float64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	v, _ := sum.Float64()
	return v
}

func TestExpSpecial(t *testing.T) {
	inf := math.Inf(1)
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		for _, c := range []struct{ x, want float64 }{
			{0, 1}, {math.Copysign(0, -1), 1}, {-inf, 0}, {inf, inf}, {710, inf}, {1e300, inf}, {-746, 0},
			{-1e300, 0},
			{5e-324, 1}, {-745, 5e-324},
		} {
			for n := 1; n < 20; n++ { // in vector lanes and in the tail
				x, dst := slices.Repeat([]float64{c.x}, n), make([]float64, n)
				table.Exp(dst, x)
				for i, v := range dst {
					within(t, fmt.Sprintf("n=%d: exp(%v) at %d", n, c.x, i), v, c.want, 0)
					if math.Signbit(v) {
						t.Fatalf("exp(%v) = %v is negative", c.x, v)
					}
				}
			}
		}
		dst := []float64{0, 0, 0}
		table.Exp(dst, []float64{1, math.NaN(), 0})
		if !math.IsNaN(dst[1]) || dst[2] != 1 {
			t.Errorf("exp(1, NaN, 0) = %v: want NaN in the middle only", dst)
		}
	})
}

func TestTile(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		mr, nr := table.MR, table.NR
		if mr <= 0 || nr <= 0 || table.KC <= 0 {
			t.Fatalf("MR=%d, NR=%d, KC=%d: want positive sizes", mr, nr, table.KC)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		for _, k := range []int{0, 1, 2, 3, 7, 8, 9, 64, table.KC, table.KC + 1} {
			a := asmtest.NewVector(k*mr, 1, rng.NormFloat64)
			b := asmtest.NewVector(k*nr, 2, rng.NormFloat64)
			c := asmtest.NewVector(mr*nr, 3, math.NaN) // not read
			table.Tile(k, a.Data, b.Data, c.Data)
			for name, v := range map[string]*asmtest.Vector{"a": a, "b": b, "c": c} {
				v.Check(t, fmt.Sprintf("k=%d: %s", k, name))
			}
			for i := range mr {
				for j := range nr {
					var want, size float64
					for l := range k {
						v := a.Data[l*mr+i] * b.Data[l*nr+j]
						want += v
						size += math.Abs(v)
					}
					within(t, fmt.Sprintf("k=%d: c[%d,%d]", k, i, j), c.Data[i*nr+j], want,
						2*float64(k)*eps*size)
					alone(t, table, k, i, j, a.Data, b.Data, c.Data)
				}
			}
		}
	})
}

// alone checks that an element depends only on its own row of A and column of B: with NaN in all
// others its bits do not change.
func alone(t *testing.T, table *asm.Table, k, i, j int, a, b, c []float64) {
	t.Helper()
	mr, nr := table.MR, table.NR
	a2, b2, c2 := slices.Repeat([]float64{math.NaN()}, k*mr), slices.Repeat([]float64{math.NaN()}, k*nr),
		make([]float64, mr*nr)
	for l := range k {
		a2[l*mr+i], b2[l*nr+j] = a[l*mr+i], b[l*nr+j]
	}
	table.Tile(k, a2, b2, c2)
	if math.Float64bits(c2[i*nr+j]) != math.Float64bits(c[i*nr+j]) {
		t.Fatalf("k=%d: c[%d,%d] is %v among other neighbors, was %v: want the same bits", k, i, j,
			c2[i*nr+j], c[i*nr+j])
	}
	if k > 0 && mr > 1 && !math.IsNaN(c2[(i+1)%mr*nr+j]) {
		t.Fatalf("k=%d: NaN in row %d did not reach the tile", k, (i+1)%mr)
	}
}

func TestNoAllocation(t *testing.T) {
	asmtest.EachVariant(t, func(t *testing.T, table *asm.Table) {
		x, y := make([]float64, 1003), make([]float64, 1003) // no whole number of vectors
		if n := testing.AllocsPerRun(10, func() {
			y[0] = table.Dot(x, y) + table.Sum(x) + table.SquaredDistance(x, y)
			table.Axpy(1, x, y)
			table.Scale(1, x)
			table.Exp(y, x)
			table.Sqrt(y, x)
			table.Power(y, x, 3)
			table.SquaredDistances(y, x, 1, x, 0.5)
			table.Tile(3, x, y[:100], y[100:])
		}); n != 0 {
			t.Errorf("%v allocations: want 0", n)
		}
	})
}

func TestSelect(t *testing.T) {
	levels := asm.Supported()
	if len(levels) == 0 || levels[0] != asm.Generic || !slices.IsSorted(levels) {
		t.Fatalf("supported levels %v: want generic first, ascending", levels)
	}
	if asm.Best() != levels[len(levels)-1] {
		t.Errorf("best level %v: want the last of %v", asm.Best(), levels)
	}
	for _, level := range []asm.Level{asm.Generic, asm.AVX2, asm.AVX512, asm.NEON, -1, 99} {
		table, err := asm.Select(level)
		if slices.Contains(levels, level) {
			if err != nil || table.Level != level {
				t.Errorf("%v: error %v: want its table", level, err)
			}
			continue
		}
		var le *asm.LevelError
		if !errors.As(err, &le) || !le.Here || len(le.Choices) != len(levels) || table != nil {
			t.Errorf("%v: error %v: want a LevelError that lists %v", level, err, levels)
		}
	}
	first, _ := asm.Select(asm.Generic)
	first.Dot = nil
	if second, _ := asm.Select(asm.Generic); second.Dot == nil {
		t.Error("a change to one table shows in the next")
	}
}

func TestParseLevel(t *testing.T) {
	for _, level := range []asm.Level{asm.Generic, asm.AVX2, asm.AVX512, asm.NEON} {
		if got, err := asm.ParseLevel(level.String()); got != level || err != nil {
			t.Errorf("%v parses to %v, error %v", level, got, err)
		}
	}
	if got, err := asm.ParseLevel("AVX2"); got != asm.AVX2 || err != nil {
		t.Errorf("AVX2 parses to %v, error %v: want case not to matter", got, err)
	}
	want := `SIMD level is "sse": want one of generic, avx2, avx512, neon`
	if _, err := asm.ParseLevel("sse"); err == nil || err.Error() != want {
		t.Errorf("sse: error %v: want %s", err, want)
	}
	if s := asm.Level(99).String(); s != "Level(99)" {
		t.Errorf("level 99 prints as %q", s)
	}
}

func FuzzParseLevel(f *testing.F) {
	f.Add("generic")
	f.Add("AVX512")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		level, err := asm.ParseLevel(s)
		if err != nil {
			return
		}
		if again, err := asm.ParseLevel(level.String()); err != nil || again != level {
			t.Errorf("%q is %v, which parses to %v, error %v", s, level, again, err)
		}
	})
}

func ExampleSelect() {
	table, err := asm.Select(asm.Generic)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Level, table.Dot([]float64{1, 2, 3}, []float64{4, 5, 6}))
	// Output: generic 32
}
