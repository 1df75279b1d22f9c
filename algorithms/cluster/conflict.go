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

// coloring is a proper coloring in the making: the assignment of the vertices of a
// conflict graph to clusters, with the cost of each choice.
type coloring struct {
	g     *conflictGraph
	cost  []float64 // cost[v*k+c] of color c for vertex v
	color []int     // -1 while not colored
	near  []int     // near[v*k+c]: neighbors of v of color c

	chain []int // of follow
	mark  []int // the last visit of each vertex
	visit int
}

func newColoring(g *conflictGraph, cost []float64) *coloring {
	c := &coloring{
		g: g, cost: cost, color: make([]int, g.len()),
		near: make([]int, g.len()*g.k), mark: make([]int, g.len()),
	}
	c.clear()
	return c
}

func (c *coloring) clear() {
	clear(c.near)
	for v := range c.color {
		c.color[v] = -1
	}
}

// set paints v, which may have a color already.
func (c *coloring) set(v, color int) {
	old := c.color[v]
	c.color[v] = color
	for _, u := range c.g.adj[v] {
		if old >= 0 {
			c.near[u*c.g.k+old]--
		}
		c.near[u*c.g.k+color]++
	}
}

func (c *coloring) total() float64 {
	sum := 0.0
	for v, k := range c.color {
		sum += c.cost[v*c.g.k+k]
	}
	return sum
}

// cheapest paints v with the cheapest color (ties: the lower) that no neighbor has, and
// reports whether there was one.
func (c *coloring) cheapest(v int) bool {
	best := -1
	for k := range c.g.k {
		if c.near[v*c.g.k+k] == 0 && (best < 0 || c.cost[v*c.g.k+k] < c.cost[v*c.g.k+best]) {
			best = k
		}
	}
	if best >= 0 {
		c.set(v, best)
	}
	return best >= 0
}

// construct colors all vertices from scratch: by the greedy pass of COP-KMeans in the given order
// and, if that finds no color for a vertex, by a search of the cores. It always succeeds, because
// the graph has a base coloring.
func (c *coloring) construct(ctx context.Context, order []int) error {
	c.clear()
	for _, v := range order {
		if !c.cheapest(v) {
			return c.rescue(ctx, order)
		}
	}
	return nil
}

// rescue colors the cores by search, cheapest colors first, or failing that by the base
// coloring, and the peeled vertices greedily in the order that cannot fail.
func (c *coloring) rescue(ctx context.Context, order []int) error {
	c.clear()
	rank := make([]int, len(order))
	for i, v := range order {
		rank[v] = i
	}
	s := newSearch(c.g, c.cost, rank)
	for _, core := range c.g.cores {
		result, err := s.run(ctx, core, 4*len(core)+1000, c.set)
		if err != nil {
			return err
		}
		if result != found {
			c.useBase(core)
		}
	}
	for i := len(c.g.peeled) - 1; i >= 0; i-- {
		if !c.cheapest(c.g.peeled[i]) {
			panic("cluster: a peeled vertex has no free color")
		}
	}
	return nil
}

// useBase paints a core with the base coloring, its classes given to the colors one after
// another, cheapest first.
func (c *coloring) useBase(core []int) {
	k := c.g.k
	sum := make([]float64, k*k) // class x color
	for _, v := range core {
		for color := range k {
			sum[c.g.base[v]*k+color] += c.cost[v*k+color]
		}
	}
	taken := make([]bool, k)
	image := make([]int, k)
	for class := range k {
		best := -1
		for color := range k {
			if !taken[color] && (best < 0 || sum[class*k+color] < sum[class*k+best]) {
				best = color
			}
		}
		taken[best], image[class] = true, best
	}
	for _, v := range core {
		c.set(v, image[c.g.base[v]])
	}
}

// improve lowers the cost by exchanges to a local minimum: for each pair of colors, it swaps the
// colors of every connected chain of vertices of the two (a Kempe chain) if that lowers the sum. A
// vertex without neighbors of the other color is a chain of one vertex: a single move. The coloring
// stays proper. It reports whether anything changed. Cost of a sweep over all pairs: O(K (K
// vertices + edges)).
func (c *coloring) improve(ctx context.Context) (changed bool, err error) {
	for again := true; again; {
		again = false
		for a := range c.g.k {
			if ctx.Err() != nil {
				return changed, ctx.Err()
			}
			for b := range a {
				if c.improvePair(a, b) {
					again, changed = true, true
				}
			}
		}
	}
	return changed, nil
}

// improvePair swaps the colors a and b on every chain where that pays.
func (c *coloring) improvePair(a, b int) (changed bool) {
	k := c.g.k
	c.visit++
	for v, color := range c.color {
		if (color != a && color != b) || c.mark[v] == c.visit {
			continue
		}
		c.follow(v, a+b)
		gain, size := 0.0, 0.0
		for _, u := range c.chain {
			own, other := c.cost[u*k+c.color[u]], c.cost[u*k+a+b-c.color[u]]
			gain += own - other
			size += own + other
		}
		// The next swap could undo a gain within rounding, forever.
		if gain <= 1e-12*size {
			continue
		}
		changed = true
		for _, u := range c.chain {
			c.set(u, a+b-c.color[u])
		}
	}
	return changed
}

// follow fills chain with the vertices connected to v through vertices of v's color and of
// the other one, sum being the sum of the two, and marks them.
func (c *coloring) follow(v, sum int) {
	c.chain = append(c.chain[:0], v)
	c.mark[v] = c.visit
	for head := 0; head < len(c.chain); head++ {
		u := c.chain[head]
		left := c.near[u*c.g.k+sum-c.color[u]]
		for _, w := range c.g.adj[u] {
			if left == 0 {
				break
			}
			if c.color[w] != sum-c.color[u] {
				continue
			}
			left--
			if c.mark[w] != c.visit {
				c.mark[w] = c.visit
				c.chain = append(c.chain, w)
			}
		}
	}
}
