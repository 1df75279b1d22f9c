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
	"github.com/mustlink/mustlink/solvers/lowrank"
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

// Reduce returns the reduced form for the kernel matrix scale k of the linked points, and nil if
// the whole matrix is to be used. The bounds of the constraints become those of their part of the
// distances: less what the rest contributes, but at least a quarter.
func Reduce(ctx context.Context, eng *engine.Engine, k kernel.Kernel, scale float64, linked points.Points, constraints []logdet.Constraint, landmarks int, seed uint64) (*Reduced, error) {
	m := linked.Len()
	o := lowrank.Options{Most: landmarks, Seed: seed}
	if landmarks == LandmarksAuto {
		if o.Rest, o.Most = leftOfMany, mostOfMany; m <= wholeMost {
			o.Rest, o.Most = leftOut, m/2
		}
	}
	if landmarks == 0 || landmarks >= m || landmarks == LandmarksAuto && m <= wholeLinked {
		return nil, nil
	}
	f, err := lowrank.New(ctx, eng, k, linked, o)
	if err != nil {
		return nil, err
	}
	if landmarks == LandmarksAuto && f.Rest > leftOut && m <= wholeMost {
		return nil, nil
	}
	r := &Reduced{G: f.G, Rest: f.Rest, pivots: f.Pivots, scale: scale}
	if err := scaled(ctx, eng, math.Sqrt(scale), r.G); err != nil {
		return nil, err
	}
	r.l = f.Triangle()
	r.Constraints, err = r.within(ctx, eng, k, linked, constraints)
	return r, err
}

// least is the smallest bound of a part of a distance, relative to that of the distance.
const least = 0.25

// within returns the constraints on the parts of the distances that G has.
func (r *Reduced) within(ctx context.Context, eng *engine.Engine, k kernel.Kernel, linked points.Points, constraints []logdet.Constraint) ([]logdet.Constraint, error) {
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

// Learned returns the map of [Learned] for a learned matrix A in the coordinates G, with the Gram
// matrices and distances of the learned kernel itself.
func (r *Reduced) Learned(ctx context.Context, eng *engine.Engine, method string, k kernel.Kernel, x points.Points, linked []int, a blas.Matrix, dims int, seed uint64) (*fitted.Map, error) {
	rows, b, err := r.landmarks(ctx, eng, linked, a)
	if err != nil {
		return nil, err
	}
	m, err := Learned(ctx, eng, method, k, r.scale, x, rows, b, dims, seed)
	if err != nil {
		return nil, err
	}
	e, err := r.Exact(ctx, eng, linked, a)
	if err != nil {
		return nil, err
	}
	return e.On(m, SupportRows(rows, x.Len(), seed)), nil
}

// landmarks returns the rows of the landmarks, ascending, and the matrix B of [Learned] for them:
// the learned kernel is scale k(x, y) - scale f(x)'(I - A) f(y) with f(x) = L^-1 k(landmarks, x).
func (r *Reduced) landmarks(ctx context.Context, eng *engine.Engine, linked []int, a blas.Matrix) (rows []int, b blas.Matrix, err error) {
	n, backend := a.Rows, eng.Backend()
	change := eng.Clone(a)
	if err := scaled(ctx, eng, -1, change); err != nil {
		return nil, b, err
	}
	for i := range n {
		change.Set(i, i, 1+change.At(i, i))
	}
	backend.Trsm(true, true, r.l, change) // L includes the root of the scale, and so B its inverse
	backend.Trsm(false, false, r.l, change)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
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
