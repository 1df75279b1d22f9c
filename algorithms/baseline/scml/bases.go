package scml

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/draw"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/scatter"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

// differences returns those of the far pairs of triplets as bases, and after them their discriminants.
func (l Learner) differences(ctx context.Context, eng *engine.Engine, z blas.Matrix, triplets []links.Triplet) (blas.Matrix, error) {
	some, plain, near := draw.Some(2*len(triplets), l.Params.Bases, l.Seed), 0, make([]links.Link, len(triplets))
	out, s := blas.NewMatrix(len(some), z.Cols), blas.NewMatrix(z.Cols, z.Cols)
	for b, at := range some {
		if at < len(triplets) {
			plain++
		}
		t := triplets[at%len(triplets)]
		copy(out.Row(b), z.Row(t.I))
		eng.Backend().Kernels().Axpy(-1, z.Row(t.K), out.Row(b))
	}
	for n, t := range triplets {
		near[n] = links.NewLink(t.I, t.J, links.Must)
	}
	if err := scatter.Links(ctx, eng, z, near, s); err != nil {
		return out, err
	}
	eng.Backend().Kernels().Scale(1/float64(len(near)), s.Data)
	unit(eng, out)
	return out, discriminate(eng, s, out.View(plain, out.Rows, 0, out.Cols))
}

// discriminants returns those of some regions as bases.
func (l Learner) discriminants(ctx context.Context, eng *engine.Engine, z blas.Matrix, c *classes.Classes) (blas.Matrix, error) {
	sizes := []int{10, 20, 50}
	some := draw.Some(len(sizes)*len(c.Rows), l.Params.Bases, l.Seed)
	out := blas.NewMatrix(len(some), z.Cols)
	err := eng.For(ctx, len(some), 1, func(b, _ int) error {
		place, size := some[b]/len(sizes), sizes[some[b]%len(sizes)]
		var others []int
		for _, rival := range c.Rivals(c.Of[place]) {
			others = append(others, c.Members[rival]...)
		}
		if len(others) == 0 {
			return nil // and the basis is 0
		}
		own := nearest(eng, z, c.Rows, place, c.Members[c.Of[place]], size)
		return fisher(eng, z, out.View(b, b+1, 0, out.Cols), own, nearest(eng, z, c.Rows, place, others, size))
	})
	return out, err
}

// nearest returns the rows, up to size, at the places that are nearest to one.
func nearest(eng *engine.Engine, z blas.Matrix, rows []int, place int, places []int, size int) []int {
	distance, out := make(map[int]float64, len(places)), make([]int, len(places))
	for n, other := range places {
		out[n] = rows[other]
		distance[out[n]] = eng.Backend().Kernels().SquaredDistance(z.Row(rows[place]), z.Row(out[n]))
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b)) })
	return out[:min(size, len(out))]
}

// fisher writes the discriminant of two groups of rows to out.
func fisher(eng *engine.Engine, z, out blas.Matrix, first, second []int) error {
	rows, s := z.Select(slices.Concat(first, second)), blas.NewMatrix(z.Cols, z.Cols)
	copy(out.Row(0), linear.Centre(rows.View(0, len(first), 0, z.Cols)))
	eng.Backend().Kernels().Axpy(-1, linear.Centre(rows.View(len(first), rows.Rows, 0, z.Cols)), out.Row(0))
	eng.Backend().Syrk(true, 1/float64(rows.Rows), rows, 0, s)
	return discriminate(eng, s, out)
}

// discriminate multiplies rows by the inverse of the scatter s with a ridge, and gives them the length 1.
func discriminate(eng *engine.Engine, s, rows blas.Matrix) error {
	trace := 0.0
	for c := range s.Rows {
		trace += s.At(c, c)
	}
	const ridge, least = 0.1, 1e-6 // of the variance within, and of all points
	for c := range s.Rows {
		s.Set(c, c, s.At(c, c)+ridge*trace/float64(s.Rows)+least)
	}
	err := eng.Backend().Cholesky(s)
	if err == nil {
		eng.Backend().Trsm(false, true, s, rows)
		eng.Backend().Trsm(false, false, s, rows)
		unit(eng, rows)
	}
	return err
}

// unit gives the rows that are not 0 the length 1.
func unit(eng *engine.Engine, m blas.Matrix) {
	k := eng.Backend().Kernels()
	for r := range m.Rows {
		if row := m.Row(r); slices.Max(row) > 0 || slices.Min(row) < 0 {
			k.Scale(1/max(slices.Max(row), -slices.Min(row)), row)
			k.Scale(1/math.Sqrt(k.Dot(row, row)), row)
		}
	}
}
