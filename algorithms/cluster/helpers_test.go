package cluster

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/clustertest"
)

var (
	blobs        = clustertest.Blobs
	allLabelings = clustertest.AllLabelings
	satisfies    = clustertest.Satisfies
	mustSet      = clustertest.Links
	gram         = clustertest.Gram
	rbf          = clustertest.RBF
)

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
