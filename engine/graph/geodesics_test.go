package graph_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/internal/propertytest"
)

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
