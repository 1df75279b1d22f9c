package krca

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/trusted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Learner fits kernel relevant component analysis. The zero value is invalid: start from
// [DefaultParams].
type Learner struct {
	// Kernel may have a bandwidth rule, which the fit resolves on the training points. The zero
	// Spec means DefaultKernel, or linear for a precomputed Gram matrix.
	Kernel kernel.Spec
	Params Params
	// Seed draws the landmarks of the embedding if these are not all training points.
	Seed     uint64
	Progress algorithms.ProgressFunc
}

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Kernel: c.Kernel, Params: p, Seed: c.Seed, Progress: c.Progress}
}

// fewerLinks is the advice if there are too many points in chunklets.
const fewerLinks = "use fewer must-links (the cost grows with the points in chunklets) or the method parts, or raise the memory limit"

// Method returns "krca".
func (Learner) Method() string { return Method }

// Fit learns from the must-links of l on the points x. Cannot-links only show which must-links are
// wrong, with Params.Robust; a notice says so. The result has the type *[Model].
//
// With n points in r + #chunklets chunklets and m training points (or landmarks), it takes
// n^2 kernel values and r^3/3 flops for the learned kernel, and for the embedding the kernel values
// of the m points with each other and with the others in chunklets, and m r (m + r) flops with an
// eigendecomposition of order m. From 2500 points on, few dimensions take 2 (m + r)^2 flops for
// each of some 300 products instead, unless the spectrum is so flat that more are needed.
//
// Errors: no must-links, or a number of rows that is not the points'; parameters that
// [Params.Validate] refuses; points with NaN or Inf; a kernel with negative eigenvalues
// where that shows; a request beyond the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	return fitted.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	stage := l.stages(begin)
	c, err := l.chunklets(ctx, eng, x, set, stage)
	if err != nil {
		return nil, err
	}
	refs := landmarks(x.Len(), l.Params.Landmarks, l.Seed)
	of, err := l.fitAt(ctx, eng, x, c.rows, refs, c.f, meanDiagonal, stage)
	if err != nil {
		return nil, err
	}
	m := of(algorithms.Status{Converged: true, Notices: c.notices, Elapsed: time.Since(begin)})
	if err := learner.Remark(ctx, eng, Method, m, x); err != nil {
		return nil, err
	}
	if err := m.measure(ctx, eng); err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// fitAt learns from the chunklets, rows of x, and embeds the landmarks refs. It returns a function
// that makes the model with a given status.
func (l Learner) fitAt(ctx context.Context, eng *engine.Engine, x points.Points, rows, refs []int, f helmert, unit unit, stage func(string)) (func(algorithms.Status) *Model, error) {
	if err := checkLearning(eng, f); err != nil {
		return nil, err
	}
	p := l.Params
	if err := checkEmbedding(eng, f, len(refs), p.Dims, p.Form != FormSpectral && implicitSize(len(refs), p.Dims)); err != nil {
		return nil, err
	}
	stage("bandwidth")
	metric, err := l.learn(ctx, eng, x, rows, f, unit, stage)
	if err != nil {
		return nil, err
	}
	stage("learned kernel")
	e, err := fitEmbedding(ctx, eng, metric, x, rows, refs, p, stage)
	if err != nil {
		return nil, err
	}
	stage("") // the last report: all steps are done
	return func(s algorithms.Status) *Model { return newModel(p, metric, e, s) }, nil
}

// chosen are the chunklets that a fit learns from.
type chosen struct {
	rows    []int // of all chunklets, one after another
	f       helmert
	notices []string
}

// chunklets checks the input and returns the chunklets to learn from.
func (l Learner) chunklets(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set, stage func(string)) (chosen, error) {
	groups, err := l.check(x, set)
	if err != nil {
		return chosen{}, err
	}
	if _, gram := x.(*points.Gram); gram {
		stage("check of the Gram matrix")
	}
	if x, err = kernel.Sound(ctx, eng, x); err != nil {
		return chosen{}, err
	}
	rows, f := flatten(groups)
	return l.trust(ctx, eng, x, rows, chosen{rows, f, notices(set)}, set)
}

// trust returns the chunklets of all must-links, or those without the must-links that other links
// and neighbors contradict. The rows of x that all holds are those at.
func (l Learner) trust(ctx context.Context, eng *engine.Engine, x points.Points, at []int, all chosen, set *links.Set) (chosen, error) {
	if !l.Params.Robust || set.Consistent() == nil {
		return all, nil
	}
	k, err := input.Kernel(ctx, eng, l.Kernel, x, DefaultKernel)
	if err != nil {
		return chosen{}, err
	}
	kept, notice, err := trusted.Links(ctx, eng, k, x.Select(at), all.rows, set)
	if err != nil || notice == "" {
		return all, err
	}
	groups, err := learnable(kept)
	rows, f := flatten(groups)
	return chosen{rows, f, []string{Method + notice}}, err
}

