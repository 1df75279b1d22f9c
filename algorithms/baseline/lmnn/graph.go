package lmnn

import "slices"

// edges are lists of numbers: that of i is to[start[i]:start[i+1]].
type edges struct {
	start []int
	to    []int32
}

func (e *edges) of(i int) (lo, hi int) { return e.start[i], e.start[i+1] }

// graph is directed edges between points, by the points at either end.
type graph struct {
	edges         // list i holds the points that edges lead to from i
	from  []int32 // from[e] is the point whose list holds edge e
	into  edges   // list j holds the numbers of the edges that lead to j, ascending
}

func newGraph(lists [][]int32) graph {
	m := len(lists)
	g := graph{edges: edges{make([]int, m+1), slices.Concat(lists...)}}
	g.from, g.into = make([]int32, len(g.to)), edges{make([]int, m+1), make([]int32, len(g.to))}
	for i, list := range lists {
		g.start[i+1] = g.start[i] + len(list)
		for _, j := range list {
			g.into.start[j+1]++
		}
	}
	for i := range m {
		g.into.start[i+1] += g.into.start[i]
	}
	next := slices.Clone(g.into.start)
	for i, list := range lists {
		for k, j := range list {
			e := g.start[i] + k
			g.from[e] = int32(i)
			g.into.to[next[j]] = int32(e)
			next[j]++
		}
	}
	return g
}
