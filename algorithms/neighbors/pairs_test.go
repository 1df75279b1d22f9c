package neighbors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// allPairs returns the pairs within a threshold by comparing all rows, in the documented order.
// With count > 0 one of the rows is among the count nearest of the other.
func allPairs(x blas.Matrix, threshold float64, count int) []Pair {
	pairs := []Pair{}
	for i := range x.Rows {
		var near []Pair
		for j := range x.Rows {
			if d := math.Sqrt(points.SquaredDistance(x.Row(i), x.Row(j))); i != j && d <= threshold {
				near = append(near, Pair{int32(j), 0, d})
			}
		}
		slices.SortFunc(near, Pair.compare)
		if count > 0 {
			near = near[:min(count, len(near))]
		}
		for _, p := range near {
			pairs = append(pairs, Pair{min(int32(i), p.I), max(int32(i), p.I), p.Distance})
		}
	}
	slices.SortFunc(pairs, Pair.compare)
	return slices.Compact(pairs)
}

// clouds returns rows of several kinds: groups, a line in space, lattices with many ties and equal
// rows, columns of different sizes, far from the origin.
func clouds(rng *rand.Rand, kind string, n, d int) blas.Matrix {
	x := enginetest.Matrix(rng, n, d, 0)
	switch kind {
	case "groups":
		for i := range n {
			for c := range d {
				x.Set(i, c, x.At(i/3*3, c)+0.01*rng.NormFloat64())
			}
		}
	case "line":
		for i := range n {
			t := rng.NormFloat64()
			for c := range d {
				x.Set(i, c, t+1e-3*x.At(i, c))
			}
		}
	case "lattice":
		x = enginetest.Lattice(rng, n, d, 4)
	case "scales":
		for i := range n {
			for c := range d {
				x.Set(i, c, x.At(i, c)*math.Pow(10, float64(c%7)))
			}
		}
	case "far":
		for i := range n {
			for c := range d {
				x.Set(i, c, 1e7+x.At(i, c))
			}
		}
	case "outlier":
		if n > 0 && d > 0 {
			x.Set(0, 0, 1e12)
		}
	}
	return x
}

// TestPairs compares with all distances, for thresholds that are distances of the rows themselves,
// so that ties at the threshold occur, and for different numbers of workers.
func TestPairs(t *testing.T) {
	engines := []*engine.Engine{enginetest.New(t, 1), enginetest.New(t, 3)}
	propertytest.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(0, 700).Draw(t, "n"), rapid.IntRange(0, 40).Draw(t, "d")
		kind := rapid.SampledFrom([]string{"normal", "groups", "line", "lattice", "scales", "far",
			"outlier"}).Draw(t, "kind")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0))
		x := clouds(rng, kind, n, d)
		threshold := 1.0
		if n > 1 {
			every := allPairs(x.View(0, min(n, 60), 0, d), math.Inf(1), 0)
			threshold = every[int(float64(len(every)-1)*math.Pow(rapid.Float64Range(0, 1).Draw(t, "quantile"),
				3))].Distance
		}
		count := rapid.SampledFrom([]int{0, 0, 1, 2, 5, 1000}).Draw(t, "neighbors")
		want := allPairs(x, threshold, count)
		for _, eng := range engines {
			got, err := Pairs(context.Background(), eng, x, threshold,
				PairOptions{Neighbors: count, Most: n*n + 1})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %d workers: %d pairs within %v, want %d\n%v\n%v", kind, eng.Workers(), len(got),
					threshold, len(want), firstPairs(got), firstPairs(want))
			}
		}
	})
}

func firstPairs(p []Pair) []Pair { return p[:min(10, len(p))] }

// TestPairsOfManyParts compares with all distances where the tree is deep.
func TestPairsOfManyParts(t *testing.T) {
	eng := enginetest.New(t, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []string{"groups", "normal"} {
		x := clouds(rng, kind, 5000, 6)
		for _, count := range []int{0, 3} {
			want := allPairs(x, 0.4, count)
			got, err := Pairs(context.Background(), eng, x, 0.4, PairOptions{Neighbors: count})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) || len(want) < 100 {
				t.Errorf("%s: %d pairs with %d neighbors, want %d", kind, len(got), count, len(want))
			}
		}
	}
}

