package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// A row of weight w counts as w equal rows: from the same centers the centers and the inertia are
// those of the rows written out.
func TestWeightsAreCopies(t *testing.T) {
	eng := enginetest.New(t, 2)
	for seed := range uint64(6) {
		x := blobs(seed, 400, 3, 5, 0.8)
		rng := rand.New(rand.NewPCG(seed, 2))
		weights := make([]float64, x.Rows)
		var all []float64
		for i := range weights {
			weights[i] = float64(1 + rng.IntN(4))
			for range int(weights[i]) {
				all = append(all, x.Row(i)...)
			}
		}
		copies := blas.MatrixOf(len(all)/x.Cols, x.Cols, all)
		start := x.View(0, 7, 0, x.Cols).Clone()
		got, err := KMeans(t.Context(), eng, x, Params{Start: start, Weights: weights})
		if err != nil {
			t.Fatal(err)
		}
		want, err := KMeans(t.Context(), eng, copies, Params{Start: start})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Centers.Data {
			if !(math.Abs(got.Centers.Data[i]-want.Centers.Data[i]) <= 1e-12*float64(copies.Rows)) {
				t.Fatalf("seed %d: value %d of the centers is %g, of copies %g", seed, i, got.Centers.Data[i],
					want.Centers.Data[i])
			}
		}
		if !(math.Abs(got.Inertia-want.Inertia) <= 1e-12*want.Inertia) || !got.Converged {
			t.Errorf("seed %d: inertia %g, of copies %g", seed, got.Inertia, want.Inertia)
		}
	}
}

// Weights of 1 change no bit, and k-means++ draws rows by their weights.
func TestWeightsInTheStart(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := blobs(3, 300, 4, 6, 0.9)
	ones := make([]float64, x.Rows)
	for i := range ones {
		ones[i] = 1
	}
	plain, err := KMeans(t.Context(), eng, x, Params{K: 6, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	weighted, err := KMeans(t.Context(), eng, x, Params{K: 6, Seed: 5, Weights: ones})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(plain) != fmt.Sprint(weighted) {
		t.Error("weights of 1 change the result")
	}
	// Of two rows, one of which weighs a million times as much, the only center is nearly that one.
	two := blas.MatrixOf(2, 1, []float64{0, 1})
	r, err := KMeans(t.Context(), eng, two, Params{K: 1, Weights: []float64{1, 1e6}})
	if err != nil {
		t.Fatal(err)
	}
	if want := 1e6 / (1e6 + 1); !(math.Abs(r.Centers.At(0, 0)-want) <= 1e-15) {
		t.Errorf("the center is %v, want %v", r.Centers.At(0, 0), want)
	}
}

func TestBadWeights(t *testing.T) {
	eng := enginetest.New(t, 1)
	x := blobs(1, 3, 2, 2, 1)
	for name, w := range map[string][]float64{"0": {1, 0, 1}, "negative": {1, -1, 1},
		"NaN": {1, math.NaN(), 1}, "infinite": {1, math.Inf(1), 1}} {
		var data *fault.DataError
		if _, err := KMeans(context.Background(), eng, x, Params{K: 2, Weights: w}); !errors.As(err, &data) ||
			data.Row != 1 {
			t.Errorf("%s: %v, want a *fault.DataError about row 1", name, err)
		}
	}
	var shape *fault.ShapeError
	if _, err := KMeans(context.Background(), eng, x, Params{K: 2, Weights: []float64{1, 1}}); !errors.As(err,
		&shape) {
		t.Errorf("two weights for three rows: %v", err)
	}
	var param *fault.ParamError
	if _, err := Constrained(context.Background(), eng, x, mustSet(t, 3, nil),
		Params{K: 2, Weights: []float64{1, 1, 1}}); !errors.As(err, &param) {
		t.Errorf("constrained k-means with weights: %v", err)
	}
}

// Kernel k-means takes weights, too: those of 1 change no bit, and others must be positive.
func TestKernelWeights(t *testing.T) {
	eng := enginetest.New(t, 2)
	k := gram(blobs(1, 40, 2, 3, .5))
	plain, err := Kernel(t.Context(), eng, k, Params{K: 3, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	weights := slices.Repeat([]float64{1}, k.Rows)
	weighted, err := Kernel(t.Context(), eng, k, Params{K: 3, Seed: 5, Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	if !sameResult(plain, weighted) {
		t.Error("weights of 1 change the result")
	}
	weights[7] = 0
	var data *fault.DataError
	if _, err := Kernel(t.Context(), eng, k, Params{K: 3, Weights: weights}); !errors.As(err, &data) ||
		data.Row != 7 {
		t.Errorf("a weight of 0: %v", err)
	}
}
