package logdetmetric

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// few is the part of the stored points up to which as many changed constraints are cheaper than new
// directions.
const few = 0.25

// agreement is how near inner products of places are to the learned kernel matrix, relative to its
// largest element: the ridge of gml makes some 1e-5 of it, after fits too.
const agreement = 1e-4

// Rotated returns the map m of the model, of all directions, after the projections of w have changed
// multipliers of constraints between linked points, x[linked]: O(c d n) for c constraints, d
// directions and n stored points, where [Learned] decomposes a matrix of order n. The directions
// turn no further than the change asks for, so the first ones are those of m, nearly, and no more
// those of the largest spread. It returns nil where that is not possible, or not cheaper: there are
// few points, m does not store all linked points, links are left out, or the places would not be
// precise.
//
// The inverse of the learned kernel matrix gains l z z' for a multiplier that grows by l, z = e_i -
// e_j. In the coordinates y of m, of which K is the matrix of inner products, that is l w w', w =
// y_i - y_j: the places x become X y, for X = I + W'N W with the w as rows of W. Each constraint
// multiplies X by I + k u u', u = X w, 1 + k u'u = (1 + l u'u)^-1/2; those with l > 0 come first,
// so that everything between is definite.
func (t *WarmStart) Rotated(ctx context.Context, eng *engine.Engine, m *maps.Map, x points.Points, w Targets, linked []int, constraints []logdet.Constraint, r *logdet.Result) (*maps.Map, error) {
	if w.Dropped() > 0 || !t.carries(x.Len(), linked) {
		return nil, nil
	}
	steps := changes(constraints, t.Start(w).Multipliers, r.Multipliers)
	if float64(len(steps)) > few*float64(m.Support()) {
		return nil, nil
	}
	y, err := m.Embed(ctx, eng, x.Select(linked))
	if err != nil {
		return nil, err
	}
	vectors := blas.NewMatrix(len(steps), m.Dim()) // W
	for k, s := range steps {
		copy(vectors.Row(k), y.Row(s.i))
		eng.Backend().Kernels().Axpy(-1, y.Row(s.j), vectors.Row(k))
	}
	n, definite := turn(eng, vectors, steps)
	if !definite || !agree(eng, times(eng, vectors, n, y, true), r.A) {
		return nil, nil
	}
	return maps.Changed(m, func(v blas.Matrix) blas.Matrix { return times(eng, vectors, n, v, false) }), ctx.Err()
}

// times returns (I + W'N W) V, or of rows in place of columns.
func times(eng *engine.Engine, w, n, v blas.Matrix, rows bool) blas.Matrix {
	b, out := eng.Backend(), v.Clone()
	if rows {
		on, half := blas.NewMatrix(v.Rows, w.Rows), blas.NewMatrix(v.Rows, w.Rows)
		b.Gemm(false, true, 1, v, w, 0, on)
		b.Gemm(false, true, 1, on, n, 0, half)
		b.Gemm(false, false, 1, half, w, 1, out)
		return out
	}
	on, half := blas.NewMatrix(w.Rows, v.Cols), blas.NewMatrix(w.Rows, v.Cols)
	b.Gemm(false, false, 1, w, v, 0, on)
	b.Gemm(false, false, 1, n, on, 0, half)
	b.Gemm(true, false, 1, w, half, 1, out)
	return out
}

// agree says whether the inner products of the places are those of the learned kernel matrix, but
// for what a ridge on the diagonal of the prior, which is in the matrix alone, and directions that
// were left out as rounding make of them.
func agree(eng *engine.Engine, y, k blas.Matrix) bool {
	rest, largest := k.Clone(), 0.0
	eng.Backend().Gemm(false, true, -1, y, y, 1, rest)
	for i := range k.Rows {
		largest = max(largest, k.At(i, i))
	}
	for i := range k.Rows {
		for _, v := range rest.Row(i) {
			if !(math.Abs(v) <= agreement*largest) {
				return false
			}
		}
	}
	return true
}

// carries says whether all linked points are among those that carry the map of the model, of n
// points.
func (t *WarmStart) carries(n int, linked []int) bool {
	rows := Carry(Targets{Links: t.Links, Triplets: t.Triplets}.Linked(), n, t.Seed)
	return !slices.ContainsFunc(linked, func(i int) bool {
		_, is := slices.BinarySearch(rows, i)
		return !is
	})
}

// step is a change l z z' of the inverse, z = e_i - e_j.
type step struct {
	i, j int
	l    float64
}

// changes returns the steps from some multipliers to others, those that add to the inverse first.
func changes(constraints []logdet.Constraint, from, to []float64) []step {
	var adding, taking []step
	add := func(s step) {
		switch {
		case s.l > 0:
			adding = append(adding, s)
		case s.l < 0:
			taking = append(taking, s)
		}
	}
	for k, c := range constraints {
		switch l := to[k] - from[k]; c.Kind {
		case logdet.AtMost:
			add(step{c.I, c.J, l})
		case logdet.AtLeast:
			add(step{c.I, c.J, -l})
		case logdet.Nearer:
			add(step{c.I, c.J, l})
			add(step{c.I, c.K, -l})
		}
	}
	return append(adding, taking...)
}

// turn returns N, and whether everything stays definite to rounding. With G = W W', u = W'h for h =
// e + N G e, and X turns to (I + k u u') X = X + k W'h (h + N'G h)'W.
func turn(eng *engine.Engine, w blas.Matrix, steps []step) (n blas.Matrix, definite bool) {
	b, t, c := eng.Backend(), eng.Backend().Kernels(), len(steps)
	g := blas.NewMatrix(c, c)
	b.Gemm(false, true, 1, w, w, 0, g)
	n = blas.NewMatrix(c, c)
	h, q, r := make([]float64, c), make([]float64, c), make([]float64, c)
	for e, s := range steps {
		b.Gemv(false, 1, n, g.Row(e), 0, h)
		h[e]++
		b.Gemv(false, 1, g, h, 0, q)
		grown := 1 + s.l*t.Dot(h, q)
		if !(grown > 0) {
			return n, false
		}
		copy(r, h)
		b.Gemv(true, 1, n, q, 1, r)
		root := math.Sqrt(grown)
		for i, v := range h { // k = (1/root - 1) / u'u
			t.Axpy(-s.l/(root*(1+root))*v, r, n.Row(i))
		}
	}
	return n, true
}
