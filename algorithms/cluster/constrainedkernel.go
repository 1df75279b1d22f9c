package cluster

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// ConstrainedKernel is [Kernel] under must-links: it partitions n objects into p.K clusters,
// given their Gram matrix k, so that must-linked objects share a cluster. l nil means no
// links; cannot-links are refused.
//
// Every must-link component B moves as one block to the cluster that minimizes the summed
// squared distance of its objects to the cluster's mean, which is |B| |mean_B - mean_c|^2 + a
// constant. So the method is weighted kernel k-means on the block means, whose Gram matrix is
// the block averages of k, with weights |B|, starts included; Inertia is that of the objects.
// On k = X X' it takes the same steps as [Constrained] on X from the same starts.
//
// Errors: those of [Kernel]; *fault.ShapeError when l is not for n objects; *fault.ParamError
// when l holds cannot-links, or K exceeds the number of must-link components.
// Cost: n^2 additions for the averages, then as Kernel on the blocks. Memory: one value for
// every pair of blocks, and what Kernel takes.
func ConstrainedKernel(ctx context.Context, eng *engine.Engine, k blas.Matrix, l *links.Set,
	p Params) (*Result, error) {
	if l == nil {
		return Kernel(ctx, eng, k, p)
	}
	p, err := p.resolve(k.Rows)
	if err != nil {
		return nil, err
	}
	switch {
	case l.N() != k.Rows:
		return nil, fault.Shape("number of objects", k.Rows, "%d, as the links are for", l.N())
	case len(l.Cannot()) > 0:
		return nil, fault.Param("number of cannot-links", len(l.Cannot()),
			"0 with a Gram matrix: keep them by clustering an embedding")
	}
	if err := checkGram(k); err != nil {
		return nil, err
	}
	b := newBlocks(l)
	if err := b.check(p.K); err != nil {
		return nil, err
	}
	bytes := engine.MatrixBytes(b.len(), b.len()) + int64(eng.Workers())*engine.MatrixBytes(b.len(), p.K+3)
	if err := eng.Check("constrained kernel k-means", bytes, "cluster a sample of the rows"); err != nil {
		return nil, err
	}
	means, weight, err := b.averages(ctx, eng, k)
	if err != nil {
		return nil, fmt.Errorf("cluster: constrained kernel k-means: %w", err)
	}
	r, err := bestKernelStart(ctx, eng, means, weight, p)
	if err != nil {
		return nil, err
	}
	// The scatter within blocks, which is not part of that of their means.
	for i := range k.Rows {
		r.Inertia += k.At(i, i)
	}
	for i, w := range weight {
		r.Inertia -= w * means.At(i, i)
	}
	r.Labels = b.spread(r.Labels)
	return r, nil
}

// averages returns the Gram matrix of the block means, which is exactly symmetric, and the sizes of
// the blocks.
func (b *blocks) averages(ctx context.Context, eng *engine.Engine,
	k blas.Matrix) (means blas.Matrix, size []float64, err error) {
	members := make([][]int, b.len())
	positions := make([]int, len(b.component))
	size = make([]float64, b.len())
	for i, c := range b.component {
		positions[i] = b.place[c]
		members[positions[i]] = append(members[positions[i]], i)
		size[positions[i]]++
	}
	means = eng.NewMatrix(b.len(), b.len())
	err = eng.Each(ctx, b.len(), kernelBlock, func(v int) {
		row := means.Row(v)
		for _, i := range members[v] {
			for j, x := range k.Row(i) {
				row[positions[j]] += x
			}
		}
		for w := range row {
			row[w] /= size[v] * size[w]
		}
	})
	if err != nil {
		return means, size, err
	}
	for v := range means.Rows {
		for w := range v {
			means.Set(w, v, means.At(v, w))
		}
	}
	return means, size, nil
}
