package view

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
)

// clustered returns rows of ten separated clusters.
func clustered(n, d int) (blas.Matrix, []int) {
	r := rand.New(rand.NewPCG(5, 6))
	x, of := blas.NewMatrix(n, d), make([]int, n)
	centers := blas.NewMatrix(10, d)
	for k := range centers.Data {
		centers.Data[k] = 4 * r.NormFloat64()
	}
	for i := range n {
		of[i] = i % 10
		for j := range d {
			x.Set(i, j, centers.At(of[i], j)+r.NormFloat64())
		}
	}
	return x, of
}

// apart returns the share of rows whose nearest row in the plane is of their cluster.
func apart(at Flat, of []int) float64 {
	right := 0
	for i := range of {
		best, least := -1, math.Inf(1)
		for j := range of {
			if d := math.Hypot(at.X[i]-at.X[j], at.Y[i]-at.Y[j]); j != i && d < least {
				best, least = j, d
			}
		}
		if of[best] == of[i] {
			right++
		}
	}
	return float64(right) / float64(len(of))
}

// TestNeighborPlane: ten clusters that overlap in two principal components are apart; another
// search from that plane, of the same rows, has every cluster near the same place; bits do not
// depend on the workers; a canceled search ends.
func TestNeighborPlane(t *testing.T) {
	eng := enginetest.New(t, 2)
	x, of := clustered(200, 8)
	first, second, _, err := Plane(t.Context(), eng, x)
	if err != nil {
		t.Fatal(err)
	}
	start := Flat{X: first, Y: second}
	at, err := NeighborPlane(t.Context(), eng, x, start, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	components, neighbors := apart(start, of), apart(at, of)
	if neighbors < 0.99 || components > 0.97 {
		t.Errorf("nearest rows of the same cluster: %.3f in the neighbor embedding, %.3f in principal components", neighbors, components)
	}
	again, err := NeighborPlane(t.Context(), enginetest.New(t, 1), x, start, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range at.X {
		if at.X[i] != again.X[i] || at.Y[i] != again.Y[i] {
			t.Fatalf("row %d is at other places with other workers", i)
		}
	}
	next, err := NeighborPlane(t.Context(), eng, x, at, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	inner := 0.0
	for i := range at.X {
		inner += at.X[i]*next.X[i] + at.Y[i]*next.Y[i]
	}
	if !(inner/(length(at)*length(next)) > 0.9) {
		t.Errorf("the plane that begins at another has the correlation %.3f with it", inner/(length(at)*length(next)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := NeighborPlane(ctx, eng, x, start, 1, func(done, _ int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

func length(at Flat) float64 {
	sum := 0.0
	for i := range at.X {
		sum += at.X[i]*at.X[i] + at.Y[i]*at.Y[i]
	}
	return math.Sqrt(sum)
}

// TestSpread: a row that equals an embedded one lies there, others between their nearest ones.
func TestSpread(t *testing.T) {
	x := blas.MatrixOf(5, 1, []float64{0, 1, 10, 1, 0.5})
	rows := []int{0, 1, 2}
	at, err := spread(t.Context(), enginetest.New(t, 1), kernel.Rows(x), kernel.Rows(x.Select(rows)), rows, Flat{X: []float64{0, 2, 50}, Y: []float64{0, 4, -50}})
	if err != nil {
		t.Fatal(err)
	}
	if at.X[0] != 0 || at.X[1] != 2 || at.X[2] != 50 {
		t.Errorf("embedded rows have moved: %v", at.X)
	}
	if math.Abs(at.X[3]-2) > 1e-6 || math.Abs(at.Y[3]-4) > 1e-6 {
		t.Errorf("the copy of a row is at %v, %v: want 2, 4", at.X[3], at.Y[3])
	}
	if !(at.X[4] > 0.9 && at.X[4] < 1.5) {
		t.Errorf("the row in the middle is at %v", at.X[4])
	}
}
