package krca

import (
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
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

// Learner fits kernel relevant component analysis from the must-links. Cannot-links only show which
// must-links are wrong, with Params.Robust; a notice says so. The zero value is invalid: start from
// [DefaultParams]. The result has the type *[Model].
//
// The zero Kernel means DefaultKernel, or linear for a precomputed Gram matrix. The seed draws the
// landmarks of the embedding if these are not all training points.
//
// With n points in r + #chunklets chunklets and m training points (or landmarks), a fit takes
// n^2 kernel values and r^3/3 flops for the learned kernel, and for the embedding the kernel values
// of the m points with each other and with the others in chunklets, and m r (m + r) flops with an
// eigendecomposition of order m. From 2500 points on, few dimensions take some 300 products
// instead, unless the spectrum is so flat that more are needed: each takes 2 m^2 flops if all
// points in chunklets are landmarks, else at most 2 (m + r)^2.
//
// Errors: no must-links, or a number of rows that is not the points'; parameters that
// [Params.Validate] refuses; points with NaN or Inf; a kernel with negative eigenvalues
// where that shows; a request beyond the memory limit; ctx.Err(), wrapped.
type Learner = learner.Learner[Params]

// Rules describes the method and the input that it requires.
func (Params) Rules() learner.Rules { return learner.Rules{About: About, OwnCheck: true} }

// fewerLinks is the advice if there are too many points in chunklets.
const fewerLinks = "use fewer must-links (the cost grows with the points in chunklets) or the method parts, " +
	"or raise the memory limit"

// Learn learns the metric and its embedding.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	stage := stages(f)
	c, err := p.chunklets(ctx, f, stage)
	if err != nil {
		return nil, err
	}
	return p.model(ctx, f, task{c, landmarks(f.X.Len(), p.Landmarks, f.Seed), meanDiagonal}, stage)
}

// task is what a fit learns from; its rows are those of the points of the fit.
type task struct {
	chosen
	refs []int // rows of the landmarks of the embedding
	unit unit  // of eps_rel
}

// model learns from the chunklets, and embeds the landmarks.
func (p Params) model(ctx context.Context, f *learner.Fit, t task, stage func(string)) (*Model, error) {
	if err := checkLearning(f.Eng, t.f); err != nil {
		return nil, err
	}
	implicit := p.Form != FormSpectral && implicitSize(len(t.refs), p.Dims)
	if err := checkEmbedding(f.Eng, t.f, len(t.refs), p.Dims, implicit); err != nil {
		return nil, err
	}
	if implicit {
		t.begin(t.refs)
	}
	stage("bandwidth")
	metric, err := p.metric(ctx, f, t, stage)
	if err != nil {
		return nil, err
	}
	stage("learned kernel")
	e, err := fitEmbedding(ctx, f.Eng, metric, reference{f.X, t.rows, t.refs}, p, stage)
	if err != nil {
		return nil, err
	}
	stage("") // the last report: all steps are done
	f.Notices = noticesOr(t.notices, f.Links)
	return newModel(p, metric, e, f.Direct()), nil
}

// chosen are the chunklets that a fit learns from.
type chosen struct {
	rows    []int // of all chunklets, one after another
	f       helmert
	notices []string // nil for those of all must-links
}

// begin puts the points of each chunklet that are among the ascending rows before its others. Then
// the basis has as many columns over these rows alone as any, which products with the learned
// kernel of these rows save.
func (c *chosen) begin(rows []int) {
	for k := range c.f.chunklets() {
		members := c.rows[c.f.start[k]:c.f.start[k+1]]
		slices.SortStableFunc(members, func(a, b int) int { return other(rows, a) - other(rows, b) })
	}
}

// other returns 0 if row is among the ascending rows, else 1.
func other(rows []int, row int) int {
	if _, found := slices.BinarySearch(rows, row); found {
		return 0
	}
	return 1
}

// chunklets checks the input and returns the chunklets to learn from.
func (p Params) chunklets(ctx context.Context, f *learner.Fit, stage func(string)) (chosen, error) {
	groups, err := p.check(f)
	if err != nil {
		return chosen{}, err
	}
	if _, gram := f.X.(*points.Gram); gram {
		stage("check of the Gram matrix")
	}
	x, err := kernel.Sound(ctx, f.Eng, f.X)
	if err != nil {
		return chosen{}, err
	}
	rows, basis := flatten(groups)
	return p.trust(ctx, f, x, rows, chosen{rows, basis, nil})
}

// trust returns the chunklets of all must-links, or those without the must-links that other links
// and neighbors contradict. The rows of x that all holds are those at.
func (p Params) trust(ctx context.Context, f *learner.Fit, x points.Points, at []int,
	all chosen) (chosen, error) {
	if !p.Robust || f.Links.Consistent() == nil {
		return all, nil
	}
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, x, DefaultKernel)
	if err != nil {
		return chosen{}, err
	}
	kept, notice, err := trusted.Links(ctx, f.Eng, k, x.Select(at), all.rows, f.Links)
	if err != nil || notice == "" {
		return all, err
	}
	groups, err := learnable(kept)
	rows, basis := flatten(groups)
	return chosen{rows, basis, []string{Method + notice}}, err
}

