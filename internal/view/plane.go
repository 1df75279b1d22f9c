package view

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/tsne"
)

// Plane returns the coordinates of the rows of x (n x d) along the two directions in which they
// vary most (principal components), and the share of the total variance along each. If the rows
// vary in fewer directions, the other coordinates are 0. x does not change.
//
// The signs of directions are arbitrary: each is chosen so that its largest component is positive.
// Values that are not finite, or whose squares are not, are a *fault.DataError. Cost: n d min(n, d)
// flops and two eigenvectors of order min(n, d).
func Plane(ctx context.Context, eng *engine.Engine,
	x blas.Matrix) (first, second []float64, share [2]float64, err error) {
	n, d := x.Rows, x.Cols
	first, second = make([]float64, n), make([]float64, n)
	if n == 0 || d == 0 {
		return first, second, share, nil
	}
	m := min(n, d)
	need := engine.MatrixBytes(n, 2*d+2) + engine.MatrixBytes(m, m) // x, its copy, and the result
	if err := eng.Check(fmt.Sprintf("principal directions of %d x %d values", n, d), need,
		"fit a model and pass it, or raise the memory limit"); err != nil {
		return nil, nil, share, err
	}
	centered := center(eng, x)
	defer eng.PutMatrix(centered)
	s := eng.NewMatrix(m, m)
	// The smaller of X'X and XX', which have the same positive eigenvalues.
	eng.Backend().Syrk(d <= n, 1, centered, 0, s)
	total := 0.0
	for i := range m {
		total += s.At(i, i)
	}
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return nil, nil, share,
			fault.Data("", "values are not finite, or so large that their squares are not: want values up "+
				"to 1e150 in size")
	}
	w, v, err := eng.SymEigTop(ctx, s, 2)
	if err != nil {
		return nil, nil, share, err
	}
	for r, out := range [][]float64{first, second}[:len(w)] {
		if !(w[r] > 1e-14*total) {
			break // rounding error of a direction without variance
		}
		share[r] = w[r] / total
		direction := v.Row(r)
		if d > n { // an eigenvector u of XX' belongs to the direction X'u
			direction = make([]float64, d)
			eng.Backend().Gemv(true, 1, centered, v.Row(r), 0, direction)
		}
		orient(direction)
		eng.Backend().Gemv(false, 1, centered, direction, 0, out)
	}
	return first, second, share, nil
}

// center returns x minus the mean of its rows.
func center(eng *engine.Engine, x blas.Matrix) blas.Matrix {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += v / float64(x.Rows)
		}
	}
	out := eng.GetMatrix(x.Rows, x.Cols)
	for i := range x.Rows {
		row := out.Row(i)
		for j, v := range x.Row(i) {
			row[j] = v - mean[j]
		}
	}
	return out
}

// orient scales v to unit length with a positive largest component.
func orient(v []float64) {
	square, largest := 0.0, 0.0
	for _, c := range v {
		square += c * c
		if math.Abs(c) > math.Abs(largest) {
			largest = c
		}
	}
	length := math.Sqrt(square)
	if largest < 0 {
		length = -length
	}
	for j := range v {
		v[j] /= length
	}
}

// NeighborRows is the maximum number of rows that [NeighborPlane] embeds; the others lie between
// their nearest ones. FewestRows is the number of rows below which it has no neighborhoods to show.
const (
	NeighborRows = 1500
	FewestRows   = 10
)

// The perplexity of a neighbor embedding, its spread at the start, and the number of embedded rows
// that place another row. With a spread of 1 the clusters of two planes have the same arrangement,
// at the same divergence: with 0.01 they often changed places.
const (
	neighborPerplexity = 30
	neighborSpread     = 1
	placing            = 3
)

// Flat is a set of rows in the plane.
type Flat = tsne.Plane

// NeighborPlane returns the rows of x (n x d, n >= [FewestRows]) in a plane in which nearest
// neighbors stay near, by t-distributed stochastic neighbor embedding. Distances between far
// clusters, and the axes, have no meaning. It embeds at most [NeighborRows] rows, which the seed
// draws.
//
// The search begins at the plane start of all rows, and the result is turned to it, so that the
// planes of two metrics look alike as far as these agree. It is bit-identical for any number of
// workers. report is called after every step; it may be nil.
//
// Errors are those of [graph.NearestRows] and ctx.Err(). Cost: about n m d flops for m embedded
// rows, and 500 m^2 steps of some flops.
func NeighborPlane(ctx context.Context, eng *engine.Engine, x blas.Matrix, start Flat, seed uint64,
	report func(done, total int)) (Flat, error) {
	rows := drawn(x.Rows, seed)
	if err := eng.Check(fmt.Sprintf("a copy of %d x %d values for a neighbor embedding", x.Rows, x.Cols),
		engine.MatrixBytes(x.Rows, 2*(x.Cols+4)), // x, start and the neighbors too
		"draw principal components, or raise the memory limit"); err != nil {
		return Flat{}, err
	}
	some := kernel.Rows(x.Select(rows))
	perplexity := min(neighborPerplexity, float64(some.N-1)/3)
	near, err := graph.NearestRows(ctx, eng, some, nil, min(some.N-1, int(3*perplexity)))
	if err != nil {
		return Flat{}, err
	}
	p, err := tsne.Similarities(near, perplexity)
	if err != nil {
		return Flat{}, err
	}
	begin := Flat{X: points.Pick(start.X, rows), Y: points.Pick(start.Y, rows)}
	at, err := tsne.Fit(ctx, eng, p, begin, tsne.Options{Report: report, Spread: neighborSpread})
	if err != nil {
		return Flat{}, err
	}
	at = tsne.Align(at, begin)
	if some.N == x.Rows {
		return at, nil
	}
	return spread(ctx, eng, kernel.Rows(x), some, rows, at)
}

// drawn returns the rows to embed, ascending.
func drawn(n int, seed uint64) []int {
	rows := rand.New(rand.NewPCG(seed, uint64(n))).Perm(n)[:min(n, NeighborRows)]
	slices.Sort(rows)
	return rows
}

// spread returns all rows: the embedded ones where they are, the others at the mean of their
// nearest embedded ones, weighted by the inverse of the squared distance.
func spread(ctx context.Context, eng *engine.Engine, all, some *points.Dense, rows []int,
	at Flat) (Flat, error) {
	near, err := graph.NearestRows(ctx, eng, all, some, placing)
	if err != nil {
		return Flat{}, err
	}
	out := Flat{X: make([]float64, all.N), Y: make([]float64, all.N)}
	for i := range all.N {
		index, squared := near.Of(i)
		sum := 0.0
		for a, j := range index {
			w := 1.0
			if squared[a] > 0 { // relative to the nearest, which may be at distance 0
				w = (squared[0] + 1e-9*squared[placing-1]) / squared[a]
			}
			sum += w
			out.X[i] += w * at.X[j]
			out.Y[i] += w * at.Y[j]
		}
		out.X[i], out.Y[i] = out.X[i]/sum, out.Y[i]/sum
	}
	for k, i := range rows {
		out.X[i], out.Y[i] = at.X[k], at.Y[k]
	}
	return out, nil
}
