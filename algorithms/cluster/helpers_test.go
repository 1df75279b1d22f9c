package cluster

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
)

// blobs returns n points around k centers on a lattice of spacing 2, s.d. sd.
func blobs(seed uint64, n, d, k int, sd float64) blas.Matrix {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := blas.NewMatrix(n, d)
	for i := range n {
		c := i % k
		for j := range d {
			x.Set(i, j, 2*float64((c>>(j%8))&1)+float64(c)/float64(k)+sd*rng.NormFloat64())
		}
	}
	return x
}

// plainInertia computes the inertia of labels about the means of the clusters.
func plainInertia(x blas.Matrix, labels []int, k int) float64 {
	centers := plainMeans(x, labels, k)
	s := 0.0
	for i, c := range labels {
		s += enginetest.SquaredDistance(x.Row(i), centers.Row(c))
	}
	return s
}

// plainMeans returns the means of the clusters; NaN rows for empty ones.
func plainMeans(x blas.Matrix, labels []int, k int) blas.Matrix {
	m := blas.NewMatrix(k, x.Cols)
	size := make([]float64, k)
	for i, c := range labels {
		size[c]++
		for j, v := range x.Row(i) {
			m.Row(c)[j] += v
		}
	}
	for c := range k {
		for j := range m.Row(c) {
			m.Row(c)[j] /= size[c]
		}
	}
	return m
}

// allLabelings calls f with every assignment of n points to k clusters.
func allLabelings(n, k int, f func([]int)) {
	labels := make([]int, n)
	for {
		f(labels)
		i := 0
		for ; i < n; i++ {
			if labels[i]++; labels[i] < k {
				break
			}
			labels[i] = 0
		}
		if i == n {
			return
		}
	}
}

func satisfies(labels []int, ls []links.Link) bool {
	for _, l := range ls {
		if (labels[l.I] == labels[l.J]) != (l.Sign == links.Must) {
			return false
		}
	}
	return true
}

func mustSet(t testing.TB, n int, ls []links.Link) *links.Set {
	t.Helper()
	s, err := links.New(n, ls)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sameResult(a, b *Result) bool {
	if a.Restart != b.Restart || a.Iterations != b.Iterations || a.Converged != b.Converged ||
		math.Float64bits(a.Inertia) != math.Float64bits(b.Inertia) || len(a.Labels) != len(b.Labels) ||
		len(a.Centers.Data) != len(b.Centers.Data) {
		return false
	}
	for i := range a.Labels {
		if a.Labels[i] != b.Labels[i] {
			return false
		}
	}
	for i := range a.Centers.Data {
		if math.Float64bits(a.Centers.Data[i]) != math.Float64bits(b.Centers.Data[i]) {
			return false
		}
	}
	return true
}