// unit returns the unit of eps_rel: the mean of k(x,x) over all points, of which x may be a part.
type unit func(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (float64, error)

func meanDiagonal(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (float64, error) {
	diagonal, err := k.Diagonal(ctx, eng, x)
	return kernel.Mean(diagonal), err
}

// learn resolves the kernel and learns the metric from the points in chunklets.
func (l Learner) learn(ctx context.Context, eng *engine.Engine, x points.Points, rows []int, f helmert, unit unit, stage func(string)) (*metric, error) {
	k, err := input.Kernel(ctx, eng, l.Kernel, x, DefaultKernel)
	if err != nil {
		return nil, err
	}
	relative := 0.0
	if l.Params.EpsRel != 0 {
		if relative, err = unit(ctx, eng, k, x); err != nil {
			return nil, err
		}
	}
	eps, err := l.Params.epsilon(relative, f.points())
	if err != nil {
		return nil, err
	}
	return newMetric(ctx, eng, k, x.Select(rows), f, eps, l.Params.Form, stage)
}

// check validates the parameters and the input and returns the chunklets.
func (l Learner) check(x points.Points, set *links.Set) ([][]int, error) {
	if err := l.Params.Validate(); err != nil {
		return nil, err
	}
	if err := input.Check(x, set); err != nil {
		return nil, err
	}
	return learnable(set)
}

// learnable returns the chunklets, or an error if there is nothing to learn from them.
func learnable(set *links.Set) ([][]int, error) {
	chunklets := set.Chunklets()
	for _, c := range chunklets {
		if len(c) > 1 {
			return chunklets, nil
		}
	}
	_, cannot := set.Count()
	return nil, fault.Data("", "krca learns from must-links: want at least one must-link or chunklet of two points, got none "+
		"(%d cannot-links, %d chunklets of size 1)", cannot, len(chunklets))
}

// notices returns the notices about links of which all must-links are used, in addition to
// links.Set.Warnings.
func notices(set *links.Set) []string {
	_, cannot := set.Count()
	switch cannot {
	case 0:
		return nil
	case 1:
		return []string{"krca uses must-links only: 1 cannot-link ignored"}
	}
	return []string{fmt.Sprintf("krca uses must-links only: %d cannot-links ignored", cannot)}
}

// flatten returns the rows of all chunklets one after another, and their Helmert basis.
func flatten(chunklets [][]int) ([]int, helmert) {
	var rows []int
	sizes := make([]int, len(chunklets))
	for c, members := range chunklets {
		rows = append(rows, members...)
		sizes[c] = len(members)
	}
	return rows, newHelmert(sizes)
}

// checkLearning checks the memory for the kernel matrix of the chunklets with its factor.
func checkLearning(eng *engine.Engine, f helmert) error {
	n, r := f.points(), f.order()
	return eng.Check(fmt.Sprintf("krca on %d points in chunklets", n), addBytes(engine.MatrixBytes(n, n), engine.MatrixBytes(r, r)), fewerLinks)
}

// checkEmbedding checks the memory for the factor, the coordinates of m points, and their learned
// kernel with its eigendecomposition or, if that is implicit, a matrix and a Krylov space.
func checkEmbedding(eng *engine.Engine, f helmert, m, dims int, implicit bool) error {
	r, square := f.order(), engine.MatrixBytes(m, m)
	need := addBytes(engine.MatrixBytes(r, r), engine.MatrixBytes(m, r), square)
	if implicit {
		need = addBytes(need, engine.MatrixBytes(m, 2*implicitBasis+14*dims)) // space and blocks
	} else {
		need = addBytes(need, square, square)
	}
	return eng.Check(fmt.Sprintf("embedding of krca on %d points", m), need,
		fmt.Sprintf("use landmarks=%d or fewer, or raise the memory limit", max(1, m/4)))
}

// addBytes adds without wrapping round; Check refuses a negative count.
func addBytes(sizes ...int64) int64 {
	var sum int64
	for _, s := range sizes {
		if sum += s; sum < 0 {
			return -1
		}
	}
	return sum
}

// stages returns a function that reports the beginning of each stage of a fit, and with ""
// its end.
func (l Learner) stages(begin time.Time) func(string) {
	const total = 5 // bandwidth, kernel matrix, factor, learned kernel, eigenvectors
	done := -1
	return func(name string) {
		switch name {
		case "":
			done, name = total, "done"
		case "spectral form": // a second attempt at the factor, when Cholesky came first
			done = 2
		default:
			done++
		}
		l.Progress.Report(algorithms.Progress{Stage: name, Done: done, Total: total, Elapsed: time.Since(begin)})
	}
}

// Metric is the learned kernel without an embedding: distances for ranking and retrieval, at a
// fraction of the cost of a [Model]. It is immutable and safe for concurrent use.
type Metric struct{ metric *metric }

// FitMetric is Fit without the embedding. With n points in chunklets it takes n^2 kernel values and
// (n - #chunklets)^3/3 flops; a bandwidth rule also uses all points. Errors are those of Fit.
func (l Learner) FitMetric(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Metric, error) {
	m, _, err := l.fitMetric(ctx, eng, x, set)
	if err != nil {
		return nil, input.Failed(ctx, Method+": fit", err)
	}
	return &Metric{m}, nil
}

// fitMetric learns the metric and returns the chunklets that it is of.
func (l Learner) fitMetric(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*metric, chosen, error) {
	stage := l.stages(time.Now())
	c, err := l.chunklets(ctx, eng, x, set, stage)
	if err != nil {
		return nil, c, err
	}
	if err := checkLearning(eng, c.f); err != nil {
		return nil, c, err
	}
	stage("bandwidth")
	m, err := l.learn(ctx, eng, x, c.rows, c.f, meanDiagonal, stage)
	return m, c, err
}

// Eps returns the regularization in units of the kernel.
func (m *Metric) Eps() float64 { return m.metric.eps }

// Distances returns squared learned distances as [Model.Distances] does, with the same cost and
// errors.
func (m *Metric) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	return m.metric.checkedDistances(ctx, eng, x, pairs)
}

// Gram evaluates the learned kernel as [Model.Gram] does, with the same cost and errors.
func (m *Metric) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	return m.metric.checkedGram(ctx, eng, x, y)
}
