package gml

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/solvers/logdet"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// baseKernel is the default S of the data-dependent prior.
const baseKernel = "rbf:sigma=mean"

// deformed is the family M = (S^-1 + V diag(theta) V')^-1, 0 <= theta_1 <= theta_2 and so on: the
// kernel matrix S, deformed by the eigenvectors V of a graph's Laplacian. The less smooth an
// eigenvector is, the more it counts.
type deformed struct {
	*fit
	s      blas.Matrix // n x n, both triangles
	v      blas.Matrix // n x r
	w      blas.Matrix // S V, n x r
	c      blas.Matrix // V' S V, r x r
	theta  []float64
	f      blas.Matrix // (Theta^-1 + C)^-1: M = S - W F W'
	linked []int
}

// datadep learns with the prior of a deformed kernel.
func (f *fit) datadep(ctx context.Context) (*learned, error) {
	k, err := f.Params.In(ctx, f.Eng, f.Kernel, f.X, baseKernel)
	if err != nil {
		return nil, err
	}
	basis, err := f.basis(ctx, k)
	if err != nil {
		return nil, err
	}
	n, r := f.X.Len(), len(basis.Values)
	if err := f.Eng.Check(fmt.Sprintf("deformed kernel matrix of %d points", n), 4*engine.MatrixBytes(n, n),
		"use fewer points, or prior=rbf"); err != nil {
		return nil, err
	}
	d := &deformed{fit: f, theta: make([]float64, r), linked: f.targets.Linked()}
	if f.before != nil {
		if len(f.before.weights) != r {
			return nil, fault.Data("",
				"these points have a basis of %d vectors: want the %d vectors of the model, from the "+
					"points that it was fitted on", r, len(f.before.weights))
		}
		d.theta = slices.Clone(f.before.weights)
	}
	if d.s, err = k.Gram(ctx, f.Eng, f.X); err != nil {
		return nil, err
	}
	mean := 0.0
	for i := range n {
		mean += d.s.At(i, i) / float64(n)
	}
	d.s.Shift(ridge * mean)
	d.v, d.w, d.c = blas.NewMatrix(n, r), blas.NewMatrix(n, r), blas.NewMatrix(r, r)
	basis.Vectors.View(0, r, 0, n).TransposeTo(d.v)
	f.Eng.Backend().Gemm(false, false, 1, d.s, d.v, 0, d.w)
	f.Eng.Backend().Gemm(true, false, 1, d.v, d.w, 0, d.c)
	if err := f.find(ctx, k, f.X); err != nil {
		return nil, err
	}
	return d.alternate(ctx, k)
}

// alternate learns K on the linked points, and theta, in turn.
func (d *deformed) alternate(ctx context.Context, k kernel.Kernel) (*learned, error) {
	constraints := d.bounds.Constraints(d.targets, logdetmetric.Positions(d.linked))
	var best struct {
		result  *logdet.Result
		theta   []float64
		f, m, b blas.Matrix
	}
	for {
		if err := d.factor(); err != nil {
			return nil, err
		}
		m := d.among(d.linked, d.linked)
		res, err := d.project(func(o logdet.Options) (*logdet.Result, error) {
			return logdet.Kernel(ctx, d.Eng, m.Clone(), constraints, o)
		})
		if err != nil {
			return nil, err
		}
		if err := definite(ctx, d.Eng, res.A); err != nil {
			return nil, err
		}
		b, err := logdetmetric.Change(ctx, d.Eng, res, constraints)
		if err != nil {
			return nil, err
		}
		last, worse := d.round(res) // its objective is that of the whole K and M: elsewhere K follows M
		if !worse {
			best.result, best.theta, best.f, best.m, best.b = res, d.theta, d.f, m, b
		}
		if last {
			d.theta, d.f = best.theta, best.f
			check, err := best.result.CheckKernel(ctx, d.Eng, best.m, constraints, d.Params.Gamma)
			if err != nil {
				return nil, err
			}
			m, err := d.turned(ctx, d.linked, constraints, best.result)
			if err == nil && m == nil {
				m, err = d.directions(ctx, k, best.b)
			}
			if err != nil {
				return nil, err
			}
			if m, err = d.corrected(ctx, m, best.m, best.result); err != nil {
				return nil, err
			}
			return &learned{m, kept{about: d.about(best.result, check), weights: d.theta}}, nil
		}
		if d.theta, err = minimizeTheta(d.Eng, d.c, d.energies(b), d.theta); err != nil {
			return nil, err
		}
	}
}

