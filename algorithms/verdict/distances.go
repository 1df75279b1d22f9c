package verdict

import (
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// words is the kernel that compares sequences without learning.
const words = "cosine@spectrum:k=3"

// Distances returns the squared distance of each pair of rows of x without learning: Euclidean
// distance of vectors, the distance that a Gram matrix gives, and for sequences that of the counts
// of words of three letters, scaled to unit length. Errors are those of the kernel. Cost: O(d) for
// each pair.
func Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	between, err := rawMetric(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(pairs))
	const together = 1024
	return out, eng.Each(ctx, len(pairs), together, func(p int) { out[p] = between(pairs[p][0], pairs[p][1]) })
}

// rawMetric returns the squared distance of two rows of x without learning.
func rawMetric(ctx context.Context, eng *engine.Engine, x points.Points) (Metric, error) {
	k := kernel.Linear()
	if _, sequences := x.(*points.Sequences); sequences {
		spec, err := kernel.Parse(words)
		if err != nil {
			return nil, err
		}
		if k, err = kernel.New(spec); err != nil {
			return nil, err
		}
	}
	return k.Distances(ctx, eng, x)
}

// Distances returns the squared distances of the ranked pairs in the coordinates that the model
// gives rows of x: those that clusters, neighbors and pairs are made of.
func (f *Fold) Distances(ctx context.Context, eng *engine.Engine, m algorithms.Model,
	x points.Points) ([]float64, error) {
	between, err := embedded(ctx, eng, m, x, f.Rows, f.ends)
	if err != nil {
		return nil, err
	}
	return f.distances(ctx, eng, between)
}

// embedded returns the squared distance of two of some rows in the coordinates that the model gives
// them: those that clusters, neighbors and pictures are made of. A model may have an exact distance
// in a space of more dimensions.
func embedded(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points,
	lists ...[]int) (Metric, error) {
	rows := slices.Concat(lists...)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	what := fmt.Sprintf("coordinates of %d rows to judge by", len(rows))
	if err := eng.Check(what, engine.MatrixBytes(len(rows), m.Dim()),
		"use fewer links, or no verdict"); err != nil {
		return nil, err
	}
	y, err := m.Embed(ctx, eng, x.Select(rows))
	if err != nil {
		return nil, err
	}
	at := make([]int, x.Len())
	for k, i := range rows {
		at[i] = k
	}
	return func(i, j int) float64 { return points.SquaredDistance(y.Row(at[i]), y.Row(at[j])) }, nil
}
