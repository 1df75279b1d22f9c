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
	"context"
	"fmt"
	"slices"

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
func Links(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, rows []int, set *links.Set) (*links.Set, string, error) {
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
	return out, fmt.Sprintf(" left out %d of %d must-links, which cannot-links and near points contradict (robust=false uses all)", left, len(set.Must())), err
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
func edgesOf(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, rows []int, set *links.Set) ([]edge, error) {
	count := min(neighbors, x.Len()-1)
	need := int64(x.Len())*(bytesOfPoint+int64(count)*bytesOfEdge) + int64(set.Len())*bytesOfEdge
	if err := eng.Check(fmt.Sprintf("contradictions of %d links", set.Len()), need, "use fewer links, or robust=false, or raise the memory limit"); err != nil {
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
func linked(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, rows []int, set *links.Set) ([]edge, error) {
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
	mean := 0.0
	for _, w := range weights {
		mean += w / float64(len(weights))
	}
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
		above, _ := slices.BinarySearchFunc(sorted, v, func(s, v float64) int {
			if s <= v {
				return -1
			}
			return 1
		})
		out[at] = float64(below+above) / 2 / float64(len(values))
	}
	return out
}
