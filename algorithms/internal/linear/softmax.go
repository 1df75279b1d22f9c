package linear

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// cached is the number of probabilities that a part computes at a time: they stay in the cache.
const cached = 1 << 17

// SoftmaxRule defines the gain of a method.
type SoftmaxRule struct {
	// Counts reports whether point i may select point j; nil means all points.
	Counts func(i, j int) bool
	// Skips reports whether point i has no gain; nil means that every point has one.
	Skips func(i int) bool
	// Gain returns the gain of point i. It replaces the weights, whose sum is total > 0, by the
	// derivatives of the gain with respect to the negative squared distances, whose sum is 0.
	// scratch is another row of the same length.
	Gain func(i int, weights []float64, total float64, scratch []float64) float64
	// Points is the divisor of the sum of the gains.
	Points int
}

// SoftmaxProblem is the common part of methods that select neighbors by softmax. They learn a
// linear map A under which point i selects point j with probability
//
//	p_ij = exp(-|A(x_i - x_j)|^2) / sum_k exp(-|A(x_i - x_k)|^2)
//
// and maximize the mean over all points of a gain, which is a function of these probabilities and
// at most 1.
//
// An evaluation takes 4 n^2 r flops and n^2 exponentials for n points in r dimensions. It works on
// blocks of rows: memory for a few hundred rows of probabilities, not for n^2 differences.
//
// SoftmaxProblem is to minimize the negative mean gain over matrices A, r x q. The points z are in
// principal coordinates, each divided by its standard deviation.
type SoftmaxProblem struct {
	Z    blas.Matrix // n x q
	Rank int         // r
	Rule SoftmaxRule

	ctx     context.Context
	eng     *engine.Engine
	pc      *Principal
	scales  []float64   // standard deviations of the principal coordinates
	y       blas.Matrix // n x (r+1): coordinates, and a column of ones
	g       blas.Matrix // n x r: the gradient with respect to the coordinates
	squared []float64   // |y|^2
	block   int         // rows of probabilities at a time
	parts   []part
}

// part accumulates the sums of some of the rows. The order of summation does not depend on the
// number of workers.
type part struct {
	across blas.Matrix // n x (r+1): C'Y, and the sums of the columns of C
	c      blas.Matrix // block x n
	other  []float64   // the scratch row of a gain
}

// partCount is the maximum number of parts.
const partCount = 8

// NewSoftmax returns the problem of the given rows (nil: all) in dims dimensions (0: as many as
// there are directions). The caller must set its Rule. The word fewer names what to reduce in the
// error of the memory limit: points or another unit.
func NewSoftmax(ctx context.Context, eng *engine.Engine, pc *Principal, rows []int, dims int,
	fewer string) (*SoftmaxProblem, error) {
	z := pc.Z.Clone()
	if rows != nil {
		z = pc.Z.Select(rows)
	}
	n, q := z.Rows, z.Cols
	if dims > q {
		return nil, fault.Param("dims", dims, "a number from 0 to %d, the number of principal directions", q)
	}
	p := &SoftmaxProblem{ctx: ctx, eng: eng, pc: pc, Z: z, Rank: q, scales: pc.StandardDeviations(),
		squared: make([]float64, n)}
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
		p.parts = append(p.parts,
			part{eng.NewMatrix(n, p.Rank+1), eng.NewMatrix(p.block, n), make([]float64, n)})
	}
	for i := range n {
		p.y.Set(i, p.Rank, 1)
	}
	DivideColumns(p.Z, p.scales)
	return p, nil
}