// factor computes F = (I + Theta C)^-1 Theta, as R (I + R C R)^-1 R for R = Theta^1/2.
func (d *deformed) factor() error {
	f, err := resolvent(d.Eng, d.c, d.theta)
	d.f = f
	return err
}

// deformation returns the Cholesky factor of I + R C R for R = diag(theta)^1/2, lower triangle.
func deformation(eng *engine.Engine, c blas.Matrix, theta []float64) (blas.Matrix, error) {
	l := blas.NewMatrix(len(theta), len(theta))
	for i := range theta {
		for j := range i + 1 {
			l.Set(i, j, math.Sqrt(theta[i]*theta[j])*c.At(i, j))
		}
		l.Set(i, i, 1+l.At(i, i))
	}
	return l, eng.Backend().Cholesky(l)
}

// resolvent returns R (I + R C R)^-1 R for R = diag(theta)^1/2, both triangles.
func resolvent(eng *engine.Engine, c blas.Matrix, theta []float64) (blas.Matrix, error) {
	r := len(theta)
	l, err := deformation(eng, c, theta)
	if err != nil {
		return l, err
	}
	x := blas.NewMatrix(r, r)
	for i, v := range theta {
		x.Set(i, i, math.Sqrt(v))
	}
	eng.Backend().Trsm(true, false, l, x) // L^-1 R
	out := blas.NewMatrix(r, r)
	eng.Backend().Gemm(true, false, 1, x, x, 0, out)
	return out, nil
}

// among returns M between two sets of training points.
func (d *deformed) among(rows, cols []int) blas.Matrix {
	out := blas.NewMatrix(len(rows), len(cols))
	for a, i := range rows {
		row := d.s.Row(i)
		for b, j := range cols {
			out.Set(a, b, row[j])
		}
	}
	left, right := d.w.Select(rows), d.w.Select(cols)
	half := blas.NewMatrix(len(rows), d.f.Cols)
	d.Eng.Backend().Gemm(false, false, 1, left, d.f, 0, half)
	d.Eng.Backend().Gemm(false, true, -1, half, right, 1, out)
	return out
}

// energies returns v_i' K v_i for K = M - M_L B M_L'. These are the diagonals of V'M V = C - C F C
// and of (V'M_L) B (V'M_L)', where V'M_L = (I - C F) W_L'.
func (d *deformed) energies(b blas.Matrix) []float64 {
	r, m := len(d.theta), len(d.linked)
	change := blas.NewMatrix(r, r) // I - C F
	d.Eng.Backend().Gemm(false, false, -1, d.c, d.f, 0, change)
	change.Shift(1)
	across, half := blas.NewMatrix(r, m), blas.NewMatrix(r, m)
	d.Eng.Backend().Gemm(false, true, 1, change, d.w.Select(d.linked), 0, across)
	d.Eng.Backend().Gemm(false, false, 1, across, b, 0, half)
	smooth := blas.NewMatrix(r, r)
	d.Eng.Backend().Gemm(false, false, 1, change, d.c, 0, smooth)
	t, out := d.Eng.Backend().Kernels(), make([]float64, r)
	for i := range out {
		out[i] = max(0, smooth.At(i, i)-t.Dot(half.Row(i), across.Row(i)))
	}
	return out
}

// directions returns the map into the directions of the learned kernel, computed on at most 2000 of
// the points. H := E - W F V' turns kernel values of S with all training points into kernel values
// of M with some of them: K(c, .) = (H_c - M_cL B H_L) s(.).
func (d *deformed) directions(ctx context.Context, k kernel.Kernel, b blas.Matrix) (*fitted.Map, error) {
	n := d.X.Len()
	rows := logdetmetric.SupportRows(d.linked, n, d.Seed)
	if err := d.Eng.Check("learned kernel matrix", 3*engine.MatrixBytes(len(rows), n),
		"use fewer points"); err != nil {
		return nil, err
	}
	across := d.among(rows, d.linked)
	change := blas.NewMatrix(len(rows), len(d.linked)) // M_cL B
	d.Eng.Backend().Gemm(false, false, 1, across, b, 0, change)
	gram := d.among(rows, rows)
	d.Eng.Backend().Gemm(false, true, -1, change, across, 1, gram)
	axes, err := logdetmetric.Axes(ctx, d.Eng, gram, d.Params.Dims, 0)
	if err != nil {
		return nil, err
	}
	values := d.onto(rows)
	d.Eng.Backend().Gemm(false, false, -1, change, d.onto(d.linked), 1, values)
	v := d.Eng.NewMatrix(axes.Rows, n)
	d.Eng.Backend().Gemm(false, false, 1, axes, values, 0, v)
	return fitted.NewExpansion(Method, k, d.X, v, nil), nil
}

