package rca

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
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Learner fits linear RCA. It is immutable and safe for concurrent use.
type Learner struct {
	Params   Params
	Progress algorithms.ProgressFunc
}

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return &Learner{Params: p, Progress: c.Progress}
}

// Method returns "rca".
func (l *Learner) Method() string { return Method }

// Fit learns from n dense points of d features and the must-links between them;
// cannot-links are ignored with a notice. Cost: n d^2 + O(d^3) flops.
// The result has the type *[Model]. Errors: no must-links; parameters that [Params.Validate] refuses; other
// than dense vectors; points with NaN or Inf, or all equal; a request beyond the memory limit; ctx.Err().
func (l *Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	begin := time.Now()
	dense, err := input.Dense(Method, l.Params, x, set)
	if err != nil {
		return nil, err
	}
	chunklets := set.Chunklets()
	if len(chunklets) == 0 {
		return nil, fault.Data("", "rca learns from must-links: want at least one must-linked pair or chunklet, got none")
	}
	fitted, err := l.transform(ctx, eng, dense, chunklets, begin)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: true, Elapsed: time.Since(begin)}
	if n := len(set.Cannot()); n > 0 {
		status.Notices = append(status.Notices, fmt.Sprintf("rca uses must-links only: %d cannot-links ignored", n))
	}
	return record.New(fitted, l.Params, status), nil
}

// transform returns the learned map.
func (l *Learner) transform(ctx context.Context, eng *engine.Engine, x *points.Dense, chunklets [][]int, begin time.Time) (*maps.Map, error) {
	report := func(stage string, done int) {
		l.Progress.Report(algorithms.Progress{Stage: stage, Done: done, Total: 3, Elapsed: time.Since(begin)})
	}
	report("covariance", 0)
	if m, ok, err := l.direct(ctx, eng, x, chunklets); ok || err != nil {
		return m, err
	}
	p, chunklets, err := l.principal(ctx, eng, x, chunklets)
	if err != nil {
		return nil, err
	}
	report("within-chunklet covariance", 1)
	white, err := l.whitening(ctx, eng, p.Z, chunklets)
	if err != nil {
		return nil, err
	}
	if l.Params.Dims > 0 && l.Params.Dims < p.Z.Cols {
		report("discriminant directions", 2)
		if white, err = l.discriminant(ctx, eng, p.Z, white); err != nil {
			return nil, err
		}
	}
	return p.Map(eng, Method, white), ctx.Err()
}

// direct returns the map L^-1 of the features, C + eps I = L L', if it can tell without their total covariance matrix T that
// no direction counts as constant: the points vary in no direction less than within chunklets, so that the smallest eigenvalue
// of T is at least that of C times the share of the rows in chunklets, and the largest at most the trace; and that of C
// + eps I is at least 1 / |L^-1|^2. d^3 / 3 flops for the factor and as many for its inverse, where eigenvalues take dozens of d^3.
func (l *Learner) direct(ctx context.Context, eng *engine.Engine, x *points.Dense, chunklets [][]int) (m *maps.Map, ok bool, err error) {
	rows := 0
	for _, c := range chunklets {
		rows += len(c)
	}
	if l.Params.Dims > 0 || rows < x.D+len(chunklets) {
		return m, false, nil
	}
	need := engine.MatrixBytes(rows, x.D) + engine.MatrixBytes(x.D, x.D)
	if err := eng.Check(fmt.Sprintf("rca on %d points in chunklets", rows), need, "use fewer must-links or features, or raise the memory limit"); err != nil {
		return m, false, err
	}
	mean, total := spread(eng.Backend().Kernels(), x)
	within := linear.Within(blas.Matrix{Rows: x.N, Cols: x.D, Stride: max(1, x.D), Data: x.Data}, chunklets)
	c, trace := blas.NewMatrix(x.D, x.D), 0.0
	eng.Backend().Syrk(true, 1/float64(within.Rows), within, 0, c)
	for i := range x.D {
		trace += c.At(i, i)
	}
	eps := l.Params.EpsRel * trace / float64(x.D)
	for i := range x.D {
		c.Set(i, i, c.At(i, i)+eps)
		clear(c.Row(i)[i+1:])
	}
	if eng.Backend().Cholesky(c) != nil || eng.Backend().TriangularInverse(c) != nil {
		return m, false, nil // the longer way tells what is wrong
	}
	size := eng.Backend().Kernels().Dot(c.Data, c.Data)
	least := (1/size - eps) * float64(rows) / float64(x.N)
	if !(least > max(l.Params.RankTol, 1e-12)*total) {
		return m, false, nil
	}
	return maps.NewLinear(Method, mean, c), true, ctx.Err()
}

