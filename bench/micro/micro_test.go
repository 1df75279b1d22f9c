package micro

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// TestWorksRun: every case runs on every backend and level of the build, also twice: what a call
// overwrites is restored.
func TestWorksRun(t *testing.T) {
	for _, level := range asm.Supported() {
		works, err := Works(Options{Sizes: []int{1, 30}, SIMD: level.String(), Against: backends.Names()})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, w := range works {
			seen[w.Name] = true
			if w.Threads != 1 && w.Threads != 2 {
				t.Errorf("%s: %d threads: want 1 or 2", w.Name, w.Threads)
			}
			if want := 1 + len(backends.Names()); w.Name == "gemm" && len(w.Contenders) != want {
				t.Errorf("gemm: %d contenders: want %d", len(w.Contenders), want)
			}
			for _, c := range w.Contenders {
				if d, err := c.Time(2); err != nil || d <= 0 {
					t.Errorf("%s %s, %s: %v, error %v", w.Name, w.Size, c.Name, d, err)
				}
			}
		}
		for _, name := range Cases() {
			if !seen[name] {
				t.Errorf("%s is in the list of cases, but has no work", name)
			}
		}
	}
}

// TestPlaneGraph: the graph from cells is the graph from all distances.
func TestPlaneGraph(t *testing.T) {
	for _, n := range []int{1, 2, 15, 400} {
		k := min(10, n-1)
		got := planeGraph(n, k)
		r := rand.New(rand.NewPCG(4, uint64(n)))
		x := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}
		for i := range x.Data {
			x.Data[i] = r.Float64()
		}
		if k == 0 {
			if got.Count() != 0 {
				t.Errorf("n=%d: %d edges", n, got.Count())
			}
			continue
		}
		eng, err := engine.New(engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		near, err := graph.Nearest(context.Background(), eng, kernel.Linear(), x, k)
		if err != nil {
			t.Fatal(err)
		}
		if want := near.Adjacency(graph.Union, graph.Binary); !slices.Equal(got.Start, want.Start) ||
			!slices.Equal(got.Col, want.Col) {
			t.Errorf("n=%d: other edges than those of all distances", n)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{
		{Cases: []string{"gem"}}, {Sizes: []int{0}}, {Threads: []int{-1}}, {SIMD: "sse"},
		{Against: []string{"mkl"}},
	} {
		if _, err := Works(o); !fault.IsInput(err) {
			t.Errorf("%+v: error %v: want an input error", o, err)
		}
	}
}
