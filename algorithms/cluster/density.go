package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Noise is the label of rows in no group of [Density].
const Noise = -1

// DensityParams are the parameters of [Density].
type DensityParams struct {
	// MinSize is the smallest number of rows of a group, at least 2.
	MinSize int
	// CoreSize is the number of nearest rows, with the row itself, the farthest of which is the core
	// distance of the row; 0 for MinSize.
	CoreSize int
	// Threshold is the largest height at which rows join, a distance > 0; 0 for no limit.
	Threshold float64
	// Distinct are columns of which two rows of a group differ.
	Distinct []Distinct
}

// Density finds groups of rows by density, which links and columns of distinct rows keep exactly
// (HDBSCAN: Campello, Moulavi & Sander 2013, PAKDD, 160-172). The label of rows in none is [Noise].
//
// The graph g and the links l are those of [Agglomerative]. The height at which two rows join is
// the largest of their distance and their core distances; the core distance is that to the farthest
// of the CoreSize nearest rows. A row with fewer rows in the graph is noise, unless must-linked.
// Rows merge as by the single linkage of Agglomerative at these heights: must-link components are
// one point of several rows, and cannot-links and columns end merges. A merge of two nodes of
// MinSize rows or more splits a group, seen from the top, and rows of smaller nodes leave it. If
// links or columns forbid such a merge, both nodes begin to be groups at its height, as if it had
// split one. Of a group and the best ones within it, those are taken whose rows stay longer in all,
// in units of 1/height, from their begin on. What is never split off is taken only if it is one of
// several, or below a threshold: all rows of a connected graph are no group.
//
// Merges and Forbidden have these heights, those of nodes and not of groups. Heights of 0 count as
// the smallest other one. Without links, on the graph of all pairs, it is HDBSCAN.
//
// Errors and cost are those of Agglomerative, with *fault.ParamError for MinSize, CoreSize and
// Threshold; memory is that of another graph more.
func Density(ctx context.Context, eng *engine.Engine, g *sparse.Matrix, l *links.Set,
	p DensityParams) (*Dendrogram, error) {
	if p.CoreSize == 0 {
		p.CoreSize = p.MinSize
	}
	switch {
	case p.MinSize < 2:
		return nil, fault.Param("smallest size", p.MinSize, "a number >= 2")
	case p.CoreSize < 1:
		return nil, fault.Param("core size", p.CoreSize, "a number >= 1, 0 for the smallest size")
	case !(p.Threshold >= 0):
		return nil, fault.Param("threshold", p.Threshold, "a distance > 0, 0 for none")
	}
	if err := checkPairs(g); err != nil {
		return nil, err
	}
	const pairBytes = 12
	if err := eng.Check(fmt.Sprintf("mutual reachability of %d rows", g.Rows),
		pairBytes*int64(g.Count())+16*int64(g.Rows), "use fewer neighbors"); err != nil {
		return nil, err
	}
	limit := p.Threshold
	if limit == 0 {
		limit = math.Inf(1)
	}
	out, err := Agglomerative(ctx, eng, reachability(g, p.CoreSize), l, AgglomerativeParams{
		Linkage: SingleLinkage, Threshold: limit, Distinct: p.Distinct})
	if err != nil {
		return nil, err
	}
	newCondensed(out, p).label()
	return out, nil
}

