// Package tsne (internal: may change) maps points to a plane in which near points stay near:
// t-distributed stochastic neighbor embedding (van der Maaten & Hinton 2008), on a neighbor graph.
//
// The repulsion between all pairs is exact, so a step costs O(n^2): the method is for some thousand
// points. Blocks of rows are fixed and sums are in order: the result is bit-identical for any
// number of workers.
package tsne

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Plane holds one point of the plane for each point.
type Plane struct{ X, Y []float64 }

// Options are the settings of a search; 0 means the default.
type Options struct {
	Iterations int // 500
	// Spread is the standard deviation of the points at the start, 0.01. A larger one, below that
	// of the result, keeps more of the arrangement of a start that is such a result.
	Spread float64
	// Report is called after every iteration; nil for none.
	Report func(done, total int)
}

// The phases of a search (van der Maaten 2014): at first the attraction is exaggerated and the
// momentum is low, so that clusters form and pass through each other.
const (
	defaultIterations = 500
	exaggeration      = 12
	earlyShare        = 3 // the exaggerated part of the iterations, as 1/earlyShare
	earlyMomentum     = 0.5
	lateMomentum      = 0.8
	leastGain         = 0.01
	defaultSpread     = 1e-2
	block             = 32 // rows of a block
)

// Fit returns the plane after a gradient descent on the divergence between the similarities p,
// which are symmetric with sum 1 (see [Similarities]), and those of the points in the plane. start
// is the first plane, which is scaled: only its shape matters. It does not change.
//
// Errors: a *fault.ShapeError unless start has a point for each row of p, a *fault.DataError for
// coordinates that are not finite, and ctx.Err(). Cost: O(n^2 + elements of p) per iteration.
// Memory: O(n).
func Fit(ctx context.Context, eng *engine.Engine, p *sparse.Matrix, start Plane, o Options) (Plane, error) {
	if err := check(p, start); err != nil {
		return Plane{}, err
	}
	if o.Iterations == 0 {
		o.Iterations = defaultIterations
	}
	if o.Spread == 0 {
		o.Spread = defaultSpread
	}
	at := scaled(start, o.Spread)
	n := len(at.X)
	rate := max(float64(n)/exaggeration/4, 50) // Belkina et al. 2019
	d := newDescent(n)
	for k := range o.Iterations {
		pull, momentum := 1.0, lateMomentum
		if k < o.Iterations/earlyShare {
			pull, momentum = exaggeration, earlyMomentum
		}
		if err := d.gradient(ctx, eng, p, at, pull); err != nil {
			return Plane{}, err
		}
		d.step(at, rate, momentum)
		if o.Report != nil {
			o.Report(k+1, o.Iterations)
		}
	}
	return at, nil
}

// check refuses a start that does not fit p.
func check(p *sparse.Matrix, start Plane) error {
	for _, c := range [][]float64{start.X, start.Y} {
		if len(c) != p.Rows || p.Rows != p.Cols {
			return fault.Shape("number of points of the start", len(c),
				"%d, as there are rows of similarities", p.Rows)
		}
		for i, v := range c {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fault.Row(i, "coordinate is %v: want a finite number", v)
			}
		}
	}
	return nil
}

// scaled returns the centered plane with a small spread. Points without spread stay together: only
// rounding would separate them, so they start on a small circle, in their order.
func scaled(from Plane, spread float64) Plane {
	n := len(from.X)
	x, y := centered(from.X), centered(from.Y)
	variance := 0.0
	for i := range x {
		variance += (x[i]*x[i] + y[i]*y[i]) / float64(max(1, n))
	}
	unit := spread / math.Sqrt(variance)
	if !(variance > 0) || math.IsInf(unit, 0) || math.IsInf(variance, 0) {
		for i := range x {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			x[i], y[i] = spread*cos, spread*sin
		}
		return Plane{x, y}
	}
	for i := range x {
		x[i], y[i] = x[i]*unit, y[i]*unit
	}
	return Plane{x, y}
}

func centered(v []float64) []float64 {
	middle, out := kernel.Mean(v), make([]float64, len(v))
	for i, c := range v {
		out[i] = c - middle
	}
	return out
}

// descent is the state of the search.
type descent struct {
	gx, gy       []float64 // gradient
	near         []float64 // attraction of each point, both coordinates
	sums         []float64 // of the similarities in the plane, by row
	vx, vy       []float64 // velocity
	gainX, gainY []float64
}

func newDescent(n int) *descent {
	d := &descent{near: make([]float64, 2*n)}
	for _, v := range []*[]float64{&d.gx, &d.gy, &d.sums, &d.vx, &d.vy, &d.gainX, &d.gainY} {
		*v = make([]float64, n)
	}
	for i := range n {
		d.gainX[i], d.gainY[i] = 1, 1
	}
	return d
}

// gradient sets the gradient of the divergence, with the attraction multiplied by pull: 4 sum_j
// (pull p_ij - q_ij) w_ij (y_i - y_j), where w_ij = 1 / (1 + |y_i - y_j|^2) and q_ij is w_ij
// divided by the sum over all pairs.
func (d *descent) gradient(ctx context.Context, eng *engine.Engine, p *sparse.Matrix, at Plane,
	pull float64) error {
	err := eng.Each(ctx, len(at.X), block, func(i int) {
		x, y := at.X[i], at.Y[i]
		sum, fx, fy := 0.0, 0.0, 0.0
		ys := at.Y[:len(at.X)]
		for j, xj := range at.X {
			dx, dy := x-xj, y-ys[j]
			w := 1 / (1 + dx*dx + dy*dy)
			sum += w
			fx += w * w * dx
			fy += w * w * dy
		}
		d.sums[i], d.gx[i], d.gy[i] = sum-1, fx, fy // without the point itself
		ax, ay := 0.0, 0.0
		columns, values := p.Row(i)
		for k, j := range columns {
			dx, dy := x-at.X[j], y-at.Y[j]
			w := values[k] / (1 + dx*dx + dy*dy)
			ax += w * dx
			ay += w * dy
		}
		d.near[2*i], d.near[2*i+1] = ax, ay
	})
	total := d.total()
	for i := range d.gx {
		d.gx[i] = 4 * (pull*d.near[2*i] - d.gx[i]/total)
		d.gy[i] = 4 * (pull*d.near[2*i+1] - d.gy[i]/total)
	}
	return err
}

