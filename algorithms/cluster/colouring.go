package cluster

import "context"

// colouring is a proper colouring in the making: the assignment of the vertices of a
// conflict graph to clusters, with the cost of each choice.
type colouring struct {
	g      *conflictGraph
	cost   []float64 // cost[v*k+c] of colour c for vertex v
	colour []int     // -1 while not coloured
	near   []int     // near[v*k+c]: neighbours of v of colour c
	mark   []int     // for chains: the last visit
	visit  int
}

func newColouring(g *conflictGraph, cost []float64) *colouring {
	c := &colouring{
		g: g, cost: cost, colour: make([]int, g.len()),
		near: make([]int, g.len()*g.k), mark: make([]int, g.len()),
	}
	c.clear()
	return c
}

func (c *colouring) clear() {
	clear(c.near)
	for v := range c.colour {
		c.colour[v] = -1
	}
}

// set paints v, which may have a colour already.
func (c *colouring) set(v, colour int) {
	old := c.colour[v]
	c.colour[v] = colour
	for _, u := range c.g.adj[v] {
		if old >= 0 {
			c.near[u*c.g.k+old]--
		}
		c.near[u*c.g.k+colour]++
	}
}

func (c *colouring) total() float64 {
	sum := 0.0
	for v, k := range c.colour {
		sum += c.cost[v*c.g.k+k]
	}
	return sum
}

// cheapest paints v with the cheapest colour (ties: the lower) that no neighbour has, and
// reports whether there was one.
func (c *colouring) cheapest(v int) bool {
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

// construct colours all vertices anew: the greedy pass of COP-KMeans in the given order
// and, where that meets a dead end, a search of the cores. It always succeeds, given the
// base colouring of the graph.
func (c *colouring) construct(ctx context.Context, order []int) error {
	c.clear()
	for _, v := range order {
		if !c.cheapest(v) {
			return c.rescue(ctx, order)
		}
	}
	return nil
}

// rescue colours the cores by search, cheapest colours first, or failing that by the base
// colouring, and the peeled vertices greedily in the order that cannot fail.
func (c *colouring) rescue(ctx context.Context, order []int) error {
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
			panic("cluster: a peeled vertex has no free colour")
		}
	}
	return nil
}

// useBase paints a core with the base colouring, its classes given to the colours one after
// another, cheapest first.
func (c *colouring) useBase(core []int) {
	k := c.g.k
	sum := make([]float64, k*k) // class x colour
	for _, v := range core {
		for colour := range k {
			sum[c.g.base[v]*k+colour] += c.cost[v*k+colour]
		}
	}
	taken := make([]bool, k)
	image := make([]int, k)
	for class := range k {
		best := -1
		for colour := range k {
			if !taken[colour] && (best < 0 || sum[class*k+colour] < sum[class*k+best]) {
				best = colour
			}
		}
		taken[best], image[class] = true, best
	}
	for _, v := range core {
		c.set(v, image[c.g.base[v]])
	}
}

// improve lowers the cost by exchanges until none is left that does: for each vertex in
// order, and each colour that suits it better than its own, the connected chain of vertices
// of the two colours that holds it (a Kempe chain) swaps colours if that lowers the sum. A
// chain without neighbours of the new colour is a single move. The colouring stays proper.
// It reports whether anything changed.
func (c *colouring) improve(ctx context.Context, order []int) (changed bool, err error) {
	for again := true; again; {
		again = false
		for i, v := range order {
			if i%64 == 0 && ctx.Err() != nil {
				return changed, ctx.Err()
			}
			if c.improveVertex(v) {
				again, changed = true, true
			}
		}
	}
	return changed, nil
}

func (c *colouring) improveVertex(v int) bool {
	k := c.g.k
	var best []int
	bestGain, from, to := 0.0, c.colour[v], 0
	for colour := range k {
		if c.cost[v*k+colour] >= c.cost[v*k+from] {
			continue
		}
		chain := c.chain(v, colour)
		gain, size := 0.0, 0.0
		for _, u := range chain {
			own, other := c.cost[u*k+c.colour[u]], c.cost[u*k+from+colour-c.colour[u]]
			gain += own - other
			size += own + other
		}
		// A gain within round-off could be taken back by the next chain, for ever.
		if gain > 1e-12*size && gain > bestGain {
			best, bestGain, to = chain, gain, colour
		}
	}
	for _, u := range best {
		c.set(u, from+to-c.colour[u])
	}
	return best != nil
}

// chain returns the vertices connected to v through vertices of v's colour and of other.
func (c *colouring) chain(v, other int) []int {
	c.visit++
	own := c.colour[v]
	chain := []int{v}
	c.mark[v] = c.visit
	for head := 0; head < len(chain); head++ {
		u := chain[head]
		if c.near[u*c.g.k+own+other-c.colour[u]] == 0 {
			continue
		}
		for _, w := range c.g.adj[u] {
			if c.mark[w] != c.visit && c.colour[w] == own+other-c.colour[u] {
				c.mark[w] = c.visit
				chain = append(chain, w)
			}
		}
	}
	return chain
}
