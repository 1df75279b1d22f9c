package cluster

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/engine/points"
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
func (s *search) run(ctx context.Context, vertices []int, budget int,
	report func(v, color int)) (outcome, error) {
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
	cs := points.UpTo(n)
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

// tabu looks for a proper coloring of a core by local search over improper ones, TabuCol
// (Hertz & de Werra 1987): always recolor the vertex in conflict, and in the way, that
// leaves the fewest conflicts, and do not take a change back for a while. It finds colorings
// of large cores whose links leave little room, where search with backtracking drowns, but it
// proves nothing.
type tabu struct {
	c         *coloring
	rng       *rand.Rand
	conflicts int   // edges whose ends share a color
	until     []int // until[v*k+c]: the step before which v must not take color c again
}

// tabuSearch tries the given number of steps, at most (vertices in conflict) x K each, and
// writes the coloring into base. It reports whether it found one.
func tabuSearch(ctx context.Context, g *conflictGraph, core []int, steps int, base []int) (bool, error) {
	s := &tabu{
		c: newColoring(g, make([]float64, g.len()*g.k)), until: make([]int, g.len()*g.k),
		// any seed: it has no influence on feasibility
		rng: rand.New(rand.NewPCG(uint64(len(core)), uint64(g.k))),
	}
	for _, v := range core {
		s.place(v)
	}
	best := s.conflicts
	for step := 1; s.conflicts > 0; step++ {
		if step > steps {
			return false, nil
		}
		if step%256 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		s.step(core, step, best)
		best = min(best, s.conflicts)
	}
	for _, v := range core {
		base[v] = s.c.color[v]
	}
	return true, nil
}

// place gives v its first color, the one that makes the fewest conflicts.
func (s *tabu) place(v int) {
	near := s.c.near[v*s.c.g.k : (v+1)*s.c.g.k]
	best := 0
	for color, n := range near {
		if n < near[best] {
			best = color
		}
	}
	s.conflicts += near[best]
	s.c.set(v, best)
}

// step makes the best change that is not forbidden; one that leads below the fewest
// conflicts so far is always allowed. Ties are drawn.
func (s *tabu) step(core []int, step, best int) {
	k := s.c.g.k
	vertex, to, change, ties := -1, 0, 0, 0
	inConflict := 0
	for _, v := range core {
		own := s.c.color[v]
		near := s.c.near[v*k : (v+1)*k]
		if near[own] == 0 {
			continue
		}
		inConflict++
		for color, n := range near {
			delta := n - near[own]
			if color == own || (step < s.until[v*k+color] && s.conflicts+delta >= best) {
				continue
			}
			if vertex < 0 || delta < change {
				ties = 0
			} else if delta > change {
				continue
			}
			if ties++; ties == 1 || s.rng.IntN(ties) == 0 {
				vertex, to, change = v, color, delta
			}
		}
	}
	if vertex < 0 {
		return // everything is forbidden: wait
	}
	s.until[vertex*k+s.c.color[vertex]] = step + s.rng.IntN(10) + inConflict*3/5 + 1
	s.conflicts += change
	s.c.set(vertex, to)
}
