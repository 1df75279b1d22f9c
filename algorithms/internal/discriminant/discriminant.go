// Package discriminant computes Fisher's linear discriminants: directions in which two groups of
// points differ.
package discriminant

import (
	"cmp"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Local writes the discriminant, 1 x q, between two groups of rows of z: the rows of own and those
// of others that are nearest to row center, up to size of each. Its length is 1, or 0 if the means
// are equal.
func Local(eng *engine.Engine, z, out blas.Matrix, center int, own, others []int, size int) error {
	own, others = nearest(eng, z, center, own, size), nearest(eng, z, center, others, size)
	rows, s := z.Select(slices.Concat(own, others)), blas.NewMatrix(z.Cols, z.Cols)
	copy(out.Row(0), linear.Center(rows.View(0, len(own), 0, z.Cols)))
	eng.Backend().Kernels().Axpy(-1, linear.Center(rows.View(len(own), rows.Rows, 0, z.Cols)), out.Row(0))
	eng.Backend().Syrk(true, 1/float64(rows.Rows), rows, 0, s)
	return Of(eng, s, out)
}

// nearest returns the rows of a list that are nearest to row center, up to size.
func nearest(eng *engine.Engine, z blas.Matrix, center int, list []int, size int) []int {
	distance := make(map[int]float64, len(list))
	for _, row := range list {
		distance[row] = eng.Backend().Kernels().SquaredDistance(z.Row(center), z.Row(row))
	}
	sorted := slices.SortedFunc(slices.Values(list), func(a, b int) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
	})
	return sorted[:min(size, len(sorted))]
}

// Of multiplies the rows of differences, n x q, by the inverse of the within-group scatter s (lower
// triangle), with a ridge of a tenth of its mean diagonal plus 1e-6, and normalizes them. Rows of
// zeros remain zero. It overwrites s.
func Of(eng *engine.Engine, s, differences blas.Matrix) error {
	trace := 0.0
	for c := range s.Rows {
		trace += s.At(c, c)
	}
	const ridge, least = 0.1, 1e-6
	for c := range s.Rows {
		s.Set(c, c, s.At(c, c)+ridge*trace/float64(s.Rows)+least)
	}
	err := eng.Backend().Cholesky(s)
	if err == nil {
		eng.Backend().Trsm(false, true, s, differences)
		eng.Backend().Trsm(false, false, s, differences)
		Unit(eng, differences)
	}
	return err
}

// Unit scales the rows to length 1, except rows of zeros.
func Unit(eng *engine.Engine, m blas.Matrix) {
	k := eng.Backend().Kernels()
	for r := range m.Rows {
		if row := m.Row(r); slices.Max(row) > 0 || slices.Min(row) < 0 {
			k.Scale(1/max(slices.Max(row), -slices.Min(row)), row)
			k.Scale(1/math.Sqrt(k.Dot(row, row)), row)
		}
	}
}
