package nonlinear

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/solvers/operator"
)

// KleinDefaultKernel is the kernel whose feature space defines distances for a Learner without a
// kernel.
const KleinDefaultKernel = "linear"

// Klein changes distances so that links hold and all other
// distances follow along shortest paths: Klein, Kamvar & Manning, "From instance-level constraints
// to space-level constraints: making the most of prior knowledge in data clustering" (ICML 2002). A
// baseline.
//
// Must-linked points get the distance 0, and all other distances become lengths of shortest paths,
// on which steps between must-linked points cost nothing. Then points of two must-link components
// that a cannot-link joins get a distance above all others: the largest distance plus the mean
// distance. The paper continues with complete-link clustering. Here the points get coordinates by
// classical scaling, in the directions of largest variance, and new points get the coordinates of
// their nearest training points, combined with the weights that reconstruct them.
//
// The fields are the parameters of the method.
type Klein struct {
	Dims      int `json:"dims" param:"dims" default:"20" range:">= 1" help:"number of directions, those of largest variance"`
	Neighbors int `json:"neighbors" param:"neighbors" default:"10" range:">= 1" help:"training points that determine the coordinates of a new one"`
}

// KleinLearner learns from the links on the points, which must not all coincide. The result has the
// type *[KleinModel]. Its zero Kernel means DefaultKernel, or spectrum:k=3 for sequences.
//
// Cost for n points and c must-link components: n^2 distances, n^2 c additions for the paths, and
// some eigenpairs of a matrix of order n.
type KleinLearner = learner.Learner[Klein]

// Rules returns what the method requires of its input.
func (Klein) Rules() learner.Rules {
	return learner.Rules{Needs: learner.AnyLinks, About: algorithms.About{
		Name: KleinMethod, Title: "Klein",
		Summary: "distances along shortest paths with must-links of length 0; cannot-links are longer " +
			"than all others",
		Paper: "Klein, Kamvar & Manning, From instance-level constraints to space-level constraints, " +
			"ICML 2002",
		DefaultKernel:   KleinDefaultKernel,
		UsesCannotLinks: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p Klein) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	n, eng := f.X.Len(), f.Eng
	if err := eng.Check(fmt.Sprintf("distances of %d points", n), 3*engine.MatrixBytes(n, n),
		"use fewer points"); err != nil {
		return nil, err
	}
	k, err := input.Kernel(ctx, eng, f.Kernel, f.X, KleinDefaultKernel)
	if err != nil {
		return nil, err
	}
	f.Report(algorithms.Progress{Stage: "shortest paths", Total: 2})
	d, err := k.SquaredDistances(ctx, eng, f.X)
	if err != nil {
		return nil, err
	}
	if err := shorten(ctx, eng, d, f.Links); err != nil {
		return nil, err
	}
	f.Report(algorithms.Progress{Stage: "coordinates", Done: 1, Total: 2})
	found, err := basis.Scaled(ctx, eng, d, min(p.Dims, n-1),
		operator.EigenOptions{Tolerance: 1e-8, Seed: f.Seed})
	if err != nil {
		return nil, err
	}
	y, err := kleinCoordinates(found)
	if err != nil {
		return nil, err
	}
	m, err := outofsample.NewBarycentric(ctx, eng, KleinMethod, k, min(p.Neighbors, n), f.X, y)
	if err != nil {
		return nil, err
	}
	return fitted.New(m, p, f.Direct()), nil
}

// shorten turns squared distances into the lengths of shortest paths on which steps within
// must-link components cost nothing, and then separates cannot-linked components.
func shorten(ctx context.Context, eng *engine.Engine, d blas.Matrix, set *links.Set) error {
	n := d.Rows
	for i := range n {
		for j, v := range d.Row(i) {
			d.Set(i, j, math.Sqrt(v))
		}
	}
	c := linear.NewClasses(set)
	steps := len(c.Members)
	to := blas.NewMatrix(n, steps) // from each point to each component
	err := eng.Each(ctx, n, 64, func(i int) {
		row := d.Row(i)
		for g, members := range c.Members {
			best := math.Inf(1)
			for _, at := range members {
				best = min(best, row[c.Rows[at]])
			}
			to.Set(i, g, best)
		}
	})
	if err != nil {
		return err
	}
	through := kleinBetween(to, c)
	from := blas.NewMatrix(n, steps) // the same along shortest paths
	err = eng.Each(ctx, n, 16, func(i int) {
		for a := range steps {
			best := math.Inf(1)
			for b, v := range through.Row(a) {
				best = min(best, to.At(i, b)+v)
			}
			from.Set(i, a, best)
		}
	})
	if err != nil {
		return err
	}
	err = eng.Each(ctx, n, 16, func(i int) {
		row, own := d.Row(i), from.Row(i)
		for j := range i {
			best := row[j]
			for a, v := range to.Row(j) {
				best = min(best, own[a]+v)
			}
			row[j] = best
		}
	})
	if err != nil {
		return err
	}
	eng.Mirror(d)
	separate(d, c)
	return nil
}

// kleinBetween returns the lengths of shortest paths between components (Floyd & Warshall).
func kleinBetween(to blas.Matrix, c *linear.Classes) blas.Matrix {
	k := len(c.Members)
	out := blas.NewMatrix(k, k)
	for a, members := range c.Members {
		for b := range k {
			best := math.Inf(1)
			for _, at := range members {
				best = min(best, to.At(c.Rows[at], b))
			}
			out.Set(a, b, best)
		}
	}
	for via := range k {
		row := out.Row(via)
		for a := range k {
			first := out.At(a, via)
			for b, v := range row {
				if first+v < out.At(a, b) {
					out.Set(a, b, first+v)
				}
			}
		}
	}
	return out
}

// separate moves the points of cannot-linked components farther apart than all others.
func separate(d blas.Matrix, c *linear.Classes) {
	most, mean := 0.0, 0.0
	for i := range d.Rows {
		for _, v := range d.Row(i) {
			most, mean = max(most, v), mean+v/float64(d.Rows*d.Rows)
		}
	}
	for a, members := range c.Members {
		for _, b := range c.Rivals(a) {
			for _, p := range members {
				for _, q := range c.Members[b] {
					d.Set(c.Rows[p], c.Rows[q], most+mean)
				}
			}
		}
	}
}

// kleinCoordinates returns the points' coordinates in the directions of positive eigenvalues.
func kleinCoordinates(found *operator.Eigenpairs) (blas.Matrix, error) {
	dims := 0
	for dims < len(found.Values) && found.Values[dims] > 1e-12*found.Values[0] && found.Values[dims] > 0 {
		dims++
	}
	if dims == 0 {
		return blas.Matrix{},
			fault.Data("", "the embedding maps all points to the same coordinates: want points that "+
				"differ, and fewer must-links")
	}
	return linear.Coordinates(found.Vectors, found.Values[:dims]), nil
}

// KleinModel has the coordinates of training points and their extension to new ones. It is
// immutable and safe for concurrent use. Embed, Gram and Distances, documented at
// [algorithms.Model], are exact for the training points, whose coordinates are stored. A new point
// costs its distances to all of them, O(k^3) flops for the weights of its k neighbors, and 2 k Dim
// flops.
type KleinModel = fitted.Model[Klein]
