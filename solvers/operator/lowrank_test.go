package operator

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func cloud(t interface{ Fatal(...any) }, n, d int, seed uint64) *points.Dense {
	rng, data := rand.New(rand.NewPCG(seed, 1)), make([]float64, n*d)
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	x, err := points.NewDense(n, d, data)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func gaussian(t interface{ Fatal(...any) }, text string) kernel.Kernel {
	spec, err := kernel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// restOf returns K - G G'.
func restOf(t interface{ Fatal(...any) }, eng *engine.Engine, k kernel.Kernel, x points.Points,
	f *Factor) blas.Matrix {
	rest, err := k.Gram(context.Background(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rest.Rows {
		for j := range rest.Cols {
			for c, v := range f.G.Row(i) {
				rest.Set(i, j, rest.At(i, j)-v*f.G.At(j, c))
			}
		}
	}
	return rest
}

// TestRest checks, from the definition, that the rest is positive semidefinite and zero in the rows
// of the pivots, that its trace is the share that the factor states, and that the triangle is the
// Cholesky factor of the pivots' kernel matrix.
func TestRest(t *testing.T) {
	propertytest.CheckSome(t, 30, func(rt *rapid.T) {
		n := rapid.IntRange(2, 150).Draw(rt, "n")
		x := cloud(rt, n, rapid.IntRange(1, 6).Draw(rt, "d"), rapid.Uint64().Draw(rt, "seed"))
		k := gaussian(rt, rapid.SampledFrom([]string{"rbf:sigma=0.5", "rbf:sigma=3", "linear",
			"exp:width=2"}).Draw(rt, "kernel"))
		eng := enginetest.New(rt, 0)
		o := FactorOptions{Rest: rapid.SampledFrom([]float64{0, 1e-3, 0.1}).Draw(rt, "rest"),
			Most: rapid.IntRange(1, n).Draw(rt, "most"), Seed: 3}
		f, err := NewFactor(context.Background(), eng, k, x, o)
		if err != nil {
			rt.Fatal(err)
		}
		rest, first := restOf(rt, eng, k, x, f), restOf(rt, eng, k, x, &Factor{G: blas.NewMatrix(n, 0)})
		trace, all, noise := 0.0, 0.0, 0.0
		for i := range n {
			trace, all = trace+rest.At(i, i), all+first.At(i, i)
			noise = max(noise, 100*float64(n)*0x1p-52*first.At(i, i))
		}
		if math.Abs(trace/all-f.Rest) > 1e-10 {
			rt.Fatalf("the rest has the trace %g, the factor says %g", trace/all, f.Rest)
		}
		if f.Rest > o.Rest && len(f.Pivots) < o.Most && trace > float64(n)*noise {
			rt.Fatalf("%d pivots of at most %d leave %g, more than %g", len(f.Pivots), o.Most, f.Rest, o.Rest)
		}
		for _, p := range f.Pivots {
			for j := range n {
				if math.Abs(rest.At(p, j)) > math.Sqrt(noise) {
					rt.Fatalf("the rest of pivot %d and %d is %g", p, j, rest.At(p, j))
				}
			}
		}
		l := f.Triangle()
		for a, p := range f.Pivots {
			for b, q := range f.Pivots[:a+1] {
				sum := 0.0
				for c := range b + 1 {
					sum += l.At(a, c) * l.At(b, c)
				}
				if l.At(b, a) != 0 && a > b || math.Abs(sum-first.At(p, q)) > noise {
					rt.Fatalf("L L' at %d, %d is %g: want %g", a, b, sum, first.At(p, q))
				}
			}
		}
		values := make([]float64, n)
		if err := eng.SymEig(context.Background(), rest, values, false); err != nil {
			rt.Fatal(err)
		}
		if values[0] < -float64(n)*noise {
			rt.Fatalf("the rest has the eigenvalue %g", values[0])
		}
	})
}

// TestNearBest: the rest is between that of the best factor of the same rank and, as the theorem of
// Chen et al. suggests, twice that of half the rank. The trace of a best rest is the sum of the
// eigenvalues that the factor leaves out.
func TestNearBest(t *testing.T) {
	eng, x, k := enginetest.New(t, 0), cloud(t, 400, 3, 5), gaussian(t, "rbf:sigma=1")
	gram, err := k.Gram(context.Background(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, 400)
	if err := eng.SymEig(context.Background(), gram, values, false); err != nil {
		t.Fatal(err)
	}
	for _, r := range []int{20, 60, 130} {
		best, half := 0.0, 0.0
		for i, v := range values[:400-r/2] {
			if half += v / 400; i < 400-r {
				best += v / 400
			}
		}
		f, err := NewFactor(context.Background(), eng, k, x, FactorOptions{Most: r, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Pivots) != r || f.Rest > 2*half || f.Rest < best*(1-1e-9) {
			t.Errorf("%d pivots of %d leave %g, the best factor %g, and of half the rank %g", len(f.Pivots),
				r, f.Rest, best, half)
		}
	}
}

// TestDuplicates: as many pivots as there are different points are enough.
func TestDuplicates(t *testing.T) {
	x := cloud(t, 12, 3, 2)
	var rows []int
	for i := range 90 {
		rows = append(rows, i%12)
	}
	f, err := NewFactor(context.Background(), enginetest.New(t, 0), gaussian(t, "rbf:sigma=1"),
		x.Select(rows), FactorOptions{Most: 90})
	if err != nil || len(f.Pivots) != 12 || f.Rest > 1e-12 {
		t.Errorf("%d pivots, rest %g, %v: want 12 and none", len(f.Pivots), f.Rest, err)
	}
}

// TestRounding: what is left of a diagonal after a pivot is a second pivot if it is more than the
// rounding of the first, and nothing if it is less.
func TestRounding(t *testing.T) {
	for share, pivots := range map[float64]int{0.5: 1, 4: 2} {
		x, err := points.NewDense(2, 2, []float64{1, 0, 1, math.Sqrt(share * (block + 1) * 0x1p-52)})
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewFactor(t.Context(), enginetest.New(t, 1), gaussian(t, "linear"), x,
			FactorOptions{Most: 2})
		if err != nil || len(f.Pivots) != pivots {
			t.Errorf("a rest of %v roundings: pivots %v, error %v: want %d", share, f, err, pivots)
		}
	}
}

// TestWithoutPivots: a matrix of rounding next to its diagonal has no pivot, and the search ends.
func TestWithoutPivots(t *testing.T) {
	x := &points.Gram{N: 2, M: 2, Data: make([]float64, 4), Diagonal: []float64{1, 1}, Reference: []int{0, 1}}
	f, err := NewFactor(enginetest.StopAt(1000), enginetest.New(t, 1), gaussian(t, "linear"), x,
		FactorOptions{Most: 2})
	if err != nil || len(f.Pivots) != 0 || f.Rest != 1 {
		t.Errorf("factor %v, error %v: want no pivot and a rest of 1", f, err)
	}
}

// TestBits: the number of workers does not change a bit.
func TestBits(t *testing.T) {
	x, k := cloud(t, 700, 8, 4), gaussian(t, "rbf:sigma=2")
	one := enginetest.New(t, 1)
	var before *Factor
	for _, workers := range []int{1, 2, 5} {
		eng := enginetest.With(t, engine.Options{Workers: workers, Backend: one.Backend()})
		f, err := NewFactor(context.Background(), eng, k, x, FactorOptions{Rest: 0.05, Most: 700, Seed: 9})
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && (!slices.Equal(f.Pivots, before.Pivots) ||
			!slices.Equal(f.G.Data, before.G.Data)) {
			t.Errorf("%d workers choose other pivots or values", workers)
		}
		before = f
	}
}

// TestRefuses: options, points and memory.
func TestRefuses(t *testing.T) {
	ctx, x, k := context.Background(), cloud(t, 100, 2, 1), gaussian(t, "linear")
	eng := enginetest.New(t, 0)
	for name, o := range map[string]FactorOptions{"rest": {Rest: 1, Most: 3},
		"nan": {Rest: math.NaN(), Most: 3}, "most": {}} {
		if _, err := NewFactor(ctx, eng, k, x, o); !fault.IsInput(err) {
			t.Errorf("%s: %v: want an input error", name, err)
		}
	}
	zero, err := points.NewDense(3, 2, make([]float64, 6))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewFactor(ctx, eng, k, zero, FactorOptions{Most: 2}); !fault.IsInput(err) {
		t.Errorf("points at 0: %v: want an input error", err)
	}
	small, err := engine.New(engine.Options{MemoryLimit: 20000})
	if err != nil {
		t.Fatal(err)
	}
	var memory *fault.MemoryError
	if _, err := NewFactor(ctx, small, k, x, FactorOptions{Most: 50}); !errors.As(err, &memory) ||
		!strings.Contains(err.Error(), "landmarks=12 ") {
		t.Errorf("%v: want a memory error with landmarks=12, which fit into 20000 bytes", err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := NewFactor(stopped, eng, k, x, FactorOptions{Most: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
