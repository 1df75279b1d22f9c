package npkl

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// similarity gives the weight of an edge of a squared distance.
type similarity struct {
	Sigma float64 `json:"sigma,omitempty"` // 0: 1 for all
}

func (s similarity) weight(squared float64) float64 {
	if s.Sigma == 0 {
		return 1
	}
	return math.Exp(-squared / (2 * s.Sigma * s.Sigma))
}

// neighbourhood returns the graph of the points, in the feature space of k, and how its edges are
// weighted.
func (p Params) neighbourhood(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (*sparse.Matrix, similarity, error) {
	near, err := graph.Nearest(ctx, eng, k, x, p.Neighbors)
	if err != nil {
		return nil, similarity{}, err
	}
	mean := 0.0
	for _, d := range near.Squared {
		mean += math.Sqrt(d) / float64(len(near.Squared))
	}
	s := similarity{}
	if p.Heat || p.Graph == Dense {
		if s.Sigma = mean; p.Graph == Dense {
			s.Sigma = mean / 2
		}
		if !(s.Sigma > 0) {
			return nil, s, fault.Data("", "the nearest neighbours of all points are in the same place: want points that differ")
		}
	}
	if p.Graph == KNN {
		return near.Adjacency(graph.Union, s.weight), s, nil
	}
	full, err := dense(ctx, eng, k, x, s)
	return full, s, err
}

// dense returns the similarities of all pairs.
func dense(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, s similarity) (*sparse.Matrix, error) {
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
				out.Col, out.Val = append(out.Col, int32(j)), append(out.Val, s.weight(v))
			}
		}
		out.Start[i+1] = len(out.Col)
	}
	return out, ctx.Err()
}
