package sampling

import (
	"context"
	"errors"
	"math"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/algorithms/cluster"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/kmeans"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

func init() {
	register.DoFn2x2[context.Context, kmeans.State, rowrandom.Rows, error](&medoidsFn{})
}

// medoidsFn chooses, among the weighted rows that k-means|| has drawn, those nearest to their
// k-means centers.
type medoidsFn struct {
	Config job.Config
	M      int
	Seed   uint64
}

func (f *medoidsFn) ProcessElement(ctx context.Context, s kmeans.State) (rowrandom.Rows, error) {
	var out rowrandom.Rows
	if s.Failed {
		return out, errAlreadyFailed
	}
	err := f.Config.Slot(ctx, func(w *job.Worker) error {
		chosen, err := f.choose(ctx, w.Engine, s)
		for rank, i := range chosen {
			out.Offer(float64(rank), s.Numbers[i], s.Matrix().Row(i))
		}
		return err
	})
	return out, err
}

// errAlreadyFailed ends a step after the job has failed. The first error is the one reported.
var errAlreadyFailed = errors.New("the job has failed")

// choose returns the indices of M different rows among those drawn, or of all when there are no
// more than M.
func (f *medoidsFn) choose(ctx context.Context, eng *engine.Engine, s kmeans.State) ([]int, error) {
	x := s.Matrix()
	if x.Rows <= f.M {
		all := make([]int, x.Rows)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	r, err := cluster.KMeans(ctx, eng, x,
		cluster.Params{K: f.M, Seed: f.Seed, Restarts: 1, Weights: s.Weights})
	if err != nil {
		return nil, err
	}
	chosen, taken := make([]int, 0, f.M), make([]bool, x.Rows)
	for c := range r.Centers.Rows {
		i := nearest(x, r.Centers.Row(c), taken)
		taken[i] = true
		chosen = append(chosen, i)
	}
	return chosen, nil
}

// nearest returns the row of x nearest to a center among those that are not taken.
func nearest(x blas.Matrix, center []float64, taken []bool) int {
	best, at := math.Inf(1), -1
	for i := range x.Rows {
		if d := points.SquaredDistance(x.Row(i), center); !taken[i] && (at < 0 || d < best) {
			best, at = d, i
		}
	}
	return at
}

// spread returns a collection of M rows that k-means|| has drawn.
func spread(s beam.Scope, c job.Config, elements []shard.Element, o Options) beam.PCollection {
	state := kmeans.Over(s, c, elements).Candidates(s,
		kmeans.Options{K: o.M, Seed: o.Seed, Rounds: kmeans.DefaultRounds})
	return beam.ParDo(s, &medoidsFn{Config: c, M: o.M, Seed: o.Seed}, state)
}
