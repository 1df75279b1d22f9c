package paper

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// constrainedKernel is [cluster.Kernel] under must-links: it partitions n objects into p.K
// clusters, given their Gram matrix k, so that must-linked objects share a cluster. Cannot-links
// are refused.
//
// Every must-link component B moves as one block to the cluster that minimizes the summed squared
// distance of its objects to the cluster's mean, which is |B| |mean_B - mean_c|^2 + a constant. So
// the method is weighted kernel k-means on the block means, whose Gram matrix is the block averages
// of k, with weights |B|, starts included; Inertia is that of the objects. On k = X X' it takes the
// same steps as [cluster.Constrained] on X from the same starts.
//
// Errors: those of Kernel; *fault.ShapeError when l is not for n objects; *fault.ParamError when l
// holds cannot-links, or K exceeds the number of must-link components. Cost: n^2 additions for the
// averages, then as Kernel on the blocks. Memory: one value for every pair of blocks, and what
// Kernel takes.
func constrainedKernel(ctx context.Context, eng *engine.Engine, k blas.Matrix, l *links.Set,
	p cluster.Params) (*cluster.Result, error) {
	switch {
	case l.N() != k.Rows:
		return nil, fault.Shape("number of objects", k.Rows, "%d, as the links are for", l.N())
	case len(l.Cannot()) > 0:
		return nil, fault.Param("number of cannot-links", len(l.Cannot()),
			"0 with a Gram matrix: keep them by clustering an embedding")
	}
	of := l.Components()
	means, weight, err := averages(ctx, eng, k, of, l.NumComponents())
	if err != nil {
		return nil, err
	}
	p.Weights = weight
	r, err := cluster.Kernel(ctx, eng, means, p)
	if err != nil {
		return nil, err
	}
	// The scatter within blocks, which is not part of that of their means.
	r.Inertia += k.Trace()
	for i, w := range weight {
		r.Inertia -= w * means.At(i, i)
	}
	labels := make([]int, len(of))
	for i, c := range of {
		labels[i] = r.Labels[c]
	}
	r.Labels = labels
	return r, nil
}

// averages returns the Gram matrix of the means of blocks, which is exactly symmetric, and their
// sizes. of is the block of each object.
func averages(ctx context.Context, eng *engine.Engine, k blas.Matrix, of []int,
	blocks int) (means blas.Matrix, size []float64, err error) {
	members := make([][]int, blocks)
	size = make([]float64, blocks)
	for i, c := range of {
		members[c] = append(members[c], i)
		size[c]++
	}
	means = eng.NewMatrix(blocks, blocks)
	err = eng.Each(ctx, blocks, 64, func(v int) {
		row := means.Row(v)
		for _, i := range members[v] {
			for j, x := range k.Row(i) {
				row[of[j]] += x
			}
		}
		for w := range row {
			row[w] /= size[v] * size[w]
		}
	})
	means.Mirror()
	return means, size, err
}
