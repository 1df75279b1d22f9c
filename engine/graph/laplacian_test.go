package graph_test

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
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// blobs returns two groups of points far from each other, and a single point even further away.
func blobs(rng *rand.Rand, each int) *points.Dense {
	x := &points.Dense{N: 2*each + 1, D: 2}
	for i := range 2 * each {
		x.Data = append(x.Data, rng.NormFloat64()+100*float64(i%2), rng.NormFloat64())
	}
	x.Data = append(x.Data, 1e4, 0)
	return x
}

func neighbors(t *testing.T, x points.Points, count int) *graph.Neighbors {
	t.Helper()
	n, err := graph.Nearest(t.Context(), enginetest.New(t, 2), enginetest.Kernel(t, "linear"), x, count)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Edges are exactly those of the rule, with the weight of their distance; the matrix is symmetric
// and has no loops.
func TestAdjacency(t *testing.T) {
	x := blobs(rand.New(rand.NewPCG(1, 2)), 40)
	n := neighbors(t, x, 4)
	heat := func(squared float64) float64 { return math.Exp(-squared / 18) }
	for _, rule := range []graph.Rule{graph.Union, graph.Mutual} {
		a := n.Adjacency(rule, heat)
		if err := graph.Check(a); err != nil {
			t.Fatal(err)
		}
		for i := range x.N {
			ofI, squared := n.Of(i)
			for j := range x.N {
				ofJ, _ := n.Of(j)
				there, back := slices.Contains(ofI, int32(j)), slices.Contains(ofJ, int32(i))
				joined := there && back || rule == graph.Union && (there || back)
				if !joined && a.At(i, j) != 0 || joined && i == j {
					t.Fatalf("rule %d: (%d,%d) is %v", rule, i, j, a.At(i, j))
				}
				if at := slices.Index(ofI, int32(j)); joined && at >= 0 {
					if want := math.Exp(-squared[at] / 18); a.At(i, j) != want {
						t.Fatalf("rule %d: (%d,%d) is %v: want %v", rule, i, j, a.At(i, j), want)
					}
				}
			}
		}
	}
}

// x'Lx is the sum of w (x_i - x_j)^2 over edges. In the normalized form, the values of x are
// divided by the square roots of the degrees, and the eigenvalues lie in [0, 2]. Points without
// edges have zero rows.
func TestLaplacian(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	n := neighbors(t, blobs(rng, 30), 3)
	heat := func(squared float64) float64 { return math.Exp(-squared / 8) }
	for _, rule := range []graph.Rule{graph.Union, graph.Mutual} {
		a := n.Adjacency(rule, heat)
		degrees := graph.Degrees(a)
		for _, normalized := range []bool{false, true} {
			l, err := graph.Laplacian(a, normalized)
			if err != nil {
				t.Fatal(err)
			}
			x, y := make([]float64, n.N), make([]float64, n.N)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			for i := range y {
				col, val := l.Row(i)
				for k, c := range col {
					y[i] += val[k] * x[c]
				}
			}
			got, want := 0.0, 0.0
			for i := range x {
				got += x[i] * y[i]
				for j := range i {
					xi, xj := x[i], x[j]
					if w := a.At(i, j); w > 0 {
						if normalized {
							xi, xj = xi/math.Sqrt(degrees[i]), xj/math.Sqrt(degrees[j])
						}
						want += w * (xi - xj) * (xi - xj)
					}
				}
				if degrees[i] == 0 && y[i] != 0 {
					t.Errorf("row %d of a point without edges gives %v: want 0", i, y[i])
				}
			}
			if math.Abs(got-want) > 1e-12*want {
				t.Errorf("rule %d, normalized %t: x'Lx is %v: want %v", rule, normalized, got, want)
			}
			full := blas.NewMatrix(n.N, n.N)
			for i := range n.N {
				col, val := l.Row(i)
				for k, j := range col {
					full.Set(i, int(j), val[k])
				}
				if !slices.IsSorted(col) {
					t.Fatalf("the columns of row %d do not ascend", i)
				}
			}
			w := make([]float64, n.N)
			if err := enginetest.New(t, 1).Backend().SymEig(full, w, false); err != nil {
				t.Fatal(err)
			}
			if w[0] < -1e-13*w[n.N-1] || normalized && w[n.N-1] > 2+1e-13 {
				t.Errorf("rule %d, normalized %t: eigenvalues from %v to %v", rule, normalized, w[0],
					w[n.N-1])
			}
			// There are as many zero eigenvalues as connected components.
			_, count := graph.Components(a)
			if w[count-1] > 1e-10 || count < n.N && w[count] < 1e-10 {
				t.Errorf("rule %d, normalized %t: %d components, eigenvalues %v there", rule, normalized,
					count, w[count-1:count+1])
			}
		}
	}
}

func TestComponents(t *testing.T) {
	x := blobs(rand.New(rand.NewPCG(5, 6)), 30)
	n := neighbors(t, x, 8)
	label, count := graph.Components(n.Adjacency(graph.Mutual, graph.Binary))
	if count < 3 || label[60] == label[0] || label[60] == label[1] {
		t.Errorf("%d components: want the single point to be one", count)
	}
	for i := range 60 {
		if label[i] == label[i^1] {
			t.Errorf("points %d and %d of different groups share a component", i, i^1)
		}
	}
	// Edges of weight 0 do not make a path.
	path := &sparse.Matrix{Rows: 3, Cols: 3, Start: []int{0, 1, 3, 4}, Col: []int32{1, 0, 2, 1},
		Val: []float64{1, 1, 0, 0}}
	if label, count := graph.Components(path); count != 2 || !slices.Equal(label, []int{0, 0, 1}) {
		t.Errorf("components %v: want 0 0 1", label)
	}
	if label, count := graph.Components(&sparse.Matrix{Start: []int{0}}); count != 0 || len(label) != 0 {
		t.Errorf("no points have %d components", count)
	}
}

// Identical points have edges of weight 1 to the lowest indices, and a Laplacian.
func TestIdenticalPoints(t *testing.T) {
	x := &points.Dense{N: 6, D: 2, Data: make([]float64, 12)}
	n := neighbors(t, x, 2)
	for i := range 6 {
		index, squared := n.Of(i)
		want := []int32{0, 1}
		if i == 0 {
			want = []int32{1, 2}
		} else if i == 1 {
			want = []int32{0, 2}
		}
		if !slices.Equal(index, want) || squared[0] != 0 || squared[1] != 0 {
			t.Errorf("point %d has %v at %v: want %v at 0", i, index, squared, want)
		}
	}
	a := n.Adjacency(graph.Mutual, graph.Binary)
	if col, _ := a.Row(5); len(col) != 0 {
		t.Errorf("point 5, a neighbor of no point, has edges to %v", col)
	}
	if _, err := graph.Laplacian(a, true); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	for what, c := range map[string]struct {
		a   *sparse.Matrix
		row int
		col string
		msg string
	}{
		"asymmetric": {&sparse.Matrix{Rows: 2, Cols: 2, Start: []int{0, 1, 2}, Col: []int32{1, 0},
			Val: []float64{1, 2}}, 0, "1", "want a symmetric matrix"},
		"one way": {&sparse.Matrix{Rows: 2, Cols: 2, Start: []int{0, 0, 1}, Col: []int32{0},
			Val: []float64{2}}, 1, "0", "want a symmetric matrix"},
		"negative": {&sparse.Matrix{Rows: 1, Cols: 1, Start: []int{0, 1}, Col: []int32{0},
			Val: []float64{-1}}, 0, "0", "weight -1: want a finite number"},
		"NaN": {&sparse.Matrix{Rows: 1, Cols: 1, Start: []int{0, 1}, Col: []int32{0},
			Val: []float64{math.NaN()}}, 0, "0", "weight NaN: want a finite number"},
		"infinite": {&sparse.Matrix{Rows: 1, Cols: 1, Start: []int{0, 1}, Col: []int32{0},
			Val: []float64{math.Inf(1)}}, 0, "0", "weight +Inf: want a finite number"},
	} {
		_, err := graph.Laplacian(c.a, false)
		if d, ok := errors.AsType[*fault.DataError](err); !ok || d.Row != c.row || d.Column != c.col ||
			!strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: %v: want a DataError at row %d, column %s, with %q", what, err, c.row, c.col, c.msg)
		}
	}
	if _, err := graph.Laplacian(&sparse.Matrix{Rows: 1, Cols: 2, Start: []int{0, 0}},
		false); !fault.IsInput(err) {
		t.Errorf("not square: %v: want a ShapeError", err)
	}
}

