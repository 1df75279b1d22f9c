package basis

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/operator"
)

// isomap returns the leading eigenvectors of -H D H / 2, where D holds the squared lengths of
// shortest paths in the neighbor graph (Tenenbaum, de Silva & Langford 2000). Cost: n (n k) log n
// for the paths.
func (c Choice) isomap(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (*Basis, error) {
	near, err := c.neighbors(ctx, eng, k, x)
	if err != nil {
		return nil, err
	}
	edges := near.Adjacency(graph.Union, math.Sqrt)
	if _, parts := graph.Components(near.Adjacency(graph.Union, graph.Binary)); parts > 1 {
		return nil, fault.Data("", "the graph of %d neighbors has %d parts without paths between them: want more neighbors for basis=isomap", c.Neighbors, parts)
	}
	d, err := graph.Geodesics(ctx, eng, edges)
	if err != nil {
		return nil, err
	}
	found, err := Scaled(ctx, eng, d, c.Rank, eigen.Options{Tolerance: tolerance, Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	b := &Basis{Vectors: found.Vectors, Values: make([]float64, c.Rank)}
	for i, w := range found.Values {
		if !(w > zero*found.Values[0]) {
			return nil, &fault.ParamError{Param: "rank", Value: c.Rank, Want: fmt.Sprintf("a number up to %d, the number of positive eigenvalues of the paths", i)}
		}
		b.Values[i] = math.Log(found.Values[0] / w)
	}
	return b, nil
}

// Scaled returns the dims leading eigenpairs of the inner products -H D^2 H / 2 of the distances D:
// classical scaling (Torgerson 1952). Eigenvalues may be negative if the distances are not
// Euclidean. It overwrites d.
func Scaled(ctx context.Context, eng *engine.Engine, d blas.Matrix, dims int, o eigen.Options) (*eigen.Result, error) {
	center(d)
	gram, err := operator.Dense(d)
	if err != nil {
		return nil, err
	}
	return eigen.Top(ctx, eng, gram, dims, o)
}

// center replaces distances by the inner products -H D^2 H / 2.
func center(d blas.Matrix) {
	n := d.Rows
	means, mean := make([]float64, n), 0.0
	for i := range n {
		row := d.Row(i)
		for j, v := range row {
			row[j] = v * v
			means[i] += row[j] / float64(n)
		}
		mean += means[i] / float64(n)
	}
	for i := range n {
		row := d.Row(i)
		for j, v := range row {
			row[j] = -0.5 * (v - (means[i] + means[j]) + mean)
		}
	}
}
