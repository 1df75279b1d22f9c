package outofsample

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/operator"
)

// At a point with the edges of a training point, the formula is the eigenvalue equation: it must
// give the values of the eigenvectors at the training point, wherever the divisor is above its
// bound.
func TestFormulaIsTheEigenvalueEquation(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	checked := 0
	propertytest.Check(t, func(rt *rapid.T) {
		n, r := 40, 6
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		x := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		around := graphkernel.Neighborhood{Graph: graphkernel.KNN, Neighbors: 8,
			Heat: rapid.Bool().Draw(rt, "heat")}
		normalized := rapid.Bool().Draw(rt, "normalized")
		a, s, err := around.Make(ctx, eng, kernel.Linear(), x, blas.Matrix{})
		if err != nil {
			rt.Fatal(err)
		}
		found, err := operator.LaplacianEigenpairs(ctx, eng, a.Sparse, normalized, r, operator.EigenOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		e := NewNystrom(eng, "test", kernel.Linear(), x, NystromRule{
			Vectors: found.Vectors, Values: found.Values, Turn: identity(r), Degrees: graph.Degrees(a.Sparse),
			Neighbors: 8, Similarity: s, Normalized: normalized,
		}).Extension().(*NystromExtension)
		got := make([]float64, r)
		for i := range n {
			var index []int32
			var squared []float64
			for at := a.Sparse.Start[i]; at < a.Sparse.Start[i+1]; at++ {
				j := a.Sparse.Col[at]
				index, squared = append(index, j),
					append(squared, points.SquaredDistance(x.Row(i), x.Row(int(j))))
			}
			e.evaluate(got, index, squared)
			for c, v := range got {
				mu := found.Values[c]
				if !normalized {
					mu /= e.Degrees[i]
				}
				if 1-mu < minDivisor {
					continue
				}
				checked++
				if want := found.Vectors.At(c, i); math.Abs(v-want) > 1e-7 {
					rt.Fatalf("vector %d at point %d is %g, want %g", c, i, v, want)
				}
			}
		}
	})
	if checked < 1000 {
		t.Errorf("%d values were checked, want at least 1000", checked)
	}
}

func identity(n int) blas.Matrix {
	m := blas.NewMatrix(n, n)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// TestBlockOfPoints: points are embedded as each of them alone, also those behind a training point,
// whose coordinates are that point's.
func TestBlockOfPoints(t *testing.T) {
	ctx, eng, rng := t.Context(), enginetest.New(t, 1), rand.New(rand.NewPCG(5, 2))
	x := enginetest.Normal(rng, 30, 2, 0)
	around := graphkernel.Neighborhood{Graph: graphkernel.KNN, Neighbors: 6}
	a, s, err := around.Make(ctx, eng, kernel.Linear(), x, blas.Matrix{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := operator.LaplacianEigenpairs(ctx, eng, a.Sparse, false, 3, operator.EigenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := NewNystrom(eng, "test", kernel.Linear(), x, NystromRule{Vectors: found.Vectors, Values: found.Values,
		Turn: identity(3), Degrees: graph.Degrees(a.Sparse), Neighbors: 6, Similarity: s})
	of, err := m.Extension().Begin(ctx, eng)
	if err != nil {
		t.Fatal(err)
	}
	draw := enginetest.Normal(rng, 5, 2, 0)
	copy(draw.Row(2), x.Row(9))
	all, one := blas.NewMatrix(5, 3), blas.NewMatrix(1, 3)
	all.Row(2)[0] = 7 // to be overwritten
	if err := of(draw, all); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := of(draw.Select([]int{i}), one); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all.Row(i), one.Row(0)) ||
			i == 2 && !slices.Equal(one.Row(0), m.Coordinates().Row(9)) {
			t.Errorf("point %d: %v among others, %v alone", i, all.Row(i), one.Row(0))
		}
	}
}

// Points among more neighbors than dimensions are reconstructed, and so is an affine function of
// them. A point that is a support point, or nearly, has its coordinates.
func TestReconstruct(t *testing.T) {
	const d, neighbors = 3, 6
	rng, eng := rand.New(rand.NewPCG(5, 6)), enginetest.New(t, 2)
	support, x := enginetest.Normal(rng, 30, d, 0), enginetest.Normal(rng, 12, d, 0)
	w := enginetest.Matrix(rng, 2, d, 0)
	affine := func(x *points.Dense) blas.Matrix {
		p := blas.NewMatrix(x.N, 2)
		for i := range x.N {
			for c := range 2 {
				p.Set(i, c, 1+blas.Dot(w.Row(c), x.Row(i)))
			}
		}
		return p
	}
	same := make([]float64, x.N)
	copy(x.Row(4), support.Row(7))
	copy(x.Row(5), support.Row(9))
	x.Row(5)[1] += 1e-3
	same[5] = 2e-6
	apart := func(a, b int) float64 { return points.SquaredDistance(support.Row(a), support.Row(b)) }
	p, want, y := affine(support), affine(x), blas.NewMatrix(x.N, 2)
	copy(want.Row(4), p.Row(7))
	copy(want.Row(5), p.Row(9))
	rule := BarycentricRule{Kernel: kernel.Linear(), Neighbors: neighbors, Reg: 1e-9, Apart: apart}
	if err := rule.Reconstruct(context.Background(), eng, x, support, p, same, y); err != nil {
		t.Fatal(err)
	}
	for i := range x.N {
		for c, v := range want.Row(i) {
			if e := math.Abs(y.At(i, c) - v); e > 1e-6 || i/2 == 2 && e > 0 {
				t.Errorf("coordinate %d of point %d is %v: want %v", c, i, y.At(i, c), v)
			}
		}
	}
}
