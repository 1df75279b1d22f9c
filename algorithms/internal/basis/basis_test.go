package basis

import (
	"context"
	goerrors "errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/operator"
)

func cloud(n, d int, seed uint64) *points.Dense {
	return enginetest.Normal(rand.New(rand.NewPCG(seed, 1)), n, d, 0)
}

func choice(kind Kind, rank, neighbors int) Choice {
	return Choice{Kind: kind, Rank: rank,
		Neighborhood: graphkernel.Neighborhood{Graph: graphkernel.KNN, Neighbors: neighbors}}
}

func orthonormal(t enginetest.Fataler, v blas.Matrix) {
	t.Helper()
	for i := range v.Rows {
		for j := range i + 1 {
			sum := 0.0
			for c := range v.Cols {
				sum += v.At(i, c) * v.At(j, c)
			}
			if i == j {
				sum--
			}
			if math.Abs(sum) > 1e-7 {
				t.Fatal("the inner product of vectors ", i, " and ", j, " is off by ", sum)
			}
		}
	}
}

// The vectors of locally linear embedding are the eigenvectors of (I - W)'(I - W) with the smallest
// eigenvalues, compared with those of a full matrix.
func TestLLE(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(20, 60).Draw(rt, "n")
		x := cloud(n, 3, rapid.Uint64().Draw(rt, "seed"))
		c := choice(LLE, rapid.IntRange(1, 8).Draw(rt, "rank"), rapid.IntRange(4, 10).Draw(rt, "neighbors"))
		b, err := c.Make(ctx, eng, kernel.Linear(), x)
		if err != nil {
			rt.Fatal(err)
		}
		orthonormal(rt, b.Vectors)
		near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, c.Neighbors)
		if err != nil {
			rt.Fatal(err)
		}
		w, err := c.weights(ctx, eng, kernel.Linear(), x, near)
		if err != nil {
			rt.Fatal(err)
		}
		residual := blas.NewMatrix(n, n) // I - W
		for i := range n {
			residual.Set(i, i, 1)
			index, _ := near.Of(i)
			for a, j := range index {
				residual.Set(i, int(j), -w.At(i, a))
			}
		}
		e := blas.NewMatrix(n, n)
		eng.Backend().Gemm(true, false, 1, residual, residual, 0, e)
		image := blas.NewMatrix(b.Vectors.Rows, n)
		eng.Backend().Gemm(false, false, 1, b.Vectors, e, 0, image)
		all := make([]float64, n)
		if err := eng.SymEig(ctx, e, all, false); err != nil {
			rt.Fatal(err)
		}
		for r, v := range b.Values {
			if math.Abs(v-all[r]) > 1e-8*all[n-1] {
				rt.Fatalf("value %d is %g, of the full matrix %g", r, v, all[r])
			}
			for i := range n {
				if d := image.At(r, i) - v*b.Vectors.At(r, i); math.Abs(d) > 1e-6*all[n-1] {
					rt.Fatalf("vector %d is no eigenvector: %g at %d", r, d, i)
				}
			}
		}
	})
}

// On a bent line the shortest paths are the lengths along it: there is one direction, that of the
// positions along the line.
func TestIsomapUnrollsALine(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	const n = 80
	x, along := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}, make([]float64, n)
	for i := range n { // a right angle
		along[i] = float64(i) + 0.3*math.Sin(float64(i))
		if i < n/2 {
			x.Row(i)[0] = along[i]
		} else {
			copy(x.Row(i), []float64{along[n/2-1], along[i] - along[n/2-1]})
		}
	}
	b, err := choice(Isomap, 1, 2).Make(ctx, eng, kernel.Linear(), x)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for _, v := range along {
		mean += v / n
	}
	norm := 0.0
	for _, v := range along {
		norm += (v - mean) * (v - mean)
	}
	sign := 1.0
	if b.Vectors.At(0, 0)*(along[0]-mean) < 0 {
		sign = -1
	}
	for i, v := range along {
		// With two neighbors a path may cut the corner, but only there.
		if d := sign*b.Vectors.At(0, i) - (v-mean)/math.Sqrt(norm); math.Abs(d) > 1e-2 {
			t.Errorf("point %d is off by %g", i, d)
		}
	}
	if b.Values[0] != 0 {
		t.Errorf("first value %g, want 0", b.Values[0])
	}
}

