package trusted

import (
	"cmp"
	"container/heap"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	starts = 10  // of the search, the first with the weights as they are
	jitter = 0.5 // standard deviation of the logarithm of the factors on the weights of other starts
	rounds = 50  // of moves, at most; a handful is usual

	streamStarts = 0x74727573746564 // of the random numbers
)

// cluster returns the cluster of each of n points, such that the weights within clusters have a
// large sum: the best of some greedy searches, improved by moves of single points. The weights
// decide, and in other starts factors on them.
func cluster(ctx context.Context, n int, edges []edge) ([]int, error) {
	var best []int
	most, random := math.Inf(-1), rand.New(rand.NewPCG(0, streamStarts))
	weights := adjacency(n, edges)
	for start := range starts {
		tried := slices.Clone(edges)
		for e := range tried {
			if start > 0 {
				tried[e].weight *= math.Exp(jitter * random.NormFloat64())
			}
		}
		of := contract(n, tried)
		move(weights, of)
		if sum := within(edges, of); sum > most {
			best, most = of, sum
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// within returns the sum of the weights within clusters.
func within(edges []edge, of []int) float64 {
	sum := 0.0
	for _, e := range edges {
		if of[e.i] == of[e.j] {
			sum += e.weight
		}
	}
	return sum
}

// adjacency returns the edges of each point, from it.
func adjacency(n int, edges []edge) [][]edge {
	out := make([][]edge, n)
	for _, e := range edges {
		out[e.i] = append(out[e.i], e)
		out[e.j] = append(out[e.j], edge{e.j, e.i, e.weight})
	}
	return out
}

// contract joins the two clusters with the largest weight between them, as long as it is positive.
// At first each point is a cluster.
func contract(n int, edges []edge) []int {
	between, queue := make([]map[int]float64, n), &heaviest{}
	of, members := make([]int, n), make([][]int, n)
	for i := range n {
		between[i], of[i], members[i] = map[int]float64{}, i, []int{i}
	}
	for _, e := range edges {
		between[e.i][e.j] += e.weight
		between[e.j][e.i] = between[e.i][e.j]
	}
	for i, weights := range between {
		for j, w := range weights {
			if i < j && w > 0 {
				*queue = append(*queue, edge{i, j, w})
			}
		}
	}
	heap.Init(queue)
	for queue.Len() > 0 {
		e := heap.Pop(queue).(edge)
		if w, now := between[e.i][e.j]; !now || w != e.weight {
			continue // one of them is no more, or the weight has changed
		}
		a, b := e.i, e.j
		if len(members[a]) < len(members[b]) {
			a, b = b, a
		}
		delete(between[a], b)
		delete(between[b], a)
		for c, w := range between[b] {
			delete(between[c], b)
			between[a][c] += w
			between[c][a] = between[a][c]
			if between[a][c] > 0 {
				heap.Push(queue, edge{min(a, c), max(a, c), between[a][c]})
			}
		}
		for _, p := range members[b] {
			of[p] = a
		}
		members[a], members[b], between[b] = append(members[a], members[b]...), nil, nil
	}
	return of
}

// heaviest is a heap of edges between clusters, the largest weight first, ties by the clusters, so
// that the order in which edges were added does not matter.
type heaviest []edge

func (h heaviest) Len() int { return len(h) }
func (h heaviest) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(h[b].weight, h[a].weight), cmp.Compare(h[a].i, h[b].i), cmp.Compare(h[a].j, h[b].j)) < 0
}
func (h heaviest) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

// Push adds an edge.
func (h *heaviest) Push(e any) { *h = append(*h, e.(edge)) }

// Pop removes the last edge.
func (h *heaviest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// move moves points to the cluster with the largest weight to them, until no move adds more than a
// rounding error to the sum within clusters.
func move(adjacent [][]edge, of []int) {
	for range rounds {
		moved := false
		for i, edges := range adjacent {
			to := map[int]float64{of[i]: 0}
			for _, e := range edges {
				to[of[e.j]] += e.weight
			}
			best := of[i]
			for _, c := range slices.Sorted(maps.Keys(to)) {
				if to[c] > to[best]+1e-9 {
					best = c
				}
			}
			moved = moved || best != of[i]
			of[i] = best
		}
		if !moved {
			return
		}
	}
}