// TestBoxes: a row is in the boxes above it, and a box is not farther from a row than its rows.
func TestBoxes(t *testing.T) {
	x := clouds(rand.New(rand.NewPCG(3, 4)), "scales", 1000, 20)
	tree, err := newTree(context.Background(), enginetest.New(t, 2), x)
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.Clone(tree.order)
	slices.Sort(sorted)
	for i, row := range sorted {
		if int(row) != i {
			t.Fatalf("the order is no permutation: %d at %d", row, i)
		}
	}
	for level := range tree.depth + 1 {
		for k := range 1 << level {
			lower, upper := tree.box(level, k)
			lo, hi := tree.bounds(level, k)
			for at := lo; at < hi; at++ {
				if g := gap(tree.y.Row(at), lower, upper, math.Inf(1)); g != 0 {
					t.Fatalf("level %d: row %d is %g from its own box", level, at, g)
				}
				far := math.Sqrt(squared(x, tree.order[0], tree.order[at])) + tree.slack
				if g := math.Sqrt(gap(tree.y.Row(0), lower, upper, math.Inf(1))); g > far {
					t.Fatalf("level %d: the box is %g from a row, but a row in it %g", level, g, far)
				}
			}
		}
	}
}

func TestPairsRefuses(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := enginetest.Matrix(rand.New(rand.NewPCG(5, 6)), 1000, 3, 0)
	large, hole := x.Clone(), x.Clone()
	large.Set(7, 1, 1e200)
	hole.Set(7, 1, math.NaN())
	small, err := engine.New(engine.Options{Workers: 1, MemoryLimit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	one := x.View(0, 1, 0, 3)
	if got, err := Pairs(t.Context(), small, one, 1, PairOptions{}); err != nil || len(got) != 0 {
		t.Errorf("one row, which needs no memory: %v, error %v", got, err)
	}
	for name, c := range map[string]struct {
		eng       *engine.Engine
		x         blas.Matrix
		threshold float64
		o         PairOptions
	}{
		"negative threshold": {eng, x, -1, PairOptions{}},
		"threshold of NaN":   {eng, x, math.NaN(), PairOptions{}},
		"infinite threshold": {eng, x, math.Inf(1), PairOptions{}},
		"negative neighbors": {eng, x, 1, PairOptions{Neighbors: -1}},
		"negative most":      {eng, x, 1, PairOptions{Most: -1}},
		"many more pairs":    {eng, x, 100, PairOptions{Most: 1000}},
		"one pair more":      {eng, x, 100, PairOptions{Most: 1000*999/2 - 1}},
		"many neighbors":     {eng, x, 100, PairOptions{Most: 100, Neighbors: 2}},
		"overflow":           {eng, large, 1, PairOptions{}},
		"NaN":                {eng, hole, 1, PairOptions{}},
		"memory":             {small, x, 1, PairOptions{}},
	} {
		if pairs, err := Pairs(context.Background(), c.eng, c.x, c.threshold, c.o); !fault.IsInput(err) ||
			pairs != nil {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	pairs, err := Pairs(context.Background(), eng, x, 100, PairOptions{Most: 1000 * 999 / 2})
	if err != nil || len(pairs) != 1000*999/2 {
		t.Errorf("%d pairs, error %v: want all", len(pairs), err)
	}
}

// TestPairsCanceled: a canceled search returns the cause, before it has compared all rows; progress
// reaches the number of rows otherwise.
func TestPairsCanceled(t *testing.T) {
	x := enginetest.Matrix(rand.New(rand.NewPCG(7, 8)), 20000, 3, 0)
	ctx, cancel := context.WithCancel(context.Background())
	done := 0
	_, err := Pairs(ctx, enginetest.New(t, 2), x, 0.01, PairOptions{Progress: func(p algorithms.Progress) {
		done = p.Done
		cancel()
	}})
	if !errors.Is(err, context.Canceled) || done == x.Rows {
		t.Errorf("error %v after %d rows: want that of the context", err, done)
	}
	if _, err := Pairs(context.Background(), enginetest.New(t, 2), x, 0.01,
		PairOptions{Progress: func(p algorithms.Progress) {
			done = p.Done
		}}); err != nil || done != x.Rows {
		t.Errorf("%d rows, error %v: want all", done, err)
	}
}

// TestPairsStopped: a search that is stopped at any look at its context, the last one included,
// does not return the pairs so far as if they were all.
func TestPairsStopped(t *testing.T) {
	x, eng := enginetest.Matrix(rand.New(rand.NewPCG(7, 8)), 600, 2, 0), enginetest.New(t, 1)
	stopped := func(at int) (int, error) {
		ctx := enginetest.StopAt(at)
		_, err := Pairs(ctx, eng, x, 0.1, PairOptions{})
		return ctx.Looks(), err
	}
	looks, err := stopped(0)
	if err != nil || looks < 20 {
		t.Fatalf("%d looks, error %v", looks, err)
	}
	for k := range 20 {
		for _, at := range []int{looks - k, 1 + k*looks/20} {
			if _, err := stopped(at); !errors.Is(err, context.Canceled) {
				t.Errorf("stopped at look %d of %d: error %v", at, looks, err)
			}
		}
	}
}