// At returns the negative mean gain, and writes its gradient with respect to A.
func (p *SoftmaxProblem) At(a, gradient []float64) (float64, error) {
	n, q, b := p.Z.Rows, p.Z.Cols, p.eng.Backend()
	t, y := b.Kernels(), p.y.View(0, n, 0, p.Rank)
	b.Gemm(false, true, 1, p.Z, blas.MatrixOf(p.Rank, q, a), 0, y)
	for i := range n {
		p.squared[i] = t.Dot(y.Row(i), y.Row(i))
	}
	gains := make([]float64, n)
	err := p.eng.Each(p.ctx, len(p.parts), 1, func(k int) { p.add(k, gains) })
	if err != nil {
		return 0, err
	}
	sum := p.parts[0].across
	for _, other := range p.parts[1:] {
		t.Axpy(1, other.across.Data, sum.Data)
	}
	// Let f = sum_i gain_i, and let C hold its derivatives with respect to the negative squared
	// distances; the rows of C sum to 0. Then df/dy_i = -2 (column_i y_i - (C Y + C'Y)_i), where
	// column_i is the sum of column i of C.
	total, scale := 0.0, 2/float64(p.Rule.Points)
	for i := range n {
		total += gains[i]
		g, across := p.g.Row(i), sum.Row(i)
		t.Axpy(1, across[:p.Rank], g)
		t.Scale(-scale, g)
		t.Axpy(scale*across[p.Rank], y.Row(i), g)
	}
	b.Gemm(true, false, 1, p.g, p.Z, 0, blas.MatrixOf(p.Rank, q, gradient))
	return -total / float64(p.Rule.Points), nil
}

// add computes the blocks of rows of one part, and their gains.
func (p *SoftmaxProblem) add(which int, gains []float64) {
	n, b, part := p.Z.Rows, p.eng.Backend(), p.parts[which]
	y := p.y.View(0, n, 0, p.Rank)
	clear(part.across.Data)
	for lo := which * p.block; lo < n; lo += len(p.parts) * p.block {
		hi := min(lo+p.block, n)
		c := part.c.View(0, hi-lo, 0, n)
		b.Gemm(false, true, 2, y.View(lo, hi, 0, p.Rank), y, 0, c)
		for k := range hi - lo {
			gains[lo+k] = p.gain(lo+k, c.Row(k), part.other)
		}
		b.Gemm(false, false, 1, c, y, 0, p.g.View(lo, hi, 0, p.Rank))
		b.Gemm(true, false, 1, c, p.y.View(lo, hi, 0, p.Rank+1), 1, part.across)
	}
}

// minExponent bounds exponents from below: the weight has no effect but is still a normal number,
// as are its products. Processors are slow with subnormal numbers.
const minExponent = -300

// gain returns the gain of point i and replaces a row of 2 y_i'y_j by its derivatives.
func (p *SoftmaxProblem) gain(i int, row, scratch []float64) (gain float64) {
	if p.Rule.Skips != nil && p.Rule.Skips(i) {
		clear(row)
		return 0
	}
	t, own := p.eng.Backend().Kernels(), p.squared[i]
	for j, s := range p.squared { // minus the squared distance
		if row[j] -= s + own; row[j] < minExponent {
			row[j] = minExponent
		}
	}
	t.Exp(row, row)
	p.exclude(i, row)
	total := t.Sum(row)
	if !(total > 1e-120) { // all other points are far away: measure distances from the nearest
		p.farWeights(i, row)
		total = t.Sum(row)
	}
	return p.Rule.Gain(i, row, total, scratch)
}

