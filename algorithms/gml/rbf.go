package gml

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// ridge is added to the diagonal of kernel matrices, relative to the mean of the diagonal. It keeps
// matrices of smooth kernels positive definite.
const ridge = 1e-6

// rbf learns with the prior of a Gaussian kernel.
func (f *fit) rbf(ctx context.Context) (*learned, error) {
	base, err := f.Params.In(ctx, f.Eng, f.Kernel, f.X, DefaultKernel)
	if err != nil {
		return nil, err
	}
	impossible, err := f.targets.Drop(ctx, f.Eng, base, f.X)
	if err != nil {
		return nil, err
	}
	f.Notices = append(f.Notices, impossible...)
	w := &width{fit: f, linked: f.targets.Linked(), base: base}
	a, err := w.begin(ctx)
	if err != nil {
		return nil, err
	}
	if small, err := w.reduced(ctx, a); small != nil || err != nil {
		return small, err
	}
	m := len(w.linked)
	if err := f.Eng.Check("kernel matrices of linked points", 8*engine.MatrixBytes(m, m),
		"use fewer links, landmarks, or the method parts"); err != nil {
		return nil, err
	}
	if w.squared, err = base.SquaredDistances(ctx, f.Eng, f.X.Select(w.linked)); err != nil {
		return nil, err
	}
	if err := w.project(ctx, a); err != nil {
		return nil, err
	}
	best := *a
	for {
		last, worse := f.round(a.result)
		if !worse {
			best = *a
		}
		if last {
			return best.model(ctx, w)
		}
		if err := w.improve(ctx, a); err != nil {
			return nil, err
		}
		if err := w.project(ctx, a); err != nil {
			return nil, err
		}
	}
}

// width searches for the width of the Gaussian kernel.
type width struct {
	*fit
	linked  []int
	base    kernel.Kernel // its feature space defines the distances
	squared blas.Matrix   // squared distances of the linked points
}

// attempt is the state of the alternation.
type attempt struct {
	sigma, alpha float64 // of the last M
	prior        blas.Matrix
	result       *logdet.Result
	constraints  []logdet.Constraint
	bounds       logdetmetric.Bounds
	notices      []string
}

// gaussian returns R + ridge I for a width.
func (w *width) gaussian(ctx context.Context, sigma float64) (blas.Matrix, error) {
	out := w.squared.Clone()
	t := w.Eng.Backend().Kernels()
	return out, w.Eng.Each(ctx, out.Rows, 64, func(i int) {
		row := out.Row(i)
		t.Scale(-1/(2*sigma*sigma), row)
		t.Exp(row, row)
		row[i] = 1 + ridge
	})
}

// begin returns the first prior, or that of the model that links are added to, and the bounds of
// the first one, which stay fixed.
func (w *width) begin(ctx context.Context) (a *attempt, err error) {
	a = &attempt{alpha: 1}
	if w.before != nil {
		a.sigma, a.alpha, a.bounds = w.before.sigma(), w.before.about.Alpha, w.before.about.Bounds
	} else if err := w.first(ctx, a); err != nil {
		return nil, err
	}
	a.notices = a.bounds.Notices()
	a.constraints = a.bounds.Constraints(w.targets, logdetmetric.Positions(w.linked))
	return a, nil
}

// first computes the first width and its bounds.
func (w *width) first(ctx context.Context, a *attempt) error {
	mean, err := w.meanDistance(ctx)
	if err != nil {
		return err
	}
	a.sigma = w.Params.Width * mean
	k, err := w.kernel(a.sigma)
	if err != nil {
		return err
	}
	a.bounds, err = w.Params.Bounds(ctx, w.Eng, k, w.X, len(w.targets.Triplets) > 0, w.Seed)
	return err
}

// project learns K for the current M.
func (w *width) project(ctx context.Context, a *attempt) (err error) {
	if a.prior, err = w.gaussian(ctx, a.sigma); err != nil {
		return err
	}
	w.Eng.Backend().Kernels().Scale(a.alpha, a.prior.Data)
	a.result, err = w.fit.project(func(o logdet.Options) (*logdet.Result, error) {
		return logdet.Kernel(ctx, w.Eng, w.Eng.Clone(a.prior), a.constraints, o)
	})
	if err != nil {
		return err
	}
	return definite(ctx, w.Eng, a.result.A)
}