// spread returns the mean of the points and the trace of their covariance matrix.
func spread(t *asm.Table, x *points.Dense) (mean []float64, trace float64) {
	mean = make([]float64, x.D)
	for i := range x.N {
		t.Axpy(1, x.Row(i), mean)
	}
	t.Scale(1/float64(x.N), mean)
	for i := range x.N {
		trace += t.SquaredDistance(x.Row(i), mean)
	}
	return mean, trace / float64(x.N)
}

// principal returns the principal coordinates, of all points where directions are chosen by their spread and else of those
// in chunklets, and the chunklets' rows in them.
func (l *Learner) principal(ctx context.Context, eng *engine.Engine, x *points.Dense, chunklets [][]int) (*linear.Principal, [][]int, error) {
	if l.Params.Dims > 0 {
		p, err := linear.NewPrincipal(ctx, eng, x, l.Params.RankTol)
		return p, chunklets, err
	}
	var rows []int
	there := make([][]int, len(chunklets))
	for k, c := range chunklets {
		for _, i := range c {
			there[k] = append(there[k], len(rows))
			rows = append(rows, i)
		}
	}
	p, err := linear.NewPrincipalOf(ctx, eng, x, l.Params.RankTol, rows)
	return p, there, err
}

// whitening returns (C + eps I)^-1/2, q x q, of the projected points.
func (l *Learner) whitening(ctx context.Context, eng *engine.Engine, projected blas.Matrix, chunklets [][]int) (blas.Matrix, error) {
	within := linear.Within(projected, chunklets)
	u, values, err := linear.Eigen(ctx, eng, within, true, within.Rows)
	if err != nil {
		return blas.Matrix{}, err
	}
	q, trace := len(values), 0.0
	for _, v := range values {
		trace += max(0, v)
	}
	if !(trace > 0) {
		return blas.Matrix{}, fault.Data("", "the points of every chunklet are equal: want chunklets that vary")
	}
	eps := l.Params.EpsRel * trace / float64(q)
	scaled := blas.NewMatrix(q, q)
	for i, v := range values {
		factor := 1 / math.Sqrt(max(0, v)+eps)
		for j, c := range u.Row(i) {
			scaled.Set(i, j, factor*c)
		}
	}
	white := blas.NewMatrix(q, q)
	eng.Backend().Gemm(true, false, 1, u, scaled, 0, white)
	return white, ctx.Err()
}

// discriminant returns the leading Dims rows of T times white.
func (l *Learner) discriminant(ctx context.Context, eng *engine.Engine, projected, white blas.Matrix) (blas.Matrix, error) {
	z := eng.NewMatrix(projected.Rows, white.Rows)
	eng.Backend().Gemm(false, true, 1, projected, white, 0, z)
	total := blas.NewMatrix(white.Rows, white.Rows)
	eng.Backend().Syrk(true, 1/float64(z.Rows), z, 0, total)
	t, values := blas.NewMatrix(l.Params.Dims, white.Rows), make([]float64, l.Params.Dims)
	if err := linear.CheckCovariance(total); err != nil {
		return t, err
	}
	if err := eng.SymEigTop(ctx, total, values, t); err != nil {
		return t, err
	}
	out := blas.NewMatrix(t.Rows, white.Cols)
	eng.Backend().Gemm(false, false, 1, t, white, 0, out)
	return out, nil
}

// Model is a fitted metric, the linear map y = W (x - mean). It is immutable and safe for concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact and take 2 d Dim flops a point.
type Model = record.Model[Params]

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) { return record.Decode[Params](Method, f, maps.ReadLinear) }