// total returns the sum over all pairs, positive.
func (d *descent) total() float64 {
	return max(blas.Sum(d.sums), math.SmallestNonzeroFloat64)
}

// step moves the points: momentum, with a gain for every coordinate that rises while its gradient
// keeps its sign (Jacobs 1988).
func (d *descent) step(at Plane, rate, momentum float64) {
	move := func(x, g, v, gain []float64) {
		for i := range x {
			if g[i] > 0 != (v[i] > 0) {
				gain[i] += 0.2
			} else {
				gain[i] = max(leastGain, 0.8*gain[i])
			}
			v[i] = momentum*v[i] - rate*gain[i]*g[i]
			x[i] += v[i]
		}
	}
	move(at.X, d.gx, d.vx, d.gainX)
	move(at.Y, d.gy, d.vy, d.gainY)
	copy(at.X, centered(at.X))
	copy(at.Y, centered(at.Y))
}

// Similarities returns the symmetric similarities of points with sum 1: p_ij = (p_j|i + p_i|j) /
// 2n. p_j|i falls with the squared distance like a Gaussian density. Its width makes the number of
// effective neighbors, the exponential of the entropy, equal to perplexity; neighbors beyond those
// of near count nothing.
//
// A perplexity outside (0, K] is a *fault.ParamError. Cost: O(n K).
func Similarities(near *graph.Neighbors, perplexity float64) (*sparse.Matrix, error) {
	if !(perplexity > 0 && perplexity <= float64(near.K)) {
		return nil, fault.Param("perplexity", perplexity,
			"more than 0, and at most %d, the number of neighbors", near.K)
	}
	type element struct {
		column int32
		value  float64
	}
	rows := make([][]element, near.N)
	weights := make([]float64, near.K)
	for i := range near.N {
		index, squared := near.Of(i)
		gaussian(weights, squared, perplexity)
		for a, j := range index {
			half := weights[a] / (2 * float64(near.N))
			rows[i] = append(rows[i], element{j, half})
			rows[j] = append(rows[j], element{int32(i), half})
		}
	}
	p := &sparse.Matrix{Rows: near.N, Cols: near.N, Start: make([]int, 1, near.N+1)}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b element) int { return cmp.Compare(a.column, b.column) })
		for k, e := range row {
			if k > 0 && row[k-1].column == e.column {
				p.Val[len(p.Val)-1] += e.value
				continue
			}
			p.Col, p.Val = append(p.Col, e.column), append(p.Val, e.value)
		}
		p.Start = append(p.Start, len(p.Col))
	}
	return p, nil
}

// gaussian sets weights with sum 1 and the entropy log(perplexity), by bisection on the logarithm
// of the precision. Distances count relative to their mean. Without spread, or if no width has this
// entropy, the weights are as near to it as bisection comes.
func gaussian(weights, squared []float64, perplexity float64) {
	mean := 0.0
	for _, s := range squared {
		mean += (s - squared[0]) / float64(len(squared))
	}
	if !(mean > 0) || math.IsInf(mean, 0) {
		for a := range weights {
			weights[a] = 1 / float64(len(weights))
		}
		return
	}
	low, high := -20.0, 50.0
	for range 60 {
		middle := (low + high) / 2
		precision := math.Exp(middle)
		sum, moment := 0.0, 0.0
		for a, s := range squared {
			t := precision * (s - squared[0]) / mean
			weights[a] = math.Exp(-t)
			sum += weights[a]
			if weights[a] > 0 {
				moment += weights[a] * t
			}
		}
		for a := range weights {
			weights[a] /= sum
		}
		if math.Log(sum)+moment/sum > math.Log(perplexity) {
			low = middle
		} else {
			high = middle
		}
	}
}

// Align returns moving after the rotation, reflection and shift that bring it closest to fixed, in
// the sum of squared distances of points with the same number (orthogonal Procrustes analysis).
// Both planes have as many points.
func Align(moving, fixed Plane) Plane {
	mx, my, fx, fy := centered(moving.X), centered(moving.Y), centered(fixed.X), centered(fixed.Y)
	var xx, xy, yx, yy float64
	for i := range mx {
		xx += mx[i] * fx[i]
		xy += mx[i] * fy[i]
		yx += my[i] * fx[i]
		yy += my[i] * fy[i]
	}
	// The inner product with fixed is (xx + yy) cos + (xy - yx) sin after a rotation, and
	// (xx - yy) cos + (xy + yx) sin after a reflection of y before it.
	sign := 1.0
	if math.Hypot(xx-yy, xy+yx) > math.Hypot(xx+yy, xy-yx) {
		sign = -1
	}
	sin, cos := math.Sincos(math.Atan2(xy-sign*yx, xx+sign*yy))
	cx, cy := kernel.Mean(fixed.X), kernel.Mean(fixed.Y)
	out := Plane{make([]float64, len(mx)), make([]float64, len(mx))}
	for i := range mx {
		out.X[i] = cos*mx[i] - sin*sign*my[i] + cx
		out.Y[i] = sin*mx[i] + cos*sign*my[i] + cy
	}
	return out
}