// reduced learns in the coordinates of landmarks, in the only round, or returns nil if the whole
// kernel matrix is to be used.
func (w *width) reduced(ctx context.Context, a *attempt) (*learned, error) {
	if w.Params.Outer > 1 {
		return nil, nil
	}
	k, err := w.kernel(a.sigma)
	if err != nil {
		return nil, err
	}
	linked := w.on(k, a.alpha, w.linked)
	r, err := linked.Reduce(ctx, w.Eng, a.constraints, w.Params.Landmarks)
	if r == nil || err != nil {
		return nil, err
	}
	res, err := w.fit.project(func(o logdet.Options) (*logdet.Result, error) {
		return logdet.Rows(ctx, w.Eng, r.G, r.Constraints, o)
	})
	if err != nil {
		return nil, err
	}
	w.round(res)
	m, err := r.Learned(ctx, w.Eng, linked, res.A)
	if err != nil {
		return nil, err
	}
	w.Notices, w.bounds = append(w.Notices, a.notices...), a.bounds
	head := w.about(res, res.CheckRows(w.Eng, r.G, r.Constraints, w.Params.Gamma))
	head.Alpha = a.alpha
	head.On(r)
	return &learned{m, kept{about: head}}, nil
}

// spec returns the Gaussian kernel of a width, which is a number or a rule.
func (w *width) spec(sigma any) (kernel.Spec, error) {
	text := fmt.Sprintf("rbf:sigma=%v", sigma)
	if w.base.String() != "linear" {
		text += "@" + w.base.String()
	}
	return kernel.Parse(text)
}

func (w *width) kernel(sigma float64) (kernel.Kernel, error) {
	spec, err := w.spec(sigma)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.New(spec)
}

// meanDistance returns the mean distance of two points.
func (w *width) meanDistance(ctx context.Context) (float64, error) {
	spec, err := w.spec("mean")
	if err != nil {
		return 0, err
	}
	if spec, err = bandwidth.Resolve(ctx, w.Eng, spec, w.X); err != nil {
		return 0, err
	}
	v := sigma(spec.String())
	if !(v > 0) {
		return 0, fault.Data("",
			"the mean distance of the points is 0 or not finite, so it cannot be a width: want points that "+
				"differ")
	}
	return v, nil
}

// sigma returns the width of a Gaussian kernel, 0 for another kernel.
func sigma(kernel string) (v float64) {
	if _, err := fmt.Sscanf(kernel, "rbf:sigma=%g", &v); err != nil {
		return 0
	}
	return v
}

// definite returns an error for a matrix that is not positive definite to rounding.
func definite(ctx context.Context, eng *engine.Engine, k blas.Matrix) error {
	return eng.Cholesky(ctx, eng.Clone(k))
}

// against returns tr(K M^-1) and log det M.
func against(ctx context.Context, eng *engine.Engine, k, m blas.Matrix) (trace, det float64, err error) {
	l := eng.Clone(m)
	if err := eng.Cholesky(ctx, l); err != nil {
		return 0, 0, err
	}
	for i := range l.Rows {
		det += 2 * math.Log(l.At(i, i))
	}
	// tr(K M^-1) = tr(L^-1 K L'^-1)
	x := eng.Clone(k)
	eng.Backend().Trsm(true, false, l, x)
	eng.Backend().Trsm(false, true, l, x)
	return x.Trace(), det, nil
}

// profile is the objective of a width with the best alpha, up to constants: m log tr(K R^-1) + log
// det R. It is +Inf for a matrix that is not positive definite up to rounding.
func (w *width) profile(ctx context.Context, k blas.Matrix, sigma float64) (value, alpha float64, err error) {
	r, err := w.gaussian(ctx, sigma)
	if err != nil {
		return 0, 0, err
	}
	trace, det, err := against(ctx, w.Eng, k, r)
	if _, is := errors.AsType[*blas.NotPositiveDefiniteError](err); is {
		return math.Inf(1), 1, nil
	}
	m := float64(k.Rows)
	return m*math.Log(trace) + det, trace / m, err
}

// golden is the ratio of the golden section.
var golden = (math.Sqrt(5) - 1) / 2

