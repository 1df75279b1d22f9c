package krca

import (
	"context"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Model is the learned kernel with its embedding. It is immutable and safe for concurrent
// use.
//
// All methods take points of the kind of the training points: vectors (dense or sparse) with the
// same number of features, or rows of a Gram matrix over the same reference objects. For others the
// error is a *fault.ShapeError or *fault.DataError.
//
// Embed maps n points to an n x Dim matrix, at most Params.Dims columns when that is not 0: kernel
// PCA of the learned kernel. With Params.Dims = 0 distances between rows are the learned distances
// for the reference points; they are projections on the reference points' span for others. Cost a
// point: its kernel values with the reference points and 2 r Dim flops for r of them.
//
// The method is direct: it always converges.
type Model struct {
	*fitted.Model[Params]
	metric *metric
	embed  *embedding
	growth growth
}

var _ algorithms.Updater = (*Model)(nil)

// newModel assembles a model. It drops the rows of a Gram matrix, since a model reads kernel values
// with its points by column.
func newModel(p Params, m *metric, e *embedding, status algorithms.Status) *Model {
	if p.Form == "" {
		p.Form = FormAuto
	}
	e.support = fitted.StripPoints(e.support)
	m.anchors = fitted.SelectPoints(e.support, e.chunklet)
	return &Model{Model: fitted.New(e.extended(m), p, status), metric: m, embed: e}
}

// Measured returns the stored points, for the share of the learned distance that their embedding
// holds. There are none for a Gram matrix, of which a model stores no values.
func (m *Model) Measured() points.Points {
	if _, is := m.embed.support.(*points.Gram); is {
		return nil
	}
	return m.embed.support
}

// Eps returns the regularization in units of the kernel.
func (m *Model) Eps() float64 { return m.metric.eps }

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	k := m.metric
	figures := []algorithms.Statistic{
		{Name: "kernel", Value: k.kernel.String()},
		{Name: "eps", Value: k.eps},
		{Name: "form", Value: string(k.form())},
		{Name: "rank", Value: k.width()},
		{Name: "chunklets", Value: k.f.chunklets()},
		{Name: "points in chunklets", Value: k.f.points()},
		{Name: "dim", Value: m.Dim()},
		{Name: "points stored", Value: m.embed.support.Len()},
		{Name: "updates", Value: len(m.growth.history)},
		{Name: "memory", Value: fault.FormatBytes(m.bytes())},
	}
	return append(figures, m.Held()...)
}

// Projected returns true: Embed holds the learned distance as closely as its directions allow.
func (m *Model) Projected() bool { return true }

// Gram evaluates the learned kernel, |x| x |y|, exactly; a nil y means x.
// Cost: the kernel values with the n points in chunklets, r^2 flops a point and r flops an
// entry. Rows of a Gram matrix as y must be reference objects.
func (m *Model) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	return m.metric.checkedGram(ctx, eng, x, y)
}

// Distances returns the squared learned distance of each pair of rows of x, exactly, never
// negative. A row out of range is a *fault.DataError whose Row is the number of the pair. Cost: for
// each row of x its kernel values with the n points in chunklets and r^2 flops, r = n less the
// number of chunklets; r flops a pair.
func (m *Model) Distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	return m.metric.checkedDistances(ctx, eng, x, pairs)
}

// EmbedSingle is Model.Embed in single precision, as algorithms.SingleEmbedder says, for the
// Cholesky form. The spectral form, which exists because its terms would cancel, is a
// *fault.ParamError. The weights grow as 1/eps, and errors with them. Cost: 2 n m (d + Dim) flops
// for m points in chunklets and landmarks.
func (m *Model) EmbedSingle(ctx context.Context, eng *engine.Engine,
	x *points.Single) (blas.Matrix32, error) {
	if m.metric.spectral() {
		return blas.Matrix32{},
			fault.Param("precision", "single",
				"double for a krca model in the spectral form (form=cholesky allows single)")
	}
	return fitted.EmbedSingle(ctx, eng, Method, m.metric.kernel, m.embed.support, m.embed.weights,
		m.embed.offset, x)
}

// check returns an error for points that the metric does not accept.
func (m *metric) check(x points.Points) error {
	if err := fitted.CheckPoints(x, m.anchors); err != nil {
		return err
	}
	return input.Points(x)
}

// finish returns the error of an evaluation in the form of the exported methods. Values that
// overflowed are an error.
func finish(ctx context.Context, eng *engine.Engine, m blas.Matrix, err error) (blas.Matrix, error) {
	if err == nil {
		err = checkFinite(ctx, eng, m, notRepresentable)
	}
	if err != nil {
		return blas.Matrix{}, input.Failed(ctx, Method+":", err)
	}
	return m, nil
}

func notRepresentable(row int) error {
	return fault.Row(row, "a learned kernel value of this point is not representable: want smaller values "+
		"(scale the data) or a larger eps")
}

// Model returns the model of all updates so far, with its embedding. As at the end of
// [learner.Learner.Fit], that takes m^2 kernel values and as many flops as stated there, for m
// reference points. These are those of the original model, and points of the updates up to the
// number of landmarks (or 5000).
func (u *Incremental) Model(ctx context.Context, eng *engine.Engine) (*Model, error) {
	return u.model(ctx, eng, time.Now())
}

