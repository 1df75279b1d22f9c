package learner

import (
	"context"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// ShareRows is the largest number of rows, and shareSteps the number of pairs for each of them,
// that [Share] looks at.
const (
	ShareRows  = 200
	shareSteps = 5
)

// Share returns the share of the learned distance that the embedding of the points x holds: the sum
// of |z - z'|^2 over pairs of rows divided by the sum of their squared learned distances, at most
// 1000 pairs of 200 rows drawn from a fixed seed. It is 1 for a model whose embedding is exact. It
// is 0, for unknown, if no two rows differ, and for rows of a Gram matrix that are not its
// reference objects, whose distances are not known.
func Share(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points) (float64, error) {
	if p, is := m.(algorithms.Projection); !is || !p.Projected() {
		return 1, nil
	}
	rows := rand.New(rand.NewPCG(0, 0x7368617265)).Perm(x.Len())
	rows = rows[:min(len(rows), ShareRows)]
	x = x.Select(rows)
	if g, is := x.(*points.Gram); is {
		for _, object := range g.Reference {
			if object < 0 {
				return 0, nil
			}
		}
	}
	var pairs [][2]int
	for step := 1; step <= min(shareSteps, len(rows)-1); step++ {
		for i := range rows {
			pairs = append(pairs, [2]int{i, (i + step) % len(rows)})
		}
	}
	d, err := m.Distances(ctx, eng, x, pairs)
	if err != nil {
		return 0, err
	}
	z, err := m.Embed(ctx, eng, x)
	if err != nil {
		return 0, err
	}
	held, whole := 0.0, 0.0
	for p, pair := range pairs {
		held += points.SquaredDistance(z.Row(pair[0]), z.Row(pair[1]))
		whole += d[p]
	}
	if !(whole > vanishing) {
		return 0, nil
	}
	return min(1, held/whole), nil
}

// measurer is implemented by models that look at points of their own.
type measurer interface {
	// Measured returns the points to look at, nil for none.
	Measured() points.Points
}

// Measure tells a model the share of the learned distance that its embedding of the training points
// x holds, or that of the points of its own, if it is a projection.
func Measure(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points) error {
	holds, is := m.(interface{ Hold(share float64) })
	if p, projects := m.(algorithms.Projection); !is || !projects || !p.Projected() {
		return nil
	}
	if own, has := m.(measurer); has {
		if x = own.Measured(); x == nil {
			return nil
		}
	}
	share, err := Share(ctx, eng, m, x)
	if err == nil {
		holds.Hold(share)
	}
	return err
}
