package cluster

import (
	"cmp"
	"context"
	"slices"
)

// outcome is the result of a search.
type outcome int

const (
	found outcome = iota
	impossible
	givenUp
)

// search looks for a proper coloring of some vertices of a conflict graph by depth first
// search in DSATUR order (Brélaz 1979): next comes the vertex whose neighbors show the
// most colors, then the one of larger degree, then the one of lower rank.
type search struct {
	g        *conflictGraph
	vertices []int
	inside   []bool
	rank     []int
	// cost[v*k+c] orders the colors of v, cheapest first. Without costs colors are alike,
	// and only one new color is tried at each vertex.
	cost []float64

	color []int // by vertex, -1 if none yet
	near  []int // near[v*k+c]: neighbors of v of color c
	shown []int // number of colors that neighbors show

	nodes int
	ctx   context.Context
}

// newSearch prepares searches in g. cost and rank may be nil.
func newSearch(g *conflictGraph, cost []float64, rank []int) *search {
	n := g.len()
	s := &search{
		g: g, inside: make([]bool, n), rank: rank, cost: cost,
		color: make([]int, n), near: make([]int, n*g.k), shown: make([]int, n),
	}
	for v := range s.color {
		s.color[v] = -1
	}
	if s.rank == nil {
		s.rank = make([]int, n) // all alike: the earlier vertex first
	}
	return s
}

// run searches at most budget nodes for a coloring of the given vertices among themselves.
// After found, report has been called for each with its color. The search can run again.
func (s *search) run(ctx context.Context, vertices []int, budget int, report func(v, color int)) (outcome, error) {
	s.ctx, s.nodes, s.vertices = ctx, budget, vertices
	for _, v := range vertices {
		s.inside[v] = true
	}
	result := s.extend(len(vertices), 0)
	for _, v := range vertices {
		if s.color[v] >= 0 {
			if result == found {
				report(v, s.color[v])
			}
			s.erase(v)
		}
	}
	for _, v := range vertices {
		s.inside[v] = false
	}
	return result, ctx.Err()
}

// extend colors the remaining vertices, of which there are left; the colors 0..used-1
// have been used.
func (s *search) extend(left, used int) outcome {
	if left == 0 {
		return found
	}
	s.nodes--
	if s.nodes < 0 || (s.nodes%256 == 0 && s.ctx.Err() != nil) {
		s.nodes = -1 // makes the levels above return too
		return givenUp
	}
	v := s.pick()
	if s.shown[v] == s.g.k {
		return impossible
	}
	for _, c := range s.colors(v, used) {
		if s.near[v*s.g.k+c] > 0 {
			continue
		}
		s.paint(v, c)
		if result := s.extend(left-1, max(used, c+1)); result != impossible {
			return result
		}
		s.erase(v)
	}
	return impossible
}

// pick returns the uncolored vertex that comes next.
func (s *search) pick() int {
	best := -1
	for _, v := range s.vertices {
		if s.color[v] < 0 && (best < 0 || s.before(v, best)) {
			best = v
		}
	}
	return best
}

func (s *search) before(v, w int) bool {
	switch {
	case s.shown[v] != s.shown[w]:
		return s.shown[v] > s.shown[w]
	case len(s.g.adj[v]) != len(s.g.adj[w]):
		return len(s.g.adj[v]) > len(s.g.adj[w])
	}
	return s.rank[v] < s.rank[w]
}

// colors returns the colors to try at v, in order.
func (s *search) colors(v, used int) []int {
	n := s.g.k
	if s.cost == nil {
		n = min(n, used+1)
	}
	cs := make([]int, n)
	for c := range cs {
		cs[c] = c
	}
	if s.cost != nil {
		cost := s.cost[v*s.g.k : (v+1)*s.g.k]
		slices.SortStableFunc(cs, func(a, b int) int { return cmp.Compare(cost[a], cost[b]) })
	}
	return cs
}

func (s *search) paint(v, c int) {
	s.color[v] = c
	for _, u := range s.g.adj[v] {
		if s.inside[u] {
			if s.near[u*s.g.k+c]++; s.near[u*s.g.k+c] == 1 {
				s.shown[u]++
			}
		}
	}
}

func (s *search) erase(v int) {
	c := s.color[v]
	s.color[v] = -1
	for _, u := range s.g.adj[v] {
		if s.inside[u] {
			if s.near[u*s.g.k+c]--; s.near[u*s.g.k+c] == 0 {
				s.shown[u]--
			}
		}
	}
}
