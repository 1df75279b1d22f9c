package export

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// coordinates adds those of the prepared rows x, once for each map.
func (g *graph) coordinates(m formula.Map, x value) value {
	if y, is := g.done[m]; is {
		return y
	}
	y := g.newCoordinates(m, x)
	if g.done == nil {
		g.done = map[formula.Map]value{}
	}
	g.done[m] = y
	return y
}

func (g *graph) newCoordinates(m formula.Map, x value) value {
	switch m := m.(type) {
	case *formula.Linear:
		if slices.ContainsFunc(m.Mean, func(v float64) bool { return v != 0 }) {
			x = g.sub(x, g.row(m.Mean))
		}
		return g.transposedProduct(1, x, g.matrix(m.W), "")
	case *formula.Unit:
		x = g.less(x, m.Center)
		length := g.op("Sqrt", []value{g.squares(x)})
		return g.op("Div", []value{x, g.op("Max", []value{length, g.scalar(m.Least)})})
	case *formula.Expansion:
		return g.expansion(m, x)
	case *formula.Residual:
		return g.residual(m, x)
	case *formula.Chain:
		return g.coordinates(m.Then, g.coordinates(m.First, x))
	case *formula.Sum:
		y := g.coordinates(m.Terms[0], x)
		for _, term := range m.Terms[1:] {
			y = g.add(y, g.coordinates(term, x))
		}
		return y
	case *formula.Lookup:
		return g.lookup(m, x)
	}
	panic(fmt.Sprintf("export: map of type %T", m))
}

func (g *graph) expansion(m *formula.Expansion, x value) value {
	k, v := g.kernelValues(m.Kernel, dense(m.Support), x), g.matrix(m.V)
	if g.outside == Double && bounded(m.Kernel) && formula.Condition(m) > maxCondition {
		return g.less(g.splitProduct(k, v, m.V), m.Center)
	}
	return g.less(g.op("MatMul", []value{k, v}), m.Center)
}

// bounded reports whether the values of a kernel are at most 1.
func bounded(k kernel.Kernel) bool {
	steps := k.Steps()
	return len(steps) > 0 && !steps[len(steps)-1].Grows
}

// splitProduct returns k v for kernel values of at most 1, without the rounding errors of its sums,
// which in long sums that cancel exceed those of the kernel values by far. Both factors are split
// into leading digits, so few that sums of their products are exact, and the rest, after Ozaki,
// Ogita, Oishi and Rump 2012: "Error-free transformations of matrix multiplication by using fast
// routines of matrix multiplication and its applications". Runtimes split v once, as a constant.
func (g *graph) splitProduct(k, v value, of blas.Matrix) value {
	digits := (53 - bits.Len(uint(of.Rows))) / 2
	leftUnit, rightUnits := math.Ldexp(1, -digits), make([]float64, of.Cols)
	for l := range of.Rows {
		for c, w := range of.Row(l) {
			rightUnits[c] = max(rightUnits[c], math.Abs(w))
		}
	}
	for c, largest := range rightUnits {
		_, exponent := math.Frexp(largest)
		rightUnits[c] = math.Ldexp(1, max(exponent, -900)-digits) // its inverse is finite
	}
	k1, k2 := g.split(k, []float64{leftUnit})
	v1, v2 := g.split(v, rightUnits)
	rest := g.add(g.op("MatMul", []value{k, v2}), g.op("MatMul", []value{k2, v1}))
	return g.add(g.op("MatMul", []value{k1, v1}), rest)
}

// split returns a rounded to multiples of units, which are powers of two, one for all columns or
// one for each, and the rest.
func (g *graph) split(a value, units []float64) (leading, rest value) {
	inverse := make([]float64, len(units))
	for c, u := range units {
		inverse[c] = 1 / u
	}
	leading = g.mul(g.op("Round", []value{g.mul(a, g.row(inverse))}), g.row(units))
	return leading, g.sub(a, leading)
}

// lookup chooses the mean of the coordinates of equal rows where there are some.
func (g *graph) lookup(m *formula.Lookup, x value) value {
	// Rows are equal up to rounding of their preparation.
	const tolerance = 1e-28
	squared, sum := g.squaredDistances(dense(m.Rows), x, true)
	equal := g.number(g.op("LessOrEqual", []value{squared, g.mul(sum, g.scalar(tolerance))}))
	ones := make([]float64, m.Rows.Len())
	for i := range ones {
		ones[i] = 1
	}
	count := g.op("MatMul", []value{equal, g.constant(ones, len(ones), 1)})
	total := g.op("MatMul", []value{equal, g.matrix(m.Coordinates)})
	mean := g.op("Div", []value{total, g.op("Max", []value{count, g.scalar(1)})})
	return g.where(g.op("Greater", []value{count, g.scalar(0)}), mean, g.coordinates(m.Rest, x))
}