// Order is a permutation that keeps components together and neighbors near: on a path with shuffled
// points it finds the path.
func TestOrder(t *testing.T) {
	const n = 200
	rng := rand.New(rand.NewPCG(3, 4))
	place := rng.Perm(n)
	edges := make([][]int32, n)
	for i := range n - 1 {
		if i == 120 { // two paths
			continue
		}
		a, b := place[i], place[i+1]
		edges[a], edges[b] = append(edges[a], int32(b)), append(edges[b], int32(a))
	}
	m := &sparse.Matrix{Rows: n, Cols: n, Start: []int{0}}
	for _, row := range edges {
		slices.Sort(row)
		for _, j := range row {
			m.Col, m.Val = append(m.Col, j), append(m.Val, 1)
		}
		m.Start = append(m.Start, len(m.Col))
	}
	order := graph.Order(m)
	seen := make([]bool, n)
	for _, i := range order {
		if seen[i] {
			t.Fatalf("point %d comes twice", i)
		}
		seen[i] = true
	}
	if len(order) != n {
		t.Fatalf("%d points: want %d", len(order), n)
	}
	jumps := 0
	for i := range n - 1 {
		if m.At(int(order[i]), int(order[i+1])) == 0 {
			jumps++
		}
	}
	if jumps != 1 {
		t.Errorf("the order leaves the path %d times: want once, between the two", jumps)
	}
}

