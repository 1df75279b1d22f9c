package krca

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// helmert is the basis F (n x r) of the vectors that sum to zero over every chunklet.
// Point i of the n lies in chunklet c when start[c] <= i < start[c+1].
//
// Column j = 1..q-1 of a chunklet of q points is (1,…,1,-j,0,…,0)/sqrt(j(j+1)) with j
// leading ones: F'F = I and FF' = H. A chunklet of one point has no column.
//
// After updates, which append points and columns in the order of their arrival, columns
// and count describe the whole basis, and start the chunklets that it began with.
type helmert struct {
	start   []int
	columns []column // nil unless it grew
	count   int      // number of points, if it grew
}

func newHelmert(sizes []int) helmert {
	start := make([]int, 1, len(sizes)+1)
	for _, q := range sizes {
		start = append(start, start[len(start)-1]+q)
	}
	return helmert{start: start}
}

func (f helmert) points() int {
	if f.columns != nil {
		return f.count
	}
	return f.start[len(f.start)-1]
}

func (f helmert) order() int {
	if f.columns != nil {
		return len(f.columns)
	}
	return f.start[len(f.start)-1] - (len(f.start) - 1)
}

func (f helmert) chunklets() int { return f.points() - f.order() }

// norms holds norm of the small j, which most chunklets have.
var norms = func() (table [64]float64) {
	for j := 1; j < len(table); j++ {
		table[j] = 1 / math.Sqrt(float64(j)*float64(j+1))
	}
	return table
}()

// norm returns 1/sqrt(j(j+1)).
func norm(j int) float64 {
	if j < len(norms) {
		return norms[j]
	}
	return 1 / math.Sqrt(float64(j)*float64(j+1))
}

// apply overwrites the first r elements of v, of length n, with F'v. O(n).
//
// It is safe in place: element `out` is written after element i > out has been read, and
// the sum holds what came before.
func (f helmert) apply(v []float64) {
	if f.columns != nil {
		f.applyColumns(v)
		return
	}
	f.applyFirst(v, f.order())
}

// applyFirst overwrites the first so many elements of v with those of F'v, for a basis that did not
// grow. It reads v up to the chunklet of the last of them.
func (f helmert) applyFirst(v []float64, count int) {
	for c, out := 0, 0; out < count; c++ {
		lo, hi := f.start[c], f.start[c+1]
		sum := v[lo]
		for i := lo + 1; i < hi; i++ {
			j, vi := i-lo, v[i]
			v[out] = (sum - float64(j)*vi) * norm(j)
			sum += vi
			out++
		}
	}
}

// reduce overwrites the leading r x r block of the symmetric n x n matrix k (both
// triangles valid) with F'KF, and returns that block, exactly symmetric. O(n^2): it computes
// the lower triangle and mirrors it. It is for a basis that did not grow.
func (f helmert) reduce(ctx context.Context, eng *engine.Engine, k blas.Matrix) (blas.Matrix, error) {
	r := f.order()
	err := eng.For(ctx, k.Cols, 256, func(lo, hi int) error {
		sum := eng.GetMatrix(1, hi-lo)
		f.applyRows(k, lo, hi, sum.Data, true)
		eng.PutMatrix(sum)
		return nil
	})
	if err != nil {
		return blas.Matrix{}, err
	}
	err = eng.Each(ctx, r, 64, func(i int) { f.applyFirst(k.Row(i), i+1) })
	if err != nil {
		return blas.Matrix{}, err
	}
	a := k.View(0, r, 0, r)
	eng.Mirror(a)
	return a, nil
}

