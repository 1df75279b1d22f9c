package graphkernel

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Graph says which points are similar.
type Graph string

// The graphs.
const (
	KNN   Graph = "knn"   // the nearest neighbours of each, either way
	Dense Graph = "dense" // all, by exp(-d^2 / (2 sigma^2))
)

// Neighbourhood says how the graph of the points is made.
type Neighbourhood struct {
	Graph     Graph
	Neighbors int
	Heat      bool // edges of nearest neighbours are weighted by their lengths
}

// Check returns a *fault.ParamError for the first value that cannot be used with n points.
func (o Neighbourhood) Check(n int) error {
	switch {
	case o.Graph != KNN && o.Graph != Dense:
		return fault.Unknown("graph", string(o.Graph), []string{string(KNN), string(Dense)})
	case o.Neighbors < 1:
		return &fault.ParamError{Param: "neighbors", Value: o.Neighbors, Want: "an integer >= 1"}
	case o.Neighbors >= n:
		return &fault.ParamError{Param: "neighbors", Value: o.Neighbors, Want: fmt.Sprintf("a number below %d, the number of points", n)}
	}
	return nil
}

// Similarity gives the weight of an edge of a squared distance.
type Similarity struct {
	Sigma float64 `json:"sigma,omitempty"` // 0: 1 for all
}

// Weight returns that of an edge.
func (s Similarity) Weight(squared float64) float64 {
	if s.Sigma == 0 {
		return 1
	}
	return math.Exp(-squared / (2 * s.Sigma * s.Sigma))
}

// Similarities returns the graph of the points, in the feature space of k, and how its edges are
// weighted.
func (o Neighbourhood) Similarities(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (*sparse.Matrix, Similarity, error) {
	near, err := graph.Nearest(ctx, eng, k, x, o.Neighbors)
	if err != nil {
		return nil, Similarity{}, err
	}
	mean := 0.0
	for _, d := range near.Squared {
		mean += math.Sqrt(d) / float64(len(near.Squared))
	}
	s := Similarity{}
	if o.Heat || o.Graph == Dense {
		if s.Sigma = mean; o.Graph == Dense {
			s.Sigma = mean / 2
		}
		if !(s.Sigma > 0) {
			return nil, s, fault.Data("", "the nearest neighbours of all points are in the same place: want points that differ")
		}
	}
	if o.Graph == KNN {
		return near.Adjacency(graph.Union, s.Weight), s, nil
	}
	full, err := dense(ctx, eng, k, x, s)
	return full, s, err
}

// dense returns the similarities of all pairs.
func dense(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, s Similarity) (*sparse.Matrix, error) {
	n := x.Len()
	if err := eng.Check("similarities of all pairs", 2*engine.MatrixBytes(n, n), "use graph=knn, or fewer points"); err != nil {
		return nil, err
	}
	d, err := k.SquaredDistances(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	out := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, n+1), Col: make([]int32, 0, n*(n-1)), Val: make([]float64, 0, n*(n-1))}
	for i := range n {
		for j, v := range d.Row(i) {
			if j != i {
				out.Col, out.Val = append(out.Col, int32(j)), append(out.Val, s.Weight(v))
			}
		}
		out.Start[i+1] = len(out.Col)
	}
	return out, ctx.Err()
}

// unreached warns of components of the graph in which no point has a link: they learn nothing.
func unreached(s *sparse.Matrix, set *links.Set) []string {
	label, count := graph.Components(s)
	linked := make([]bool, count)
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, l := range list {
			linked[label[l.I]], linked[label[l.J]] = true, true
		}
	}
	parts, points := 0, 0
	for _, is := range linked {
		if !is {
			parts++
		}
	}
	for _, c := range label {
		if !linked[c] {
			points++
		}
	}
	if parts == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d parts of the graph, %d points in all, have no link and are placed at the origin: want more neighbors, or links there", parts, count, points)}
}
