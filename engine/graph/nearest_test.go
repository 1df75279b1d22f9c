package graph_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/asm/asmtest"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// sets returns points with and without ties, far from the origin, sparse, and few.
func sets(rng *rand.Rand) map[string]points.Points {
	grid := &points.Dense{N: 400, D: 2}
	for i := range 400 {
		grid.Data = append(grid.Data, float64(i%20)/3, float64(i/20)/3)
	}
	spread := &points.Dense{N: 333, D: 7}
	same := &points.Dense{N: 210, D: 3, Data: make([]float64, 630)}
	for range 333 * 7 {
		spread.Data = append(spread.Data, 1e6+rng.NormFloat64())
	}
	sparse := &points.CSR{N: 500, D: 60, Start: []int{0}}
	counts := &points.CSR{N: 300, D: 4000, Start: []int{0}}
	for range sparse.N {
		for c := range sparse.D {
			if rng.IntN(8) == 0 {
				sparse.Col, sparse.Val = append(sparse.Col, int32(c)), append(sparse.Val, rng.NormFloat64())
			}
		}
		sparse.Start = append(sparse.Start, len(sparse.Col))
	}
	for range counts.N {
		for c := range 40 {
			if rng.IntN(3) == 0 {
				counts.Col, counts.Val = append(counts.Col, int32(100*c)),
					append(counts.Val, float64(1+rng.IntN(2)))
			}
		}
		counts.Start = append(counts.Start, len(counts.Col))
	}
	return map[string]points.Points{"grid": grid, "spread": spread, "same": same, "sparse": sparse,
		"counts": counts,
		"two":    &points.Dense{N: 2, D: 1, Data: []float64{1, 2}}}
}

// brute sorts all distances, sums of squared differences in the order of the features.
func brute(x points.Points, i, count int) []int32 {
	var order []int32
	d := make([]float64, x.Len())
	for j := range d {
		d[j] = kernel.SquaredDistance(x, x, i, j)
		if j != i {
			order = append(order, int32(j))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(d[a], d[b]), cmp.Compare(a, b)) })
	return order[:count]
}

// The neighbors agree with a full sort of all distances, ties included, for any number of workers.
func TestNearest(t *testing.T) {
	linear := enginetest.Kernel(t, "linear")
	for name, x := range sets(rand.New(rand.NewPCG(1, 2))) {
		for _, count := range []int{1, 5, 40} {
			if count >= x.Len() {
				continue
			}
			for _, workers := range []int{1, 3} {
				eng := enginetest.New(t, workers)
				got, err := graph.Nearest(t.Context(), eng, linear, x, count)
				if err != nil {
					t.Fatal(err)
				}
				for i := range x.Len() {
					index, squared := got.Of(i)
					if want := brute(x, i, count); !slices.Equal(index, want) {
						t.Fatalf("%s, %d workers: the %d neighbors of %d are %v: want %v", name, workers,
							count, i, index, want)
					}
					for a, j := range index {
						if want := kernel.SquaredDistance(x, x, i, int(j)); squared[a] != want {
							t.Fatalf("%s: squared distance %d of %d is %v: want %v", name, a, i, squared[a],
								want)
						}
					}
				}
			}
		}
	}
}

// The pairs within a radius agree with all distances, both ways and in order, for any number of
// workers.
func TestWithin(t *testing.T) {
	linear := enginetest.Kernel(t, "linear")
	for name, x := range sets(rand.New(rand.NewPCG(1, 2))) {
		n := x.Len()
		radius := math.Sqrt(kernel.SquaredDistance(x, x, 0, n-1)) // exactly a distance that occurs, or 0
		if radius == 0 {
			radius = 1
		}
		for _, workers := range []int{1, 3} {
			got, err := graph.Within(t.Context(), enginetest.New(t, workers), linear, x, radius)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				var col []int32
				var val []float64
				for j := range n {
					if d := kernel.SquaredDistance(x, x, i, j); j != i && d <= radius*radius {
						col, val = append(col, int32(j)), append(val, d)
					}
				}
				if c, v := got.Row(i); !slices.Equal(c, col) || !slices.Equal(v, val) {
					t.Fatalf("%s, %d workers: point %d has %v at %v, want %v at %v", name, workers, i, c, v,
						col, val)
				}
			}
		}
	}
	for _, radius := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := graph.Within(t.Context(), enginetest.New(t, 1), linear,
			&points.Dense{N: 1, D: 1, Data: []float64{1}}, radius); !fault.IsInput(err) {
			t.Errorf("radius %v: error %v", radius, err)
		}
	}
}