// exclude sets the weights of the point itself, and of points that do not count, to 0.
func (p *SoftmaxProblem) exclude(i int, row []float64) {
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

// farWeights writes the weights of a point whose neighbors are all far away. It subtracts the
// squared distance of the nearest one, which does not change the probabilities.
func (p *SoftmaxProblem) farWeights(i int, row []float64) {
	t, y, nearest := p.eng.Backend().Kernels(), p.y.Row(i)[:p.Rank], math.Inf(1)
	for j := range row {
		row[j] = t.SquaredDistance(y, p.y.Row(j)[:p.Rank])
		if j != i && (p.Rule.Counts == nil || p.Rule.Counts(i, j)) {
			nearest = min(nearest, row[j])
		}
	}
	for j, d := range row {
		row[j] = min(0, max(minExponent, nearest-d)) // points that do not count may be nearer
	}
	t.Exp(row, row)
	p.exclude(i, row)
}

// Map returns the map of the matrix A for the named method.
func (p *SoftmaxProblem) Map(method string, a []float64) *fitted.Map {
	out := blas.NewMatrix(p.Rank, p.Z.Cols)
	copy(out.Data, a)
	DivideColumns(out, p.scales)
	return p.pc.Map(p.eng, method, out)
}

// SoftmaxOptions are the settings of [SoftmaxProblem.Climb].
type SoftmaxOptions struct {
	// Tol is the tolerance of an ascent: the increase of the mean gain over five iterations,
	// relative to its distance from 1.
	Tol float64
	// Contractions is the number of times that the map is halved and a new ascent starts from
	// there.
	Contractions int
	MaxIter      int // of each ascent
	Report       func(algorithms.Progress)
}

// SoftmaxSearch is the result of a search for the map by limited-memory BFGS.
type SoftmaxSearch struct {
	Best   []float64 // the map with the largest mean gain
	Trace  []float64 // the largest mean gain so far, at the start and after every iteration
	Status algorithms.Status
}

// Climb ascends from each start. Then it halves the map and ascends again, o.Contractions times:
// that escapes local maxima in which distances have grown so large that only the nearest neighbor
// of each point has any weight. Climb overwrites the starts.
func (p *SoftmaxProblem) Climb(ctx context.Context, o SoftmaxOptions,
	starts ...[]float64) (*SoftmaxSearch, error) {
	s, t := &SoftmaxSearch{}, p.eng.Backend().Kernels()
	for k := 0; k < len(starts)*(1+o.Contractions) && !s.perfect(); k++ {
		at := starts[k/(1+o.Contractions)]
		if k%(1+o.Contractions) > 0 {
			t.Scale(0.5, at)
		}
		if err := s.ascend(ctx, p, at, o); err != nil {
			return nil, err
		}
	}
	s.Status.Iterations = len(s.Trace) - 1
	if !s.Status.Converged {
		s.Status.Message = fmt.Sprintf("%d iterations did not reach the tolerance %g: raise max_iter or tol",
			o.MaxIter, o.Tol)
	}
	return s, nil
}

// perfect reports whether the mean gain is at its maximum, 1, up to a tolerance.
func (s *SoftmaxSearch) perfect() bool {
	const tolerance = 1e-6
	return len(s.Trace) > 0 && 1-s.Trace[len(s.Trace)-1] < tolerance
}

// ascend ascends from at to a local maximum.
func (s *SoftmaxSearch) ascend(ctx context.Context, p *SoftmaxProblem, at []float64, o SoftmaxOptions) error {
	before := math.Inf(-1)
	if len(s.Trace) > 0 {
		before = s.Trace[len(s.Trace)-1]
	}
	var own []float64
	out, err := optimize.MinimizeLBFGS(ctx, p.eng.Backend().Kernels(), p.At, at,
		optimize.LBFGSOptions{MaxIter: o.MaxIter,
			Done: func(_ int, value float64, _, _ []float64) (bool, error) {
				own = append(own, -value)
				s.Trace = append(s.Trace, max(before, -value))
				o.Report(algorithms.Progress{Stage: "ascent", Done: len(s.Trace) - 1, Objective: -value})
				const window, zero = 5, 1e-8
				n := len(own)
				return 1+value < zero || n > window && own[n-1]-own[n-1-window] <= o.Tol*(1-own[n-1]), nil
			}})
	if err != nil {
		return err
	}
	if reached := -out.Trace[len(out.Trace)-1]; s.Best == nil || reached > before {
		s.Best, s.Status.Converged = slices.Clone(at), out.Converged
		if last := len(s.Trace) - 1; s.Trace[last] < reached {
			s.Trace = append(s.Trace, reached)
		}
	}
	return nil
}
