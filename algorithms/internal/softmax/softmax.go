// Package softmax is what methods share that choose neighbors by softmax: they learn a linear map A
// under which a point i takes another one j with probability
//
//	p_ij = exp(-|A(x_i - x_j)|^2) / sum_k exp(-|A(x_i - x_k)|^2)
//
// and maximize the mean of a gain of the points, which is a function of these probabilities and at
// most 1.
//
// An evaluation takes 4 n^2 r flops and n^2 exponentials for n points in r dimensions, in products
// of blocks of rows: memory for some hundred rows of probabilities, not for n^2 differences.
package softmax

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// cached is the number of probabilities that are there at a time in a part: they stay in the cache.
const cached = 1 << 17

// Rule is what a method makes of the probabilities.
type Rule struct {
	// Counts says whether j may be taken by another point i; nil: every point may.
	Counts func(i, j int) bool
	// Skips says that a point has no gain; nil: every point has one.
	Skips func(i int) bool
	// Gain returns that of point i and turns a row of weights, whose sum is total > 0, into the
	// derivatives of the gain by minus the squared distances; their sum is 0. scratch is another
	// row.
	Gain func(i int, weights []float64, total float64, scratch []float64) float64
	// Points is the number that the sum of the gains is divided by.
	Points int
}

// Problem is the minimization of minus the mean gain over matrices A, r x q, of the points z in
// principal coordinates, each divided by its standard deviation.
type Problem struct {
	Z    blas.Matrix // n x q
	Rank int         // r
	Rule Rule

	ctx       context.Context
	eng       *engine.Engine
	pc        *linear.Principal
	deviation []float64
	y         blas.Matrix // n x (r+1): coordinates, and a column of ones
	g         blas.Matrix // n x r: the gradient at the coordinates
	squared   []float64   // |y|^2
	block     int         // rows of probabilities at a time
	parts     []part
}

// part is what some of the rows add, in an order that does not depend on who computes it.
type part struct {
	across blas.Matrix // n x (r+1): C'Y, and the sums of the columns of C
	c      blas.Matrix // block x n
	other  []float64   // the scratch row of a gain
}

// partCount is the number of parts.
const partCount = 8

// New returns the problem of these rows, all for nil, in at most dims dimensions, 0 for as many as
// there are directions. Its Rule is to be set. fewer is what a person may use less of against a
// memory limit.
func New(ctx context.Context, eng *engine.Engine, pc *linear.Principal, rows []int, dims int, fewer string) (*Problem, error) {
	z := pc.Z.Clone()
	if rows != nil {
		z = pc.Z.Select(rows)
	}
	n, q := z.Rows, z.Cols
	if dims > q {
		return nil, &fault.ParamError{Param: "dims", Value: dims, Want: fmt.Sprintf("a number from 0 to %d, the number of directions that are learned in", q)}
	}
	p := &Problem{ctx: ctx, eng: eng, pc: pc, Z: z, Rank: q, deviation: pc.Roots(), squared: make([]float64, n)}
	if dims > 0 {
		p.Rank = dims
	}
	p.block = min(n, max(16, cached/n))
	need := (2+partCount)*engine.MatrixBytes(n, p.Rank+1) + partCount*engine.MatrixBytes(p.block, n)
	if err := eng.Check("probabilities of "+fewer, need, "use fewer "+fewer+" or dimensions"); err != nil {
		return nil, err
	}
	p.y, p.g = eng.NewMatrix(n, p.Rank+1), eng.NewMatrix(n, p.Rank)
	for range min(partCount, (n+p.block-1)/p.block) {
		p.parts = append(p.parts, part{eng.NewMatrix(n, p.Rank+1), eng.NewMatrix(p.block, n), make([]float64, n)})
	}
	for i := range n {
		p.y.Set(i, p.Rank, 1)
	}
	linear.DivideColumns(p.Z, p.deviation)
	return p, nil
}

