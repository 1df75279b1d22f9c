package npk

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/sdp"
)

// Method is the name of this method in the catalog and in model files.
const Method = "npk"

// DefaultKernel is the kernel in whose feature space a Learner without one looks for neighbours.
const DefaultKernel = "linear"

// most is the number of points up to which it is of use: the time grows like the third power.
const most = 500

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Loss is that of links that are not met: "hl", the paper's hinge, "shl" or "sl".
	Loss graphkernel.Loss `json:"loss"`
	// C is the weight of the links, > 0.
	C float64 `json:"C"`
	// Delta is added to the diagonal of the normalised Laplacian, > 0.
	Delta float64 `json:"delta"`
	graphkernel.Neighbourhood
	// Tol is the duality gap that ends the fit, relative to 1 + the objective.
	Tol float64 `json:"tol"`
}

// DefaultParams returns the hinge on a graph of 5 neighbours.
func DefaultParams() Params {
	return Params{Loss: graphkernel.Hinge, C: 1, Delta: 0.2, Neighbourhood: graphkernel.Neighbourhood{Graph: graphkernel.KNN, Neighbors: 5}, Tol: 1e-6}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := p.Loss.Check(); err != nil {
		return err
	}
	for _, c := range []struct {
		name  string
		value float64
	}{{"C", p.C}, {"delta", p.Delta}, {"tol", p.Tol}} {
		if !(c.value > 0) || math.IsInf(c.value, 0) {
			return &fault.ParamError{Param: c.name, Value: c.value, Want: "a finite number > 0"}
		}
	}
	return p.Check(math.MaxInt)
}

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	// Kernel says in which feature space neighbours are near; the zero Spec means DefaultKernel.
	Kernel kernel.Spec
	Params Params
	// Similarities, n x n, are those of the graph named "given".
	Similarities blas.Matrix
	Progress     algorithms.ProgressFunc
}

var _ algorithms.Learner = Learner{}

// Method returns "npk".
func (Learner) Method() string { return Method }

// Fit learns from the links of l on the points x, up to 500. The result has the type *[Model]. Cost: some
// hundred times 10 n^3 flops.
//
// Errors: no links, more than 500 points; parameters that [Params.Validate] refuses; points with NaN or
// Inf; a request beyond the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	if err != nil {
		return nil, input.Cancelled(ctx, Method+": fit", err)
	}
	return m, nil
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	if err := l.check(x, set); err != nil {
		return nil, err
	}
	setup := graphkernel.Setup{Method: Method, Around: l.Params.Neighbourhood, Given: l.Similarities, Kernel: l.Kernel, Fallback: DefaultKernel, Loss: l.Params.Loss, C: l.Params.C, Delta: l.Params.Delta}
	p, err := setup.Start(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	res, err := sdp.Minimise(ctx, eng, p.Energy(), p.Terms(), sdp.Options{Tolerance: l.Params.Tol, Progress: func(step int, objective, gap float64) {
		l.Progress.Report(algorithms.Progress{Stage: "interior point", Done: step, Objective: objective, Residual: gap, Elapsed: time.Since(begin)})
	}})
	if err != nil {
		return nil, err
	}
	m := &Model{params: l.Params, about: about{Objective: res.Objective, Gap: res.Gap}}
	if m.Extension, err = p.Extension(ctx, eng, res.Factor, rankTol); err != nil {
		return nil, err
	}
	m.status = algorithms.Status{Converged: res.Converged, Iterations: res.Steps, Notices: p.Notices, Elapsed: time.Since(begin)}
	if m.status.Message = fmt.Sprintf("at most %.2g above the optimum", res.Gap); !res.Converged {
		m.status.Message = fmt.Sprintf("the gap to the optimum came down to %.2g, not to the tolerance", res.Gap)
	}
	return m, ctx.Err()
}

// rankTol drops what the barrier keeps from 0.
const rankTol = 1e-6

func (l Learner) check(x points.Points, set *links.Set) error {
	if err := l.Params.Validate(); err != nil {
		return err
	}
	if err := input.Check(x, set); err != nil {
		return err
	}
	switch {
	case set.Len() == 0:
		return fault.Data("", "npk learns from links: want at least one, got none")
	case x.Len() > most:
		return fault.Data("", "npk solves a semidefinite program of the order of the points: want at most %d, got %d (npkl takes more)", most, x.Len())
	}
	return l.Params.Check(x.Len())
}

// Model is a fitted kernel matrix and its extension to new points. It is immutable and safe for
// concurrent use.
type Model struct {
	*graphkernel.Extension
	params Params
	status algorithms.Status
	about  about
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Objective = (*Model)(nil)
)

// about is what the header holds beside parameters and kernel.
type about struct {
	graphkernel.About
	Objective float64 `json:"objective"`
	Gap       float64 `json:"gap"`
}

// Method returns "npk".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Objective returns the objective.
func (m *Model) Objective() float64 { return m.about.Objective }

// Gap returns how far the objective is above the optimum, at most.
func (m *Model) Gap() float64 { return m.about.Gap }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	return []algorithms.Figure{
		{Name: "loss", Value: string(m.params.Loss)},
		{Name: "points", Value: m.Places().Rows},
		{Name: "dim", Value: m.Dim()},
		{Name: "objective", Value: m.about.Objective},
		{Name: "gap to the optimum, at most", Value: m.about.Gap},
		{Name: "eigenvalues of the kernel matrix", Value: m.Eigenvalues()},
	}
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	about := m.about
	about.About = m.Extension.Encode(f)
	return stored.SetHeader(f, Method, m.params, m.status, about)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be
// used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	err := stored.Header(f, Method, &m.params, &m.status, &m.about)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	m.Extension, err = graphkernel.Decode(Method, f, m.about.About, m.params.Neighbourhood, 1+m.params.Delta)
	return m, err
}
