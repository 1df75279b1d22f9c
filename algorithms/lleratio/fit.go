package lleratio

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/solvers/traceratio"
)

// Learner fits the method from the links. Points without links contribute their neighborhoods.
// Features should have similar scales (the paper standardizes them). The zero value is invalid:
// start from [DefaultParams]. The result has the type *[Model].
//
// The zero Kernel means DefaultKernel for vectors, linear for a Gram matrix and spectrum:k=3 for
// sequences. Linear mode learns in principal coordinates of the kernel; its zero Kernel means the
// features of dense vectors, and linear for sparse ones.
//
// Cost for m coordinates (must-linked points in kernel mode, all points in full mode, features in
// linear mode): the nearest neighbors of all points, n m kernel values, which are stored,
// at most m^2 (n + links) flops, and a few eigenproblems of order m.
//
// Errors, in addition to those of [learner.Learner.Fit]: no cannot-links; no must-links in kernel
// mode or with alpha = 0; as many dimensions as coordinates; points with a single coordinate; as
// many neighbors as points; points that are all equal.
type Learner = learner.Learner[Params]

// Rules describes the method and the input that it requires.
func (p Params) Rules() learner.Rules {
	rules := learner.Rules{About: About, Pairs: true}
	rules.Linear = p.Mode == Linear
	return rules
}

// Learn finds the basis with the best ratio.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	return (&fit{Fit: f, Params: p}).learn(ctx)
}

func (f *fit) learn(ctx context.Context) (*Model, error) {
	if err := f.check(ctx); err != nil {
		return nil, err
	}
	a, b, err := f.matrices(ctx)
	if err != nil {
		return nil, err
	}
	f.stage("trace ratio")
	d, err := f.Params.dims(a.Rows)
	if err != nil {
		return nil, err
	}
	res, err := traceratio.Solve(ctx, f.Eng, a, b, d,
		traceratio.Options{MaxIter: f.Params.MaxIter, Seed: f.Seed, Progress: f.step})
	if err != nil {
		return nil, err
	}
	idle, err := linear.Idle(ctx, f.Eng, a, res.W, f.Links, "must-links and neighborhoods")
	if err != nil {
		return nil, err
	}
	f.Notices = append(f.Notices, idle...)
	status := f.Status(algorithms.Status{Converged: res.Converged, Iterations: len(res.Trace) - 1})
	if math.IsInf(res.Ratio, 1) {
		status.Message = fmt.Sprintf(
			"the ratio has no bound: %d dimensions can satisfy must-links and neighborhoods exactly; the "+
				"model has those with the largest distances of cannot-links; use fewer dimensions or a "+
				"larger alpha", d)
	}
	head := about{Ratio: number(res.Ratio), Gap: number(res.Gap), Alpha: f.alpha,
		Eigenproblems: res.Eigenproblems}
	return &Model{fitted.New(f.metric(res.W), f.Params, status), fitted.NewDescent(res.Trace), head}, nil
}

// fit is the state of a call of Fit.
type fit struct {
	*learner.Fit
	Params Params
	done   int
	alpha  float64

	principal *linear.Principal // in linear mode
	kernel    kernel.Kernel     // in kernel mode and full mode
	support   []int             // rows of the support points
	at        []int             // the row of the coordinates of each point; nil if it is its own
	turn      func(w blas.Matrix) blas.Matrix
}

func (f *fit) stage(name string) {
	f.Report(algorithms.Progress{Stage: name, Done: f.done, Total: 4})
	f.done++
}

func (f *fit) step(_ int, ratio float64) {
	f.Report(algorithms.Progress{Stage: "trace ratio", Done: f.done - 1, Total: 4, Objective: ratio})
}

// check returns an error for input without anything to learn.
func (f *fit) check(ctx context.Context) (err error) {
	p := f.Params
	must, cannot := f.Links.Count()
	if f.alpha, err = f.weight(ctx); err != nil {
		return err
	}
	switch {
	case cannot == 0:
		return fault.Data("",
			"lleratio learns from cannot-links: want at least one, got none (%s)",
			fault.Count(must, "must-link"))
	case must == 0 && p.Mode == Kernel:
		return fault.Data("",
			"lleratio in kernel mode learns from must-links: want at least one, got none; or use mode=full "+
				"or mode=linear")
	case must == 0 && f.alpha == 0:
		return fault.Data("",
			"no must-links and alpha = 0, so that nothing limits the distances: want a must-link, or alpha > 0")
	case f.alpha > 0 && p.Neighbors >= f.X.Len():
		return fault.Param("neighbors", p.Neighbors, "a number below %d, the number of points", f.X.Len())
	}
	return nil
}

