package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Origin is the point m of the feature space of a linear kernel around which it is evaluated, as
// <x-m, y-m>. Distances do not depend on it. A linear kernel of points far from the origin would
// lose their differences to rounding, and a constant feature would count for more than all others.
// A Origin is immutable.
type Origin struct {
	// Point holds, for vectors, the coordinates of m, and for a Gram matrix the weights of the
	// reference objects whose sum is m.
	Point []float64
	// Features are those of Point if the vectors were sparse, ascending; nil for all features.
	Features []int32
	// Full are indices of Point, ascending: of the features that all vectors had. Sparse vectors
	// are shifted in these features before products, which costs them no zeros. The other features
	// are corrected afterwards, since a feature with zeros varies about as much as it is far from
	// 0.
	Full []int
	// Products holds the inner products of the reference objects of a Gram matrix with m; 0 for
	// those that no training point is.
	Products []float64
}

// far is |m|^2 relative to the mean of |x-m|^2, m the mean of the points, from which a kernel is
// evaluated around m. Nearer to the origin two of 16 digits are lost at most, and methods whose
// units are means of k(x, x) keep them.
const far = 100

// Around returns a linear kernel evaluated around the mean of the training points x, if they are
// more than 10 times as far from the origin as from their mean, and otherwise k: for points nearer
// to the origin, that are all equal, or of which none is a reference object of their Gram matrix,
// and for other kernels, whose values change if all points are moved, or depend on differences
// alone. Errors: those of [CheckResolved], and ctx.Err(). Cost: O(values of x).
func (k Kernel) Around(ctx context.Context, eng *engine.Engine, x points.Points) (Kernel, error) {
	if !k.IsLinear() || x.Len() == 0 {
		return k, nil
	}
	o, variance, err := (*Origin)(nil), 0.0, error(nil)
	switch p := x.(type) {
	case *points.Dense:
		o, variance, err = denseOrigin(ctx, eng, p)
	case *points.CSR:
		o, variance = sparseOrigin(p)
	case *points.Gram:
		o, variance = gramOrigin(p)
		err = resolved(p, variance)
	}
	if err != nil || !(variance > 0 && o.square() > far*variance) {
		return k, err
	}
	return k.At(o), nil
}

// square returns <m, m>.
func (c *Origin) square() (sum float64) {
	for at, v := range c.Point {
		if c.Products != nil {
			sum += v * c.Products[at]
		} else {
			sum += v * v
		}
	}
	return sum
}

// At returns a linear kernel evaluated around c, nil for the origin.
func (k Kernel) At(c *Origin) Kernel {
	k.center = c
	return k
}

// Origin returns the point around which the kernel is evaluated, nil for the origin.
func (k Kernel) Origin() *Origin { return k.center }

// Noise returns the eigenvalue up to which all of the kernel matrix of x may be rounding of inner
// products that were given: 4 n 2^-52 max <x,x> for a Gram matrix, whose values and their means are
// rounded, and so are three differences of them, if the values of the kernel are small differences
// of these, and what few digits of them leave open; otherwise 0, as the values have rounding of
// their own size.
func (k Kernel) Noise(x points.Points) (noise float64) {
	g, is := x.(*points.Gram)
	if !is || !k.IsLinear() || g.N == 0 {
		return 0
	}
	if k.center != nil {
		noise = 4 * float64(g.N) * 0x1p-52 * slices.Max(g.Diagonal)
	}
	return max(noise, g.Noise)
}

// Vector returns the coordinates of the center of vectors of d features.
func (c *Origin) Vector(d int) []float64 {
	if c.Features == nil {
		return c.Point
	}
	out := make([]float64, d)
	for at, f := range c.Features {
		out[f] = c.Point[at]
	}
	return out
}

// Moved returns dense points less the center.
func (c *Origin) Moved(p *points.Dense) *points.Dense {
	out, center := &points.Dense{N: p.N, D: p.D, Data: make([]float64, len(p.Data))}, c.Vector(p.D)
	for i := range p.N {
		subtract(out.Row(i), p.Row(i), center)
	}
	return out
}