// applyRows overwrites the first r rows of columns [lo, hi) of k with F' times them. sum is scratch
// memory for as many values as there are columns. If lower is set, each row gets the columns up to
// its chunklet only.
func (f helmert) applyRows(k blas.Matrix, lo, hi int, sum []float64, lower bool) {
	for c := range f.chunklets() {
		end, out := hi, f.start[c]-c
		if lower {
			end = min(hi, f.start[c+1])
		}
		if end <= lo {
			continue
		}
		copy(sum, k.Row(f.start[c])[lo:end])
		for i := f.start[c] + 1; i < f.start[c+1]; i++ {
			j := i - f.start[c]
			scale, in, to := norm(j), k.Row(i)[lo:end], k.Row(out)[lo:end]
			for x, v := range in {
				to[x] = (sum[x] - float64(j)*v) * scale
				sum[x] += v
			}
			out++
		}
	}
}

// expand returns F w, n x d, for w of shape r x d. O(nd).
func (f helmert) expand(w blas.Matrix) blas.Matrix {
	if f.columns != nil {
		return f.expandColumns(w)
	}
	dst := blas.NewMatrix(f.points(), w.Cols)
	in := f.order()
	tail := make([]float64, w.Cols) // sum of the scaled rows of w whose ones reach point i
	for c := f.chunklets() - 1; c >= 0; c-- {
		clear(tail)
		for i := f.start[c+1] - 1; i > f.start[c]; i-- {
			in--
			j := i - f.start[c]
			scale, row, to := norm(j), w.Row(in), dst.Row(i)
			for x, v := range row {
				to[x] = tail[x] - float64(j)*scale*v
				tail[x] += scale * v
			}
		}
		copy(dst.Row(f.start[c]), tail)
	}
	return dst
}

// column is one vector of a basis F that grew: the contrast of the means of two disjoint
// groups A and B of points, of sizes qa and qb, which are one group for later columns:
//
//	(1/qa on A, -1/qb on B) / sqrt(1/qa + 1/qb) = (qb on A, -qa on B) / sqrt(qa qb (qa+qb))
//
// Every chunklet is a tree of such merges, whatever their order, and the columns of a tree
// are an orthonormal basis of the vectors that sum to zero over its points. A Helmert
// column is the case qb = 1: a point joins the ones before it. Merging two chunklets, whose
// bases span all but one dimension of the union's, is one more column too.
type column struct {
	a, b   int // a point of each group, its name as long as the group exists; a names the union
	qa, qb int
}

func (c column) norm() float64 {
	return 1 / math.Sqrt(float64(c.qa)*float64(c.qb)*float64(c.qa+c.qb))
}

// columnsOf writes out the Helmert columns of chunklets that lie one after another.
func columnsOf(start []int) []column {
	var out []column
	for c := range len(start) - 1 {
		for i := start[c] + 1; i < start[c+1]; i++ {
			out = append(out, column{start[c], i, i - start[c], 1})
		}
	}
	return out
}

// applyColumns is helmert.apply for a basis that grew.
func (f helmert) applyColumns(v []float64) {
	sum := slices.Clone(v[:f.count])
	for t, c := range f.columns {
		v[t] = (float64(c.qb)*sum[c.a] - float64(c.qa)*sum[c.b]) * c.norm()
		sum[c.a] += sum[c.b]
	}
}

// expandColumns is helmert.expand for a basis that grew. It walks the trees from their
// roots: a row of dst holds the value of the group that its point names.
func (f helmert) expandColumns(w blas.Matrix) blas.Matrix {
	dst := blas.NewMatrix(f.count, w.Cols)
	for t, c := range slices.Backward(f.columns) {
		ra, rb := float64(c.qb)*c.norm(), -float64(c.qa)*c.norm()
		a, b := dst.Row(c.a), dst.Row(c.b)
		for x, v := range w.Row(t) {
			b[x] = a[x] + rb*v
			a[x] += ra * v
		}
	}
	return dst
}

// groups are the chunklets while they grow.
type groups struct {
	name    []int   // of each point, the point that names its chunklet
	members [][]int // of each name, the chunklet's points; nil for other points
	created []int   // of each chunklet, in order of creation, its first point
}

// add makes a new point, a group of its own, and returns it.
func (g *groups) add() int {
	p := len(g.name)
	g.name = append(g.name, p)
	g.members = append(g.members, []int{p})
	return p
}

