// Package barycentric gives points places among those of others that are near them: the combination that
// reconstructs a point from its nearest neighbours takes its place from theirs.
package barycentric

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
)

// Rule says how points are reconstructed.
type Rule struct {
	Kernel    kernel.Kernel          // in whose feature space neighbours are near
	Neighbors int                    // nearest ones that a point is reconstructed from
	Reg       float64                // added to local Gram matrices, relative to their traces
	Apart     func(a, b int) float64 // squared distances of the support points
}

// Reconstruct writes W P to y, where row i of W, which sums to 1, reconstructs point i of x from its nearest points
// of the support, whose places are the rows of P. A point that is no farther from one of these than same
// says, nil for 0, has its place.
func (r Rule) Reconstruct(ctx context.Context, eng *engine.Engine, x, support points.Points, p blas.Matrix, same []float64, y blas.Matrix) error {
	near, err := graph.NearestBetween(ctx, eng, r.Kernel, x, support, r.Neighbors)
	if err != nil {
		return err
	}
	settled := func(i int) bool { // at a support point
		_, squared := near.Of(i)
		return squared[0] == 0 || same != nil && squared[0] <= same[i]
	}
	// <x - a, x - b> = (|x - a|^2 + |x - b|^2 - |a - b|^2) / 2
	gram := func(i int, g []float64, stride int) {
		index, squared := near.Of(i)
		if settled(i) { // no weights are wanted, and there may be none: any definite matrix will do
			for a := range index {
				for b := range a {
					g[(a*r.Neighbors+b)*stride] = 0
				}
				g[(a*r.Neighbors+a)*stride] = 1
			}
			return
		}
		for a, j := range index {
			g[(a*r.Neighbors+a)*stride] = squared[a]
			for b := range a {
				g[(a*r.Neighbors+b)*stride] = 0.5 * (squared[a] + squared[b] - r.Apart(int(j), int(index[b])))
			}
		}
	}
	w, err := lle.Weights(ctx, eng, x.Len(), r.Neighbors, gram, r.Reg)
	if err != nil {
		return err
	}
	t := eng.Backend().Kernels()
	return eng.For(ctx, x.Len(), 1024, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			index, _ := near.Of(i)
			to := y.Row(i)
			if settled(i) {
				copy(to, p.Row(int(index[0])))
				continue
			}
			clear(to)
			for a, j := range index {
				t.Axpy(w.At(i, a), p.Row(int(j)), to)
			}
		}
		return nil
	})
}
