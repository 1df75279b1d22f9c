package graph

import (
	"slices"

	"github.com/mustlink/mustlink/engine/sparse"
)

// Rule decides which points an edge joins.
type Rule int

const (
	Union  Rule = iota // one point is among the neighbors of the other
	Mutual             // each is among the other's neighbors
)

// Binary is the weight 1 for every edge.
func Binary(float64) float64 { return 1 }

// Adjacency returns the undirected graph that joins neighbors by the rule, with weights
// weight(squared distance): an exactly symmetric n x n matrix with a diagonal of zeros. With Mutual
// a point may have no edge. Edges of weight 0 are kept. Cost: O(n k^2).
func (n *Neighbors) Adjacency(rule Rule, weight func(squared float64) float64) *sparse.Matrix {
	lists := n.lists(rule)
	m := &sparse.Matrix{Rows: n.N, Cols: n.N, Start: make([]int, 1, n.N+1)}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b edge) int { return int(a.to) - int(b.to) })
		for _, e := range list {
			m.Col, m.Val = append(m.Col, e.to), append(m.Val, weight(e.squared))
		}
		m.Start = append(m.Start, len(m.Col))
	}
	return m
}

type edge struct {
	to      int32
	squared float64
}

// lists returns the edges of every point, each once, in any order. It stays on one core: a few
// operations for each edge, where the search for neighbors has the dimension for each pair.
func (n *Neighbors) lists(rule Rule) [][]edge {
	lists := make([][]edge, n.N)
	for i := range n.N {
		index, squared := n.Of(i)
		for a, j := range index {
			mutual := n.has(int(j), int32(i))
			if rule == Mutual && !mutual {
				continue
			}
			lists[i] = append(lists[i], edge{j, squared[a]})
			if !mutual {
				lists[j] = append(lists[j], edge{int32(i), squared[a]})
			}
		}
	}
	return lists
}

// has reports whether point j is among the neighbors of i.
func (n *Neighbors) has(i int, j int32) bool {
	index, _ := n.Of(i)
	return slices.Contains(index, j)
}
