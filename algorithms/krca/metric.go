package krca

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// metric is the learned kernel kt, in one of its two forms. It is immutable.
//
// Both forms write kt(x,y) = rho(x,y)/eps + sum_r weight_r c_r(x) c_r(y), where
// rho = k - sum_r c_r c_r and c(x) are coordinates of phi(x) linear in F'k_x:
//
//   - Cholesky (1b): c(x) = L^-1 F'k_x, no weights, rho as it is;
//   - spectral (1c): c(x) = basis' F'k_x, weight_r = n/(n eps + s_r), small rho set to 0.
type metric struct {
	kernel  kernel.Kernel
	anchors points.Points // the n points in chunklets, chunklet after chunklet
	f       helmert
	eps     float64
	noise   float64 // bound of the rounding errors in F'KF, for the choice of the form

	factor blas.Matrix // L, r x r, lower triangle; Cholesky form only

	basis  blas.Matrix // r x q, U diag(s_r)^-1/2; spectral form only
	values []float64   // s_r, q of them, descending; spectral form only
}

const (
	rowBlock    = 512   // rows of query points that are worked on together
	solveBlock  = 2048  // rows of one triangular solve, between which a cancel takes effect
	residualTol = 1e-10 // rho below this, relative to sqrt(k(x,x)k(y,y)), is rounding error
)

func (m *metric) spectral() bool { return m.values != nil }

// form returns the form in use.
func (m *metric) form() Form {
	if m.spectral() {
		return FormSpectral
	}
	return FormCholesky
}

// width returns the number of coordinates c_r.
func (m *metric) width() int {
	if m.spectral() {
		return len(m.values)
	}
	return m.f.order()
}

// weights returns sqrt(n/(n eps + s_r)), nil in the Cholesky form.
func (m *metric) weights() []float64 {
	if !m.spectral() {
		return nil
	}
	w := m.squaredWeights(m.eps)
	for r, v := range w {
		w[r] = math.Sqrt(v)
	}
	return w
}

// squaredWeights returns n/(n eps + s_r) for any eps.
func (m *metric) squaredWeights(eps float64) []float64 {
	n := float64(m.f.points())
	w := make([]float64, len(m.values))
	for r, s := range m.values {
		w[r] = n / (n*eps + s)
	}
	return w
}

// coordinates returns c(x) of every point, |x| x width. Each row depends on its own point
// only. O(|x| (n d + r^2)).
func (m *metric) coordinates(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	dst, err := m.unsolved(ctx, eng, x, blas.Matrix{}, nil)
	if err == nil {
		err = m.solve(ctx, eng, dst)
	}
	return dst, err
}

// unsolved returns what solve turns into the coordinates of every point. Anchor a is point at[a] of
// x, whose kernel matrix is k, or none of these if that is -1 or if at is nil.
func (m *metric) unsolved(ctx context.Context, eng *engine.Engine, x points.Points, k blas.Matrix,
	at []int) (blas.Matrix, error) {
	dst, others := eng.UnclearedMatrix(x.Len(), m.width()), m.anchors
	var rest []int
	for a, i := range at {
		if i < 0 {
			rest = append(rest, a)
		}
	}
	if at != nil {
		others = others.Select(rest)
	}
	err := forRows(x, func(lo, hi int, block points.Points) error {
		values := eng.GetMatrix(hi-lo, m.f.points())
		defer eng.PutMatrix(values)
		if err := m.kernel.CrossTo(ctx, eng, values.View(0, hi-lo, 0, others.Len()), block,
			others); err != nil {
			return fault.InRows(err, lo)
		}
		err := eng.Each(ctx, hi-lo, 16, func(i int) {
			row := values.Row(i)
			for j, a := range slices.Backward(rest) {
				row[a] = row[j]
			}
			for a, p := range at {
				if p >= 0 {
					row[a] = k.At(lo+i, p)
				}
			}
		})
		if err != nil {
			return err
		}
		return m.contrasts(ctx, eng, dst.View(lo, hi, 0, dst.Cols), values)
	})
	return dst, err
}

