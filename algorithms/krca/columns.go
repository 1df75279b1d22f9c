package krca

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
)

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