// weighted turns a symmetric matrix of lengths, negative ones for no edge, into a sparse one.
func weighted(full [][]float64) *sparse.Matrix {
	n := len(full)
	m := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, n+1)}
	for i := range n {
		for j, v := range full[i] {
			if v >= 0 && i != j {
				m.Col, m.Val = append(m.Col, int32(j)), append(m.Val, v)
			}
		}
		m.Start[i+1] = len(m.Col)
	}
	return m
}

// Shortest paths agree with the algorithm of Floyd and Warshall, which loops over all intermediate
// points.
func TestGeodesicsAgreeWithFloydWarshall(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(t, "n")
		edges := make([][]float64, n)
		want := make([][]float64, n)
		for i := range n {
			edges[i], want[i] = make([]float64, n), make([]float64, n)
			for j := range i {
				v := -1.0
				if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					v = float64(rapid.IntRange(0, 8).Draw(t, "length"))
				}
				edges[i][j], edges[j][i] = v, v
			}
		}
		for i := range n {
			for j := range n {
				switch want[i][j] = edges[i][j]; {
				case i == j:
					want[i][j] = 0
				case edges[i][j] < 0:
					want[i][j] = math.Inf(1)
				}
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					want[i][j] = min(want[i][j], want[i][k]+want[k][j])
				}
			}
		}
		got, err := graph.Geodesics(context.Background(), eng, weighted(edges))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				if got.At(i, j) != want[i][j] { // whole numbers: no rounding
					t.Fatalf("from %d to %d: %v, want %v", i, j, got.At(i, j), want[i][j])
				}
			}
		}
	})
}

// Distances that do not fit into the memory limit are refused.
func TestGeodesicsBeyondTheLimit(t *testing.T) {
	a := weighted([][]float64{{0, 1, 0}, {1, 0, 2}, {0, 2, 0}})
	need := engine.MatrixBytes(3, 3)
	for limit, fits := range map[int64]bool{need: true, need - 1: false} {
		_, err := graph.Geodesics(t.Context(), enginetest.With(t, engine.Options{MemoryLimit: limit}), a)
		me, refused := errors.AsType[*fault.MemoryError](err)
		if refused == fits || !refused && err != nil ||
			refused && me.What != "shortest paths between 3 points" {
			t.Errorf("a limit of %d bytes: error %v", limit, err)
		}
	}
}

// A path is as long as the way back, to the last bit, though sums in another order round otherwise.
func TestGeodesicsAreSymmetric(t *testing.T) {
	const n = 40
	rng, edges := rand.New(rand.NewPCG(3, 5)), make([][]float64, n)
	for i := range edges {
		edges[i] = slices.Repeat([]float64{-1}, n)
		if i > 0 {
			edges[i][i-1] = rng.Float64()
			edges[i-1][i] = edges[i][i-1]
		}
	}
	d, err := graph.Geodesics(t.Context(), enginetest.New(t, 2), weighted(edges))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range i {
			if d.At(i, j) != d.At(j, i) {
				t.Fatalf("from %d to %d it is %v, and back %v", i, j, d.At(i, j), d.At(j, i))
			}
		}
	}
}

// Results are bit-identical for any number of workers, with lengths that round.
func TestGeodesicsDoNotDependOnWorkers(t *testing.T) {
	edges := make([][]float64, 200)
	for i := range edges {
		edges[i] = make([]float64, len(edges))
		for j := range edges[i] {
			if edges[i][j] = -1; (i*j+i+j)%23 == 0 {
				edges[i][j] = math.Sqrt(float64(1 + i + j))
			}
		}
	}
	var first []float64
	for _, workers := range []int{1, 2, 5} {
		d, err := graph.Geodesics(context.Background(), enginetest.New(t, workers), weighted(edges))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = d.Data
			continue
		}
		for i, v := range d.Data {
			if v != first[i] {
				t.Fatalf("element %d is %v with %d workers, %v with one", i, v, workers, first[i])
			}
		}
	}
}