// MovedSingle returns points less the center. The differences are rounded, and not what they are
// of.
func (c *Origin) MovedSingle(p *points.Single) *points.Single {
	out, center := &points.Single{N: p.N, D: p.D, Data: make([]float32, len(p.Data))}, c.Vector(p.D)
	for i := range p.N {
		row := out.Row(i)
		for j, v := range p.Row(i) {
			row[j] = float32(float64(v) - center[j])
		}
	}
	return out
}

// denseOrigin returns the mean of the points and the mean of their squared distances from it. It
// takes differences from the first point, so that a constant feature has its own value as its mean.
func denseOrigin(ctx context.Context, eng *engine.Engine, p *points.Dense) (*Origin, float64, error) {
	const block = 4096
	blocks := (p.N + block - 1) / block
	first, t := p.Row(0), eng.Backend().Kernels()
	sums, squares, zeros := blas.NewMatrix(blocks, p.D), make([]float64, blocks), make([][]bool, blocks)
	err := eng.For(ctx, p.N, block, func(lo, hi int) error {
		sum, square, zero := sums.Row(lo/block), 0.0, make([]bool, p.D)
		for i := lo; i < hi; i++ {
			for j, v := range p.Row(i) {
				d := v - first[j]
				sum[j] += d
				square += d * d
				zero[j] = zero[j] || v == 0
			}
		}
		squares[lo/block], zeros[lo/block] = square, zero
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	mean, variance, n := make([]float64, p.D), 0.0, float64(p.N)
	for b := range blocks {
		t.Axpy(1/n, sums.Row(b), mean)
		variance += squares[b] / n
	}
	o := &Origin{Point: slices.Clone(first)}
	for j, v := range mean {
		o.Point[j] += v
		variance -= v * v
		if !slices.ContainsFunc(zeros, func(zero []bool) bool { return zero[j] }) {
			o.Full = append(o.Full, j)
		}
	}
	return o, variance, nil
}

// sparseOrigin is denseOrigin for sparse points, of which it takes memory for the features that
// occur.
func sparseOrigin(p *points.CSR) (*Origin, float64) {
	compact, features := p.Compact()
	o := &Origin{Point: make([]float64, len(features)), Features: features}
	count, first := make([]int, len(features)), make([]float64, len(features))
	squares, variance, n := make([]float64, len(features)), 0.0, float64(p.N)
	for k, f := range compact.Col {
		if count[f] == 0 {
			first[f] = compact.Val[k]
		}
		d := compact.Val[k] - first[f]
		count[f]++
		o.Point[f] += d
		squares[f] += d * d
	}
	for f, times := range count {
		zeros := n - float64(times) // as far from the first value as 0 is
		mean := (o.Point[f] - zeros*first[f]) / n
		variance += (squares[f]+zeros*first[f]*first[f])/n - mean*mean
		if o.Point[f] = first[f] + mean; zeros == 0 {
			o.Full = append(o.Full, f)
		}
	}
	return o, variance
}

// gramOrigin is denseOrigin for the objects that are reference objects. The variance is 0 if none
// is.
func gramOrigin(g *points.Gram) (*Origin, float64) {
	o, count, variance := &Origin{Point: make([]float64, g.M), Products: make([]float64, g.M)}, 0.0, 0.0
	for i, r := range g.Reference {
		if r >= 0 {
			o.Point[r]++
			count++
			variance += g.Diagonal[i]
		}
	}
	if count == 0 {
		return o, 0
	}
	for r := range o.Point {
		o.Point[r] /= count
	}
	for i, r := range g.Reference {
		if r >= 0 {
			o.Products[r] = o.product(g, i)
		}
	}
	return o, variance/count - o.square()
}

// product returns <x_i, m> for a row of a Gram matrix.
func (c *Origin) product(g *points.Gram, i int) (sum float64) {
	for r, v := range g.Row(i) {
		sum += v * c.Point[r]
	}
	return sum
}

// lossShare is the part of the variance of a Gram matrix that rounding of its values may be.
const lossShare = 1e-4

// CheckResolved returns a *fault.DataError for a Gram matrix whose values are so much larger than
// their differences that fewer than four digits of these are left. Objects that are all equal pass.
// Cost: O(values).
func CheckResolved(g *points.Gram) error {
	_, variance := gramOrigin(g)
	return resolved(g, variance)
}

func resolved(g *points.Gram, variance float64) error {
	if len(g.Data) == 0 || !slices.ContainsFunc(g.Reference, func(r int) bool { return r >= 0 }) {
		return nil
	}
	largest := slices.Max(g.Diagonal)
	varies := slices.ContainsFunc(g.Data, func(v float64) bool { return v != g.Data[0] })
	if math.Abs(variance) > 0x1p-52*largest/lossShare || !varies {
		return nil
	}
	return fault.Data("",
		"no variance under the kernel but rounding: inner products are up to %.3g, squared "+
			"distances from the mean only %.2g: want inner products of vectors less their mean", largest,
		max(0, variance))
}

// offsets are <x_i, m> of points and <m, m>, in the features that are not shifted. With them
// <x-m, y-m> = <x,y> - (<x,m> + <y,m> - <m,m>).
type offsets struct {
	of   []float64
	self float64
}

func (o offsets) product(xy float64, i, j int) float64 { return xy - ((o.of[i] + o.of[j]) - o.self) }

func (o offsets) norms(raw []float64) []float64 {
	out := make([]float64, len(raw))
	for i, v := range raw {
		out[i] = max(0, o.product(v, i, i))
	}
	return out
}

// offsetsOf returns those of rows of a Gram matrix. Stored rows have no products but those of the
// center.
func (c *Origin) offsetsOf(g *points.Gram) offsets {
	o := offsets{make([]float64, g.N), c.square()}
	for i, r := range g.Reference {
		if g.Data == nil {
			o.of[i] = c.Products[r]
		} else {
			o.of[i] = c.product(g, i)
		}
	}
	return o
}

// shift returns sparse points less the center in its full features, and the offsets of the others.
// Cost: O(values log features), and O(full features) for each point.
func (c *Origin) shift(p *points.CSR) (*points.CSR, offsets) {
	o := offsets{of: make([]float64, p.N)}
	at := 0
	for k, v := range c.Point {
		if at < len(c.Full) && c.Full[at] == k {
			at++
		} else {
			o.self += v * v
		}
	}
	out := &points.CSR{N: p.N, D: p.D, Start: make([]int, 1, p.N+1)}
	for i := range p.N {
		o.of[i] = c.shiftRow(out, p, i)
		out.Start = append(out.Start, len(out.Col))
	}
	return out, o
}

// shiftRow appends row i of p, shifted, to out, and returns its product with the rest of the
// center.
func (c *Origin) shiftRow(out, p *points.CSR, i int) (product float64) {
	col, val := p.Row(i)
	full := c.Full
	missing := func(before int32) {
		for len(full) > 0 && c.feature(full[0]) < before {
			out.Col, out.Val = append(out.Col, c.feature(full[0])), append(out.Val, -c.Point[full[0]])
			full = full[1:]
		}
	}
	for k, f := range col {
		missing(f)
		v := val[k]
		if len(full) > 0 && c.feature(full[0]) == f {
			v -= c.Point[full[0]]
			full = full[1:]
		} else if at, is := c.index(f); is {
			product += v * c.Point[at]
		}
		out.Col, out.Val = append(out.Col, f), append(out.Val, v)
	}
	missing(int32(p.D))
	return product
}

func (c *Origin) feature(at int) int32 {
	if c.Features == nil {
		return int32(at)
	}
	return c.Features[at]
}

func (c *Origin) index(f int32) (int, bool) {
	if c.Features == nil {
		return int(f), true
	}
	return slices.BinarySearch(c.Features, f)
}

// relative returns points in which products around the center are found: vectors less the center,
// or less a part of it, and the offsets for the rest of it; nil for none. Dense points are copied.
func (c *Origin) relative(ctx context.Context, eng *engine.Engine, x points.Points) (points.Points, *offsets,
	error) {
	switch p := x.(type) {
	case *points.Gram:
		o := c.offsetsOf(p)
		return x, &o, nil
	case *points.CSR:
		out, o := c.shift(p)
		return out, &o, nil
	}
	p := x.(*points.Dense)
	if err := eng.Check("centered copy of the points", engine.MatrixBytes(p.N, p.D),
		"use fewer points or raise the memory limit"); err != nil {
		return nil, nil, err
	}
	return c.Moved(p), nil, ctx.Err()
}

// selfProducts returns <x_i, x_i> around the center.
func (k Kernel) selfProducts(ctx context.Context, eng *engine.Engine, x points.Points) ([]float64, error) {
	p, isDense := x.(*points.Dense)
	switch {
	case k.center == nil:
		return rawNorms(ctx, eng, x)
	case !isDense:
		shifted, o, err := k.center.relative(ctx, eng, x)
		if err != nil {
			return nil, err
		}
		raw, err := rawNorms(ctx, eng, shifted)
		return o.norms(raw), err
	}
	norms, t, center := make([]float64, p.N), eng.Backend().Kernels(), k.center.Vector(p.D)
	return norms, eng.For(ctx, p.N, normBlock, func(lo, hi int) error {
		row := make([]float64, p.D)
		for i := lo; i < hi; i++ {
			subtract(row, p.Row(i), center)
			norms[i] = t.Dot(row, row)
		}
		return nil
	})
}

// base returns the base of vectors of which at least one set is sparse, less the center.
func (c *Origin) base(ctx context.Context, eng *engine.Engine, x, y points.Points) (base, error) {
	ys := sparse(y)
	if dense(eng, ys) {
		return newDense(ctx, eng, x, y, c.Vector(x.Dim()))
	}
	right, of := c.shift(ys)
	if x == y {
		b, err := newSparse(ctx, eng, right, right)
		if err != nil {
			return nil, err
		}
		return newAround(b, of, of), nil
	}
	left, before := c.shift(sparse(x))
	b, err := newSparse(ctx, eng, left, right)
	if err != nil {
		return nil, err
	}
	return newAround(b, before, of), nil
}

// sparse returns vectors as sparse ones.
func sparse(x points.Points) *points.CSR {
	p, is := x.(*points.Dense)
	if !is {
		return x.(*points.CSR)
	}
	out := &points.CSR{N: p.N, D: p.D, Start: make([]int, 1, p.N+1)}
	for i := range p.N {
		for j, v := range p.Row(i) {
			if v != 0 {
				out.Col, out.Val = append(out.Col, int32(j)), append(out.Val, v)
			}
		}
		out.Start = append(out.Start, len(out.Col))
	}
	return out
}

// around is a base less a center: of sparse points that it has shifted already, or of rows of Gram
// matrices.
type around struct {
	base
	x, y   []float64 // <x_i, m>, and <y_j, m>
	self   float64
	xx, yy []float64
}

func newAround(b base, x, y offsets) *around {
	xx, yy := b.norms()
	return &around{base: b, x: x.of, y: y.of, self: x.self, xx: x.norms(xx), yy: y.norms(yy)}
}

func (a *around) norms() (x, y []float64) { return a.xx, a.yy }

func (a *around) fill(dst blas.Matrix, r rows, j0, cols int) {
	a.base.fill(dst, r, j0, cols)
	for i := r.lo; i < r.hi; i++ {
		row := dst.Row(i - r.lo)[:cols]
		for c, y := range a.y[j0 : j0+cols] {
			row[c] -= (a.x[i] + y) - a.self
		}
	}
}