// At returns minus the mean gain, and its gradient with respect to A.
func (p *Problem) At(a, gradient []float64) (float64, error) {
	n, q, b := p.Z.Rows, p.Z.Cols, p.eng.Backend()
	t, y := b.Kernels(), p.y.View(0, n, 0, p.Rank)
	b.Gemm(false, true, 1, p.Z, blas.Matrix{Rows: p.Rank, Cols: q, Stride: q, Data: a}, 0, y)
	for i := range n {
		p.squared[i] = t.Dot(y.Row(i), y.Row(i))
	}
	gains := make([]float64, n)
	err := p.eng.For(p.ctx, len(p.parts), 1, func(from, to int) error {
		for k := from; k < to; k++ {
			p.add(k, gains)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	sum := p.parts[0].across
	for _, other := range p.parts[1:] {
		t.Axpy(1, other.across.Data, sum.Data)
	}
	// f = sum_i gain_i, its derivatives c by the squared distances' negatives, rows of C with the
	// sum 0: df/dy_i = -2 (column_i y_i - (C Y + C'Y)_i).
	total, scale := 0.0, 2/float64(p.Rule.Points)
	for i := range n {
		total += gains[i]
		g, across := p.g.Row(i), sum.Row(i)
		t.Axpy(1, across[:p.Rank], g)
		t.Scale(-scale, g)
		t.Axpy(scale*across[p.Rank], y.Row(i), g)
	}
	b.Gemm(true, false, 1, p.g, p.Z, 0, blas.Matrix{Rows: p.Rank, Cols: q, Stride: q, Data: gradient})
	return -total / float64(p.Rule.Points), nil
}

// add computes every so many-th block of rows.
func (p *Problem) add(which int, gains []float64) {
	n, b, part := p.Z.Rows, p.eng.Backend(), p.parts[which]
	y := p.y.View(0, n, 0, p.Rank)
	clear(part.across.Data)
	for lo := which * p.block; lo < n; lo += len(p.parts) * p.block {
		hi := min(lo+p.block, n)
		c := part.c.View(0, hi-lo, 0, n)
		b.Gemm(false, true, 2, y.View(lo, hi, 0, p.Rank), y, 0, c)
		for k := range hi - lo {
			gains[lo+k] = p.weigh(lo+k, c.Row(k), part.other)
		}
		b.Gemm(false, false, 1, c, y, 0, p.g.View(lo, hi, 0, p.Rank))
		b.Gemm(true, false, 1, c, p.y.View(lo, hi, 0, p.Rank+1), 1, part.across)
	}
}

// least is the exponent that smaller ones count as: that of a weight without effect, which is still
// a normal number, as are its products; processors are slow with others.
const least = -300

// weigh turns a row of 2 y_i'y_j into the derivatives of the gain, which it returns.
func (p *Problem) weigh(i int, row, scratch []float64) (gain float64) {
	if p.Rule.Skips != nil && p.Rule.Skips(i) {
		clear(row)
		return 0
	}
	t, own := p.eng.Backend().Kernels(), p.squared[i]
	for j, s := range p.squared { // minus the squared distance
		if row[j] -= s + own; row[j] < least {
			row[j] = least
		}
	}
	t.Exp(row, row)
	p.exclude(i, row)
	total := t.Sum(row)
	if !(total > 1e-120) { // all others are far away: begin again from the nearest
		p.weighFar(i, row)
		total = t.Sum(row)
	}
	return p.Rule.Gain(i, row, total, scratch)
}

// exclude gives the weight 0 to the point itself, and to those that do not count.
func (p *Problem) exclude(i int, row []float64) {
	row[i] = 0
	if p.Rule.Counts == nil {
		return
	}
	for j := range row {
		if !p.Rule.Counts(i, j) {
			row[j] = 0
		}
	}
}

// weighFar writes the weights of a point whose neighbors are all far away: distances count from
// that of the nearest.
func (p *Problem) weighFar(i int, row []float64) {
	t, y, nearest := p.eng.Backend().Kernels(), p.y.Row(i)[:p.Rank], math.Inf(1)
	for j := range row {
		row[j] = t.SquaredDistance(y, p.y.Row(j)[:p.Rank])
		if j != i && (p.Rule.Counts == nil || p.Rule.Counts(i, j)) {
			nearest = min(nearest, row[j])
		}
	}
	for j, d := range row {
		row[j] = min(0, max(least, nearest-d)) // points that do not count may be nearer
	}
	t.Exp(row, row)
	p.exclude(i, row)
}

// Map returns the map of a matrix A for a method.
func (p *Problem) Map(method string, a []float64) *maps.Map {
	out := blas.NewMatrix(p.Rank, p.Z.Cols)
	copy(out.Data, a)
	linear.DivideColumns(out, p.deviation)
	return p.pc.Map(p.eng, method, out)
}
