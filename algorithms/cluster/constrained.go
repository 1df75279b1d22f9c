package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Constrained partitions the rows of x (n x d) into p.K clusters and satisfies every link of l:
// must-linked rows share a cluster, cannot-linked rows do not. A nil l means no links.
//
// Every must-link component moves as one block to the center that minimizes its summed
// squared distance. That sum is |B| |mean - c|^2 + a constant, so the method is k-means on
// block means with weights |B|, starts included, and Inertia is that of the rows.
//
// Blocks with cannot-links are first assigned in a random order, each to the nearest center without
// a block that it excludes (COP-KMeans). If that pass finds no center for a block, a depth-first
// search in DSATUR order with backtracking replaces it. Later iterations improve the current
// assignment by exchanging chains of blocks between two clusters; if no exchange helps, they try a
// new pass in a new order. The inertia decreases monotonically, with and without cannot-links. A
// converged result with cannot-links is optimal with respect to these moves, not to all
// assignments. With must-links only, every block is at its nearest center.
//
// Weights and bounds of links are ignored.
//
// Errors: those of [KMeans]; *fault.ShapeError when l is not for n points; *fault.ParamError when K
// exceeds the number of must-link components; *[InfeasibleError] (errors.Is [ErrInfeasible]) if K
// clusters cannot satisfy the links, or if no such assignment was found. Whether one exists is a
// graph coloring problem. It is solved exactly for two clusters, and if the part of the links in
// which every block has K or more exclusions is small or easy; then Proven is true. Cost: that of
// KMeans, and O(K (K blocks + exclusions)) per iteration for cannot-links, a small number of times.
func Constrained(ctx context.Context, eng *engine.Engine, x blas.Matrix, l *links.Set,
	p Params) (*Result, error) {
	if l == nil {
		return KMeans(ctx, eng, x, p)
	}
	p, err := p.resolve(x.Rows)
	if err != nil {
		return nil, err
	}
	if l.N() != x.Rows {
		return nil, fault.Shape("number of points", x.Rows, "%d, as the links are for", l.N())
	}
	if err := checkMemory(eng, "constrained k-means", 2*x.Rows, x.Cols, p); err != nil {
		return nil, err
	}
	b := newBlocks(l)
	if err := b.check(p.K); err != nil {
		return nil, err
	}
	g, err := b.conflictGraph(ctx, l, p.K)
	if err != nil {
		return nil, err
	}
	single, err := newSample(eng, x)
	if err != nil {
		return nil, err
	}
	s, scatter := b.means(eng, single)
	first, restart, err := bestStart(ctx, eng, s, p, g, "constrained k-means")
	if err != nil {
		return nil, err
	}
	r := first.result(restart)
	r.Inertia += scatter
	r.Labels = b.spread(r.Labels)
	return r, nil
}

// blocks are the must-link components of a set, those without cannot-links first.
type blocks struct {
	component []int // of every point
	lowest    []int // lowest point of each component
	order     []int // component at each place
	place     []int // place of each component
	free      int   // number of components without cannot-links
}

func newBlocks(l *links.Set) *blocks {
	b := &blocks{component: l.Components()}
	for i, c := range b.component {
		if c == len(b.lowest) { // components are numbered by their lowest point
			b.lowest = append(b.lowest, i)
		}
	}
	bound := make([]bool, len(b.lowest))
	for _, link := range l.Cannot() {
		bound[b.component[link.I]], bound[b.component[link.J]] = true, true
	}
	b.place = make([]int, len(b.lowest))
	for _, last := range []bool{false, true} {
		for c := range b.place {
			if bound[c] == last {
				b.place[c] = len(b.order)
				b.order = append(b.order, c)
			}
		}
		if !last {
			b.free = len(b.order)
		}
	}
	return b
}

func (b *blocks) len() int { return len(b.order) }

// check returns an error if there are more clusters than blocks.
func (b *blocks) check(k int) error {
	if k <= b.len() {
		return nil
	}
	return fault.Param("number of clusters", k, "at most %d, the number of must-link components", b.len())
}

// conflictGraph returns the graph of cannot-links between blocks with its base coloring,
// nil if there are none.
func (b *blocks) conflictGraph(ctx context.Context, l *links.Set, k int) (*conflictGraph, error) {
	var conflict *links.ConflictError
	if err := l.Consistent(); errors.As(err, &conflict) {
		first := conflict.First.Link
		return nil, &InfeasibleError{K: k, Proven: true,
			Rows:  []int{min(first.I, first.J), max(first.I, first.J)},
			Links: []links.Link{first}, Conflict: conflict}
	} else if err != nil {
		return nil, err
	}
	cannot := l.Cannot()
	if len(cannot) == 0 {
		return nil, nil
	}
	edges := make([][2]int, len(cannot))
	for e, link := range cannot {
		edges[e] = [2]int{b.place[b.component[link.I]] - b.free, b.place[b.component[link.J]] - b.free}
	}
	g := newConflictGraph(b.len()-b.free, k, edges)
	fail, err := g.solve(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: constrained k-means: %w", err)
	}
	if fail != nil {
		return nil, b.explain(fail, k, cannot)
	}
	return g, nil
}

// means returns the block means with their sizes as weights, and the sum of squared
// distances of the points to the means of their blocks.
func (b *blocks) means(eng *engine.Engine, single *sample) (*sample, float64) {
	d := single.x.Cols
	s := &sample{x: eng.NewMatrix(b.len(), d), weight: make([]float64, b.len()),
		norm: make([]float64, b.len()), shift: single.shift}
	sums := eng.GetMatrix(b.len(), d+1)
	defer eng.PutMatrix(sums)
	for i := range b.len() {
		clear(sums.Row(i))
	}
	for i, c := range b.component {
		addRow(sums.Row(b.place[c]), single.x.Row(i), 1)
	}
	zero := make([]float64, d)
	for i := range b.len() {
		sum, row := sums.Row(i), s.x.Row(i)
		s.weight[i] = sum[d]
		for j := range row {
			row[j] = sum[j] / sum[d]
		}
		s.norm[i] = points.SquaredDistance(row, zero)
	}
	scatter := 0.0
	for i, c := range b.component {
		scatter += points.SquaredDistance(single.x.Row(i), s.x.Row(b.place[c]))
	}
	return s, scatter
}

