package xiang

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/scatter"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/traceratio"
)

// Method is the name of this method in the catalog and in model files.
const Method = "xiang"

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "Xiang",
	Summary:         "trace-ratio metric of the links alone, linear: the baseline of lleratio",
	Paper:           "Xiang, Nie & Zhang, Learning a Mahalanobis distance metric for data clustering and classification, Pattern Recognition 41, 2008",
	Linear:          true,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
}

// Params are the parameters of the method. The zero value is the paper's.
type Params struct {
	Dims int `json:"dims" param:"dims" zero:"half of the directions in which the points vary" help:"columns of the embedding"`
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }

// Learner fits the method.
type Learner struct {
	Params   Params
	Seed     uint64
	Progress algorithms.ProgressFunc
}

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Params: p, Seed: c.Seed, Progress: c.Progress}
}

// Method returns "xiang".
func (Learner) Method() string { return Method }

// Fit learns from n dense points of d features and both kinds of links. Where there are so few
// must-links that W can vanish on all of them, the ratio has no bound; then cannot-links decide among
// these W. The result has the type *[Model].
//
// Cost: n d^2 flops for the directions in which the points vary, q of them; q^2 flops a link, and a few eigenproblems of order q.
//
// Errors: no must-links, no cannot-links; as many dimensions as the data have; points with NaN or Inf,
// or all equal; a request beyond the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	return record.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	if err := l.Params.Validate(); err != nil {
		return nil, err
	}
	dense, err := input.Vectors(Method, x)
	if err != nil {
		return nil, err
	}
	if err := input.CheckPairs(eng, x, set); err != nil {
		return nil, err
	}
	if must, cannot := set.Count(); must == 0 || cannot == 0 {
		return nil, fault.Data("", "xiang compares must-links with cannot-links: want both, got %d and %d", must, cannot)
	}
	const constant = 1e-12
	p, err := linear.NewPrincipal(ctx, eng, dense, constant)
	if err != nil {
		return nil, err
	}
	q := p.Z.Cols
	d := l.Params.Dims
	if d == 0 {
		d = max(1, q/2)
	}
	if d >= q && q > 1 {
		return nil, &fault.ParamError{Param: "dims", Value: d, Want: fmt.Sprintf("a number below %d, the number of directions in which the points vary: with all of them nothing is learned", q)}
	}
	a, b := eng.NewMatrix(q, q), eng.NewMatrix(q, q)
	if err := scatter.Links(ctx, eng, p.Z, set.Cannot(), a); err != nil {
		return nil, err
	}
	if err := scatter.Links(ctx, eng, p.Z, set.Must(), b); err != nil {
		return nil, err
	}
	res, err := traceratio.Solve(ctx, eng, a, b, d, traceratio.Options{Seed: l.Seed, Progress: func(step int, ratio float64) {
		l.Progress.Report(algorithms.Progress{Stage: "trace ratio", Done: step, Objective: ratio, Elapsed: time.Since(begin)})
	}})
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: res.Converged, Iterations: max(0, len(res.Trace)-1), Elapsed: time.Since(begin)}
	if math.IsInf(res.Ratio, 1) {
		status.Message = fmt.Sprintf("the ratio has no bound: in %d dimensions all must-linked points fall together (more must-links or dimensions avoid it)", d)
	}
	return record.New(p.Map(eng, Method, res.W), l.Params, status), ctx.Err()
}

// Model is a fitted metric, the linear map y = W (x - mean) with orthonormal rows. It is immutable and safe for
// concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact and take 2 d Dim flops a point.
type Model = record.Model[Params]

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) { return record.Decode[Params](Method, f, maps.ReadLinear) }
