package view

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// The plane is that of the two largest singular values of the centered rows, computed by another
// library, for tall and for wide data.
func TestPlane(t *testing.T) {
	eng, err := engine.New(engine.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	propertytest.Check(t, func(rt *rapid.T) {
		n, d := rapid.IntRange(1, 30).Draw(rt, "n"), rapid.IntRange(1, 30).Draw(rt, "d")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		x := blas.NewMatrix(n, d)
		for i := range n {
			for j := range d {
				x.Set(i, j, 5+r.NormFloat64()/float64(1+j))
			}
		}
		first, second, share, err := Plane(t.Context(), eng, x)
		if err != nil {
			rt.Fatal(err)
		}
		var pc stat.PC
		var scores mat.Dense
		var vars []float64
		if n > 1 {
			if !pc.PrincipalComponents(mat.NewDense(n, d, x.Data), nil) {
				rt.Fatal("no convergence")
			}
			var directions mat.Dense
			pc.VectorsTo(&directions)
			vars = pc.VarsTo(nil)
			centered := center(eng, x)
			scores.Mul(mat.NewDense(n, d, centered.Data[:n*d]), &directions)
		}
		total := 0.0
		for _, v := range vars {
			total += v
		}
		for k, got := range [][]float64{first, second} {
			if k >= len(vars) || vars[k] < 1e-12*total || total == 0 {
				continue
			}
			if math.Abs(share[k]-vars[k]/total) > 1e-10 {
				rt.Fatalf("share %v: want %v", share[k], vars[k]/total)
			}
			if k+1 < len(vars) && vars[k]-vars[k+1] < 1e-3*vars[0] || k > 0 &&
				vars[k-1]-vars[k] < 1e-3*vars[0] {
				continue // the direction is not well determined
			}
			for i, v := range got {
				if want := scores.At(i, k); math.Abs(math.Abs(v)-math.Abs(want)) > 1e-8 {
					rt.Fatalf("coordinate %d of point %d is %v: want %v up to the sign", k, i, v, want)
				}
			}
		}
	})
}

// Points on a line have no second coordinate, equal points none at all.
func TestPlaneDegenerate(t *testing.T) {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	line := blas.MatrixOf(3, 2, []float64{0, 0, 3, 4, 6, 8})
	first, second, share, err := Plane(t.Context(), eng, line)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-5, 0, 5} {
		if math.Abs(first[i]-want) > 1e-12 || second[i] != 0 {
			t.Errorf("point %d at (%v, %v): want (%v, 0)", i, first[i], second[i], want)
		}
	}
	if math.Abs(share[0]-1) > 1e-12 || share[1] != 0 {
		t.Errorf("shares %v: want 1 and 0", share)
	}
	for _, x := range []blas.Matrix{blas.NewMatrix(0, 3), blas.NewMatrix(3, 0),
		{Rows: 2, Cols: 1, Stride: 1, Data: []float64{7, 7}}} {
		first, second, _, err := Plane(t.Context(), eng, x)
		if err != nil || len(first) != x.Rows || len(second) != x.Rows {
			t.Errorf("%d x %d: %v, %v, error %v", x.Rows, x.Cols, first, second, err)
		}
	}
}

// Results are bit-identical for any number of workers, and squares that overflow are an error.
func TestPlaneWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := blas.NewMatrix(300, 70)
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	var first []float64
	for _, workers := range []int{1, 2, 5} {
		eng, err := engine.New(engine.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		a, b, _, err := Plane(t.Context(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		got := append(a, b...)
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Errorf("%d workers give other bits than 1", workers)
		}
	}
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{1e200, math.Inf(1), math.NaN()} {
		x.Data[0] = v
		if _, _, _, err := Plane(t.Context(), eng, x); !fault.IsInput(err) {
			t.Errorf("a value of %v: error %v: want one of bad input", v, err)
		}
	}
}

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
		t.Errorf("nearest rows of the same cluster: %.3f in the neighbor embedding, %.3f in principal "+
			"components", neighbors, components)
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
		t.Errorf("the plane that begins at another has the correlation %.3f with it",
			inner/(length(at)*length(next)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := NeighborPlane(ctx, eng, x, start, 1, func(done, _ int) {
		cancel()
	}); !errors.Is(err, context.Canceled) {
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
	at, err := spread(t.Context(), enginetest.New(t, 1), kernel.Rows(x), kernel.Rows(x.Select(rows)), rows,
		Flat{X: []float64{0, 2, 50}, Y: []float64{0, 4, -50}})
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
