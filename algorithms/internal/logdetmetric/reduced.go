package logdetmetric

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
	"github.com/mustlink/mustlink/solvers/operator"
)

// LandmarkRule is the number of linked points that carry the change of a kernel.
type LandmarkRule struct {
	Landmarks int `json:"landmarks" param:"landmarks" default:"auto" named:"auto=-1: all linked points up to 1000; of more, as many as leave one percent of their kernel matrix" range:">= 0" zero:"all linked points" help:"number of linked points that carry the change of the kernel"`
}

// LandmarksAuto is the number of landmarks for the rule: all linked points, if they are at most
// 1000, or at most 8000 and their kernel matrix needs half of them; of more, as many as leave one
// percent of it. Of more than 8000 as many as leave two percent, or 2000.
const LandmarksAuto = -1

const (
	wholeLinked = 1000 // linked points whose kernel matrix is always whole
	wholeMost   = 8000 // linked points of which a whole matrix may be the better choice
	mostOfMany  = 2000 // landmarks of more linked points than that
	leftOut     = 0.01 // trace of the rest, relative to that of the kernel matrix
	leftOfMany  = 0.02 // the same for more linked points than that
)

// Reduced is a kernel matrix of linked points, scale K = G G' + rest, where G has a column for each
// landmark. Learning changes the part G G' to G A G' and leaves the rest as it is.
type Reduced struct {
	G           blas.Matrix // m x r
	Constraints []logdet.Constraint
	Rest        float64 // trace of the rest, relative to that of K

	pivots []int       // landmarks among the linked points, in the order of the columns
	l      blas.Matrix // G of the landmarks, lower triangular
	scale  float64
}

// Reduce returns the reduced form for the kernel matrix scale k of the linked points, with so many
// landmarks or those of the rule, and nil if the whole matrix is to be used. The bounds of the
// constraints become those of their part of the distances: less what the rest contributes, but at
// least a quarter.
func (l Linked) Reduce(ctx context.Context, eng *engine.Engine, constraints []logdet.Constraint,
	landmarks int) (
	*Reduced, error) {
	linked := l.X.Select(l.Rows)
	m := linked.Len()
	o := operator.FactorOptions{Most: landmarks, Seed: l.Seed}
	if landmarks == LandmarksAuto {
		if o.Rest, o.Most = leftOfMany, mostOfMany; m <= wholeMost {
			o.Rest, o.Most = leftOut, m/2
		}
	}
	if landmarks == 0 || landmarks >= m || landmarks == LandmarksAuto && m <= wholeLinked {
		return nil, nil
	}
	f, err := operator.NewFactor(ctx, eng, l.Kernel, linked, o)
	if err != nil {
		return nil, err
	}
	if landmarks == LandmarksAuto && f.Rest > leftOut && m <= wholeMost {
		return nil, nil
	}
	r := &Reduced{G: f.G, Rest: f.Rest, pivots: f.Pivots, scale: l.Scale}
	if err := scaled(ctx, eng, math.Sqrt(l.Scale), r.G); err != nil {
		return nil, err
	}
	r.l = f.Triangle()
	r.Constraints, err = r.within(ctx, eng, l.Kernel, linked, constraints)
	return r, err
}

// least is the smallest bound of a part of a distance, relative to that of the distance.
const least = 0.25

// within returns the constraints on the parts of the distances that G has.
func (r *Reduced) within(ctx context.Context, eng *engine.Engine, k kernel.Kernel, linked points.Points,
	constraints []logdet.Constraint) ([]logdet.Constraint, error) {
	var pairs [][2]int
	for _, c := range constraints {
		if pairs = append(pairs, [2]int{c.I, c.J}); c.Kind == logdet.Nearer {
			pairs = append(pairs, [2]int{c.I, c.K})
		}
	}
	rest, err := k.Squared().Pairs(ctx, eng, linked, pairs)
	if err != nil {
		return nil, err
	}
	t := eng.Backend().Kernels()
	err = eng.Each(ctx, len(pairs), rowsEach, func(n int) {
		pair := pairs[n]
		rest[n] = max(0, r.scale*rest[n]-t.SquaredDistance(r.G.Row(pair[0]), r.G.Row(pair[1])))
	})
	if err != nil {
		return nil, err
	}
	out, at := slices.Clone(constraints), 0
	for n, c := range out {
		left := c.Bound - rest[at]
		if at++; c.Kind == logdet.Nearer {
			left = c.Bound + rest[at-1] - rest[at]
			at++
		}
		out[n].Bound = max(left, least*c.Bound)
	}
	return out, nil
}

// Learned returns the map of [Linked.Learned] for a learned matrix A in the coordinates G of the
// linked points, with the Gram matrices and distances of the learned kernel itself.
func (r *Reduced) Learned(ctx context.Context, eng *engine.Engine, l Linked,
	a blas.Matrix) (*fitted.Map, error) {
	linked := l.Rows
	rows, b, err := r.landmarks(ctx, eng, linked, a)
	if err != nil {
		return nil, err
	}
	l.Rows = rows
	m, err := l.Learned(ctx, eng, b)
	if err != nil {
		return nil, err
	}
	e, err := r.Exact(ctx, eng, linked, a)
	if err != nil {
		return nil, err
	}
	return e.On(m, SupportRows(l.Rows, l.X.Len(), l.Seed)), nil
}