// less subtracts a center, nil for zeros.
func (g *graph) less(y value, center []float64) value {
	if center == nil {
		return y
	}
	return g.sub(y, g.row(center))
}

func (g *graph) residual(m *formula.Residual, x value) value {
	support := dense(m.Support)
	k := g.kernelValues(m.Kernel, support, x)
	c := g.op("MatMul", []value{k, g.matrix(m.Projection)})
	y := g.op("MatMul", []value{c, g.matrix(m.Directions)})
	if len(m.Rows) > 0 {
		rho := g.transposedProduct(-1, c, g.matrix(m.References), g.choose(k, m.Rows))
		small := g.op("LessOrEqual", []value{g.op("Abs", []value{rho}), g.negligible(m, x)})
		rho = g.where(small, g.scalar(0), rho)
		y = g.add(y, g.op("MatMul", []value{rho, g.matrix(m.Weights)}))
	}
	return g.less(y, m.Center)
}

// negligible adds the bounds Negligible sqrt(k(x,x) k(l,l)) of residuals.
func (g *graph) negligible(m *formula.Residual, x value) value {
	steps := m.Kernel.Steps()
	own := squaredLengths(dense(m.Support.Select(m.Rows)))
	xx := g.selves(steps, x)
	for _, s := range steps {
		own = self(s, own)
	}
	for j, v := range own {
		own[j] = m.Negligible * math.Sqrt(v)
	}
	if xx.rows == "" {
		for j := range own {
			own[j] *= math.Sqrt(xx.all)
		}
		return g.row(own)
	}
	return g.mul(g.op("Sqrt", []value{xx.rows}), g.row(own))
}

// selves adds the kernel values of rows with themselves.
func (g *graph) selves(steps []kernel.Step, x value) lengths {
	if len(steps) > 0 && steps[0].OfDistance {
		xx := lengths{all: 1}
		for _, s := range steps[1:] {
			xx = g.self(s, xx)
		}
		return xx
	}
	xx := lengths{rows: g.squares(x)}
	for _, s := range steps {
		xx = g.self(s, xx)
	}
	return xx
}

// widths returns how many widths of its kernel the support points of a map lie from each other, at
// most, which rounding errors of kernel values grow with: +Inf for exp of distances in the feature
// space of another kernel, which have errors of the root of a unit in the last place.
func widths(m formula.Map) (most float64) {
	for part := range formula.All(m) {
		switch part := part.(type) {
		case *formula.Expansion:
			most = max(most, widthsOf(part.Kernel.Steps(), dense(part.Support)))
		case *formula.Residual:
			most = max(most, widthsOf(part.Kernel.Steps(), dense(part.Support)))
		}
	}
	return most
}

func widthsOf(steps []kernel.Step, support *points.Dense) (most float64) {
	own := squaredLengths(support)
	for i, s := range steps {
		switch n := nodesOf(s); {
		case n.first != nil && i == 0:
			most = n.first(s, radius(support))
		case n.after != nil:
			if most = max(most, n.after(s, slices.Max(own))); math.IsInf(most, 1) {
				return most
			}
		}
		own = self(s, own)
	}
	return most
}

// radius returns the largest squared distance of points from their mean.
func radius(x *points.Dense) (largest float64) {
	mean := meansOf(x)
	for i := range x.N {
		largest = max(largest, points.SquaredDistance(x.Row(i), mean))
	}
	return largest
}

// elements returns the numbers of the tensors of a map.
func elements(m formula.Map) (sum float64) {
	size := func(m blas.Matrix) float64 { return float64(m.Rows) * float64(m.Cols) }
	values := func(x points.Points) float64 { return float64(x.Len()) * float64(x.Dim()) }
	for part := range formula.All(m) {
		switch part := part.(type) {
		case *formula.Linear:
			sum += size(part.W)
		case *formula.Unit:
			sum += float64(len(part.Center))
		case *formula.Expansion:
			sum += values(part.Support) + size(part.V)
		case *formula.Residual:
			sum += values(part.Support) + size(part.Projection) + size(part.Directions) +
				size(part.References) + size(part.Weights)
		case *formula.Lookup:
			sum += values(part.Rows) + size(part.Coordinates)
		}
	}
	return sum
}
