package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"

	"pgregory.net/rapid"
)

// TestLinearKernelIsKMeans: with the linear kernel the objective is that of k-means, the
// result is a fixed point of Lloyd's iteration, and enough starts find the same optimum.
func TestLinearKernelIsKMeans(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 30).Draw(t, "n")
		k := rapid.IntRange(1, 3).Draw(t, "k")
		x := blobs(rapid.Uint64().Draw(t, "data"), n, 2, 3, 0.6)
		seed := rapid.Uint64().Draw(t, "seed")
		r, err := Kernel(context.Background(), eng, gram(x), Params{K: k, Seed: seed, Restarts: 20})
		if err != nil {
			t.Fatal(err)
		}
		want := plainInertia(x, r.Labels, k)
		if !(math.Abs(r.Inertia-want) <= 1e-12*float64(n)*25) {
			t.Fatalf("inertia %g, in coordinates %g", r.Inertia, want)
		}
		lin := &Result{Labels: r.Labels, Centers: plainMeans(x, r.Labels, k), Inertia: r.Inertia}
		checkFixedPoint(t, x, k, lin)
	})
	for seed := range uint64(10) {
		x := blobs(seed, 60, 3, 3, 0.4)
		a, err := KMeans(context.Background(), eng, x, Params{K: 3, Seed: seed, Restarts: 20})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Kernel(context.Background(), eng, gram(x), Params{K: 3, Seed: seed, Restarts: 20})
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(a.Inertia-b.Inertia) <= 1e-11*a.Inertia) {
			t.Errorf("seed %d: k-means reaches %g, kernel k-means %g", seed, a.Inertia, b.Inertia)
		}
	}
}

// TestKernelSeparatesRings: two rings are no task for k-means but one for an rbf kernel.
func TestKernelSeparatesRings(t *testing.T) {
	eng := enginetest.New(t, 2)
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 200
	x := blas.NewMatrix(n, 2)
	for i := range n {
		radius, angle := 0.3+2.7*float64(i%2), 2*math.Pi*rng.Float64()
		x.Set(i, 0, radius*math.Cos(angle))
		x.Set(i, 1, radius*math.Sin(angle))
	}
	r, err := Kernel(context.Background(), eng, rbf(x, 0.3), Params{K: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, c := range r.Labels {
		if (c == r.Labels[0]) != (i%2 == 0) {
			wrong++
		}
	}
	if wrong != 0 {
		t.Errorf("%d of %d points are on the wrong ring", wrong, n)
	}
}

func TestKernelInertiaDecreases(t *testing.T) {
	eng := enginetest.New(t, 2)
	for seed := range uint64(10) {
		k := rbf(blobs(seed, 150, 2, 4, 1), 1)
		p, _ := Params{K: 6, Seed: seed, Init: InitRandom}.resolve(150)
		r := newKernelStart(context.Background(), eng, k, p, 0, false)
		if err := r.run(); err != nil {
			t.Fatal(err)
		}
		if !r.converged {
			t.Errorf("seed %d: not converged", seed)
		}
		for i := 1; i < len(r.trace); i++ {
			if !(r.trace[i] <= r.trace[i-1]*(1+1e-13)) {
				t.Errorf("seed %d: the inertia rises from %g to %g", seed, r.trace[i-1], r.trace[i])
			}
		}
	}
}

// TestKernelEndsOnAnyMatrix: a matrix that is not positive semidefinite promises nothing
// but an end and a partition.
func TestKernelEndsOnAnyMatrix(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rng"), 0))
		k := blas.NewMatrix(n, n)
		for i := range n {
			for j := range i + 1 {
				v := float64(rng.IntN(7) - 3)
				k.Set(i, j, v)
				k.Set(j, i, v)
			}
		}
		p := Params{K: rapid.IntRange(1, n).Draw(t, "k"), Restarts: 3, Seed: rng.Uint64()}
		r, err := Kernel(context.Background(), eng, k, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Labels {
			if c < 0 || c >= p.K {
				t.Fatalf("label %d", c)
			}
		}
		if math.IsNaN(r.Inertia) || r.Inertia < 0 {
			t.Fatalf("inertia %g", r.Inertia)
		}
		// The labels are the best partition of the start, not the last one tried.
		p, _ = p.resolve(n)
		one := newKernelStart(context.Background(), eng, k, p, 0, false)
		if err := one.run(); err != nil {
			t.Fatal(err)
		}
		again := newKernelStart(context.Background(), eng, k, p, 0, false)
		again.sums = blas.NewMatrix(p.K, n)
		if err := again.measure(one.labels); err != nil {
			t.Fatal(err)
		}
		if one.inertia > slices.Min(one.trace)+1e-12 || again.trace[0] != one.inertia {
			t.Fatalf("inertia %g, of the labels %g, trace %v", one.inertia, again.trace[0], one.trace)
		}
	})
}

func TestKernelDuplicatesAndWorkers(t *testing.T) {
	x := enginetest.Lattice(rand.New(rand.NewPCG(1, 2)), 150, 2, 3) // 9 distinct rows
	k := rbf(x, 0.3)
	p := Params{K: 12, Seed: 2, Restarts: 3}
	want, err := Kernel(context.Background(), enginetest.New(t, 1), k, p)
	if err != nil {
		t.Fatal(err)
	}
	used := map[int]bool{}
	for _, c := range want.Labels {
		used[c] = true
	}
	if len(used) != 9 || want.Inertia > 1e-12 {
		t.Errorf("9 distinct rows: %d clusters, inertia %g", len(used), want.Inertia)
	}
	got, err := Kernel(context.Background(), enginetest.New(t, 5), k, p)
	if err != nil {
		t.Fatal(err)
	}
	if !sameResult(want, got) {
		t.Error("five workers give another result than one")
	}
}

// TestKernelFillsItsClusters: random first members are often duplicates, which leaves
// clusters empty; they must be refilled as long as there are distinct objects.
func TestKernelFillsItsClusters(t *testing.T) {
	eng := enginetest.New(t, 1)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		x := enginetest.Lattice(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "data"), 0)), n, 2, 3)
		k := rapid.IntRange(1, n).Draw(t, "k")
		r, err := Kernel(context.Background(), eng, rbf(x, 1),
			Params{K: k, Restarts: 1, Init: InitRandom, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		used := map[int]bool{}
		for _, c := range r.Labels {
			used[c] = true
		}
		if want := min(k, distinctRows(x)); len(used) != want {
			t.Fatalf("%d clusters in use, want %d", len(used), want)
		}
	})
}

func TestKernelBadInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	var shape *fault.ShapeError
	if _, err := Kernel(context.Background(), eng, blas.NewMatrix(4, 3), Params{K: 2}); !errors.As(err,
		&shape) {
		t.Errorf("4 x 3: %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 7, 1e308} {
		k := gram(blobs(1, 6, 2, 2, 1))
		k.Set(4, 2, v)
		var data *fault.DataError
		if _, err := Kernel(context.Background(), eng, k, Params{K: 2}); !errors.As(err, &data) {
			t.Errorf("k_42 = %g: %v", v, err)
		}
	}
}

// TestKernelSumsUpToDate: sums that follow the labels stay those of adding up afresh.
func TestKernelSumsUpToDate(t *testing.T) {
	const n, clusters = 120, 4
	eng := enginetest.New(t, 2)
	rng := rand.New(rand.NewPCG(6, 6))
	p, _ := Params{K: clusters}.resolve(n)
	r := newKernelStart(context.Background(), eng, rbf(blobs(1, n, 2, 4, 1), 1), p, 0, true)
	r.weight = make([]float64, n)
	labels := make([]int, n)
	for i := range labels {
		r.weight[i], labels[i] = float64(1+rng.IntN(5)), rng.IntN(clusters)
	}
	r.sums = eng.NewMatrix(clusters, n)
	followed := 0
	for range 50 {
		if err := r.measure(labels); err != nil {
			t.Fatal(err)
		}
		if !r.fresh {
			followed++
		}
		for c := range clusters {
			for i := range n {
				want := 0.0
				for j, other := range labels {
					if other == c {
						want += r.weight[j] * r.k.At(i, j)
					}
				}
				if got := r.sums.At(c, i); !(math.Abs(got-want) <= 1e-12*n) {
					t.Fatalf("sum of row %d over cluster %d is %g: want %g", i, c, got, want)
				}
			}
		}
		for range rng.IntN(n / 2) {
			labels[rng.IntN(n)] = rng.IntN(clusters)
		}
	}
	if followed == 0 || followed == 50 {
		t.Errorf("%d of 50 sums were brought up to date: the test wants both kinds", followed)
	}
}