// join merges the groups named a and b into one named a, and returns the column for it.
func (g *groups) join(a, b int) column {
	c := column{a, b, len(g.members[a]), len(g.members[b])}
	for _, p := range g.members[b] {
		g.name[p] = a
	}
	g.members[a] = append(g.members[a], g.members[b]...)
	g.members[b] = nil
	return c
}

// replay rebuilds the groups of the first n points after the given columns.
func replay(n int, columns []column, created []int) groups {
	g := groups{created: slices.Clone(created)}
	for range n {
		g.add()
	}
	for _, c := range columns {
		g.join(c.a, c.b)
	}
	return g
}

// maxGroup is the maximum number of distinct points whose coordinates are in memory while distances
// are computed.
const maxGroup = 4096

// distances returns kt(i,i) + kt(j,j) - 2 kt(i,j), clamped at 0, for each pair of rows
// of x.
func (m *metric) distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	out, weights := make([]float64, len(pairs)), m.weights()
	err := m.parts(ctx, eng, x, pairs, func(p int, rho float64, ci, cj []float64) {
		sum := rho / m.eps
		for r, w := range weights {
			d := w * (ci[r] - cj[r])
			sum += d * d
		}
		out[p] = max(0, sum)
	})
	return out, err
}

// parts calls f, from several goroutines, with the parts of the squared distance of each pair of
// rows of x: the residual rho, and the coordinates of both points. They do not depend on eps. It
// processes pairs in groups of at most maxGroup distinct points.
func (m *metric) parts(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
	f func(p int, rho float64, ci, cj []float64)) error {
	for lo := 0; lo < len(pairs); {
		hi, rows := input.Group(pairs, lo, maxGroup)
		shifted := func(p int, rho float64, ci, cj []float64) { f(lo+p, rho, ci, cj) }
		if err := m.groupParts(ctx, eng, x, rows, pairs[lo:hi], shifted); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

func (m *metric) groupParts(ctx context.Context, eng *engine.Engine, x points.Points, place map[int]int,
	pairs [][2]int,
	f func(p int, rho float64, ci, cj []float64)) error {
	rows := make([]int, len(place))
	for row, at := range place {
		rows[at] = row
	}
	chosen := x.Select(rows)
	local := make([][2]int, len(pairs))
	for p, pair := range pairs {
		local[p] = [2]int{place[pair[0]], place[pair[1]]}
	}
	diagonal, err := m.kernel.Diagonal(ctx, eng, chosen)
	if err != nil {
		return err
	}
	products, err := m.kernel.Pairs(ctx, eng, chosen, local)
	if err != nil {
		return err
	}
	c, err := m.coordinates(ctx, eng, chosen)
	if err != nil {
		return err
	}
	return eng.Each(ctx, len(local), 1024, func(p int) {
		i, j := local[p][0], local[p][1]
		ci, cj, rho := c.Row(i), c.Row(j), 0.0
		switch {
		case i == j:
		case m.spectral():
			rho = spectralResidual(ci, cj, diagonal[i], diagonal[j], products[p])
		default:
			// The differences are taken before the squares, so that close points
			// do not cancel twice.
			rho = diagonal[i] + diagonal[j] - 2*products[p] - squaredDistance(ci, cj)
		}
		f(p, rho, ci, cj)
	})
}

// spectralResidual returns the part of the squared distance of two points by (1c) that does not
// come from their coordinates: three residuals, each clipped as in gram.
func spectralResidual(ci, cj []float64, di, dj, kij float64) float64 {
	residual := func(k, dx, dy float64, a, b []float64) float64 {
		rho := k - blas.Dot(a, b)
		if negligible(rho, dx, dy) {
			return 0
		}
		return rho
	}
	return residual(di, di, di, ci, ci) + residual(dj, dj, dj, cj, cj) - 2*residual(kij, di, dj, ci, cj)
}

func squaredDistance(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		d := v - y[i]
		sum += d * d
	}
	return sum
}