// contrasts writes F'k_x of the points whose kernel values with the anchors are the rows of k, or
// in the spectral form basis'F'k_x = c(x), into dst, and destroys k.
func (m *metric) contrasts(ctx context.Context, eng *engine.Engine, dst, k blas.Matrix) error {
	r := m.f.order()
	err := eng.Each(ctx, k.Rows, 16, func(i int) {
		m.f.apply(k.Row(i))
		if !m.spectral() {
			copy(dst.Row(i), k.Row(i)[:r])
		}
	})
	if err == nil && m.spectral() {
		eng.Backend().Gemm(false, false, 1, k.View(0, k.Rows, 0, r), m.basis, 0, dst)
	}
	return err
}

// solve turns the rows F'k_x of c into coordinates. Those of the spectral form are.
func (m *metric) solve(ctx context.Context, eng *engine.Engine, c blas.Matrix) error {
	for lo := 0; lo < c.Rows && !m.spectral() && ctx.Err() == nil; lo += solveBlock {
		eng.Backend().Trsm(false, true, m.factor, c.View(lo, min(lo+solveBlock, c.Rows), 0, c.Cols))
	}
	return ctx.Err()
}

// evaluated holds kt(x,x) and the intermediate results for kt(x,y).
type evaluated struct {
	x        points.Points
	kt       blas.Matrix // exactly symmetric
	c        blas.Matrix // coordinates c(x)
	at       []int       // the points that are the anchors, -1 for none; nil if unknown
	diagonal []float64   // k(x,x)
	residual bool        // rho is not 0 everywhere
	open     bool        // kt holds the matrix of k and c is not solved, so that complete is to come
	short    bool        // kt and c are missing: open, and turned holds what products need
	turned   blas.Matrix // [B C] of the rotation
	rotation rotation
	factor   substitution // of products
}

// gram evaluates kt(x,x).
func (m *metric) gram(ctx context.Context, eng *engine.Engine, x points.Points) (evaluated, error) {
	g, err := m.begin(ctx, eng, x, nil, false)
	if err == nil {
		err = m.complete(ctx, eng, &g)
	}
	return g, err
}

// begin evaluates what kt(x,x) is made of. at is as for unsolved. If short is set, that is only
// what products with kt(x,x) need.
func (m *metric) begin(ctx context.Context, eng *engine.Engine, x points.Points, at []int,
	short bool) (evaluated, error) {
	g := evaluated{x: x, at: at, open: true}
	if short {
		g.rotation = newRotation(x.Len(), m.f, at)
		turned, err := m.rotated(ctx, eng, x, at, &g.rotation)
		if err == nil {
			g.turned, g.short = turned, true
			g.diagonal, err = m.kernel.Diagonal(ctx, eng, x)
		}
		if err == nil {
			g.factor, err = newSubstitution(ctx, eng, m.factor)
		}
		if err == nil || ctx.Err() != nil {
			return g, err
		}
		// What follows finds the row of the error among those of x.
	}
	k, err := m.kernel.GramScratch(ctx, eng, x)
	if err != nil {
		return g, err
	}
	g.kt, g.diagonal, g.short = k, diagonalOf(k), false
	g.c, err = m.unsolved(ctx, eng, x, k, at)
	return g, err
}

// release returns the scratch memory.
func (g *evaluated) release(eng *engine.Engine) {
	eng.PutMatrix(g.kt)
	eng.PutMatrix(g.turned)
	eng.PutMatrix(g.factor.inverses)
}

