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

const (
	flatSample = 24     // rows whose distances are looked at first
	vanishing  = 1e-290 // squared distances up to this are 0: their squares and products are
	equality   = 1e-9   // relative difference of squared distances that are equal but for rounding
)

// flat returns a notice if all distances of the training points x are 0 or equal, "" otherwise. It
// looks at all points only if some of them, spread over the rows, do not differ.
func flat(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points) (string, error) {
	n := x.Len()
	if n < 4 {
		return "", nil
	}
	notice := ""
	for _, count := range []int{min(n, flatSample), n} {
		// A star and a chain: all points coincide if these distances are 0.
		var pairs [][2]int
		for k := 1; k < count; k++ {
			row, before := k*n/count, (k-1)*n/count
			pairs = append(pairs, [2]int{0, row})
			if k > 1 {
				pairs = append(pairs, [2]int{before, row})
			}
		}
		d, err := m.Distances(ctx, eng, x, pairs)
		if err != nil {
			return "", err
		}
		if notice = verdict(d); notice == "" || count == n {
			break
		}
	}
	return notice, nil
}

// verdict returns what is notable about squared distances.
func verdict(d []float64) string {
	least, most := d[0], d[0]
	for _, v := range d {
		least, most = min(least, v), max(most, v)
	}
	switch {
	case most <= vanishing:
		return "all learned distances of the training points are 0: want other parameters, or links that " +
			"the points agree with"
	case most-least <= equality*most:
		return "all learned distances of the training points are equal: want other parameters, such as a " +
			"larger bandwidth, or other columns"
	}
	return ""
}