// matrices returns the two matrices of the ratio, in coordinates in which the basis must be
// orthonormal.
func (f *fit) matrices(ctx context.Context) (a, b blas.Matrix, err error) {
	f.stage("coordinates")
	c, err := f.coordinates(ctx)
	if err != nil {
		return a, b, err
	}
	f.stage("neighbors")
	near, w, err := f.reconstruction(ctx)
	if err != nil {
		return a, b, err
	}
	f.stage("scatter matrices")
	m := c.Cols
	a, b = f.Eng.NewMatrix(m, m), f.Eng.NewMatrix(m, m)
	apart, together := linear.Differences{At: f.at}, linear.Differences{At: f.at}
	apart.AddLinks(f.Links.Cannot(), 1)
	together.AddLinks(f.Links.Must(), 1)
	if near != nil {
		together.AddResiduals(near, w, f.alpha)
	}
	if err := apart.Scatter(ctx, f.Eng, c, a); err != nil {
		return a, b, err
	}
	if err := together.Scatter(ctx, f.Eng, c, b); err != nil {
		return a, b, err
	}
	if f.Params.Mode != Linear {
		f.Eng.PutMatrix(c) // before the solver allocates
	}
	return a, b, nil
}

// coordinates returns the coordinates of all points, n x m.
func (f *fit) coordinates(ctx context.Context) (blas.Matrix, error) {
	if f.Params.Mode == Linear {
		return f.linear(ctx)
	}
	var err error
	if f.kernel, err = input.Kernel(ctx, f.Eng, f.Kernel, f.X, DefaultKernel); err != nil {
		return blas.Matrix{}, err
	}
	f.choose()
	n, m := f.X.Len(), len(f.support)
	need := engine.MatrixBytes(n, m) + 6*engine.MatrixBytes(m, m)
	if err := f.Eng.Check(fmt.Sprintf("lleratio on %d points with %d of them as a basis", n, m), need,
		"use fewer must-links, mode=linear, or the method parts"); err != nil {
		return blas.Matrix{}, err
	}
	if _, err := f.Params.dims(m); err != nil { // before the expensive part
		return blas.Matrix{}, err
	}
	c, err := f.values(ctx)
	if err != nil {
		return c, err
	}
	if f.Params.Orthogonality == Feature {
		return f.orthonormal(ctx, c)
	}
	return c, nil
}

// values returns the kernel values of all points with the support points.
func (f *fit) values(ctx context.Context) (blas.Matrix, error) {
	n, m, basis := f.X.Len(), len(f.support), f.X.Select(f.support)
	order := make([]int, n)
	for i, k := range f.at {
		order[k] = i
	}
	c := f.Eng.GetMatrix(n, m)
	for lo := 0; lo < n; lo += blockRows {
		hi := min(lo+blockRows, n)
		if err := f.kernel.CrossTo(ctx, f.Eng, c.View(lo, hi, 0, m), f.X.Select(order[lo:hi]),
			basis); err != nil {
			return c, err
		}
	}
	return c, nil
}

// choose sets the support points, and the rows of the coordinates of all points: those of the
// support points come first.
func (f *fit) choose() {
	linked := make([]bool, f.X.Len())
	for _, l := range f.Links.Must() {
		linked[l.I], linked[l.J] = true, true
	}
	var others []int
	for i, is := range linked {
		if is || f.Params.Mode == Full {
			f.support = append(f.support, i)
		} else {
			others = append(others, i)
		}
	}
	f.at = make([]int, len(linked))
	for k, i := range slices.Concat(f.support, others) {
		f.at[i] = k
	}
}

// linear returns the principal coordinates. They leave out constant and collinear features, on
// which both matrices are zero.
func (f *fit) linear(ctx context.Context) (blas.Matrix, error) {
	const constant = 1e-12
	var err error
	if f.principal, err = linear.NewPrincipal(ctx, f.Eng, f.Dense, constant); err != nil {
		return blas.Matrix{}, err
	}
	return f.principal.Z, nil
}

// metric returns the map of the best basis.
func (f *fit) metric(w blas.Matrix) *fitted.Map {
	if f.Params.Mode == Linear {
		return fitted.WithKernel(f.principal.Map(f.Eng, Method, w))
	}
	if f.turn != nil {
		w = f.turn(w)
	}
	return fitted.NewExpansion(Method, f.kernel, f.X.Select(f.support), w, nil)
}

// tooMany returns the expected value of dims for m coordinates.
func tooMany(m int) string {
	return fmt.Sprintf("a number below %d, the number of coordinates, since with all of them every basis "+
		"has the same ratio", m)
}
