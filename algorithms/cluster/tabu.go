package cluster

import (
	"context"
	"math/rand/v2"
)

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
		rng: rand.New(rand.NewPCG(uint64(len(core)), uint64(g.k))), // any seed: it has no influence on feasibility
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
