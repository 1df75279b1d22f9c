package graph

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// The neighbours are those of all distances sorted, near ones, equal points and ties included, for any number of workers.
func TestNearestSingle(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(2, 250).Draw(rt, "n"), rapid.IntRange(1, 20).Draw(rt, "d")
		m := rapid.IntRange(1, 450).Draw(rt, "m")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))
		shift, whole := rapid.SampledFrom([]float64{0, 50}).Draw(rt, "shift"), rapid.Bool().Draw(rt, "whole")
		drawn := func(n int) *points.Single {
			p := &points.Single{N: n, D: d, Data: make([]float32, n*d)}
			for i := range p.Data {
				v := rng.NormFloat64()
				if whole { // ties
					v = float64(rng.IntN(3))
				}
				p.Data[i] = float32(shift + v)
			}
			return p
		}
		x, y := drawn(n), drawn(m)
		eng := enginetest.New(t, rapid.SampledFrom([]int{1, 2, 3}).Draw(rt, "workers"))
		count := rapid.IntRange(1, n-1).Draw(rt, "count")
		found, err := NearestSingle(t.Context(), eng, x, count)
		if err != nil {
			rt.Fatal(err)
		}
		wantNearest(rt, found, x, x, true)
		found, err = NearestBetweenSingle(t.Context(), eng, x, y, min(m, 7))
		if err != nil {
			rt.Fatal(err)
		}
		wantNearest(rt, found, x, y, false)
	})
}

// wantNearest compares neighbours with those of sorted distances in double precision.
func wantNearest(t *rapid.T, found *Neighbors, x, y *points.Single, itself bool) {
	exact := betweenSingle(x, y)
	for i := range x.N {
		order := make([]int, 0, y.N)
		for j := range y.N {
			if !itself || i != j {
				order = append(order, j)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch p, q := exact(i, a), exact(i, b); {
			case p < q:
				return -1
			case p > q:
				return 1
			}
			return 0
		})
		index, squared := found.Of(i)
		for a := range index {
			if int(index[a]) != order[a] || squared[a] != exact(i, order[a]) {
				t.Fatalf("point %d, neighbour %d: %d at %v, want %d at %v", i, a, index[a], squared[a], order[a], exact(i, order[a]))
			}
		}
	}
}

func TestNearestSingleErrors(t *testing.T) {
	eng, x := enginetest.New(t, 1), &points.Single{N: 3, D: 1, Data: []float32{1, 2, 3}}
	var param *fault.ParamError
	for _, count := range []int{0, 3} {
		if _, err := NearestSingle(t.Context(), eng, x, count); !errors.As(err, &param) {
			t.Errorf("%d neighbours: %v", count, err)
		}
	}
	for _, count := range []int{0, 4} {
		if _, err := NearestBetweenSingle(t.Context(), eng, x, x, count); !errors.As(err, &param) {
			t.Errorf("%d neighbours: %v", count, err)
		}
	}
}