// The weight exp(-v) of Isomap is an eigenvalue relative to the largest one, of the double-centered
// matrix of brute-force shortest paths.
func TestIsomapValues(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x := cloud(50, 3, 4)
	b, err := choice(Isomap, 5, 8).Make(ctx, eng, kernel.Linear(), x)
	if err != nil {
		t.Fatal(err)
	}
	orthonormal(t, b.Vectors)
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, 8)
	if err != nil {
		t.Fatal(err)
	}
	d := blas.NewMatrix(50, 50)
	for i := range d.Data {
		d.Data[i] = math.Inf(1)
	}
	for i := range 50 {
		d.Set(i, i, 0)
		index, squared := near.Of(i)
		for a, j := range index {
			d.Set(i, int(j), math.Sqrt(squared[a]))
			d.Set(int(j), i, math.Sqrt(squared[a]))
		}
	}
	for k := range 50 {
		for i := range 50 {
			for j := range 50 {
				d.Set(i, j, min(d.At(i, j), d.At(i, k)+d.At(k, j)))
			}
		}
	}
	h := blas.NewMatrix(50, 50)
	for i := range 50 {
		for j := range 50 {
			h.Set(i, j, -1.0/50)
			d.Set(i, j, -0.5*d.At(i, j)*d.At(i, j))
		}
		h.Set(i, i, h.At(i, i)+1)
	}
	half, gram := blas.NewMatrix(50, 50), blas.NewMatrix(50, 50)
	eng.Backend().Gemm(false, false, 1, h, d, 0, half)
	eng.Backend().Gemm(false, false, 1, half, h, 0, gram)
	all := make([]float64, 50)
	if err := eng.SymEig(ctx, gram, all, false); err != nil {
		t.Fatal(err)
	}
	for r, v := range b.Values {
		if want := all[49-r] / all[49]; math.Abs(math.Exp(-v)-want) > 1e-9 {
			t.Errorf("weight %d is %g, want %g", r, math.Exp(-v), want)
		}
	}
}

func TestMakeErrors(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x := cloud(30, 2, 5)
	for i := range 10 {
		x.Row(i)[0] += 100
	}
	dense := choice(LLE, 3, 4)
	dense.Graph = graphkernel.Dense
	for name, c := range map[string]struct {
		c    Choice
		text string
	}{
		"rank":      {choice(Laplacian, 30, 4), "rank"},
		"kind":      {choice("laplacean", 3, 4), "laplacian"},
		"graph":     {dense, "knn"},
		"parts":     {choice(Isomap, 3, 4), "2 parts"},
		"neighbors": {choice(LLE, 3, 30), "neighbors"},
	} {
		if _, err := c.c.Make(ctx, eng, kernel.Linear(), x); err == nil ||
			!strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.text)
		}
	}
	const need = 2 * 8 * 30 * 30
	for limit, fits := range map[int64]bool{need: true, need - 1: false} {
		small := enginetest.With(t, engine.Options{Workers: 1, MemoryLimit: limit})
		_, err := choice(LLE, 3, 4).Make(ctx, small, kernel.Linear(), cloud(30, 2, 5))
		var memory *fault.MemoryError
		if is := goerrors.As(err, &memory); is == fits || fits && err != nil ||
			is && memory.What != "reconstruction errors of 30 points" {
			t.Errorf("%d bytes: error %v", limit, err)
		}
	}
	b, err := choice(Laplacian, 3, 4).Make(ctx, eng, kernel.Linear(), x)
	if err != nil {
		t.Fatal(err)
	}
	if b.Constant() != 2 || len(b.Notices) != 1 || !strings.Contains(b.Notices[0], "2 parts") {
		t.Errorf("%d constant vectors, notices %q", b.Constant(), b.Notices)
	}
	// Vectors may be orthonormal up to 1e-6, and no further.
	for off, refused := range map[float64]bool{4e-7: false, 2e-6: true} {
		vectors := b.Vectors.Clone()
		for j, v := range vectors.Row(0) {
			vectors.Set(1, j, vectors.At(1, j)+off*v)
		}
		given := &operator.Eigenpairs{Vectors: vectors, Values: b.Values}
		if _, err := Given(eng, given, 30, 2); (err != nil) != refused {
			t.Errorf("inner product %v: error %v", off, err)
		}
	}
	// A basis of Make is accepted as a given one, and a smaller rank selects its first vectors.
	got, err := Given(eng, &operator.Eigenpairs{Vectors: b.Vectors, Values: b.Values}, 30, 2)
	if err != nil || got.Vectors.Rows != 2 || !slices.Equal(got.Values, b.Values[:2]) {
		t.Errorf("given: %+v, %v", got, err)
	}
}
