package cluster

import "context"

// colouring is a proper colouring in the making: the assignment of the vertices of a
// conflict graph to clusters, with the cost of each choice.
type colouring struct {
	g      *conflictGraph
	cost   []float64 // cost[v*k+c] of colour c for vertex v
	colour []int     // -1 while not coloured
	near   []int     // near[v*k+c]: neighbours of v of colour c

	chain []int // of follow
	mark  []int // the last visit of each vertex
	visit int
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

// improve lowers the cost by exchanges until none is left that does: for each pair of
// colours, every connected chain of vertices of the two (a Kempe chain) swaps colours if
// that lowers the sum. A vertex without neighbours of the other colour is a chain by itself:
// a single move. The colouring stays proper. It reports whether anything changed.
// Cost of a sweep over all pairs: O(K (K vertices + edges)).
func (c *colouring) improve(ctx context.Context) (changed bool, err error) {
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

// improvePair swaps the colours a and b on every chain where that pays.
func (c *colouring) improvePair(a, b int) (changed bool) {
	k := c.g.k
	c.visit++
	for v, colour := range c.colour {
		if (colour != a && colour != b) || c.mark[v] == c.visit {
			continue
		}
		c.follow(v, a+b)
		gain, size := 0.0, 0.0
		for _, u := range c.chain {
			own, other := c.cost[u*k+c.colour[u]], c.cost[u*k+a+b-c.colour[u]]
			gain += own - other
			size += own + other
		}
		// A gain within round-off could be taken back by the next swap, for ever.
		if gain <= 1e-12*size {
			continue
		}
		changed = true
		for _, u := range c.chain {
			c.set(u, a+b-c.colour[u])
		}
	}
	return changed
}

// follow fills chain with the vertices connected to v through vertices of v's colour and of
// the other one, sum being the sum of the two, and marks them.
func (c *colouring) follow(v, sum int) {
	c.chain = append(c.chain[:0], v)
	c.mark[v] = c.visit
	for head := 0; head < len(c.chain); head++ {
		u := c.chain[head]
		left := c.near[u*c.g.k+sum-c.colour[u]]
		for _, w := range c.g.adj[u] {
			if left == 0 {
				break
			}
			if c.colour[w] != sum-c.colour[u] {
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
