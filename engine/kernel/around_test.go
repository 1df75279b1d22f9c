package kernel_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
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

// scattered returns points of which a share of the values is 0, moved by an offset in all features
// but the last.
func scattered(rng *rand.Rand, n, d int, zeros, offset float64) *points.Dense {
	x := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}
	for k := range x.Data {
		if rng.Float64() >= zeros {
			x.Data[k] = rng.NormFloat64()
		}
		if k%d != d-1 {
			x.Data[k] += offset
		}
	}
	return x
}

// around returns <x_i - m, y_j - m> for the mean m of l, by the definition.
func around(l, x, y *points.Dense, i, j int) (sum float64) {
	for c := range l.D {
		mean := 0.0
		for r := range l.N {
			mean += (l.Row(r)[c] - l.Row(0)[c]) / float64(l.N)
		}
		mean += l.Row(0)[c]
		sum += (x.Row(i)[c] - mean) * (y.Row(j)[c] - mean)
	}
	return sum
}

func linearAround(t enginetest.Fataler, eng *engine.Engine, x points.Points) kernel.Kernel {
	t.Helper()
	k, err := kernel.Linear().Around(context.Background(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A linear kernel of points far from the origin is that around their mean, of dense points, of
// sparse ones (evaluated by lists of features and in the register tile) and of both, in every
// function.
func TestAroundAgainstDefinition(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n, m, d := rapid.IntRange(2, 40).Draw(rt, "n"), rapid.IntRange(1, 5).Draw(rt, "m"),
			rapid.IntRange(2, 60).Draw(rt, "d")
		offset := rapid.SampledFrom([]float64{30, 1e4, 1e8}).Draw(rt, "offset")
		zeros := rapid.SampledFrom([]float64{0, 0.9}).Draw(rt, "zeros")
		l, x := scattered(rng, n, d, zeros, offset), scattered(rng, m, d, zeros, offset)
		if rapid.Bool().Draw(rt, "missing") {
			x.Row(0)[0] = 0 // a feature that all training points have
		}
		kinds := map[string][2]points.Points{"dense": {l, x},
			"sparse":        {enginetest.Sparse(l), enginetest.Sparse(x)},
			"dense, sparse": {l, enginetest.Sparse(x)}, "sparse, dense": {enginetest.Sparse(l), x}}
		for name, p := range kinds {
			k := linearAround(t, eng, p[0])
			if k.Origin() == nil {
				continue // few points that happen to lie far apart
			}
			gram, cross, pairs := gramOf(t, k, eng, p[0]), crossOf(t, k, eng, p[1], p[0]), []float64(nil)
			pairs, err := k.Pairs(t.Context(), eng, p[0], [][2]int{{0, n - 1}, {n - 1, 0}, {0, 0}})
			if err != nil {
				rt.Fatal(err)
			}
			diagonal, err := k.Diagonal(t.Context(), eng, p[0])
			if err != nil {
				rt.Fatal(err)
			}
			check := func(what string, got, want, size float64) {
				if !(math.Abs(got-want) <= 1e-12*float64(d)*size) {
					rt.Fatalf("%s: %s is %v, want %v", name, what, got, want)
				}
			}
			size := slices.Max(diagonal) + math.Abs(around(l, x, x, 0, 0))
			for i := range n {
				check("diagonal", diagonal[i], around(l, l, l, i, i), size)
				for j := range n {
					check("element", gram.At(i, j), around(l, l, l, i, j), size)
				}
				for j := range m {
					check("element between sets", cross.At(j, i), around(l, x, l, j, i), size)
				}
			}
			check("pair", pairs[0], around(l, l, l, 0, n-1), size)
			if pairs[0] != pairs[1] || pairs[2] != diagonal[0] || gram.At(0, 0) != diagonal[0] ||
				gram.At(0, n-1) != gram.At(n-1, 0) {
				rt.Fatalf("%s: pairs %v, diagonal %v, elements %v and %v", name, pairs, diagonal[0],
					gram.At(0, n-1), gram.At(n-1, 0))
			}
		}
	})
}

// A Gram matrix far from the origin has the values of centered points, of which a stored row needs
// no more than its number.
func TestAroundGram(t *testing.T) {
	eng := enginetest.New(t, 2)
	rng := rand.New(rand.NewPCG(3, 3))
	const n, m, offset = 30, 4, 500.0
	l, x := scattered(rng, n, 3, 0, offset), scattered(rng, m, 3, 0, offset)
	g, err := points.NewGram(n, n, gramOf(t, kernel.Linear(), eng, l).Clone().Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	self, err := kernel.Linear().Diagonal(t.Context(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := points.NewGram(m, n, crossOf(t, kernel.Linear(), eng, x, l).Clone().Data, self, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := linearAround(t, eng, g)
	const tolerance = 100 * 0x1p-52 * 3 * offset * offset
	for what, c := range map[string]struct {
		got  blas.Matrix
		x, y *points.Dense
	}{
		"training": {gramOf(t, k, eng, g), l, l},
		"new":      {crossOf(t, k, eng, fresh, g), x, l},
		"stored": {crossOf(t, k, eng, fresh,
			&points.Gram{N: n, M: n, Diagonal: g.Diagonal, Reference: g.Reference}), x, l},
	} {
		for i := range c.got.Rows {
			for j := range c.got.Cols {
				if want := around(l, c.x, c.y, i, j); !(math.Abs(c.got.At(i, j)-want) <= tolerance) {
					t.Fatalf("%s: element (%d, %d) is %v, want %v", what, i, j, c.got.At(i, j), want)
				}
			}
		}
	}
	if noise := k.Noise(g); !(noise > 0 && noise < 1e-6) || k.Noise(l) != 0 || kernel.Linear().Noise(g) != 0 {
		t.Errorf("noise %g", noise)
	}
}

// Points near the origin keep the kernel itself, and so do equal points and other kernels. A Gram
// matrix that has lost its differences is refused.
func TestAroundKeeps(t *testing.T) {
	eng := enginetest.New(t, 1)
	rng := rand.New(rand.NewPCG(4, 4))
	near, far := scattered(rng, 40, 3, 0, 2), scattered(rng, 40, 3, 0, 1e9)
	equal := &points.Dense{N: 3, D: 1, Data: []float64{5, 5, 5}}
	for name, x := range map[string]points.Points{"near": near, "near, sparse": enginetest.Sparse(near),
		"equal": equal, "none": &points.Dense{D: 2}} {
		if k := linearAround(t, eng, x); k.Origin() != nil {
			t.Errorf("%s: a center", name)
		}
	}
	if k, err := enginetest.Kernel(t, "poly:degree=2").Around(t.Context(), eng, far); err != nil ||
		k.Origin() != nil {
		t.Errorf("polynomial: %v", err)
	}
	g, err := points.NewGram(40, 40, gramOf(t, kernel.Linear(), eng, far).Clone().Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var e *fault.DataError
	if _, err := kernel.Linear().Around(t.Context(), eng, g); !errors.As(err, &e) {
		t.Errorf("lost differences: error %v", err)
	}
}