// reach is the largest factor by which the width may change in a round; coarse is the precision of
// its logarithm by the golden section, and the distance of the points of a polynomial afterwards.
const (
	reach  = 4.0
	coarse = 0.02
)

// improve replaces sigma and alpha by better ones for K, by a golden section in the logarithm of
// sigma around the current one, and the polynomial through five points around its result. Its
// minimum is that of the objective to about 1e-8, where values are equal up to rounding: a section
// that goes on ends where rounding leads it, about 1e-6 away.
func (w *width) improve(ctx context.Context, a *attempt) error {
	at := func(log float64) (float64, error) {
		v, _, err := w.profile(ctx, a.result.A, math.Exp(log))
		return v, err
	}
	now := math.Log(a.sigma)
	before, err := at(now)
	if err != nil {
		return err
	}
	lo, hi := now-math.Log(reach), now+math.Log(reach)
	x, y := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fx, err := at(x)
	if err != nil {
		return err
	}
	fy, err := at(y)
	if err != nil {
		return err
	}
	for hi-lo > coarse {
		if fx <= fy {
			hi, y, fy = y, x, fx
			x = hi - golden*(hi-lo)
			fx, err = at(x)
		} else {
			lo, x, fx = x, y, fy
			y = lo + golden*(hi-lo)
			fy, err = at(y)
		}
		if err != nil {
			return err
		}
	}
	best := now
	for _, c := range []struct{ log, f float64 }{{x, fx}, {y, fy}} {
		if c.f < before {
			best, before = c.log, c.f
		}
	}
	if best != now {
		five := [5]float64{2: before}
		for _, k := range []int{0, 1, 3, 4} {
			if five[k], err = at(best + float64(k-2)*coarse); err != nil {
				return err
			}
		}
		best += coarse * lowest(five)
	}
	a.sigma = math.Exp(best)
	_, a.alpha, err = w.profile(ctx, a.result.A, a.sigma)
	return err
}

// lowest returns where the polynomial through (-2, f[0]), ..., (2, f[4]) has a minimum between -2
// and 2, 0 if it has none.
func lowest(f [5]float64) float64 {
	slope := (f[0] - 8*f[1] + 8*f[3] - f[4]) / 12 // the derivatives at 0
	second := (16*f[1] - f[0] - 30*f[2] + 16*f[3] - f[4]) / 12
	third := (2*f[1] - f[0] - 2*f[3] + f[4]) / 2
	fourth := f[0] - 4*f[1] + 6*f[2] - 4*f[3] + f[4]
	const steps = 20 // of Newton's method, which doubles its digits in each
	t := 0.0
	for range steps {
		curvature := second + t*(third+t*fourth/2)
		next := t - (slope+t*(second+t*(third/2+t*fourth/6)))/curvature
		if !(curvature > 0) || !(math.Abs(next) <= 2) {
			return 0
		}
		t = next
	}
	return t
}

// model returns what was learned.
func (a *attempt) model(ctx context.Context, w *width) (*learned, error) {
	k, err := w.kernel(a.sigma)
	if err != nil {
		return nil, err
	}
	m, err := w.turned(ctx, w.linked, a.constraints, a.result)
	stored := logdetmetric.SupportRows(w.linked, w.X.Len(), w.Seed)
	if m != nil {
		stored = w.before.warm.Stored(w.X.Len())
	} else if err == nil {
		var b blas.Matrix
		if b, err = logdetmetric.Change(ctx, w.Eng, a.result, a.constraints); err != nil {
			return nil, err
		}
		m, err = w.on(k, a.alpha, w.linked).Learned(ctx, w.Eng, b)
	}
	if err != nil {
		return nil, err
	}
	exact, err := logdetmetric.Whole(ctx, w.Eng, a.alpha, w.linked, a.prior, a.result)
	if err != nil {
		return nil, err
	}
	m = exact.On(m, stored)
	check, err := a.result.CheckKernel(ctx, w.Eng, a.prior, a.constraints, w.Params.Gamma)
	if err != nil {
		return nil, err
	}
	w.Notices = append(w.Notices, a.notices...)
	w.bounds = a.bounds
	head := w.about(a.result, check)
	head.Alpha = a.alpha
	return &learned{m, kept{about: head}}, nil
}