// landmarks returns the rows of the landmarks, ascending, and the matrix B of [Linked.Learned] for
// them: the learned kernel is scale k(x, y) - scale f(x)'(I - A) f(y) with f(x) = L^-1 k(landmarks,
// x).
func (r *Reduced) landmarks(ctx context.Context, eng *engine.Engine, linked []int,
	a blas.Matrix) (rows []int, b blas.Matrix, err error) {
	n, backend := a.Rows, eng.Backend()
	change := eng.Clone(a)
	if err := scaled(ctx, eng, -1, change); err != nil {
		return nil, b, err
	}
	change.Shift(1)
	backend.Trsm(true, true, r.l, change) // L includes the root of the scale, and so B its inverse
	backend.Trsm(false, false, r.l, change)
	order := points.UpTo(n)
	slices.SortFunc(order, func(i, j int) int { return r.pivots[i] - r.pivots[j] })
	for _, from := range order {
		rows = append(rows, linked[r.pivots[from]])
	}
	b = eng.UnclearedMatrix(n, n)
	return rows, b, eng.Each(ctx, n, rowsEach, func(i int) {
		to, from := b.Row(i), change.Row(order[i])
		for j, other := range order {
			to[j] = from[other]
		}
	})
}

// maxChanged is the number of changed constraints, relative to the number of stored points, up to
// which updating the directions is cheaper than new ones.
const maxChanged = 0.25

// agreement is the largest difference between inner products of coordinates and the learned kernel
// matrix, relative to its largest element. The ridge of gml alone causes about 1e-5, even after a
// full fit.
const agreement = 1e-4

// Rotated returns the map m of the model, with all directions, updated after the projections of w
// have changed multipliers of constraints between the linked points. It costs O(c d n)
// for c constraints, d directions and n stored points; [Linked.Learned] decomposes a matrix of
// order n. The directions turn only as far as the change requires: the first ones are nearly those
// of m, and not those of the largest variance. Rotated returns nil if the update is not possible or
// not cheaper: there are few points, m does not store all linked points, links are left out, or the
// coordinates would not be accurate.
//
// If a multiplier grows by l, the inverse of the learned kernel matrix K gains l z z' with z = e_i
// - e_j. In the coordinates y of m, whose inner products are K, that is l w w' with w = y_i - y_j.
// The coordinates become X y with X = I + W'N W, where the rows of W are the vectors w. Each
// constraint multiplies X by I + k u u' with u = X w and 1 + k u'u = (1 + l u'u)^-1/2. Those with l
// > 0 come first, so that all intermediate matrices are definite.
func (t *WarmStart) Rotated(ctx context.Context, eng *engine.Engine, m *fitted.Map, l Linked, w Supervision,
	constraints []logdet.Constraint, r *logdet.Result) (*fitted.Map, error) {
	if w.Dropped() > 0 || !t.supports(l.X.Len(), l.Rows) {
		return nil, nil
	}
	steps := changes(constraints, t.Start(w).Multipliers, r.Multipliers)
	if float64(len(steps)) > maxChanged*float64(m.Support()) {
		return nil, nil
	}
	y, err := m.Embed(ctx, eng, l.X.Select(l.Rows))
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
	return fitted.Changed(m, func(v blas.Matrix) blas.Matrix {
		return times(eng, vectors, n, v, false)
	}), ctx.Err()
}

// times returns (I + W'N W) V or, if rows is true, V (I + W'N'W): the product with the rows of V.
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

// agree reports whether the inner products of the coordinates y agree with the learned kernel
// matrix k. Small differences are expected: k alone contains the ridge on the diagonal of the
// prior, and y lacks the directions that were dropped as rounding.
func agree(eng *engine.Engine, y, k blas.Matrix) bool {
	rest, largest := eng.Clone(k), 0.0
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

// supports reports whether all linked points are support points of the model, which was fitted on n
// points.
func (t *WarmStart) supports(n int, linked []int) bool {
	rows := t.Stored(n)
	return !slices.ContainsFunc(linked, func(i int) bool {
		_, is := slices.BinarySearch(rows, i)
		return !is
	})
}

// Stored returns the rows of the stored points of the model, which was fitted on n points.
func (t *WarmStart) Stored(n int) []int {
	return SupportRows(Supervision{Links: t.Links, Triplets: t.Triplets}.Linked(), n, t.Seed)
}

// step is a change l z z' of the inverse, with z = e_i - e_j.
type step struct {
	i, j int
	l    float64
}

// changes returns the steps from one vector of multipliers to another, those with l > 0 first.
func changes(constraints []logdet.Constraint, from, to []float64) []step {
	grown := make([]float64, len(to))
	for k, l := range to {
		grown[k] = l - from[k]
	}
	var positive, negative []step
	signed(constraints, grown, func(i, j int, l float64) {
		switch {
		case l > 0:
			positive = append(positive, step{i, j, l})
		case l < 0:
			negative = append(negative, step{i, j, l})
		}
	})
	return append(positive, negative...)
}

// turn returns N, and whether all intermediate matrices are definite up to rounding. With G = W W'
// and h = e + N G e, it is u = W'h, and X becomes (I + k u u') X = X + k W'h (h + N'G h)'W.
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
