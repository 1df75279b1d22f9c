package rca

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Learner fits linear RCA. It is immutable and safe for concurrent use.
type Learner struct {
	Params   Params
	Progress algorithms.ProgressFunc
}

var _ algorithms.Learner = (*Learner)(nil)

// Method returns "rca".
func (l *Learner) Method() string { return Method }

// Fit learns from n dense points of d features and the must-links between them;
// cannot-links are ignored with a notice. Cost: n d^2 + O(d^3) flops.
func (l *Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	begin := time.Now()
	if err := l.Params.Validate(); err != nil {
		return nil, err
	}
	dense, err := vectors(x)
	if err != nil {
		return nil, err
	}
	if err := dense.Validate(); err != nil {
		return nil, err
	}
	chunklets := set.Chunklets()
	switch {
	case set.N() != dense.N:
		return nil, &fault.ShapeError{What: "number of points that the links refer to", Got: set.N(), Want: fmt.Sprintf("%d, the number of points", dense.N)}
	case len(chunklets) == 0:
		return nil, fault.Data("", "there is no must-link: rca learns from must-linked pairs or chunklets")
	}
	w, mean, err := l.transform(ctx, eng, dense, chunklets, begin)
	if err != nil {
		return nil, err
	}
	m := &Model{params: l.Params, mean: mean, w: w}
	m.status = algorithms.Status{Converged: true, Elapsed: time.Since(begin)}
	if n := len(set.Cannot()); n > 0 {
		m.status.Notices = append(m.status.Notices, fmt.Sprintf("rca uses must-links only: %d cannot-links ignored", n))
	}
	return m, nil
}

// transform returns W (k x d) and the mean.
func (l *Learner) transform(ctx context.Context, eng *engine.Engine, x *points.Dense, chunklets [][]int, begin time.Time) (blas.Matrix, []float64, error) {
	none := blas.Matrix{}
	report := func(stage string, done int) {
		l.Progress.Report(algorithms.Progress{Stage: stage, Done: done, Total: 3, Elapsed: time.Since(begin)})
	}
	need := 2*engine.MatrixBytes(x.N, x.D) + 3*engine.MatrixBytes(x.D, x.D)
	if err := eng.Check(fmt.Sprintf("rca on %d points of %d features", x.N, x.D), need, "use fewer features, or krca with a linear kernel"); err != nil {
		return none, nil, err
	}
	report("total covariance", 0)
	centred, mean := centre(eng, x)
	p, err := l.principal(ctx, eng, centred)
	if err != nil {
		return none, nil, err
	}
	report("within-chunklet covariance", 1)
	projected := eng.NewMatrix(x.N, p.Rows)
	eng.Backend().Gemm(false, true, 1, centred, p, 0, projected)
	white, err := l.whitening(ctx, eng, projected, chunklets)
	if err != nil {
		return none, nil, err
	}
	if l.Params.Dims > 0 && l.Params.Dims < p.Rows {
		report("discriminant directions", 2)
		if white, err = l.discriminant(ctx, eng, projected, white); err != nil {
			return none, nil, err
		}
	}
	w := blas.NewMatrix(white.Rows, x.D)
	eng.Backend().Gemm(false, false, 1, white, p, 0, w)
	return w, mean, ctx.Err()
}

// principal returns P, the q principal directions of the centred points as rows (q x d).
func (l *Learner) principal(ctx context.Context, eng *engine.Engine, centred blas.Matrix) (blas.Matrix, error) {
	s, values, err := covarianceEigen(ctx, eng, centred, centred.Rows)
	if err != nil {
		return blas.Matrix{}, err
	}
	d := len(values)
	first := 0
	for first < d && !(values[first] > l.Params.RankTol*values[d-1]) {
		first++
	}
	if first == d || !(values[d-1] > 0) {
		return blas.Matrix{}, fault.Data("", "all points are equal: want points that vary")
	}
	return s.View(first, d, 0, d), nil
}

// whitening returns (C + eps I)^-1/2, q x q, of the projected points.
func (l *Learner) whitening(ctx context.Context, eng *engine.Engine, projected blas.Matrix, chunklets [][]int) (blas.Matrix, error) {
	within := withinChunklets(projected, chunklets)
	u, values, err := covarianceEigen(ctx, eng, within, within.Rows)
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
	if err := finite(total); err != nil {
		return t, err
	}
	if err := eng.SymEigTop(ctx, total, values, t); err != nil {
		return t, err
	}
	out := blas.NewMatrix(t.Rows, white.Cols)
	eng.Backend().Gemm(false, false, 1, t, white, 0, out)
	return out, nil
}

// covarianceEigen returns the eigenvectors (rows) and ascending eigenvalues of rows'rows/n.
func covarianceEigen(ctx context.Context, eng *engine.Engine, rows blas.Matrix, n int) (blas.Matrix, []float64, error) {
	c, w := blas.NewMatrix(rows.Cols, rows.Cols), make([]float64, rows.Cols)
	eng.Backend().Syrk(true, 1/float64(n), rows, 0, c)
	if err := finite(c); err != nil {
		return c, w, err
	}
	return c, w, eng.SymEig(ctx, c, w, true)
}

// finite refuses a covariance that overflowed.
func finite(c blas.Matrix) error {
	for i := range c.Rows {
		if v := c.At(i, i); v-v != 0 {
			return &fault.DataError{Row: -1, Err: errors.New("the covariance of the points overflows: want smaller values (standardize the data)")}
		}
	}
	return nil
}

// withinChunklets returns the points in chunklets, each minus the mean of its chunklet.
func withinChunklets(x blas.Matrix, chunklets [][]int) blas.Matrix {
	n := 0
	for _, c := range chunklets {
		n += len(c)
	}
	out := blas.NewMatrix(n, x.Cols)
	next := 0
	for _, c := range chunklets {
		first := next
		for _, i := range c {
			copy(out.Row(next), x.Row(i))
			next++
		}
		subtractMean(out.View(first, next, 0, x.Cols))
	}
	return out
}

// subtractMean centres the rows of x in place and returns what it subtracted.
func subtractMean(x blas.Matrix) []float64 {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= float64(x.Rows)
	}
	for i := range x.Rows {
		row := x.Row(i)
		for j, m := range mean {
			row[j] -= m
		}
	}
	return mean
}

// centre returns the points minus their mean, and the mean.
func centre(eng *engine.Engine, x *points.Dense) (blas.Matrix, []float64) {
	m := eng.NewMatrix(x.N, x.D)
	copy(m.Data, x.Data)
	return m, subtractMean(m)
}

func vectors(x points.Points) (*points.Dense, error) {
	dense, ok := x.(*points.Dense)
	if !ok {
		return nil, &fault.ParamError{Param: "points", Value: "not dense vectors", Want: "dense vectors for rca (krca with a linear kernel takes sparse rows and Gram matrices)"}
	}
	return dense, nil
}