// complete makes kt(x,x) of that, in the same memory.
func (m *metric) complete(ctx context.Context, eng *engine.Engine, g *evaluated) (err error) {
	if g.short {
		turns := g.rotation
		g.release(eng)
		if *g, err = m.begin(ctx, eng, g.x, g.at, false); err != nil {
			return err
		}
		g.rotation = turns
	}
	if err := m.solve(ctx, eng, g.c); err != nil {
		return err
	}
	eng.Backend().Syrk(false, -1, g.c, 1, g.kt)
	eng.Mirror(g.kt)
	g.residual = m.scaleResidual(ctx, eng, g.kt, g.diagonal, g.diagonal)
	if m.spectral() {
		eng.Backend().Syrk(false, 1, m.weighted(ctx, eng, g.c), 1, g.kt)
		eng.Mirror(g.kt)
	}
	g.open = false
	return ctx.Err()
}

// cross returns kt(x,y), |x| x |y|.
func (m *metric) cross(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	kt := eng.UnclearedMatrix(x.Len(), y.Len())
	cy, err := m.coordinates(ctx, eng, y)
	if err != nil {
		return kt, err
	}
	var dy []float64
	var wy blas.Matrix
	if m.spectral() {
		if dy, err = m.kernel.Diagonal(ctx, eng, y); err != nil {
			return kt, err
		}
		wy = m.weighted(ctx, eng, cy)
	}
	err = forRows(x, func(lo, hi int, block points.Points) error {
		dst := kt.View(lo, hi, 0, y.Len())
		if err := m.kernel.CrossTo(ctx, eng, dst, block, y); err != nil {
			return fault.InRows(err, lo)
		}
		cx, err := m.coordinates(ctx, eng, block)
		if err != nil {
			return err
		}
		eng.Backend().Gemm(false, true, -1, cx, cy, 1, dst)
		var dx []float64
		if m.spectral() {
			if dx, err = m.kernel.Diagonal(ctx, eng, block); err != nil {
				return err
			}
		}
		m.scaleResidual(ctx, eng, dst, dx, dy)
		if m.spectral() {
			eng.Backend().Gemm(false, true, 1, m.weighted(ctx, eng, cx), wy, 1, dst)
		}
		return ctx.Err()
	})
	return kt, err
}

// scaleResidual turns k - c_x c_y' into rho/eps and reports whether any rho is not 0. dx
// and dy hold k(x,x) and k(y,y) for the threshold of the spectral form; the Cholesky form
// does not read them. If ctx is done, the result is undefined.
func (m *metric) scaleResidual(ctx context.Context, eng *engine.Engine, rho blas.Matrix, dx,
	dy []float64) bool {
	nonzero := make([]bool, rho.Rows)
	_ = eng.Each(ctx, rho.Rows, 16, func(i int) {
		row, some := rho.Row(i), false
		if m.spectral() {
			clip(row, dx[i], dy)
		}
		for j, v := range row {
			some = some || v != 0
			row[j] = v / m.eps
		}
		nonzero[i] = some
	})
	return slices.Contains(nonzero, true)
}

// clip sets to 0 the residuals that are rounding errors: |rho| <= 1e-10 sqrt(k(x,x)k(y,y)).
func clip(rho []float64, dx float64, dy []float64) {
	for j, v := range rho {
		if negligible(v, dx, dy[j]) {
			rho[j] = 0
		}
	}
}

// negligible reports whether a residual is a rounding error, given k(x,x) and k(y,y).
func negligible(rho, dx, dy float64) bool {
	return math.Abs(rho) <= residualTol*math.Sqrt(dx)*math.Sqrt(dy)
}

// weighted returns c with its columns scaled by sqrt(weight_r), undefined if ctx is done.
func (m *metric) weighted(ctx context.Context, eng *engine.Engine, c blas.Matrix) blas.Matrix {
	out, w := c.Clone(), m.weights()
	_ = eng.Each(ctx, c.Rows, 64, func(i int) {
		row := out.Row(i)
		for r := range row {
			row[r] *= w[r]
		}
	})
	return out
}