// NearestRows is the search of the linear kernel. Where squared lengths overflow it is one by
// differences: rows on two sides that are too far apart for a distance have neighbors on their own.
func TestNearestRows(t *testing.T) {
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(5, 6))
	const unit = 0x1p505
	draw := func(n int, side float64) *points.Dense {
		x := &points.Dense{N: n, D: 3}
		for i := range n {
			for range x.D {
				x.Data = append(x.Data, unit*float64(rng.IntN(40))+side*float64(2*(i%2)-1))
			}
		}
		return x
	}
	for _, side := range []float64{0, 0x1p515} {
		x, y := draw(150, side), draw(70, side)
		if side == 0 {
			for _, p := range []*points.Dense{x, y} {
				for k := range p.Data {
					p.Data[k] /= unit
				}
			}
		}
		for _, among := range []*points.Dense{nil, y} {
			got, err := graph.NearestRows(t.Context(), eng, x, among, 4)
			if err != nil {
				t.Fatal(err)
			}
			from := among
			if among == nil {
				from = x
			}
			for i := range x.N {
				var order []int32
				d := make([]float64, from.N)
				for j := range d {
					for c, v := range from.Row(j) {
						d[j] += (v - x.Row(i)[c]) * (v - x.Row(i)[c])
					}
					if among != nil || i != j {
						order = append(order, int32(j))
					}
				}
				slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(d[a], d[b]) })
				index, squared := got.Of(i)
				if !slices.Equal(index, order[:4]) || squared[3] != d[order[3]] || math.IsInf(squared[3], 1) {
					t.Fatalf("side %g: point %d has %v at %v: want %v", side, i, index, squared, order[:4])
				}
			}
		}
	}
}

