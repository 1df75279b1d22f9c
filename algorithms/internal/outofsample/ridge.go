package outofsample

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// regression gives a point x the coordinates c + sum_l exp(-|x - l| / w) v_l over the landmarks l,
// which are training rows; |x - l| is the distance in the feature space of the table's kernel.
type regression struct {
	Kernel  kernel.Kernel // exp with the width w over the table's kernel
	Rows    []int         // of the landmarks
	Weights blas.Matrix   // the v_l as rows, |Rows| x dim
	Center  []float64     // c: the mean of the training rows
}

const (
	// sampled is the number of training rows that choose width and ridge. Twice as many choose no
	// better: on 28 sets, held-out MAP and balanced Rand of npkl differ by less than .001.
	sampled = 200
	// exact is the number of training rows up to which all are landmarks.
	exact = 2000
	// landmarks is their number above that.
	landmarks = 1000
	// batch is the number of rows whose kernel values with the landmarks are in memory.
	batch = 2048
	// jitter, relative to kernel values, keeps the system of landmarks definite where some are
	// equal.
	jitter = 1e-10
)

// factors of the mean distance are the widths that are tried.
var factors = [...]float64{0.5, 1, 2}

// ridges are tried with every width: half decades.
func ridges() (list []float64) {
	for e := -8; e <= 2; e++ {
		list = append(list, math.Pow(10, float64(e)/2))
	}
	return list
}

// NewRidge extends a table of coordinates to new points by kernel ridge regression from points
// to coordinates.
//
// NewRidge returns the map of the named method whose training rows x have the coordinates y, and
// which gives other points those of the regression. Rows that the regression is chosen on, and
// landmarks where there are more than 2000 rows, are drawn by the seed.
//
// Cost for n rows in d dimensions: three eigendecompositions of order 200; then n^3/3 flops up to
// 2000 rows, and 1e6 n flops with 1000 landmarks above. Embedding takes a kernel value and 2 d
// flops a landmark.
func NewRidge(ctx context.Context, eng *engine.Engine, method string, k kernel.Kernel, x points.Points,
	y blas.Matrix, seed uint64) (*fitted.Map, error) {
	centered := y.Clone()
	r := regression{Center: linear.Center(centered)}
	rows := sampling.Some(x.Len(), sampled, seed)
	width, ridge, err := choose(ctx, eng, k, x.Select(rows), centered.Select(rows))
	if err != nil {
		return nil, err
	}
	if r.Kernel, err = exponential(k, width); err != nil {
		return nil, err
	}
	if err := r.solve(ctx, eng, x, centered, ridge, seed); err != nil {
		return nil, err
	}
	t := fitted.NewTable(k, x, y)
	return extended(method, t, r), nil
}

// exponential returns exp(-distance / width) over the distances of k.
func exponential(k kernel.Kernel, width float64) (kernel.Kernel, error) {
	text := "exp:width=" + strconv.FormatFloat(width, 'g', -1, 64)
	if !k.IsLinear() {
		text += "@" + k.String()
	}
	spec, err := kernel.Parse(text)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.New(spec)
}

// choose returns the width and the ridge whose regression predicts rows that it leaves out best.
// The error of each row left out is r_i / (1 - h_i): r is the residual of the fit to all rows, h
// the diagonal of K (K + ridge I)^-1 (Allen's PRESS).
func choose(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	y blas.Matrix) (width, ridge float64, err error) {
	// The distances, the eigenvectors of the kernel matrix, and what it takes to find them.
	if err := eng.Check(fmt.Sprintf("width of the regression, from %d rows", x.Len()),
		engine.MatrixBytes(5*x.Len(), x.Len()), "use extension=graph"); err != nil {
		return 0, 0, err
	}
	distance, err := k.Squared().GramScratch(ctx, eng, x)
	if err != nil {
		return 0, 0, err
	}
	defer eng.PutMatrix(distance)
	sum := 0.0
	for i := range distance.Rows {
		row := distance.Row(i)
		eng.Backend().Kernels().Sqrt(row, row)
		sum += eng.Backend().Kernels().Sum(row)
	}
	n := float64(distance.Rows)
	scale := sum / max(1, n*(n-1))
	if scale == 0 {
		scale = 1 // all points are equal
	}
	best := math.Inf(1)
	for _, factor := range factors {
		p, err := decompose(ctx, eng, distance, factor*scale, y)
		if err != nil {
			return 0, 0, err
		}
		for _, l := range ridges() {
			e, err := p.leaveOneOut(ctx, eng, l)
			if err != nil {
				return 0, 0, err
			}
			if e < best {
				best, width, ridge = e, factor*scale, l
			}
		}
		eng.PutMatrix(p.vectors)
		eng.PutMatrix(p.turned)
	}
	return width, ridge, ctx.Err()
}