// model is Model of an update that began earlier.
func (u *Incremental) model(ctx context.Context, eng *engine.Engine, begin time.Time) (*Model, error) {
	metric := u.metric()
	metric.f.columns = slices.Clone(metric.f.columns)
	e, err := fitEmbedding(ctx, eng, metric, reference{u.store, u.positions, u.refs}, u.params,
		func(string) {})
	if err == nil {
		err = metric.compact(ctx, eng) // a copy of the factor
	}
	if err != nil {
		return nil, input.Failed(ctx, Method+":", err)
	}
	out := newModel(u.params, metric, e,
		algorithms.Status{Converged: true, Notices: u.Notices(), Elapsed: time.Since(begin)})
	if err := learner.Measure(ctx, eng, out, u.store); err != nil {
		return nil, input.Failed(ctx, Method+":", err)
	}
	if len(u.growth.history) > 0 {
		out.growth = growth{slices.Clone(u.growth.history), slices.Clone(u.growth.created), u.growth.s}
	}
	return out, nil
}

// Update implements [algorithms.Updater] by [Incremental.Update], with a new embedding.
// For a stream of updates use [Model.Incremental], which computes the embedding only on request.
// Cost: O(n^2) for each new point, with n points in chunklets, and the embedding.
func (m *Model) Update(ctx context.Context, eng *engine.Engine, x points.Points,
	chunklets []algorithms.Chunklet) (algorithms.Model, error) {
	return m.changed(ctx, eng, func(u *Incremental) error { return u.Update(ctx, eng, x, chunklets) })
}

// DropLast implements [algorithms.Updater] by [Incremental.DropLast], with a new embedding.
// It returns an error if count is not from 1 to the number of updates.
func (m *Model) DropLast(ctx context.Context, eng *engine.Engine, count int) (algorithms.Model, error) {
	return m.changed(ctx, eng, func(u *Incremental) error { return u.DropLast(count) })
}

func (m *Model) changed(ctx context.Context, eng *engine.Engine,
	change func(*Incremental) error) (algorithms.Model, error) {
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

// Path is the learned kernel for all values of eps: the decomposition of F'KF, which takes most of
// the time of a fit, does not depend on eps (equation (1c)). It is immutable and safe for
// concurrent use.
type Path struct {
	fit    *learner.Fit
	params Params
	chosen
	metric *metric // in the spectral form, of no particular eps
	mean   float64 // of k(x,x) over the training points, the unit of eps_rel
}

var _ algorithms.Path = (*Path)(nil)

// PathValue returns eps_rel, or 0 if eps is set in another unit or Form is cholesky.
func (p Params) PathValue() (name string, value float64) {
	const parameter = "eps_rel"
	if p.Form == FormCholesky {
		return parameter, 0
	}
	return parameter, p.EpsRel
}

// PathProjected reports whether a model keeps leading directions alone.
func (p Params) PathProjected() bool { return p.Dims > 0 }

// LearnPath is Learn with form=spectral for all values of eps; it ignores that of p. Errors are
// those of Fit. The result has the type *[Path].
//
// With r + #chunklets points in chunklets it takes their kernel values and 2 r q^2 + 9 q^3 flops
// for a matrix F'KF of rank q.
func (p Params) LearnPath(ctx context.Context, f *learner.Fit) (algorithms.Path, error) {
	p.Form, p.EpsRel, p.Eps, p.FixedS = FormSpectral, 1, 0, 0
	m, c, err := p.fitMetric(ctx, f)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	return &Path{fit: f, params: p, chosen: c, metric: m, mean: m.eps}, nil
}

// Distances returns, for each value of eps_rel, the squared learned distance of each pair of rows
// of x, never negative. With q the rank of F'KF it takes the coordinates of the points once, and 3
// q flops for each pair and value. Values that [Params.Validate] refuses are a *fault.ParamError;
// other errors are those of [Model.Distances].
func (p *Path) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
	epsRel []float64) ([][]float64, error) {
	if err := p.metric.checkPairs(eng, x, pairs); err != nil {
		return nil, err
	}
	eps, weights, out := make([]float64, len(epsRel)), make([][]float64, len(epsRel)),
		make([][]float64, len(epsRel))
	for v, rel := range epsRel {
		var err error
		if eps[v], err = p.eps(rel); err != nil {
			return nil, err
		}
		weights[v], out[v] = p.metric.squaredWeights(eps[v]), make([]float64, len(pairs))
	}
	err := p.metric.parts(ctx, eng, x, pairs, func(at int, rho float64, ci, cj []float64) {
		for v, w := range weights {
			sum := rho / eps[v]
			for r, weight := range w {
				d := ci[r] - cj[r]
				sum += weight * d * d
			}
			out[v][at] = max(0, sum)
		}
	})
	if err != nil {
		return nil, input.Failed(ctx, Method+": path:", err)
	}
	for _, d := range out {
		if err := finiteDistances(d, pairs); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eps returns eps in units of the kernel.
func (p *Path) eps(rel float64) (float64, error) {
	params := Params{EpsRel: rel}
	if err := params.Validate(); err != nil {
		return 0, err
	}
	return params.epsilon(p.mean, p.metric.f.points())
}

// Model returns the model of one value of eps_rel. It computes only the embedding.
func (p *Path) Model(ctx context.Context, eng *engine.Engine, epsRel float64) (*Model, error) {
	eps, err := p.eps(epsRel)
	if err != nil {
		return nil, err
	}
	params := p.params
	params.EpsRel = epsRel
	f := learner.Begin(p.fit.Rules, p.fit.Common, eng, p.fit.X, p.fit.Links)
	f.Notices = noticesOr(p.notices, f.Links)
	refs := landmarks(f.X.Len(), params.Landmarks, f.Seed)
	metric := *p.metric
	metric.eps = eps
	e, err := fitEmbedding(ctx, eng, &metric, reference{f.X, p.rows, refs}, params, stages(f))
	if err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	m := newModel(params, &metric, e, f.Direct())
	if err := learner.Measure(ctx, eng, m, f.X); err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	return m, ctx.Err()
}