// spread turns labels of blocks into labels of points.
func (b *blocks) spread(labels []int) []int {
	out := make([]int, len(b.component))
	for i, c := range b.component {
		out[i] = labels[b.place[c]]
	}
	return out
}

// assignConstrained assigns the last rows of the sample, those with cannot-links, and
// returns how many labels changed.
func (r *start) assignConstrained(free int, first bool) (changed int, err error) {
	n := r.conflict.len()
	cost := r.eng.GetMatrix(n, r.p.K)
	defer r.eng.PutMatrix(cost)
	if err := r.distanceTable(free, free+n, cost); err != nil {
		return 0, err
	}
	now, err := r.color(cost.Data[:n*r.p.K], r.labels[free:], first)
	if err != nil {
		return 0, err
	}
	for v, c := range now.color {
		if first || r.labels[free+v] != c {
			changed++
		}
		r.labels[free+v] = c
		r.dist[free+v] = points.SquaredDistance(r.s.x.Row(free+v), r.centers.Row(c))
	}
	return changed, nil
}

// color returns the next assignment for the given costs. It constructs the first one. Later ones
// improve the current labels or, if no exchange helps, are constructed again if that is better.
func (r *start) color(cost []float64, labels []int, first bool) (*coloring, error) {
	now := newColoring(r.conflict, cost)
	order := r.rng.Perm(r.conflict.len())
	if !first {
		for v, c := range labels {
			now.set(v, c)
		}
		changed, err := now.improve(r.ctx)
		if changed || err != nil {
			return now, err
		}
	}
	fresh := newColoring(r.conflict, cost)
	if err := fresh.construct(r.ctx, order); err != nil {
		return nil, err
	}
	if _, err := fresh.improve(r.ctx); err != nil {
		return nil, err
	}
	if first || fresh.total() < now.total()*(1-boundMargin) {
		return fresh, nil
	}
	return now, nil
}

// ErrInfeasible is what errors.Is finds in every *[InfeasibleError].
var ErrInfeasible = errors.New("cluster: the links cannot be satisfied")

// InfeasibleError reports that no assignment to K clusters that satisfies all links exists,
// or that none was found.
type InfeasibleError struct {
	K int
	// Proven says that no such assignment exists. Otherwise the search was given up.
	Proven bool
	// Rows are the rows that could not be placed: one, the lowest, of each must-link
	// component concerned, ascending. When the failure is proven, these alone have no
	// assignment. When Exclusive is set they exclude one another in pairs.
	Rows      []int
	Exclusive bool
	// Links are the cannot-links among those components, at least one for each pair that
	// excludes one another.
	Links []links.Link
	// Conflict is the contradiction when a cannot-link lies inside a must-link component;
	// then Rows are its two rows.
	Conflict *links.ConflictError
}

// Error names the rows, the links and the ways out.
func (e *InfeasibleError) Error() string {
	if e.Conflict != nil {
		return fmt.Sprintf("cluster: no assignment satisfies the links: %v; drop one of these links",
			e.Conflict)
	}
	rows, pairs := listRows(e.Rows), listLinks(e.Links)
	switch {
	case e.Exclusive:
		return fmt.Sprintf("cluster: no assignment to %s satisfies the cannot-links: the %d must-link "+
			"components of rows %s exclude one another (%s); "+
			"use at least %d clusters or drop one of these links", clusters(e.K), len(e.Rows), rows, pairs,
			len(e.Rows))
	case e.Proven:
		return fmt.Sprintf("cluster: no assignment to %s satisfies the cannot-links among the must-link "+
			"components of rows %s (%s); "+
			"use more clusters or drop one of these links", clusters(e.K), rows, pairs)
	}
	return fmt.Sprintf("cluster: found no assignment to %s that satisfies the cannot-links among the "+
		"must-link components of rows %s (%s), though one may exist; "+
		"use more clusters or drop some of these links", clusters(e.K), rows, pairs)
}

// Is makes errors.Is(err, ErrInfeasible) true.
func (e *InfeasibleError) Is(target error) bool { return target == ErrInfeasible }

// Unwrap returns the contradiction inside a must-link component, if that is the cause.
func (e *InfeasibleError) Unwrap() error {
	if e.Conflict == nil {
		return nil
	}
	return e.Conflict
}

// InputFault marks the error as caused by input.
func (e *InfeasibleError) InputFault() {}

func clusters(k int) string {
	if k == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", k)
}

// listed bounds how many rows or links a message names.
const listed = 12

func listRows(rows []int) string {
	return list(len(rows), func(i int) string { return fmt.Sprint(rows[i]) })
}

func listLinks(ls []links.Link) string {
	return "cannot-links " + list(len(ls), func(i int) string {
		if ls[i].Line > 0 {
			return fmt.Sprintf("%d-%d (line %d)", ls[i].I, ls[i].J, ls[i].Line)
		}
		return fmt.Sprintf("%d-%d", ls[i].I, ls[i].J)
	})
}

func list(n int, item func(int) string) string {
	var b strings.Builder
	for i := range min(n, listed) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(item(i))
	}
	if n > listed {
		fmt.Fprintf(&b, " and %d more", n-listed)
	}
	return b.String()
}