// forRows calls f for consecutive blocks of at most rowBlock points of x.
func forRows(x points.Points, f func(lo, hi int, block points.Points) error) error {
	for lo := 0; lo == 0 || lo < x.Len(); lo += rowBlock {
		hi := min(lo+rowBlock, x.Len())
		if err := f(lo, hi, points.Slice(x, lo, hi)); err != nil {
			return err
		}
	}
	return nil
}

// largestOf returns the largest value of the diagonal.
func largestOf(a blas.Matrix) float64 {
	largest := a.At(0, 0)
	for i := range a.Rows {
		largest = max(largest, a.At(i, i))
	}
	return largest
}

func diagonalOf(a blas.Matrix) []float64 {
	d := make([]float64, a.Rows)
	copyDiagonal(d, a)
	return d
}

// copyDiagonal copies the diagonal of a to d.
func copyDiagonal(d []float64, a blas.Matrix) {
	for i := range a.Rows {
		d[i] = a.At(i, i)
	}
}

// checkedGram is gram or cross for points that are not checked yet.
func (m *metric) checkedGram(ctx context.Context, eng *engine.Engine, x,
	y points.Points) (blas.Matrix, error) {
	if err := m.check(x); err != nil {
		return blas.Matrix{}, err
	}
	rows, cols := x.Len(), x.Len()
	if y != nil {
		if err := m.check(y); err != nil {
			return blas.Matrix{}, err
		}
		cols = y.Len()
	}
	need := addBytes(engine.MatrixBytes(rows, cols), engine.MatrixBytes(cols, m.width()))
	if err := eng.Check(fmt.Sprintf("learned kernel matrix %d x %d", rows, cols), need,
		"take fewer points at a time"); err != nil {
		return blas.Matrix{}, err
	}
	if y == nil {
		g, err := m.gram(ctx, eng, x)
		return finish(ctx, eng, g.kt, err)
	}
	kt, err := m.cross(ctx, eng, x, y)
	return finish(ctx, eng, kt, err)
}

// checkedDistances is distances for points and pairs that are not checked yet.
func (m *metric) checkedDistances(ctx context.Context, eng *engine.Engine, x points.Points,
	pairs [][2]int) ([]float64, error) {
	if err := m.checkPairs(eng, x, pairs); err != nil {
		return nil, err
	}
	d, err := m.distances(ctx, eng, x, pairs)
	if err != nil {
		return nil, input.Failed(ctx, Method+":", err)
	}
	return d, finiteDistances(d, pairs)
}

func (m *metric) checkPairs(eng *engine.Engine, x points.Points, pairs [][2]int) error {
	if err := m.check(x); err != nil {
		return err
	}
	if err := input.Pairs(x.Len(), pairs); err != nil {
		return err
	}
	group := min(2*len(pairs), x.Len(), maxGroup)
	return eng.Check(fmt.Sprintf("coordinates of %d points", group), engine.MatrixBytes(group, m.width()),
		"ask for fewer pairs at a time")
}

func finiteDistances(d []float64, pairs [][2]int) error {
	if p := points.FirstNotFinite(d); p >= 0 {
		return fault.Row(p,
			"learned distance of points %d and %d is %v: want smaller values", pairs[p][0], pairs[p][1], d[p])
	}
	return nil
}

// Formula returns the embedding as data.
func (e extension) Formula() (formula.Map, error) {
	m := e.metric
	if !m.spectral() {
		return formula.Centered(&formula.Expansion{Kernel: m.kernel, Support: e.support, V: e.weights,
			Center: e.offset})
	}
	out := &formula.Residual{
		Kernel: m.kernel, Support: e.support, Projection: blas.NewMatrix(e.support.Len(), m.width()),
		Directions: e.directions, Center: e.offset,
		Rows: e.reference, References: e.referenceC, Weights: e.weights, Negligible: residualTol,
	}
	anchors := m.f.expand(m.basis) // c(x) = (F basis)' k_anchors(x)
	for i, at := range e.chunklet {
		blas.AddScaled(out.Projection.Row(at), 1, anchors.Row(i))
	}
	return formula.Centered(out)
}
