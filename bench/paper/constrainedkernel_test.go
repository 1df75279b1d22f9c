package paper

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/clustertest"
	"github.com/mustlink/mustlink/internal/propertytest"

	"pgregory.net/rapid"
)

var (
	blobs        = clustertest.Blobs
	allLabelings = clustertest.AllLabelings
	satisfies    = clustertest.Satisfies
	mustSet      = clustertest.Links
	gram         = clustertest.Gram
	rbf          = clustertest.RBF
)

// someMust draws count must-links among n objects.
func someMust(rng *rand.Rand, n, count int) []links.Link {
	var ls []links.Link
	for range count {
		if i, j := rng.IntN(n), rng.IntN(n); i != j {
			ls = append(ls, links.NewLink(i, j, links.Must))
		}
	}
	return ls
}

// TestConstrainedKernelIsConstrained: on the Gram matrix of coordinates the steps are those
// of constrained k-means on them, from either kind of start.
func TestConstrainedKernelIsConstrained(t *testing.T) {
	eng := enginetest.New(t, 2)
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "links"), 0))
		l, err := links.New(n, someMust(rng, n, rapid.IntRange(0, n).Draw(t, "count")))
		if err != nil {
			t.Fatal(err)
		}
		k := rapid.IntRange(1, min(5, l.NumComponents())).Draw(t, "k")
		x := blobs(rng.Uint64(), n, 3, 4, 0.7)
		for _, init := range []string{cluster.InitRandom, cluster.InitPlusPlus} {
			p := cluster.Params{K: k, Seed: rng.Uint64(), Restarts: 1 + rng.IntN(5), Init: init}
			want, err := cluster.Constrained(context.Background(), eng, x, l, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := constrainedKernel(context.Background(), eng, gram(x), l, p)
			if err != nil {
				t.Fatal(err)
			}
			// Two starts may end in the same partition, and either may come out first.
			if !slices.Equal(canonical(got.Labels), canonical(want.Labels)) {
				t.Fatalf("%s: labels %v, on coordinates %v", init, got.Labels, want.Labels)
			}
			if !(math.Abs(got.Inertia-want.Inertia) <= 1e-11*(1+want.Inertia)) {
				t.Fatalf("%s: inertia %g, on coordinates %g", init, got.Inertia, want.Inertia)
			}
			if !satisfies(got.Labels, l.Must()) {
				t.Fatalf("%s: labels %v break a must-link", init, got.Labels)
			}
		}
	})
}

// canonical numbers clusters by their first object.
func canonical(labels []int) []int {
	number := map[int]int{}
	out := make([]int, len(labels))
	for i, c := range labels {
		if _, ok := number[c]; !ok {
			number[c] = len(number)
		}
		out[i] = number[c]
	}
	return out
}

// TestConstrainedKernelBruteForce: of two clear clusters with links across the best of all
// partitions that keep the links is found, and Inertia is its sum of squared distances, by
// another formula.
func TestConstrainedKernelBruteForce(t *testing.T) {
	const n, k = 9, 2
	eng := enginetest.New(t, 1)
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		gram := rbf(blobs(seed, n, 2, 2, 0.4), 0.4)
		ls := someMust(rng, n, 4)
		best := math.Inf(1)
		allLabelings(n, k, func(labels []int) {
			if satisfies(labels, ls) {
				best = min(best, featureInertia(gram.At, labels, k))
			}
		})
		r, err := constrainedKernel(context.Background(), eng, gram, mustSet(t, n, ls),
			cluster.Params{K: k, Seed: seed, Restarts: 60})
		if err != nil {
			t.Fatal(err)
		}
		if own := featureInertia(gram.At, r.Labels, k); !(math.Abs(r.Inertia-own) <= 1e-12*n) ||
			!(own <= best+1e-12*n) {
			t.Errorf("seed %d: inertia %g, of its labels %g, best of all partitions %g", seed, r.Inertia, own,
				best)
		}
	}
}

// featureInertia is the sum of squared distances to the means of clusters by the formula with
// all pairs: sum_c (sum_i k_ii - sum_ij k_ij / |c|).
func featureInertia(k func(i, j int) float64, labels []int, clusters int) float64 {
	total := 0.0
	for c := range clusters {
		size, pairs := 0.0, 0.0
		for i := range labels {
			if labels[i] != c {
				continue
			}
			size++
			total += k(i, i)
			for j := range labels {
				if labels[j] == c {
					pairs += k(i, j)
				}
			}
		}
		if size > 0 {
			total -= pairs / size
		}
	}
	return total
}

func TestConstrainedKernelWorkers(t *testing.T) {
	const n = 700
	x := blobs(3, n, 2, 6, 0.9)
	l := mustSet(t, n, someMust(rand.New(rand.NewPCG(5, 5)), n, 150))
	p := cluster.Params{K: 6, Seed: 4, Restarts: 2}
	want, err := constrainedKernel(context.Background(), enginetest.New(t, 1), rbf(x, 0.3), l, p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := constrainedKernel(context.Background(), enginetest.New(t, 5), rbf(x, 0.3), l, p)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Error("five workers give another result than one")
	}
}

func TestConstrainedKernelBadInput(t *testing.T) {
	eng := enginetest.New(t, 1)
	k := gram(blobs(1, 6, 2, 2, 1))
	var shape *fault.ShapeError
	var param *fault.ParamError
	if _, err := constrainedKernel(context.Background(), eng, k, mustSet(t, 5, nil),
		cluster.Params{K: 2}); !errors.As(err, &shape) {
		t.Errorf("links for 5 of 6 objects: %v", err)
	}
	chain := []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(1, 2, links.Must),
		links.NewLink(3, 4, links.Must), links.NewLink(4, 5, links.Must)}
	if _, err := constrainedKernel(context.Background(), eng, k, mustSet(t, 6, chain),
		cluster.Params{K: 3}); !errors.As(err, &param) {
		t.Errorf("3 clusters of 2 groups: %v", err)
	}
	cannot := []links.Link{links.NewLink(0, 1, links.Cannot)}
	if _, err := constrainedKernel(context.Background(), eng, k, mustSet(t, 6, cannot),
		cluster.Params{K: 3}); !errors.As(err, &param) {
		t.Errorf("a cannot-link: %v", err)
	}
	k.Set(2, 1, math.NaN())
	var data *fault.DataError
	if _, err := constrainedKernel(context.Background(), eng, k, mustSet(t, 6, nil),
		cluster.Params{K: 2}); !errors.As(err, &data) {
		t.Errorf("NaN in k: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := constrainedKernel(ctx, eng, gram(blobs(1, 6, 2, 2, 1)), mustSet(t, 6, chain),
		cluster.Params{K: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
