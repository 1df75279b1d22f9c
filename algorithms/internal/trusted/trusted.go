// Package trusted leaves out must-links that the other links and the neighborhoods contradict.
//
// A wrong must-link joins two chunklets, and all must-links together then say that their points
// belong together. It shows by cannot-links between the points that it joins. If there are such
// contradictions, the points are divided into clusters: a graph has positive weights for must-links
// and between nearest neighbors, and negative ones for cannot-links, and the clusters have a large
// sum of weights within (correlation clustering: Bansal, Blum & Chawla, Machine Learning 56, 2004).
// Must-links between two clusters are left out, if must-links join the points of a cannot-link
// there. Links without a contradiction are not touched.
package trusted

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Weights of the graph, in units of the mean weight of a link. On 28 data sets with 5 % wrong
// links, krca generalizes best with these. Two draws chose them; values nearby cost up to .02 of
// balanced Rand index.
const (
	neighbors      = 3   // of each point
	neighborWeight = 0.2 // from each side
	spread         = 0.6 // a link's weight is from 1 - spread to 1 + spread, by the distance of its points
)

// bytesOfPoint and bytesOfEdge estimate the memory of the graph while clusters are sought.
const bytesOfPoint, bytesOfEdge = 256, 192

// Links returns the links without the must-links that are contradicted, and a notice that begins
// after the name of the method. x are the points in chunklets, which have these rows in the set. If
// cannot-links contradict no must-links, or all must-links would be left out, the result is the set
// itself, without a notice.
//
// Cost: the nearest neighbors of x, and O(e log e) for e links and neighbors.
func Links(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, rows []int,
	set *links.Set) (*links.Set, string, error) {
	if set.Consistent() == nil {
		return set, "", nil
	}
	edges, err := edgesOf(ctx, eng, k, x, rows, set)
	if err != nil {
		return nil, "", err
	}
	of, err := cluster(ctx, len(rows), edges)
	if err != nil {
		return nil, "", err
	}
	cluster := make(map[int]int, len(rows))
	for at, row := range rows {
		cluster[row] = of[at]
	}
	doubtful := contradicted(set)
	kept := slices.DeleteFunc(slices.Clone(set.Must()), func(l links.Link) bool {
		return doubtful(l) && cluster[l.I] != cluster[l.J]
	})
	left := len(set.Must()) - len(kept)
	if left == 0 || len(kept) == 0 {
		return set, "", nil
	}
	out, err := links.New(set.N(), append(kept, set.Cannot()...))
	return out, fmt.Sprintf(
		" left out %d of %d must-links, which cannot-links and near points contradict (robust=false uses all)", left, len(set.Must())), err
}

// contradicted returns whether the chunklet of a must-link contains a cannot-link.
func contradicted(set *links.Set) func(links.Link) bool {
	chunklet, bad := set.Components(), map[int]bool{}
	for _, l := range set.Cannot() {
		if chunklet[l.I] == chunklet[l.J] {
			bad[chunklet[l.I]] = true
		}
	}
	return func(l links.Link) bool { return bad[chunklet[l.I]] }
}

// edge is a weight between two points.
type edge struct {
	i, j   int
	weight float64
}

// edgesOf returns the graph on the points x: links between them and nearest neighbors.
func edgesOf(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, rows []int,
	set *links.Set) ([]edge, error) {
	count := min(neighbors, x.Len()-1)
	need := int64(x.Len())*(bytesOfPoint+int64(count)*bytesOfEdge) + int64(set.Len())*bytesOfEdge
	if err := eng.Check(fmt.Sprintf("contradictions of %d links", set.Len()), need,
		"use fewer links, or robust=false, or raise the memory limit"); err != nil {
		return nil, err
	}
	edges, err := linked(ctx, eng, k, x, rows, set)
	if err != nil {
		return nil, err
	}
	near, err := graph.Nearest(ctx, eng, k, x, count)
	if err != nil {
		return nil, err
	}
	for i := range near.N {
		index, _ := near.Of(i)
		for _, j := range index {
			edges = append(edges, edge{i, int(j), neighborWeight})
		}
	}
	return edges, nil
}

// linked returns the edges of links between the points x. A must-link weighs the more, the nearer
// its points are, and a cannot-link, the farther, by the rank of their distance among all links.
func linked(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, rows []int,
	set *links.Set) ([]edge, error) {
	at := make(map[int]int, len(rows))
	for p, row := range rows {
		at[row] = p
	}
	var edges []edge
	var pairs [][2]int
	var weights []float64
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		i, first := at[l.I]
		j, second := at[l.J]
		if first && second {
			edges = append(edges, edge{i, j, float64(l.Sign)})
			pairs, weights = append(pairs, [2]int{i, j}), append(weights, l.Weight)
		}
	}
	squared, err := k.Squared().Pairs(ctx, eng, x, pairs)
	if err != nil {
		return nil, err
	}
	mean := kernel.Mean(weights)
	for e, rank := range ranks(squared) {
		edges[e].weight = weights[e] / mean * (edges[e].weight - 2*spread*(rank-0.5))
	}
	return edges, nil
}

// ranks returns the share of the values that are below each value, and half of the equal ones.
func ranks(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	out := make([]float64, len(values))
	for at, v := range values {
		below, _ := slices.BinarySearch(sorted, v)
		above := sort.Search(len(sorted), func(k int) bool { return !(sorted[k] <= v) })
		out[at] = float64(below+above) / 2 / float64(len(values))
	}
	return out
}

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
	return cmp.Or(cmp.Compare(h[b].weight, h[a].weight), cmp.Compare(h[a].i, h[b].i),
		cmp.Compare(h[a].j, h[b].j)) < 0
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