// unit returns the unit of eps_rel: the mean of k(x,x) over all points, of which x may be a part.
type unit func(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (float64, error)

func meanDiagonal(ctx context.Context, eng *engine.Engine, k kernel.Kernel,
	x points.Points) (float64, error) {
	diagonal, err := k.Diagonal(ctx, eng, x)
	return kernel.Mean(diagonal), err
}

// metric resolves the kernel and learns the metric from the points in chunklets.
func (p Params) metric(ctx context.Context, f *learner.Fit, t task, stage func(string)) (*metric, error) {
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, f.X, DefaultKernel)
	if err != nil {
		return nil, err
	}
	relative := 0.0
	if p.EpsRel != 0 {
		if relative, err = t.unit(ctx, f.Eng, k, f.X); err != nil {
			return nil, err
		}
	}
	eps, err := p.epsilon(relative, t.f.points())
	if err != nil {
		return nil, err
	}
	m := &metric{kernel: k, anchors: f.X.Select(t.rows), f: t.f, eps: eps}
	return newMetric(ctx, f.Eng, m, p.Form, stage)
}

// check validates the parameters and the input and returns the chunklets.
func (p Params) check(f *learner.Fit) ([][]int, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := f.Lesson.For(About); err != nil {
		return nil, err
	}
	if err := input.Check(f.X, f.Links); err != nil {
		return nil, err
	}
	return learnable(f.Links)
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
	return nil, fault.Data("",
		"krca learns from must-links: want at least one must-link or chunklet of two points, got none "+
			"(%s, %s of size 1)", fault.Count(cannot, "cannot-link"), fault.Count(len(chunklets), "chunklet"))
}

// noticesOr returns the notices about the chosen links, or if there are none those about the links
// of which all must-links are used, in addition to links.Set.Warnings.
func noticesOr(chosen []string, set *links.Set) []string {
	_, cannot := set.Count()
	if chosen != nil || cannot == 0 {
		return chosen
	}
	return []string{"krca uses must-links only: " + fault.Count(cannot, "cannot-link") + " ignored"}
}

// flatten returns the rows of all chunklets one after another, and their Helmert basis.
func flatten(chunklets [][]int) ([]int, helmert) {
	count := 0
	for _, members := range chunklets {
		count += len(members)
	}
	rows, start := make([]int, 0, count), make([]int, 1, len(chunklets)+1)
	for _, members := range chunklets {
		rows = append(rows, members...)
		start = append(start, len(rows))
	}
	return rows, helmert{start: start}
}

// checkLearning checks the memory for the kernel matrix of the chunklets with its factor.
func checkLearning(eng *engine.Engine, f helmert) error {
	n, r := f.points(), f.order()
	need := addBytes(engine.MatrixBytes(n, n), engine.MatrixBytes(r, r))
	if eng.Allows(need) {
		return nil
	}
	return eng.Check(fmt.Sprintf("krca on %d points in chunklets", n), need, fewerLinks)
}

// checkEmbedding checks the memory for the factor, the coordinates of m points, and their learned
// kernel with its eigendecomposition or, if that is implicit, a matrix and a Krylov space.
func checkEmbedding(eng *engine.Engine, f helmert, m, dims int, implicit bool) error {
	r, square := f.order(), engine.MatrixBytes(m, m)
	need := addBytes(engine.MatrixBytes(r, r), square)
	if implicit { // kernel values, space and blocks, inverted triangles
		need = addBytes(need, engine.MatrixBytes(m, f.points()+2*implicitBasis+14*dims),
			engine.MatrixBytes(r, triangleOrder))
	} else {
		need = addBytes(need, engine.MatrixBytes(m, r), square, square)
	}
	if eng.Allows(need) {
		return nil
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
func stages(f *learner.Fit) func(string) {
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
		f.Report(algorithms.Progress{Stage: name, Done: done, Total: total})
	}
}

// Metric is the learned kernel without an embedding: distances for ranking and retrieval, at a
// fraction of the cost of a [Model]. It is immutable and safe for concurrent use.
type Metric struct{ metric *metric }

// FitMetric is the fit of a learner without the embedding. With n points in chunklets it takes n^2
// kernel values and (n - #chunklets)^3/3 flops; a bandwidth rule also uses all points. Errors are
// those of Fit.
func FitMetric(ctx context.Context, eng *engine.Engine, l Learner, x points.Points,
	set *links.Set) (*Metric, error) {
	m, _, err := l.Params.fitMetric(ctx, l.Begin(eng, x, set))
	if err != nil {
		return nil, input.Failed(ctx, Method+": fit", err)
	}
	return &Metric{m}, nil
}

// fitMetric learns the metric and returns the chunklets that it is of.
func (p Params) fitMetric(ctx context.Context, f *learner.Fit) (*metric, chosen, error) {
	stage := stages(f)
	c, err := p.chunklets(ctx, f, stage)
	if err != nil {
		return nil, c, err
	}
	if err := checkLearning(f.Eng, c.f); err != nil {
		return nil, c, err
	}
	stage("bandwidth")
	m, err := p.metric(ctx, f, task{chosen: c, unit: meanDiagonal}, stage)
	return m, c, err
}

// Eps returns the regularization in units of the kernel.
func (m *Metric) Eps() float64 { return m.metric.eps }

// Distances returns squared learned distances as [Model.Distances] does, with the same cost and
// errors.
func (m *Metric) Distances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	return m.metric.checkedDistances(ctx, eng, x, pairs)
}

// Gram evaluates the learned kernel as [Model.Gram] does, with the same cost and errors.
func (m *Metric) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	return m.metric.checkedGram(ctx, eng, x, y)
}
