package cluster

import "context"

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
