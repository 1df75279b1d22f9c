package llma

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/scatter"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
)

// Method is the name of this method in the catalog and in model files.
const Method = "llma"

// About says what the method is.
var About = algorithms.About{
	Name:     Method,
	Title:    "LLMA",
	Summary:  "locally linear metric adaptation, spectral: a linear map that Gaussian windows around linked points bend",
	Paper:    "Chang & Yeung, Locally linear metric adaptation for semi-supervised clustering, ICML 2004",
	Linear:   true,
	Baseline: true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Sigma string `json:"sigma" param:"sigma" default:"0.5mean" help:"width of the windows: a number or a rule"`
	// Anchors are drawn at random if there are more.
	Anchors   int     `json:"anchors" param:"anchors" default:"50" range:">= 1" help:"most linked points with a window"`
	Lambda    float64 `json:"lambda" param:"lambda" default:"1" range:">= 0" help:"weight of the points' shape against the links"`
	Neighbors int     `json:"neighbors" param:"neighbors" default:"10" range:">= 1" help:"points that reconstruct each"`
	Ridge     float64 `json:"ridge" param:"ridge" default:"0.001" range:"> 0" help:"regularization relative to the mean variance of the unknowns"`
	// Dims are no more than the directions of the points and anchors together.
	Dims    int     `json:"dims" param:"dims" default:"20" range:">= 1" help:"most directions"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// DefaultParams returns windows of half the mean distance around up to 50 points, and 20 directions.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	if _, err := p.kernel(); err != nil {
		return &fault.ParamError{Param: "sigma", Value: p.Sigma, Want: "a number > 0 or a rule, such as 0.5mean"}
	}
	return nil
}

func (p Params) kernel() (kernel.Spec, error) { return kernel.Parse("rbf:sigma=" + p.Sigma) }

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	Params   Params
	Seed     uint64
	Progress algorithms.ProgressFunc
}

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Params: p, Seed: c.Seed, Progress: c.Progress}
}

// Method returns "llma".
func (Learner) Method() string { return Method }

// Fit learns from the must-links of l on n dense points of d features. The result has the type *[Model].
//
// Cost for q unknowns, directions and anchors: the nearest neighbours, n q^2 flops and q^3.
//
// Errors: no must-links; parameters that [Params.Validate] refuses, as many neighbours as points, more directions than
// unknowns; other than dense vectors; points with NaN or Inf, or all equal; a request beyond the memory limit; ctx.Err(),
// wrapped.
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
	if must, _ := set.Count(); must == 0 {
		return nil, fault.Data("", "%s learns from must-links: want at least one, got none", Method)
	}
	if l.Params.Neighbors >= x.Len() {
		return nil, &fault.ParamError{Param: "neighbors", Value: l.Params.Neighbors, Want: fmt.Sprintf("a number below %d, the number of points", x.Len())}
	}
	f, parts, err := l.family(ctx, eng, dense, set)
	if err != nil {
		return nil, err
	}
	l.Params.Dims = min(l.Params.Dims, f.Cols)
	l.Progress.Report(algorithms.Progress{Stage: "neighbours", Total: 2, Elapsed: time.Since(begin)})
	n, err := l.energy(ctx, eng, dense, f, set)
	if err != nil {
		return nil, err
	}
	l.Progress.Report(algorithms.Progress{Stage: "directions", Done: 1, Total: 2, Elapsed: time.Since(begin)})
	a, err := l.directions(ctx, eng, f, n)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: true, Elapsed: time.Since(begin)}
	if _, cannot := set.Count(); cannot > 0 {
		status.Notices = []string{fmt.Sprintf("%s uses must-links only: %d cannot-links ignored", Method, cannot)}
	}
	return &Model{record.New(bent(eng, parts, a), l.Params, status)}, ctx.Err()
}

// parts are what a map is made of.
type parts struct {
	principal *linear.Principal
	window    kernel.Kernel
	anchors   points.Points
	means     []float64 // of the unknowns
}

// family returns the unknowns of all points, n x q, and what they are of.
func (l Learner) family(ctx context.Context, eng *engine.Engine, x *points.Dense, set *links.Set) (f blas.Matrix, out parts, err error) {
	spec, err := l.Params.kernel()
	if err != nil {
		return f, out, err
	}
	if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
		return f, out, err
	}
	if out.window, err = kernel.New(spec); err != nil {
		return f, out, err
	}
	if out.principal, err = linear.NewPrincipal(ctx, eng, x, l.Params.RankTol); err != nil {
		return f, out, err
	}
	out.anchors = x.Select(l.anchors(set))
	f, out.means, err = unknowns(ctx, eng, out.principal, out.window, x, out.anchors)
	return f, out, err
}

// anchors returns must-linked rows, ascending.
func (l Learner) anchors(set *links.Set) []int {
	var rows []int
	for _, c := range set.Chunklets() {
		rows = append(rows, c...)
	}
	rng := rand.New(rand.NewPCG(l.Seed, 0x6c6c6d61))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	rows = rows[:min(len(rows), l.Params.Anchors)]
	slices.Sort(rows)
	return rows
}

// unknowns returns what the map is linear in, n x q, columns centred: principal coordinates and windows; and the means that
// the columns had.
func unknowns(ctx context.Context, eng *engine.Engine, p *linear.Principal, k kernel.Kernel, x, anchors points.Points) (f blas.Matrix, means []float64, err error) {
	n, d := x.Len(), p.Z.Cols
	if err := eng.Check("windows of all points", 3*engine.MatrixBytes(n, d+anchors.Len()), "use fewer anchors"); err != nil {
		return f, nil, err
	}
	f = eng.NewMatrix(n, d+anchors.Len())
	windows, err := k.Cross(ctx, eng, x, anchors)
	if err != nil {
		return f, nil, err
	}
	for i := range n {
		copy(f.Row(i)[:d], p.Z.Row(i))
		copy(f.Row(i)[d:], windows.Row(i))
	}
	return f, linear.Centre(f), nil
}

// energy returns the matrix of what is minimised, q x q, lower triangle.
func (l Learner) energy(ctx context.Context, eng *engine.Engine, x *points.Dense, f blas.Matrix, set *links.Set) (blas.Matrix, error) {
	out := blas.NewMatrix(f.Cols, f.Cols)
	must := set.Must()
	if err := scatter.Links(ctx, eng, f, must, out); err != nil {
		return out, err
	}
	eng.Backend().Kernels().Scale(1/float64(len(must)), out.Data)
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, l.Params.Neighbors)
	if err != nil {
		return out, err
	}
	w, err := lle.Weights(ctx, eng, x.N, near.K, lle.OfVectors(eng, x, near.Index, near.K), lle.DefaultRegularization)
	if err != nil {
		return out, err
	}
	return out, scatter.Residuals(ctx, eng, f, near, w, l.Params.Lambda/float64(x.N), out)
}

// directions returns A, q x dims: the eigenvectors of N a = w (F'F / n + ridge) a for the smallest w.
func (l Learner) directions(ctx context.Context, eng *engine.Engine, f, n blas.Matrix) (blas.Matrix, error) {
	q, b := f.Cols, blas.NewMatrix(f.Cols, f.Cols)
	eng.Backend().Syrk(true, 1/float64(f.Rows), f, 0, b)
	trace := 0.0
	for i := range q {
		trace += b.At(i, i)
	}
	for i := range q {
		b.Set(i, i, b.At(i, i)+l.Params.Ridge*trace/float64(q))
	}
	if err := eng.Cholesky(ctx, b); err != nil {
		return b, err
	}
	n.Mirror()
	eng.Backend().Trsm(true, false, b, n) // L^-1 N L'^-1
	eng.Backend().Trsm(false, true, b, n)
	w := make([]float64, q)
	if err := eng.SymEig(ctx, n, w, true); err != nil {
		return b, err
	}
	a := blas.NewMatrix(q, l.Params.Dims)
	for k := range a.Cols {
		for i, v := range n.Row(k) {
			a.Set(i, k, v)
		}
	}
	eng.Backend().Trsm(true, true, b, a)
	return a, nil
}