// Between a set and itself, the nearest point is the point or an equal one with a lower index, and
// the rest are its neighbors.
func TestNearestBetween(t *testing.T) {
	linear, eng := enginetest.Kernel(t, "linear"), enginetest.New(t, 2)
	for name, x := range sets(rand.New(rand.NewPCG(3, 4))) {
		got, err := graph.NearestBetween(t.Context(), eng, linear, x, x, 2)
		if err != nil {
			t.Fatal(err)
		}
		self, err := graph.Nearest(t.Context(), eng, linear, x, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Len() {
			index, squared := got.Of(i)
			other, distance := self.Of(i)
			if squared[0] != 0 || squared[1] != distance[0] {
				t.Fatalf("%s: point %d has %v at %v: want 0 and %v", name, i, index, squared, distance)
			}
			if !slices.Contains(index, other[0]) {
				t.Fatalf("%s: point %d has %v: want %d among them", name, i, index, other[0])
			}
		}
	}
}

// An engine with a cache searches once for the same arguments, and again if any argument differs.
func TestNearestBetweenIsKept(t *testing.T) {
	eng, err := enginetest.New(t, 2).Sharing(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	cloud := func(n int) *points.Dense {
		x := &points.Dense{N: n, D: 3, Data: make([]float64, 3*n)}
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		return x
	}
	x, y := cloud(30), cloud(40)
	for k, c := range []struct {
		x, y   *points.Dense
		kernel string
		count  int
		hits   int64
	}{{x, y, "linear", 3, 0}, {x, y, "linear", 3, 1}, {y, x, "linear", 3, 1}, {x, y, "linear", 4, 1},
		{x, y, "rbf:sigma=1", 3, 1}, {y, y, "linear", 3, 1}} {
		kept, err := graph.NearestBetween(t.Context(), eng, enginetest.Kernel(t, c.kernel), c.x, c.y, c.count)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := graph.NearestBetween(t.Context(), enginetest.New(t, 2), enginetest.Kernel(t, c.kernel),
			c.x, c.y, c.count)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(kept.Index, fresh.Index) || !slices.Equal(kept.Squared, fresh.Squared) {
			t.Errorf("search %d: other neighbors than without a cache", k)
		}
		if got := eng.Cache().Stats().Hits; got != c.hits {
			t.Errorf("search %d: %d hits so far, want %d", k, got, c.hits)
		}
	}
}

// In the feature space of a Gaussian kernel the neighbors are the Euclidean ones, as the kernel
// decreases with the distance; a Gram matrix gives the neighbors of its points.
func TestNearestInFeatureSpace(t *testing.T) {
	eng, rng := enginetest.New(t, 2), rand.New(rand.NewPCG(5, 6))
	x := &points.Dense{N: 150, D: 3}
	for range 450 {
		x.Data = append(x.Data, rng.NormFloat64())
	}
	want, err := graph.Nearest(t.Context(), eng, enginetest.Kernel(t, "linear"), x, 6)
	if err != nil {
		t.Fatal(err)
	}
	gram, err := enginetest.Kernel(t, "linear").Gram(t.Context(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	precomputed, err := points.NewGram(x.N, x.N, gram.Data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, search := range map[string]func() (*graph.Neighbors, error){
		"rbf": func() (*graph.Neighbors, error) {
			return graph.Nearest(t.Context(), eng, enginetest.Kernel(t, "rbf:sigma=2"), x, 6)
		},
		"Gram": func() (*graph.Neighbors, error) {
			return graph.Nearest(t.Context(), eng, enginetest.Kernel(t, "linear"), precomputed, 6)
		},
	} {
		got, err := search()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Index, want.Index) {
			t.Errorf("%s: other neighbors than the Euclidean ones", what)
		}
	}
}

func TestNearestRejects(t *testing.T) {
	eng, linear := enginetest.New(t, 1), enginetest.Kernel(t, "linear")
	x := &points.Dense{N: 3, D: 1, Data: []float64{1, 2, 3}}
	for _, count := range []int{-1, 0, 3} {
		_, err := graph.Nearest(t.Context(), eng, linear, x, count)
		if p, ok := errors.AsType[*fault.ParamError](err); !ok ||
			p.Want != "a number from 1 to 2, one less than the number of points" {
			t.Errorf("count %d: %v: want a ParamError with the range", count, err)
		}
	}
	if _, err := graph.NearestBetween(t.Context(), eng, linear, x, x, 4); err == nil {
		t.Error("4 neighbors among 3 points: want an error")
	}
	small, err := engine.New(engine.Options{MemoryLimit: 40})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := graph.Nearest(t.Context(), small, linear, x, 2); !fault.IsInput(err) {
		t.Errorf("%v: want a MemoryError", err)
	}
	if _, err := graph.NewLists(small, 3, 2, 1); !fault.IsInput(err) {
		t.Errorf("lists of 6 neighbors in 40 bytes: %v: want a MemoryError", err)
	}
}

func BenchmarkNearest(b *testing.B) {
	eng := enginetest.New(b, 0)
	linear := enginetest.Kernel(b, "linear")
	for _, s := range []struct{ n, d int }{{10000, 64}, {16100, 123}} {
		rng := rand.New(rand.NewPCG(1, 1))
		x := &points.Dense{N: s.n, D: s.d, Data: make([]float64, s.n*s.d)}
		for i := range x.Data {
			x.Data[i] = rng.Float64()
		}
		b.Run(fmt.Sprintf("n=%d/d=%d/k=10", s.n, s.d), func(b *testing.B) {
			for b.Loop() {
				if _, err := graph.Nearest(b.Context(), eng, linear, x, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

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
				if rule == graph.Union && (has(i, j) || has(j, i)) || rule == graph.Mutual && has(i, j) &&
					has(j, i) {
					want = append(want, int32(j))
				}
			}
			if got, _ := a.Row(i); !slices.Equal(got, want) {
				t.Fatalf("rule %v: %d is joined to %v: want %v", rule, i, got, want)
			}
		}
	}
}

// Two groups on a line: the graph of nearest neighbors has two connected components.
func ExampleNearest() {
	ctx := context.Background()
	eng, err := engine.New(engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := points.NewDense(6, 1, []float64{0, 1, 3, 100, 101, 103})
	if err != nil {
		fmt.Println(err)
		return
	}
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	index, squared := near.Of(2)
	fmt.Println("neighbors of point 2:", index, "at squared distances", squared)

	a := near.Adjacency(graph.Union, graph.Binary)
	label, count := graph.Components(a)
	fmt.Println(count, "parts:", label)

	l, err := graph.Laplacian(a, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	columns, values := l.Row(2)
	fmt.Println("row 2 of the Laplacian:", columns, values)
	// Output:
	// neighbors of point 2: [1 0] at squared distances [4 9]
	// 2 parts: [0 0 0 1 1 1]
	// row 2 of the Laplacian: [0 1 2] [-1 -1 2]
}
