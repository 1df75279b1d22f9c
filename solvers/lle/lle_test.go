package lle_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
)

func normal(seed uint64, n, d int) *points.Dense {
	return enginetest.Normal(rand.New(rand.NewPCG(seed, seed)), n, d, 0)
}

func neighbors(t testing.TB, eng *engine.Engine, x points.Points, k int) []int32 {
	t.Helper()
	n, err := graph.Nearest(t.Context(), eng, enginetest.Kernel(t, "linear"), x, k)
	if err != nil {
		t.Fatal(err)
	}
	return n.Index
}

// TestWeights checks that the weights sum to 1 and minimize |x - sum w x_a|^2 + r tr(G) |w|^2 among
// those that do: all elements of the gradient are equal.
func TestWeights(t *testing.T) {
	for _, k := range []int{1, 2, 5, 12, 70} {
		for _, d := range []int{1, 3, 80} {
			x := normal(uint64(k), 131, d)
			eng := enginetest.New(t, 2)
			near := neighbors(t, eng, x, k)
			for _, r := range []float64{1e-3, 0.5} {
				w, err := lle.Weights(t.Context(), eng, x.N, k, lle.OfVectors(eng, x, near, k), r)
				if err != nil {
					t.Fatal(err)
				}
				for i := range x.N {
					rest := slices.Clone(x.Row(i))
					trace, sum := 0.0, 0.0
					for a, j := range near[i*k : (i+1)*k] {
						sum += w.At(i, a)
						for f, v := range x.Row(int(j)) {
							rest[f] -= w.At(i, a) * v
							trace += (x.Row(i)[f] - v) * (x.Row(i)[f] - v)
						}
					}
					if math.Abs(sum-1) > 1e-12 {
						t.Fatalf("k=%d d=%d: the weights of point %d add up to %v", k, d, i, sum)
					}
					low, high := math.Inf(1), math.Inf(-1)
					for a, j := range near[i*k : (i+1)*k] {
						g := r * trace * w.At(i, a)
						for f, v := range x.Row(int(j)) {
							g += rest[f] * (x.Row(i)[f] - v)
						}
						low, high = min(low, g), max(high, g)
					}
					if high-low > 1e-11*trace {
						t.Fatalf("k=%d d=%d r=%v: the gradient of point %d varies from %v to %v", k, d, r, i,
							low, high)
					}
				}
			}
		}
	}
}

// TestWeightsOfKernel checks that a linear kernel gives the weights of the vectors, and that
// results are bit-identical for any number of workers and any batch.
func TestWeightsOfKernel(t *testing.T) {
	const k = 6
	x := normal(3, 101, 10)
	one, three := enginetest.New(t, 1), enginetest.New(t, 3)
	near := neighbors(t, one, x, k)
	value, err := enginetest.Kernel(t, "linear").Values(t.Context(), one, x)
	if err != nil {
		t.Fatal(err)
	}
	var all []blas.Matrix
	for _, g := range []lle.Gram{lle.OfVectors(one, x, near, k), lle.OfKernel(value, near, k)} {
		for _, eng := range []*engine.Engine{one, three} {
			w, err := lle.Weights(t.Context(), eng, x.N, k, g, lle.DefaultRegularization)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, w)
		}
		alone, err := lle.Weights(t.Context(), one, 1, k, func(_ int, m []float64, stride int) {
			g(77, m, stride)
		}, lle.DefaultRegularization)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone.Row(0), all[len(all)-1].Row(77)) {
			t.Error("a point alone has other bits than among others")
		}
	}
	if !slices.Equal(all[0].Data, all[1].Data) || !slices.Equal(all[2].Data, all[3].Data) {
		t.Error("other bits with three workers")
	}
	for i, v := range all[0].Data {
		if math.Abs(v-all[2].Data[i]) > 1e-10*(1+math.Abs(v)) {
			t.Fatalf("weight %d is %v from vectors and %v from the kernel", i, v, all[2].Data[i])
		}
	}
}

// TestCopies checks that a point among copies of itself has equal weights.
func TestCopies(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := &points.Dense{N: 5, D: 2, Data: slices.Repeat([]float64{1, 2}, 5)}
	w, err := lle.Weights(t.Context(), eng, 5, 4, lle.OfVectors(eng, x, neighbors(t, eng, x, 4), 4), 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range w.Data {
		if v != 0.25 {
			t.Fatalf("weights %v: want 0.25 each", w.Data)
		}
	}
}

func TestRejects(t *testing.T) {
	eng := enginetest.New(t, 2)
	singular := func(i int, g []float64, stride int) {
		for a := range 3 {
			for b := range a + 1 {
				g[(a*3+b)*stride] = 1
				if i != 300 && a == b {
					g[(a*3+b)*stride] = 2
				}
			}
		}
	}
	_, err := lle.Weights(t.Context(), eng, 400, 3, singular, 0)
	if d, ok := errors.AsType[*fault.DataError](err); !ok || d.Row != 300 {
		t.Errorf("%v: want a DataError at row 300", err)
	}
	if _, err := lle.Weights(t.Context(), eng, 400, 3, singular, 1e-3); err != nil {
		t.Errorf("regularized: %v", err)
	}
	for _, bad := range []struct {
		k int
		r float64
	}{{0, 1}, {3, -1}, {3, math.NaN()}, {3, math.Inf(1)}} {
		if _, err := lle.Weights(t.Context(), eng, 1, bad.k, singular, bad.r); !fault.IsInput(err) {
			t.Errorf("k=%d r=%v: %v: want a ParamError", bad.k, bad.r, err)
		}
	}
}

func BenchmarkWeights(b *testing.B) {
	eng := enginetest.New(b, 0)
	x := normal(1, 10000, 64)
	near := neighbors(b, eng, x, 10)
	b.Run(fmt.Sprintf("n=%d/d=%d/k=10", x.N, x.D), func(b *testing.B) {
		for b.Loop() {
			if _, err := lle.Weights(b.Context(), eng, x.N, 10, lle.OfVectors(eng, x, near, 10),
				1e-3); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestFailures: what fails on the way fails the weights, with its error.
func TestFailures(t *testing.T) {
	eng, x := enginetest.New(t, 1), normal(1, 300, 3)
	near := neighbors(t, eng, x, 4)
	enginetest.FailEverywhere(t, "weights", 60, func(ctx context.Context) error {
		_, err := lle.Weights(ctx, eng, x.N, 4, lle.OfVectors(eng, x, near, 4), 1e-3)
		return err
	})
}