// problem is the regression of y on K = U' S U. U and U y are scratch memory.
type problem struct {
	y       blas.Matrix
	values  []float64   // S
	vectors blas.Matrix // U, eigenvectors as rows
	turned  blas.Matrix // U y
}

func decompose(ctx context.Context, eng *engine.Engine, distance blas.Matrix, width float64,
	y blas.Matrix) (problem, error) {
	n := y.Rows
	p := problem{y, make([]float64, n), eng.GetMatrix(n, n), eng.GetMatrix(n, y.Cols)}
	err := eng.Each(ctx, n, rowsEach, func(i int) {
		row := p.vectors.Row(i)
		for j, d := range distance.Row(i) {
			row[j] = -d / width
		}
		eng.Backend().Kernels().Exp(row, row)
	})
	if err != nil {
		return p, err
	}
	if err := eng.SymEig(ctx, p.vectors, p.values, true); err != nil {
		return p, err
	}
	eng.Backend().Gemm(false, false, 1, p.vectors, y, 0, p.turned)
	return p, nil
}

// These are the rows and columns of a matrix of the sample that a task processes.
const (
	rowsEach    = 32
	columnsEach = 128
)

// leaveOneOut returns the sum of squared errors of rows left out.
func (p problem) leaveOneOut(ctx context.Context, eng *engine.Engine,
	ridge float64) (sum float64, err error) {
	n := p.y.Rows
	shrunk, fit := eng.GetMatrix(n, p.y.Cols), eng.GetMatrix(n, p.y.Cols)
	defer eng.PutMatrix(shrunk)
	defer eng.PutMatrix(fit)
	shrink, leverage := make([]float64, n), make([]float64, n)
	for k, s := range p.values {
		shrink[k] = max(0, s) / (max(0, s) + ridge)
		copy(shrunk.Row(k), p.turned.Row(k))
		eng.Backend().Kernels().Scale(shrink[k], shrunk.Row(k))
	}
	err = eng.For(ctx, n, columnsEach, func(lo, hi int) error {
		for k, g := range shrink {
			for i, u := range p.vectors.Row(k)[lo:hi] {
				leverage[lo+i] += g * u * u
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	eng.Backend().Gemm(true, false, 1, p.vectors, shrunk, 0, fit)
	for i := range n { // on one core: some operations for each value, where products have n
		for c, v := range p.y.Row(i) {
			e := (v - fit.At(i, c)) / max(1-leverage[i], jitter)
			sum += e * e
		}
	}
	return sum, nil
}

// solve finds the landmarks and their weights: (K + ridge I) V = Y where every row is a landmark,
// else (K_lx K_xl + ridge K_ll) V = K_lx Y.
func (r *regression) solve(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix,
	ridge float64, seed uint64) error {
	n := x.Len()
	most := n
	if n > exact {
		most = landmarks
	}
	r.Rows = sampling.Some(n, most, seed)
	if err := eng.Check(fmt.Sprintf("regression on %d landmarks", most), engine.MatrixBytes(2*most, most),
		"use extension=graph"); err != nil {
		return err
	}
	support := x.Select(r.Rows)
	system, err := r.Kernel.GramScratch(ctx, eng, support)
	if err != nil {
		return err
	}
	defer eng.PutMatrix(system)
	if most == n {
		r.Weights = y.Clone()
	} else {
		r.Weights = eng.NewMatrix(most, y.Cols)
		if err := r.normal(ctx, eng, x, support, y, ridge, system); err != nil {
			return err
		}
		ridge = 0
	}
	for i := range most {
		system.Set(i, i, system.At(i, i)*(1+jitter)+ridge)
	}
	if err := eng.Cholesky(ctx, system); err != nil {
		return err
	}
	eng.Backend().Trsm(true, false, system, r.Weights)
	eng.Backend().Trsm(true, true, system, r.Weights)
	return ctx.Err()
}

// normal adds K_lx K_xl to ridge K_ll, which system holds, and K_lx Y to the weights, in blocks of
// rows.
func (r *regression) normal(ctx context.Context, eng *engine.Engine, x, support points.Points, y blas.Matrix,
	ridge float64, system blas.Matrix) error {
	block := eng.GetMatrix(min(batch, x.Len()), support.Len())
	defer eng.PutMatrix(block)
	beta := ridge
	for lo := 0; lo < x.Len(); lo += batch {
		hi := min(lo+batch, x.Len())
		part := block.View(0, hi-lo, 0, block.Cols)
		if err := r.Kernel.CrossTo(ctx, eng, part, points.Slice(x, lo, hi), support); err != nil {
			return err
		}
		eng.Backend().Syrk(true, 1, part, beta, system)
		eng.Backend().Gemm(true, false, 1, part, y.View(lo, hi, 0, y.Cols), 1, r.Weights)
		beta = 1
	}
	return nil
}

// ridgeExtension is a table with the regression for points that equal none of its rows.
type ridgeExtension struct {
	fitted.Table
	regression
	landmarks points.Points
}

func extended(method string, t fitted.Table, r regression) *fitted.Map {
	e := &ridgeExtension{t, r, t.Support}
	if t.Support.Len() == t.Coordinates.Rows {
		e.landmarks = fitted.SelectPoints(t.Support, r.Rows)
	}
	return fitted.Extended(method, t, e)
}

// Lighten drops the points of a map of [NewRidge] but the landmarks. If these are not all, the map
// then takes all points for new ones; its coordinates are those of the training rows x, with an
// index of them, the mean where rows are equal. Other maps stay as they are. It is for fits, before
// others see the map.
func Lighten(m *fitted.Map, x points.Points, ix *points.Index) {
	if e, is := m.Extension().(*ridgeExtension); is {
		t := e.Table
		t.Coordinates = fitted.Means(ix, x, t.Coordinates)
		t.Support = e.landmarks
		*m = *extended(m.Method(), t, e.regression)
	}
}

// Begin returns what writes the coordinates of points.
func (e *ridgeExtension) Begin(ctx context.Context, eng *engine.Engine) (fitted.Block, error) {
	return func(x points.Points, to blas.Matrix) error {
		if err := e.regression.Kernel.MultiplyTo(ctx, eng, to, x, e.landmarks, e.Weights); err != nil {
			return err
		}
		for i := range to.Rows {
			eng.Backend().Kernels().Axpy(1, e.Center, to.Row(i))
		}
		return nil
	}, nil
}

// ridgeAbout is the members of the header.
type ridgeAbout struct {
	Kernel kernel.Spec `json:"kernel"`
	fitted.MapHeader
}

// ridgeHeader has them in an entry of their own: other extensions of the same method have none.
type ridgeHeader struct {
	Ridge *ridgeAbout `json:"ridge,omitempty"`
}

// Ends of the names of the tensors.
const (
	tensorRows    = ".ridge.rows"    // [landmarks], none where all rows are landmarks
	tensorWeights = ".ridge.weights" // [landmarks, dim]
	tensorCenter  = ".ridge.center"  // [dim]
)

// Encode stores the regression.
func (e *ridgeExtension) Encode(f *model.File, method string, table fitted.MapHeader) any {
	if len(e.Rows) < e.Coordinates.Rows {
		f.SetInt64s(method+tensorRows, fitted.Int64s(e.Rows))
	}
	fitted.SetMatrix(f, method+tensorWeights, e.Weights)
	f.SetFloat64s(method+tensorCenter, e.Center)
	return ridgeHeader{&ridgeAbout{e.regression.Kernel.Spec(), table}}
}

// ReadRidge is the [fitted.Reader] of maps that [NewRidge] returns, nil for a file with another
// one.
func ReadRidge(method string, f *model.File) (*fitted.Map, error) {
	var head ridgeHeader
	if err := fitted.ReadExtra(f, method, &head); err != nil || head.Ridge == nil {
		return nil, err
	}
	t, err := fitted.ReadSome(method, f, head.Ridge.MapHeader)
	if err != nil {
		return nil, err
	}
	var r regression
	if r.Kernel, err = kernel.New(head.Ridge.Kernel); err != nil {
		return nil, fitted.InHeader(err)
	}
	count := t.Coordinates.Rows
	if f.Has(method + tensorRows) {
		if r.Rows, err = fitted.ReadIndices(f, method+tensorRows, count); err != nil {
			return nil, err
		}
	} else {
		for i := range count {
			r.Rows = append(r.Rows, i)
		}
	}
	if stored := t.Support.Len(); len(r.Rows) == 0 || stored != count && stored != len(r.Rows) {
		return nil, fault.Data("", "%d points: want the %d training rows, or the landmarks, %d in tensor %s and "+
			"at least one", stored, count, len(r.Rows), method+tensorRows)
	}
	if r.Weights, err = fitted.ReadMatrix(f, method+tensorWeights, len(r.Rows), t.Dim); err != nil {
		return nil, err
	}
	if r.Center, err = fitted.ReadFinite(f, method+tensorCenter, t.Dim); err != nil {
		return nil, err
	}
	return extended(method, t, r), nil
}

// Formula returns the regression as data.
func (e *ridgeExtension) Formula() (formula.Map, error) {
	center := make([]float64, len(e.Center))
	for c, v := range e.Center {
		center[c] = -v
	}
	return &formula.Expansion{Kernel: e.regression.Kernel, Support: e.landmarks, V: e.Weights,
		Center: center}, nil
}
