package linear

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// KernelAxes computes the principal directions of points in the feature space of a
// kernel, and the coordinates along them.
//
// KernelAxes are the principal directions of n points l. The coordinates of x are V k(l, x) -
// Center.
type KernelAxes struct {
	kernel    kernel.Kernel
	support   points.Points
	V         blas.Matrix // q x n
	Center    []float64   // length q
	Variances []float64   // length q, descending
	Total     float64     // the sum of all variances, those of dropped directions too
	Z         blas.Matrix // n x q: the coordinates of the points, with mean 0
}

// NewKernelAxes returns the dims leading directions, all for 0. It drops directions whose variance
// is at most tol times the largest, and those that may be rounding of the kernel values, which
// centering leaves.
//
// Errors: points that are all equal in the feature space; those of the kernel matrix and of the
// eigensolver. Cost: n^2 kernel values, and n^3 flops for all directions.
func NewKernelAxes(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, dims int,
	tol float64) (*KernelAxes, error) {
	gram, err := k.Gram(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	n := x.Len()
	rounding := max(0, 0x1p-52*gram.Trace(), k.Noise(x))
	means, err := kernel.Center(ctx, eng, gram)
	if err != nil {
		return nil, err
	}
	total := gram.Trace() / float64(n)
	w, u, err := directions(ctx, eng, gram, dims, tol, rounding)
	if err != nil {
		return nil, err
	}
	q := len(w)
	a := &KernelAxes{kernel: k, support: x, Total: total, V: blas.NewMatrix(q, n), Center: make([]float64, q),
		Variances: make([]float64, q), Z: eng.NewMatrix(n, q)}
	for r := range q { // V = W^-1/2 U' H, and Center = V K 1 / n
		from, to, mean, root := u.Row(r), a.V.Row(r), 0.0, math.Sqrt(w[r])
		for _, v := range from {
			mean += v / float64(n)
		}
		for i, v := range from {
			to[i] = (v - mean) / root
			a.Center[r] += to[i] * means[i]
			a.Z.Set(i, r, (v-mean)*root)
		}
		a.Variances[r] = w[r] / float64(n)
	}
	return a, nil
}

// Whiten divides the coordinates by the square roots of their variances. It does not change
// Variances.
func (a *KernelAxes) Whiten(eng *engine.Engine) {
	by := make([]float64, len(a.Variances))
	for r, variance := range a.Variances {
		by[r] = 1 / math.Sqrt(variance)
		eng.Backend().Kernels().Scale(by[r], a.V.Row(r))
		a.Center[r] *= by[r]
	}
	for i := range a.Z.Rows {
		for r := range a.Z.Row(i) {
			a.Z.Row(i)[r] *= by[r]
		}
	}
}

// Map returns the map from points to their coordinates.
func (a *KernelAxes) Map(method string) *fitted.Map {
	return fitted.NewExpansion(method, a.kernel, a.support, a.V, a.Center)
}

// Turned returns the map from points to t (Dim x q) times their coordinates.
func (a *KernelAxes) Turned(eng *engine.Engine, method string, t blas.Matrix) *fitted.Map {
	v, c := blas.NewMatrix(t.Rows, a.V.Cols), make([]float64, t.Rows)
	eng.Backend().Gemm(false, false, 1, t, a.V, 0, v)
	eng.Backend().Gemv(false, 1, t, a.Center, 0, c)
	return fitted.NewExpansion(method, a.kernel, a.support, v, c)
}

// directions returns the leading eigenvalues of the centered kernel matrix, those above tol times
// the largest and above rounding, and the eigenvectors as rows. The largest entry of a vector is
// positive, since otherwise the sign, and what a method makes of it, would be that of the solver.
func directions(ctx context.Context, eng *engine.Engine, k blas.Matrix, dims int, tol,
	rounding float64) (w []float64, u blas.Matrix, err error) {
	if w, u, err = eng.SymEigTop(ctx, k, dims); err != nil {
		return nil, u, err
	}
	keep := 0
	for keep < len(w) && w[keep] > rounding && w[keep] > tol*w[0] {
		keep++
	}
	if keep == 0 {
		return nil, u, fault.Data("", "the points have no variance under the kernel: want points that differ")
	}
	u = u.View(0, keep, 0, u.Cols)
	for c := range keep {
		row := u.Row(c)
		if -slices.Min(row) > slices.Max(row) {
			for i := range row {
				row[i] = -row[i]
			}
		}
	}
	return w[:keep], u, nil
}

// Limits of the coordinates in which linear methods learn.
const (
	// most is the number of directions. A linear method takes time in the second or third power of
	// it, and has to learn as many numbers from links.
	most = 100
	// carriers is the number of points that the directions are sought in. A model stores them all,
	// and a new point costs a kernel value with each.
	carriers = 2000
	// constant is the variance, relative to the largest, up to which a direction counts as
	// constant. The coordinates of a direction have a relative error of rounding over the root of
	// this.
	constant = 1e-10
)

// KernelCoordinates returns the principal coordinates of x in the feature space of a kernel, up to
// 100 of them, and their axes. The zero Spec means linear for vectors and Gram matrices, and
// spectrum:k=3 for sequences. The directions are those of x or, if these are many, of 2000 points
// drawn from x. The notice says what is left out; it is "" if nothing is.
//
// Errors: those of the kernel; points that are all equal in the feature space; a request above the
// memory limit. Cost for m = min(n, 2000): n m
// kernel values, and the leading eigenpairs of a matrix of order m.
func KernelCoordinates(ctx context.Context, eng *engine.Engine, asked kernel.Spec, x points.Points,
	seed uint64) (*points.Dense, *KernelAxes, string, error) {
	rows := sampling.Some(x.Len(), carriers, seed)
	n, m := x.Len(), len(rows)
	need := 2*engine.MatrixBytes(m, m) + engine.MatrixBytes(n+2*m, min(m, most))
	if err := eng.Check(fmt.Sprintf("kernel principal coordinates of %d points", n), need,
		"fit a sample of the rows, or raise the memory limit"); err != nil {
		return nil, nil, "", err
	}
	k, err := input.Kernel(ctx, eng, asked, x, "linear")
	if err != nil {
		return nil, nil, "", err
	}
	axes, err := NewKernelAxes(ctx, eng, k, x.Select(rows), most, constant)
	if err != nil {
		return nil, nil, "", err
	}
	y, err := axes.Map("coordinates").Embed(ctx, eng, x) // as new rows get them, exactly
	if err != nil {
		return nil, nil, "", err
	}
	return &points.Dense{N: n, D: y.Cols, Data: y.Data}, axes, axes.notice(n), nil
}

// notice says what the coordinates of n points leave out.
func (a *KernelAxes) notice(n int) string {
	kept := blas.Sum(a.Variances)
	text := ""
	if m := a.V.Cols; m < n {
		text = fmt.Sprintf(", found in %d of the %d points", m, n)
	}
	if share := kept / a.Total; share < 0.9995 {
		text += fmt.Sprintf(": they have %.1f %% of the variance", 100*share)
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" learned in the %d leading principal coordinates of kernel %s%s", len(a.Variances),
		a.kernel, text)
}
