package cluster

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/engine/links"
)

// conflictGraph has a vertex for every must-link component that has cannot-links, and an
// edge between two that exclude one another: an assignment to K clusters satisfies the
// links when it is a proper coloring. Vertex v is row first+v of the sample, where first is
// the number of other components. It is immutable once built.
type conflictGraph struct {
	k   int
	adj [][]int // neighbors of each vertex, ascending, each once
	// peeled holds the vertices that fall away when those with fewer than k neighbors are
	// removed again and again; colored in reverse order they always find a free color.
	peeled []int
	// cores are the connected components of what is left, each ascending.
	cores [][]int
	// base is a proper coloring of the cores (-1 elsewhere).
	base []int
}

func (g *conflictGraph) len() int { return len(g.adj) }

// newConflictGraph builds the graph on n vertices from edges, which may repeat. The base
// coloring is still missing; see solve.
func newConflictGraph(n, k int, edges [][2]int) *conflictGraph {
	g := &conflictGraph{k: k, adj: make([][]int, n)}
	for _, e := range edges {
		g.adj[e[0]] = append(g.adj[e[0]], e[1])
		g.adj[e[1]] = append(g.adj[e[1]], e[0])
	}
	for v := range g.adj {
		slices.Sort(g.adj[v])
		g.adj[v] = slices.Compact(g.adj[v])
	}
	g.split()
	return g
}

// split fills peeled and cores. Cost O(vertices + edges).
func (g *conflictGraph) split() {
	degree := make([]int, g.len())
	gone := make([]bool, g.len())
	for v := range degree {
		degree[v] = len(g.adj[v])
		if degree[v] < g.k {
			gone[v] = true
			g.peeled = append(g.peeled, v)
		}
	}
	for head := 0; head < len(g.peeled); head++ {
		for _, u := range g.adj[g.peeled[head]] {
			if degree[u]--; !gone[u] && degree[u] < g.k {
				gone[u] = true
				g.peeled = append(g.peeled, u)
			}
		}
	}
	for v := range gone {
		if gone[v] {
			continue
		}
		gone[v] = true
		core := []int{v}
		for head := 0; head < len(core); head++ {
			for _, u := range g.adj[core[head]] {
				if !gone[u] {
					gone[u] = true
					core = append(core, u)
				}
			}
		}
		slices.Sort(core)
		g.cores = append(g.cores, core)
	}
}

// failure says which vertices have no proper coloring, or that the search was given up.
type failure struct {
	vertices  []int
	proven    bool
	exclusive bool // the vertices are a clique
}

// solve finds the base coloring, core by core. It returns the first core's failure, or an
// error when ctx is done.
//
// Graph coloring is NP-complete; an exhaustive search with a fixed budget decides small
// and easy cores (all with k = 2). Beyond it a local search may still find a coloring, but
// a failure is not proven.
func (g *conflictGraph) solve(ctx context.Context) (*failure, error) {
	g.base = make([]int, g.len())
	for v := range g.base {
		g.base[v] = -1
	}
	s := newSearch(g, nil, nil)
	for _, core := range g.cores {
		if clique := g.greedyClique(core); len(clique) > g.k {
			return &failure{vertices: clique[:g.k+1], proven: true, exclusive: true}, nil
		}
		outcome, err := s.run(ctx, core, proofBudget(len(core)), func(v, color int) { g.base[v] = color })
		switch {
		case err != nil:
			return nil, err
		case outcome == impossible:
			return g.smaller(ctx, s, core)
		case outcome == givenUp:
			if ok, err := tabuSearch(ctx, g, core, tabuSteps(len(core)), g.base); err != nil {
				return nil, err
			} else if !ok {
				return &failure{vertices: core}, nil
			}
		}
	}
	return nil, nil
}

// proofBudget is the number of search nodes for a core of n vertices: about a quarter
// of a second of work, and always enough for a descent without dead ends.
func proofBudget(n int) int { return max(4*n, min(1<<20, (1<<28)/n)) }

// tabuSteps is the number of steps of the local search in a core of n vertices: about a
// second of work.
func tabuSteps(n int) int { return max(1000, min(1<<18, (1<<28)/n)) }

// greedyClique returns a clique of the core: the largest of those that grow from each
// vertex by adding neighbors in order of falling degree. Exact coloring finds what it
// misses; a clique is the plainest explanation.
func (g *conflictGraph) greedyClique(core []int) []int {
	order := slices.Clone(core)
	slices.SortStableFunc(order, func(a, b int) int { return len(g.adj[b]) - len(g.adj[a]) })
	var best []int
	for _, v := range order[:min(len(order), 1000)] {
		if len(g.adj[v]) < len(best) {
			break // no larger clique holds v or what follows
		}
		clique := []int{v}
		candidates := slices.Clone(g.adj[v])
		slices.SortStableFunc(candidates, func(a, b int) int { return len(g.adj[b]) - len(g.adj[a]) })
		for _, u := range candidates {
			if g.joinsAll(u, clique) {
				clique = append(clique, u)
			}
		}
		if len(clique) > len(best) {
			best = clique
		}
		if len(best) > g.k {
			break
		}
	}
	return best
}

func (g *conflictGraph) joinsAll(u int, clique []int) bool {
	for _, v := range clique {
		if _, found := slices.BinarySearch(g.adj[u], v); !found {
			return false
		}
	}
	return true
}

// smaller removes vertices from a core without proper coloring as long as the rest
// provably has none, so that the message names few links. Large cores are left whole.
func (g *conflictGraph) smaller(ctx context.Context, s *search, core []int) (*failure, error) {
	const largest, budget = 300, 20_000
	rest := slices.Clone(core)
	if len(rest) > largest {
		return &failure{vertices: rest, proven: true}, nil
	}
	for i := len(rest) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(rest), i, i+1)
		outcome, err := s.run(ctx, without, budget, func(int, int) {})
		if err != nil {
			return nil, err
		}
		if outcome == impossible {
			rest = without
		}
	}
	clique := true
	for i, v := range rest {
		clique = clique && g.joinsAll(v, rest[:i])
	}
	return &failure{vertices: rest, proven: true, exclusive: clique}, nil
}

// explain turns a failure into the error, in the rows and links of the user.
func (b *blocks) explain(f *failure, k int, cannot []links.Link) *InfeasibleError {
	e := &InfeasibleError{K: k, Proven: f.proven, Exclusive: f.exclusive}
	inside := map[int]bool{} // by component
	for _, v := range f.vertices {
		component := b.order[b.free+v]
		inside[component] = true
		e.Rows = append(e.Rows, b.lowest[component])
	}
	slices.Sort(e.Rows)
	for _, l := range cannot {
		if inside[b.component[l.I]] && inside[b.component[l.J]] {
			e.Links = append(e.Links, l)
		}
	}
	return e
}
