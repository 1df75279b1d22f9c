package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// AdaptUnit says whether rows are scaled to unit length.
type AdaptUnit string

// The choices of [Adapt.Unit].
const (
	AdaptAuto AdaptUnit = "auto" // embeddings are
	AdaptYes  AdaptUnit = "yes"
	AdaptNo   AdaptUnit = "no"
)

// Adapt learns a linear metric from must-links by relevant component analysis whose covariance
// matrix is shrunk, so that the metric leaves that of the points only as far as there is evidence.
// It is for embeddings, such as those of texts and pictures, whose own distances are good already.
//
// Let y be the points minus their mean, q the number of directions in which they vary, C their
// covariance, and S the mean of (y_i - y_j)(y_i - y_j)' / 2 over the must-links, weighted by their
// weights, which sum to m. Then
//
//	T = (1 - a) S + a tr(S)/q I,   a = q / (q + m)
//	z = M^((1-a)/2) U' T^-1/2 y,   T^-1/2 C T^-1/2 = U M U'
//
// T is the within-class covariance under a prior worth q must-links, one for each direction, that
// all directions vary equally: Ledoit and Wolf's target with a weight that counts links. The
// eigenvalues M are the ratios of total to within-class variance, as in RCA's discriminant
// directions. Their weight grows with the same evidence: with few links z is a rotation of y times
// a constant, which is the metric of the points, and with many it is M^1/2 U' S^-1/2 y.
//
// Embeddings are scaled to unit length first: y is u(x - mean) minus its own mean, with u(x) =
// x/|x|, and coordinates are u(z), so that squared distances are 2 - 2 cosine. Rows are taken for
// embeddings if they have more than 32 features that are not all integers, and nearly equal
// lengths: those that are not 0 have a coefficient of variation below 0.005, and vary by less than
// a tenth of the variance of a direction, as rows far from the origin have nearly equal lengths,
// too. A notice counts rows of zeros. Rows equal to the mean, up to rounding, stay 0.
//
// With Smooth, rows are drawn to the average of their nearest training rows, which needs no links:
// fitted.Averaged has the formula. The model then holds the coordinates of up to 8000 training
// rows, and no program but this one computes it.
//
// The fields are the parameters of the method. [AdaptDefaults] returns the defaults.
type Adapt struct {
	Unit    AdaptUnit `json:"unit" param:"unit" default:"auto" choices:"auto (if they are embeddings),yes,no" help:"whether rows and coordinates are scaled to unit length"`
	Dims    int       `json:"dims" param:"dims" zero:"all, at most 128 at unit length" help:"number of directions, those of the largest ratios of total to within-class variance"`
	RankTol float64   `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Smooth  int       `json:"smooth" param:"smooth" zero:"none" range:">= 1, <= 1000" help:"number of training rows, the nearest ones, whose average is added to each row; at most 8000 rows are stored for that"`
}

// AdaptDefaults returns auto, and all directions or 128.
func AdaptDefaults() Adapt { return param.Default[Adapt]() }

// AdaptModel is a fitted metric: a linear map, between scalings to unit length for embeddings.
type AdaptModel = fitted.Model[Adapt]

// AdaptLearner learns from n dense points of d features and the must-links between them, some of
// which join points that differ. The result has the type *[AdaptModel]. Cost: n d^2 flops, m d^2
// for m must-links, and the eigendecompositions of two matrices of order d, or n if that is less.
// Memory: some matrices of order d, and a copy of the points if these are fewer than d.
type AdaptLearner = learner.Learner[Adapt]

// Rules returns what the method requires of its input.
func (Adapt) Rules() learner.Rules {
	return learner.Rules{Needs: learner.MustLinks, Pairs: true, About: algorithms.About{
		Name: AdaptMethod, Title: "Adapt",
		Summary: "shrunk relevant component analysis, linear: changes the metric as far as must-links are evidence",
		Paper: "None. After Bar-Hillel, Hertz, Shental & Weinshall, Learning a Mahalanobis metric from " +
			"equivalence constraints, JMLR 2005, with the shrinkage of Ledoit & Wolf, A well-conditioned " +
			"estimator for large-dimensional covariance matrices, Journal of Multivariate Analysis 88, 2004",
		Linear: true, Pairwise: true, Baseline: true,
	}}
}

// embeddingDims is the number of directions that are kept of embeddings, for size alone.
const embeddingDims = 128

// negligible is the length, relative to the usual one, below which rows are rounding; and the least
// weight of the prior and of a direction.
const negligible = 1e-12

// Learn fits the method.
func (p Adapt) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	report := f.Stages(3)
	report("covariance")
	s, err := p.space(ctx, f.Eng, f.Dense)
	if err != nil {
		return nil, err
	}
	report("scatter of must-links")
	t, evidence, err := s.within(ctx, f.Eng, f.Links.Must())
	if err != nil {
		return nil, err
	}
	report("directions")
	dims := p.Dims
	if dims == 0 && s.unit != nil {
		dims = embeddingDims
	}
	w, length, err := s.directions(ctx, f.Eng, t, evidence, dims)
	if err != nil {
		return nil, err
	}
	m := fitted.NewLinear(AdaptMethod, s.mean, w)
	if s.unit != nil {
		m = fitted.NewDirected(*s.unit, m, fitted.Unit{Least: negligible * length})
	}
	if p.Smooth > 0 {
		rows := sampling.Some(f.Dense.N, supportRows, f.Seed)
		support, err := m.Embed(ctx, f.Eng, f.Dense.Select(rows))
		if err != nil {
			return nil, err
		}
		m = fitted.Averaged(m, support, min(p.Smooth, len(rows)))
	}
	out := fitted.New(m, p, f.Direct())
	if len(s.zeros) > 0 {
		out.Note(fmt.Sprintf("adapt: rows without a direction, as all their numbers are 0: %d of %d, the first "+
			"is row %d", len(s.zeros), f.Dense.N, s.zeros[0]))
	}
	return out, nil
}

// supportRows is the largest number of rows that an average is taken over.
const supportRows = 8000

// space has the rows in which Adapt learns. These are y, or the principal coordinates of y if it
// has more features than rows.
type space struct {
	x     *points.Dense // y plus the mean
	unit  *fitted.Unit  // what rows of x are scaled by, nil for nothing
	zeros []int         // rows of x that are all zeros, if rows are scaled
	mean  []float64
	pc    *linear.Principal // nil without principal coordinates
	total blas.Matrix       // C, lower triangle
	rank  int               // q
}

func (p Adapt) space(ctx context.Context, eng *engine.Engine, x *points.Dense) (*space, error) {
	small := min(x.N, x.D)
	need := 6*engine.MatrixBytes(small, small) + 2*engine.MatrixBytes(min(x.N, scatterRows), x.D)
	if x.D > x.N {
		need += engine.MatrixBytes(x.N, x.D)
	}
	if p.Smooth > 0 {
		need += engine.MatrixBytes(min(x.N, supportRows), x.D)
	}
	if err := eng.Check(fmt.Sprintf("adapt on %d points of %d features", x.N, x.D), need,
		"use fewer features or points"); err != nil {
		return nil, err
	}
	t, mean := eng.Backend().Kernels(), linear.Mean(kernel.Matrix(x))
	s := &space{x: x, mean: mean}
	if p.Unit == AdaptYes || p.Unit == AdaptAuto && Embeddings(eng, x) {
		if err := s.scale(t); err != nil {
			return nil, err
		}
	}
	if x.D > x.N {
		return s, s.reduce(ctx, eng, p.RankTol)
	}
	s.total = blas.NewMatrix(x.D, x.D)
	root := 1 / math.Sqrt(float64(x.N))
	err := scatter(ctx, eng, x.N, s.total, func(i int, row []float64) {
		s.row(t, i, row)
		for j, m := range s.mean {
			row[j] = root * (row[j] - m)
		}
	})
	if err != nil {
		return nil, err
	}
	values := make([]float64, x.D)
	if err := eng.SymEig(ctx, s.total.Clone(), values, false); err != nil {
		return nil, err
	}
	for _, v := range values {
		if v > p.RankTol*values[x.D-1] {
			s.rank++
		}
	}
	if s.rank == 0 {
		return nil, fault.Data("", "all points are equal: want points that vary")
	}
	return s, nil
}

// Embeddings reports whether rows are taken for embeddings, as [Adapt] says. Cost: n d flops.
func Embeddings(eng *engine.Engine, x *points.Dense) bool {
	if x.D <= 32 {
		return false
	}
	t, mean := eng.Backend().Kernels(), linear.Mean(kernel.Matrix(x))
	var lengths []float64
	sum, squares, integers := 0.0, 0.0, true
	for i := range x.N {
		row := x.Row(i)
		for j := 0; integers && j < len(row); j++ {
			integers = row[j] == math.Trunc(row[j])
		}
		if square := t.Dot(row, row); square > 0 {
			lengths = append(lengths, math.Sqrt(square))
			sum, squares = sum+math.Sqrt(square), squares+square
		}
	}
	n := float64(len(lengths))
	variance, usual := 0.0, sum/n
	for _, v := range lengths {
		variance += (v - usual) * (v - usual) / n
	}
	around := squares/n - t.Dot(mean, mean)*float64(x.N)/n // the variance of all directions
	return !integers && math.Sqrt(variance) < .005*usual && variance < .1*around/float64(x.D)
}

// scale makes the rows, minus their mean, vectors of unit length, and takes the mean of these.
func (s *space) scale(t *asm.Table) error {
	squares := 0.0
	for i := range s.x.N {
		row := s.x.Row(i)
		squares += t.SquaredDistance(row, s.mean) / float64(s.x.N)
		if t.Dot(row, row) == 0 {
			s.zeros = append(s.zeros, i)
		}
	}
	if !(squares > 0) {
		return fault.Data("", "all points are equal: want points that vary")
	}
	s.unit = &fitted.Unit{Center: s.mean, Least: negligible * math.Sqrt(squares)}
	s.mean = make([]float64, s.x.D)
	row := make([]float64, s.x.D)
	for i := range s.x.N {
		s.row(t, i, row)
		t.Axpy(1/float64(s.x.N), row, s.mean)
	}
	return nil
}

// row writes y_i plus the mean.
func (s *space) row(t *asm.Table, i int, to []float64) {
	if s.unit == nil {
		copy(to, s.x.Row(i))
		return
	}
	s.unit.Apply(t, s.x.Row(i), to)
}

// reduce takes principal coordinates.
func (s *space) reduce(ctx context.Context, eng *engine.Engine, tol float64) error {
	x := s.x
	if s.unit != nil {
		y := eng.GetMatrix(x.N, x.D)
		defer eng.PutMatrix(y)
		for i := range x.N {
			s.row(eng.Backend().Kernels(), i, y.Row(i))
		}
		x = &points.Dense{N: x.N, D: x.D, Data: y.Data[:x.N*x.D]}
	}
	pc, err := linear.NewPrincipal(ctx, eng, x, tol)
	if err != nil {
		return err
	}
	s.pc, s.mean, s.rank = pc, pc.Mean, len(pc.Variances)
	s.total = blas.NewMatrix(s.rank, s.rank)
	for r, v := range pc.Variances {
		s.total.Set(r, r, v)
	}
	return nil
}

// scatterRows is the number of rows that scatter makes at a time.
const scatterRows = 1024

// scatter adds the products of so many rows with themselves to the lower triangle of out.
func scatter(ctx context.Context, eng *engine.Engine, count int, out blas.Matrix,
	row func(i int, to []float64)) error {
	rows := eng.GetMatrix(min(count, scatterRows), out.Cols)
	defer eng.PutMatrix(rows)
	for lo := 0; lo < count; lo += rows.Rows {
		part := rows.View(0, min(rows.Rows, count-lo), 0, rows.Cols)
		if err := eng.Each(ctx, part.Rows, 64, func(i int) { row(lo+i, part.Row(i)) }); err != nil {
			return err
		}
		eng.Backend().Syrk(true, 1, part, 1, out)
	}
	return linear.CheckCovariance(out)
}

// within returns T, lower triangle, and the weight 1 - a of the links.
func (s *space) within(ctx context.Context, eng *engine.Engine,
	must []links.Link) (t blas.Matrix, evidence float64, err error) {
	largest, sum := 0.0, 0.0
	for _, l := range must {
		largest = max(largest, l.Weight)
	}
	for _, l := range must {
		sum += l.Weight / largest
	}
	kernels, second := eng.Backend().Kernels(), make([]float64, s.total.Rows*min(len(must), scatterRows))
	t = blas.NewMatrix(s.total.Rows, s.total.Rows)
	err = scatter(ctx, eng, len(must), t, func(k int, row []float64) {
		l, other := must[k], second[k%scatterRows*len(row):][:len(row)]
		if s.pc != nil {
			copy(row, s.pc.Z.Row(l.I))
			copy(other, s.pc.Z.Row(l.J))
		} else {
			s.row(kernels, l.I, row)
			s.row(kernels, l.J, other)
		}
		root := math.Sqrt(l.Weight / largest / (2 * sum))
		for j, v := range other {
			row[j] = root * (row[j] - v)
		}
	})
	if err != nil {
		return t, 0, err
	}
	trace, q := t.Trace(), float64(s.rank)
	if !(trace > 0) {
		return t, 0, fault.Data("", "all must-links join equal points: want some between points that differ")
	}
	evidence = 1 / (1 + q/largest/sum)
	shrink(t, evidence, trace/q, max(1/(1+largest*sum/q), negligible))
	return t, evidence, nil
}

// shrink makes c, lower triangle, evidence c + prior * mean * I.
func shrink(c blas.Matrix, evidence, mean, prior float64) {
	for i := range c.Rows {
		row := c.Row(i)[:i+1]
		for j := range row {
			row[j] *= evidence
		}
		row[i] += prior * mean
	}
}

// directions returns the map z of y, and the root of the mean squared length of z. Any root of T
// gives the same map: T^-1/2 = R L^-1 with a rotation R for T = L L', and the eigenvectors of
// R L^-1 C L'^-1 R' are those of L^-1 C L'^-1, rotated.
func (s *space) directions(ctx context.Context, eng *engine.Engine, t blas.Matrix, evidence float64,
	dims int) (w blas.Matrix, length float64, err error) {
	if dims == 0 || dims > s.rank {
		dims = s.rank
	}
	if err := eng.Cholesky(ctx, t); err != nil {
		return w, 0, err
	}
	eng.Mirror(s.total)
	eng.Backend().Trsm(true, false, t, s.total)
	eng.Backend().Trsm(false, true, t, s.total)
	ratios, w, err := eng.SymEigTop(ctx, s.total, dims)
	if err != nil {
		return w, 0, err
	}
	eng.Backend().Trsm(false, false, t, w)
	for r, ratio := range ratios {
		ratio = max(ratio, negligible)
		by := math.Pow(ratio, evidence/2)
		eng.Backend().Kernels().Scale(by, w.Row(r))
		length += by * by * ratio
	}
	if s.pc != nil {
		out := blas.NewMatrix(dims, s.x.D)
		eng.Backend().Gemm(false, false, 1, w, s.pc.Directions, 0, out)
		w = out
	}
	return w, math.Sqrt(length), ctx.Err()
}
