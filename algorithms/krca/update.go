package krca

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// Model builds the model of what was learned so far, with its embedding: as at the end of
// [Learner.Fit], m^2 kernel values, m r^2 flops and an eigendecomposition of order m for m
// reference points. These are the model's, and the points of the updates while landmarks
// (or 5000) are not reached.
func (u *Incremental) Model(ctx context.Context, eng *engine.Engine) (*Model, error) {
	return u.model(ctx, eng, time.Now())
}

// model is Model of an update that began earlier.
func (u *Incremental) model(ctx context.Context, eng *engine.Engine, begin time.Time) (*Model, error) {
	m, r := len(u.refs), len(u.f.columns)
	square := engine.MatrixBytes(m, m)
	need := addBytes(engine.MatrixBytes(r, r), engine.MatrixBytes(m, r), square, square, square)
	if err := eng.Check(fmt.Sprintf("embedding of krca on %d points", m), need, "fit with fewer landmarks, or raise the memory limit"); err != nil {
		return nil, err
	}
	metric := u.metric()
	factor := eng.NewMatrix(r, r)
	for i := range r {
		copy(factor.Row(i)[:i+1], metric.factor.Row(i))
	}
	metric.factor, metric.f.columns = factor, slices.Clone(metric.f.columns)
	e, err := fitEmbedding(ctx, eng, metric, u.store, u.places, u.refs, u.params.Dims, func(string) {})
	if err != nil {
		return nil, input.Cancelled(ctx, Method+":", err)
	}
	out := newModel(u.params, metric, e, algorithms.Status{Converged: true, Notices: u.Notices(), Elapsed: time.Since(begin)})
	if len(u.growth.history) > 0 {
		out.growth = growth{slices.Clone(u.growth.history), slices.Clone(u.growth.created), u.growth.s}
	}
	return out, nil
}

// Update implements [algorithms.Updater] by [Incremental.Update], with a new embedding.
// For a stream of updates use [Model.Incremental], which computes it only when asked.
// O(n^2) for each new point, n those in chunklets, and the embedding.
func (m *Model) Update(ctx context.Context, eng *engine.Engine, x points.Points, chunklets []algorithms.Chunklet) (algorithms.Model, error) {
	return m.changed(ctx, eng, func(u *Incremental) error { return u.Update(ctx, eng, x, chunklets) })
}

// DropLast implements [algorithms.Updater] by [Incremental.DropLast], with a new embedding.
// Errors are those of it: a count that is not from 1 to the number of updates.
func (m *Model) DropLast(ctx context.Context, eng *engine.Engine, count int) (algorithms.Model, error) {
	return m.changed(ctx, eng, func(u *Incremental) error { return u.DropLast(count) })
}

func (m *Model) changed(ctx context.Context, eng *engine.Engine, change func(*Incremental) error) (algorithms.Model, error) {
	begin := time.Now()
	u, err := m.Incremental()
	if err != nil {
		return nil, err
	}
	if err := change(u); err != nil {
		return nil, err
	}
	out, err := u.model(ctx, eng, begin)
	if err != nil {
		return nil, err
	}
	return out, nil
}