// reachability returns the squared mutual reachability distances of the pairs of g, without those
// of rows that have too few neighbors.
func reachability(g *sparse.Matrix, count int) *sparse.Matrix {
	core, all := make([]float64, g.Rows), []float64{}
	for i := range core {
		_, val := g.Row(i)
		switch all = append(all[:0], val...); {
		case len(all) < count-1:
			core[i] = math.Inf(1)
		case count > 1:
			slices.Sort(all)
			core[i] = all[count-2]
		}
	}
	out := &sparse.Matrix{Rows: g.Rows, Cols: g.Cols, Start: make([]int, 1, g.Rows+1)}
	for i := range core {
		col, val := g.Row(i)
		for k, j := range col {
			if d := max(val[k], core[i], core[j]); !math.IsInf(d, 1) {
				out.Col, out.Val = append(out.Col, j), append(out.Val, d)
			}
		}
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

// condensed is the condensed tree of a dendrogram. Densities are 1/height.
type condensed struct {
	*Dendrogram
	smallest int
	first    int       // node of a merge
	floor    float64   // of heights
	size     []int     // of each node
	parent   []int     // of each node, -1 for none
	split    []float64 // density at which links first forbade a node to merge with a group, 0 for none
	parts    [][]*dense
	groups   []*dense
}

// dense is a group of the condensed tree.
type dense struct {
	node   int     // the top one
	birth  float64 // density at which it begins, from the dense end: 0 if that is not known
	sum    float64 // over its rows, of the densities at which they leave
	whole  bool    // a must-link component, whose rows have not left
	within []*dense
	best   float64 // stability of the groups that are taken, of it and within it
	taken  bool    // and not those within it
}

func newCondensed(d *Dendrogram, p DensityParams) *condensed {
	t := &condensed{Dendrogram: d, smallest: p.MinSize}
	for _, c := range d.Start {
		t.first = max(t.first, c+1)
	}
	nodes := t.first + len(d.Merges)
	t.size, t.parent, t.split = make([]int, nodes), make([]int, nodes), make([]float64, nodes)
	t.parts = make([][]*dense, nodes)
	for _, c := range d.Start {
		t.size[c]++
	}
	for k, m := range d.Merges {
		v := t.first + k
		t.size[v], t.parent[m.A], t.parent[m.B] = m.Size, v+1, v+1
		if t.floor == 0 {
			t.floor = m.Height
		}
	}
	for v := range t.parent {
		t.parent[v]--
	}
	for _, f := range d.Forbidden {
		if min(t.size[f.A], t.size[f.B]) >= p.MinSize {
			for _, v := range []int{f.A, f.B} {
				t.split[v] = max(t.split[v], t.density(f.Height))
			}
		}
	}
	for k, m := range d.Merges {
		v := t.first + k
		for _, x := range []int{m.A, m.B} { // merges at one height are one
			if x >= t.first && d.Merges[x-t.first].Height == m.Height {
				t.parts[v], t.split[v] = append(t.parts[v], t.parts[x]...), max(t.split[v], t.split[x])
			} else if g := t.group(x); g != nil {
				t.parts[v] = append(t.parts[v], g)
			}
		}
	}
	t.roots(p.Threshold)
	return t
}

// density returns 1/height.
func (t *condensed) density(height float64) float64 {
	if height = max(height, t.floor); height == 0 {
		return 1 // no height is above 0
	}
	return 1 / height
}

// group returns the group of a node to which no more merges of its height come, nil for none.
func (t *condensed) group(v int) *dense {
	if t.size[v] < t.smallest {
		return nil
	}
	g, at, size := &dense{whole: v < t.first}, 0.0, float64(t.size[v])
	if v >= t.first {
		at = t.density(t.Merges[v-t.first].Height)
	}
	switch parts := t.parts[v]; len(parts) {
	case 1:
		g = parts[0]
		g.sum = g.left(t, at) + max(at, g.birth)*(size-float64(t.size[g.node]))
		g.whole = false
	default:
		g.within = parts
		fallthrough
	case 0:
		g.sum = at * size
		t.groups = append(t.groups, g)
		for _, w := range parts {
			w.end(t, at)
		}
	}
	g.node, g.birth = v, max(g.birth, t.split[v])
	return g
}

// left returns the sum of a group whose last rows leave it at a density.
func (g *dense) left(t *condensed, at float64) float64 {
	if g.whole {
		return max(at, g.birth) * float64(t.size[g.node])
	}
	return g.sum
}

// end says that a group begins at a density, if it is not known, and what to take of it.
func (g *dense) end(t *condensed, at float64) {
	if g.birth == 0 {
		g.birth = at
	}
	within := 0.0
	for _, w := range g.within {
		within += w.best
	}
	own := g.left(t, at) - float64(t.size[g.node])*g.birth
	g.taken, g.best = own >= within, max(own, within)
}

// roots ends the groups that nothing took over.
func (t *condensed) roots(threshold float64) {
	last := threshold
	if threshold == 0 && len(t.Merges) > 0 {
		last = t.Merges[len(t.Merges)-1].Height
	}
	last = t.density(last)
	var list []*dense
	for v, up := range t.parent {
		if up >= 0 {
			continue
		}
		if g := t.group(v); g != nil {
			g.end(t, last)
			list = append(list, g)
		}
	}
	if len(list) == 1 && threshold == 0 { // all rows are no group
		list[0].taken = false
	}
}

// label replaces the labels and sizes of nodes by those of the groups that are taken.
func (t *condensed) label() {
	of := make([]int, len(t.parent)) // top node of the group of each node, or Noise
	for v := range of {
		of[v] = Noise
	}
	for _, g := range t.groups {
		if g.taken {
			of[g.node] = g.node
		}
	}
	for v := len(of) - 1; v >= 0; v-- {
		if up := t.parent[v]; up >= 0 && of[up] >= 0 {
			of[v] = of[up]
		}
	}
	t.Sizes = t.Sizes[:0]
	number := map[int]int{Noise: Noise}
	for i, c := range t.Start {
		k, known := number[of[c]]
		if !known {
			k = len(t.Sizes)
			number[of[c]] = k
			t.Sizes = append(t.Sizes, 0)
		}
		if t.Labels[i] = k; k >= 0 {
			t.Sizes[k]++
		}
	}
}
