package gml

import (
	"context"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// AddLinks returns the model of the links of m and those of set, and of the triplets of m: the
// kernel matrix nearest to the prior M that m has learned. The projections start from the
// multipliers of m. x are the points that m was fitted on.
//
// M and the bounds of distances stay as they are; a fit of all links would adapt M further. With
// outer = 1, where no fit adapts M, the result is that of a fit of all links. With dims = 0, a few
// new links rotate the directions of m, which are then no longer sorted by spread; with fewer, the
// directions are computed again.
//
// Errors are those of [learner.Learner.Fit]. Other points, a link that contradicts one of m, and a
// model without the data for this are a *fault.DataError. A model lacks the data if its file is of
// an earlier version, or if its data-dependent prior was built on given similarities or vectors.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	f, err := m.more(eng, x, set)
	if err != nil {
		return nil, err
	}
	added, err := f.model(ctx)
	if err == nil {
		err = learner.Measure(ctx, eng, added, x)
	}
	return fitted.Result(ctx, Method+": new links", added, m.warm.Mismatch(named(err)))
}

// more returns the fit of additional links.
func (m *Model) more(eng *engine.Engine, x points.Points, set *links.Set) (*fit, error) {
	f := begin(m.Params(), Learner{Params: m.Params()}.Begin(eng, x, set))
	f.before, f.bounds = m, m.about.Bounds
	var err error
	if f.targets, err = m.warm.With(eng, Method, x, set); err != nil {
		return nil, err
	}
	f.Params.Metric = "" // the kernel already includes the metric
	f.Seed = m.warm.Seed
	f.Kernel, err = m.base()
	return f, err
}

// base returns the kernel whose feature space defines the distances between points; the Gaussian
// kernel of rbf is a function of these distances.
func (m *Model) base() (kernel.Spec, error) {
	if m.Params().Prior != RBF {
		return m.Kernel().Spec(), nil
	}
	if !(m.sigma() > 0) || !(m.about.Alpha > 0) {
		return kernel.Spec{},
			fault.Data("", "the model has the kernel %s times %g: want a Gaussian kernel times a number > "+
				"0 for prior=rbf", m.Kernel(), m.about.Alpha)
	}
	_, base, on := strings.Cut(m.Kernel().String(), "@")
	if !on {
		base = "linear"
	}
	return kernel.Parse(base)
}

// sigma returns the learned width of the Gaussian prior.
func (m *Model) sigma() float64 { return sigma(m.Kernel().String()) }

// turned returns the map of the model that links are added to, for the kernel that was learned from
// all links. It returns nil if there is no such model, or if new directions are to be computed.
func (f *fit) turned(ctx context.Context, linked []int, constraints []logdet.Constraint,
	r *logdet.Result) (*fitted.Map, error) {
	if f.before == nil || f.Params.Dims > 0 {
		return nil, nil
	}
	return f.before.warm.Rotated(ctx, f.Eng, f.before.Map, f.on(f.before.Kernel(), 1, linked), f.targets,
		constraints, r)
}

// on returns a kernel times scale with the linked points.
func (f *fit) on(k kernel.Kernel, scale float64, linked []int) logdetmetric.Linked {
	return logdetmetric.Linked{Method: Method, Kernel: k, Scale: scale, X: f.X, Rows: linked,
		Dims: f.Params.Dims, Seed: f.Seed}
}

// moved learns with the spectral prior of the model that links are added to, whose coordinates are
// the rows of G L.
func (f *fit) moved(ctx context.Context) (*learned, error) {
	old, b := f.before, f.Eng.Backend()
	g := old.Coordinates().Clone()
	b.Trsm(false, false, old.factor, g)
	if err := f.find(ctx, kernel.Linear(), kernel.Rows(g)); err != nil {
		return nil, err
	}
	constraints := f.bounds.Constraints(f.targets, nil)
	res, err := logdet.Rows(ctx, f.Eng, g, constraints, f.options())
	if err != nil {
		return nil, err
	}
	f.round(res)
	check := res.CheckRows(f.Eng, g, constraints, f.Params.Gamma)
	l, err := f.factor(ctx, res.A)
	if err != nil {
		return nil, err
	}
	return &learned{old.turned(f.Eng, g, l), kept{f.about(res, check), old.weights, l}}, nil
}

// turned returns the map to the coordinates G L.
func (m *Model) turned(eng *engine.Engine, g, l blas.Matrix) *fitted.Map {
	b := eng.Backend()
	if e, is := m.Extension().(*outofsample.NystromExtension); is {
		r := e.NystromRule
		r.Turn = r.Turn.Clone()
		b.Trsm(false, false, m.factor, r.Turn)
		b.Trmm(false, false, l, r.Turn)
		return outofsample.NewNystrom(eng, Method, e.Kernel, e.Support, r)
	}
	y := g.Clone()
	b.Trmm(false, false, l, y)
	return outofsample.WithCoordinates(m.Map, y)
}
