package logdetmetric

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// within is undone by L A L', and keeps a symmetric matrix symmetric.
func TestWithin(t *testing.T) {
	const n = 7
	rng, eng := rand.New(rand.NewPCG(1, 1)), enginetest.New(t, 1)
	l, k := blas.NewMatrix(n, n), blas.NewMatrix(n, n)
	for i := range n {
		for j := range i + 1 {
			l.Set(i, j, rng.NormFloat64())
			k.Set(i, j, rng.NormFloat64())
			k.Set(j, i, k.At(i, j))
		}
		l.Set(i, i, 3+rng.Float64())
	}
	a := k.Clone()
	within(eng, l, a)
	for i := range n {
		for j := range n {
			back := 0.0
			for p := range i + 1 {
				for q := range j + 1 {
					back += l.At(i, p) * a.At(p, q) * l.At(j, q)
				}
			}
			if math.Abs(back-k.At(i, j)) > 1e-13*n*n {
				t.Fatalf("element (%d,%d) of L A L' is %v: want %v", i, j, back, k.At(i, j))
			}
		}
	}
}

// Many points: percentiles are those of drawn pairs, which are pairs of different points and depend
// on the seed alone.
func TestSample(t *testing.T) {
	const n = 2000
	pairs, touched := sample(n, 1), map[int]bool{}
	for _, p := range pairs {
		if p[0] == p[1] || min(p[0], p[1]) < 0 || max(p[0], p[1]) >= n {
			t.Fatalf("pair %v: want two of %d points", p, n)
		}
		touched[p[0]], touched[p[1]] = true, true
	}
	if len(pairs) != maxPairs || len(touched) != n {
		t.Errorf("%d pairs of %d points: want %d of %d", len(pairs), len(touched), maxPairs, n)
	}
	again, others := sample(n, 1), sample(n, 2)
	if again[0] != pairs[0] || again[maxPairs-1] != pairs[maxPairs-1] || others[0] == pairs[0] {
		t.Error("pairs do not depend on the seed alone")
	}
}

// Percentiles whose distances do not fit into the memory limit are refused before they are made.
func TestBoundsMemory(t *testing.T) {
	x := &points.Dense{N: 300, D: 1, Data: make([]float64, 300)}
	for i := range x.Data {
		x.Data[i] = float64(i * i)
	}
	for limit, refused := range map[int64]bool{20 * 300 * 299 / 2: true, 0: false} {
		eng := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: limit})
		_, err := distances(context.Background(), eng, kernel.Linear(), x, 1)
		memory, is := errors.AsType[*fault.MemoryError](err)
		if is != refused || err != nil && !refused {
			t.Errorf("limit %d: error %v", limit, err)
		} else if is && memory.What != "percentiles of squared distances" {
			t.Errorf("limit %d: error of %q", limit, memory.What)
		}
	}
}