// onto returns H of some points, |rows| x n.
func (d *deformed) onto(rows []int) blas.Matrix {
	half, out := blas.NewMatrix(len(rows), d.f.Cols), d.Eng.NewMatrix(len(rows), d.X.Len())
	d.Eng.Backend().Gemm(false, false, 1, d.w.Select(rows), d.f, 0, half)
	d.Eng.Backend().Gemm(false, true, -1, half, d.v, 0, out)
	for a, i := range rows {
		out.Set(a, i, out.At(a, i)+1)
	}
	return out
}

// corrected returns m with the Gram matrices and distances of the learned kernel. With u(x) =
// V's(x) it is s(x, y) - u(x)'F u(y) - f(x)'(I - A) f(y), where f(x) = L^-1 M(l, x) = L^-1 H_l s(x)
// for the linked points l and M(l, l) = L L'.
func (d *deformed) corrected(ctx context.Context, m *fitted.Map, prior blas.Matrix,
	result *logdet.Result) (*fitted.Map, error) {
	exact, err := logdetmetric.Whole(ctx, d.Eng, 1, d.linked, prior, result)
	if err != nil {
		return nil, err
	}
	return exact.With(d.Eng, m, d.v, d.f, d.onto(d.linked)), nil
}

// thetaSteps is the maximum number of steps of minimizeTheta. thetaTol is the smallest gain of a
// step, relative to 1 + |objective|, after which it continues.
const (
	thetaSteps = 2000
	thetaTol   = 1e-15
)

// minimizeTheta minimizes sum theta_i k_i - log det(I + C diag(theta)) over 0 <= theta_1 <= ... <=
// theta_r, a convex problem, by projected gradients. The projection is an isotonic regression with
// negative values set to 0. Step lengths are those of Barzilai & Borwein (1988), halved until the
// objective falls.
func minimizeTheta(eng *engine.Engine, c blas.Matrix, k, theta []float64) ([]float64, error) {
	now, err := evaluateTheta(eng, c, k, theta)
	if err != nil {
		return nil, err
	}
	scale := 0.0
	for i := range k {
		scale = max(scale, k[i], c.At(i, i))
	}
	step := 1.0 / max(scale, math.SmallestNonzeroFloat64) / max(scale, math.SmallestNonzeroFloat64)
	for range thetaSteps {
		next, moved, err := stepTheta(eng, c, k, now, step)
		if err != nil {
			return nil, err
		}
		if !(next.value < now.value-thetaTol*(1+math.Abs(now.value))) || moved == 0 {
			break
		}
		turned := 0.0
		for i := range k {
			turned += (next.theta[i] - now.theta[i]) * (next.slope[i] - now.slope[i])
		}
		if step *= 4; turned > 0 {
			step = moved / turned
		}
		now = next
	}
	return now.theta, nil
}

// thetaPoint is a point with its objective and gradient.
type thetaPoint struct {
	theta, slope []float64
	value        float64
}

func stepTheta(eng *engine.Engine, c blas.Matrix, k []float64, from thetaPoint,
	step float64) (thetaPoint, float64, error) {
	for range 60 {
		to := make([]float64, len(k))
		for i, v := range from.theta {
			to[i] = v - step*from.slope[i]
		}
		to, err := optimize.Rising(to, nil)
		if err != nil {
			return from, 0, err
		}
		moved := 0.0
		for i, v := range to {
			to[i] = max(0, v)
			moved += (to[i] - from.theta[i]) * (to[i] - from.theta[i])
		}
		next, err := evaluateTheta(eng, c, k, to)
		if err != nil || next.value <= from.value-1e-4*moved/step {
			return next, moved, err
		}
		step /= 4
	}
	return from, 0, nil
}

func evaluateTheta(eng *engine.Engine, c blas.Matrix, k, theta []float64) (thetaPoint, error) {
	r := len(theta)
	p := thetaPoint{theta: theta, slope: make([]float64, r)}
	l, err := deformation(eng, c, theta)
	if err != nil {
		return p, err
	}
	x := c.Clone()
	for i := range r {
		p.value += theta[i]*k[i] - 2*math.Log(l.At(i, i))
		root := math.Sqrt(theta[i])
		for j := range r {
			x.Set(i, j, root*x.At(i, j))
		}
	}
	eng.Backend().Trsm(true, false, l, x) // L^-1 R C, whose columns' squares are the diagonal of C F C
	for i := range r {
		sum := 0.0
		for j := range r {
			sum += x.At(j, i) * x.At(j, i)
		}
		p.slope[i] = k[i] - (c.At(i, i) - sum)
	}
	return p, nil
}
