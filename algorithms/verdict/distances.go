package verdict

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
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
	distance := func(i, j int) float64 { return kernel.SquaredDistance(x, x, i, j) }
	switch x.(type) {
	case *points.Dense, *points.CSR:
	default:
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
		value, err := k.Values(ctx, eng, x)
		if err != nil {
			return nil, err
		}
		distance = func(i, j int) float64 { return max(0, value(i, i)+value(j, j)-2*value(i, j)) }
	}
	out := make([]float64, len(pairs))
	const together = 1024
	err := eng.For(ctx, len(pairs), together, func(lo, hi int) error {
		for p := lo; p < hi; p++ {
			out[p] = distance(pairs[p][0], pairs[p][1])
		}
		return nil
	})
	return out, err
}

// embedded returns the squared distance of each pair in the coordinates that the model gives its
// rows: those that clusters, neighbors and pictures are made of. A model may have an exact distance
// in a space of more dimensions.
func embedded(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points, pairs [][2]int) ([]float64, error) {
	rows, at := input.RowsOf(pairs)
	y, err := m.Embed(ctx, eng, x.Select(rows))
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(pairs))
	for p, pair := range pairs {
		out[p] = points.SquaredDistance(y.Row(at[pair[0]]), y.Row(at[pair[1]]))
	}
	return out, nil
}
