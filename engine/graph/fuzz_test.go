package graph_test

import (
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// FuzzNearest: neighbors, pairs within a radius and adjacency agree with a search of all distances,
// ties included, for dense and sparse points and any number of workers.
func FuzzNearest(f *testing.F) {
	for n := range 40 {
		seed := make([]byte, 24)
		for i := range seed {
			seed[i] = byte((i*i + 5*i + 3) * (2*n + 1))
		}
		f.Add(seed)
	}
	linear, engines := enginetest.Kernel(f, "linear"), []int{1, 3}
	f.Fuzz(func(t *testing.T, input []byte) {
		b := asmtest.NewBytes(input)
		n, d, eng := 2+b.Below(28), 1+b.Below(5), enginetest.New(t, engines[b.Below(2)])
		count := 1 + b.Below(n-1)
		dense := &points.Dense{N: n, D: d, Data: b.Tames(n * d)}
		for range b.Below(6) {
			copy(dense.Row(b.Below(n)), dense.Row(b.Below(n))) // equal points
		}
		from, to := b.Below(n), b.Below(n)
		for _, x := range []points.Points{dense, enginetest.Sparse(dense)} {
			found, err := graph.Nearest(t.Context(), eng, linear, x, count)
			if err != nil {
				if !fault.IsInput(err) {
					t.Fatalf("%T: error %v is not an input error", x, err)
				}
				continue
			}
			for i := range n {
				index, squared := found.Of(i)
				if want := brute(x, i, count); !slices.Equal(index, want) {
					t.Fatalf("%T: the %d neighbors of %d are %v: want %v", x, count, i, index, want)
				}
				for a, j := range index {
					if want := kernel.SquaredDistance(x, x, i, int(j)); squared[a] != want {
						t.Fatalf("%T: squared distance %d of %d is %v: want %v", x, a, i, squared[a], want)
					}
				}
			}
			joined(t, found)
			if radius := math.Sqrt(kernel.SquaredDistance(x, x, from, to)); radius > 0 {
				within, err := graph.Within(t.Context(), eng, linear, x, radius)
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					var col []int32
					for j := range n {
						if j != i && kernel.SquaredDistance(x, x, i, j) <= radius*radius {
							col = append(col, int32(j))
						}
					}
					if got, _ := within.Row(i); !slices.Equal(got, col) {
						t.Fatalf("%T: within %v of %d are %v: want %v", x, radius, i, got, col)
					}
				}
			}
		}
	})
}

// joined checks adjacency against its definition.
func joined(t *testing.T, found *graph.Neighbors) {
	t.Helper()
	has := func(i, j int) bool {
		index, _ := found.Of(i)
		return slices.Contains(index, int32(j))
	}
	for _, rule := range []graph.Rule{graph.Union, graph.Mutual} {
		a := found.Adjacency(rule, graph.Binary)
		for i := range found.N {
			var want []int32
			for j := range found.N {
				if rule == graph.Union && (has(i, j) || has(j, i)) || rule == graph.Mutual && has(i, j) && has(j, i) {
					want = append(want, int32(j))
				}
			}
			if got, _ := a.Row(i); !slices.Equal(got, want) {
				t.Fatalf("rule %v: %d is joined to %v: want %v", rule, i, got, want)
			}
		}
	}
}
