package export

import (
	"math"

	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// lengths are the squared lengths of rows in the feature space of some steps: a tensor of n x 1, or
// one number for all rows.
type lengths struct {
	rows value // "" for one number
	all  float64
}

// kernelValues adds the kernel values of the rows x with m support points, n x m.
func (g *graph) kernelValues(k kernel.Kernel, support *points.Dense, x value) value {
	steps := k.Steps()
	own := squaredLengths(support)
	var xy value
	var xx lengths
	if len(steps) > 0 && ofDistance(steps[0]) {
		xy = g.falling(steps[0], g.distances(steps[0], support, x))
		xx.all, own = 1, self(steps[0], own)
		steps = steps[1:]
	} else {
		xy = g.transposedProduct(1, x, g.constant(support.Data, support.N, support.D), "")
		if needLengths(steps) {
			xx.rows = g.squares(x)
		}
	}
	for i, s := range steps {
		xy = g.step(s, xy, xx, own)
		if i+1 < len(steps) {
			xx, own = g.self(s, xx), self(s, own)
		}
	}
	return xy
}

// needLengths reports whether some step uses squared lengths.
func needLengths(steps []kernel.Step) bool {
	for _, s := range steps {
		if ofDistance(s) || s.Name == "cosine" {
			return true
		}
	}
	return false
}

func ofDistance(s kernel.Step) bool { return s.Name == "rbf" || s.Name == "exp" }

func squaredLengths(x *points.Dense) []float64 {
	out := make([]float64, x.N)
	for i := range out {
		for _, v := range x.Row(i) {
			out[i] += v * v
		}
	}
	return out
}

func self(s kernel.Step, lengths []float64) []float64 {
	out := make([]float64, len(lengths))
	for i, v := range lengths {
		out[i] = s.Self(v)
	}
	return out
}

// self adds the squared lengths after a step.
func (g *graph) self(s kernel.Step, xx lengths) lengths {
	switch {
	case xx.rows == "" || ofDistance(s):
		return lengths{all: s.Self(xx.all)}
	case s.Name == "cosine":
		return lengths{rows: g.number(g.op("Greater", []value{xx.rows, g.scalar(0)}))}
	}
	return lengths{rows: g.ofProduct(s, xx.rows)}
}

// step adds one map of kernel values xy, given the squared lengths of both sides.
func (g *graph) step(s kernel.Step, xy value, xx lengths, yy []float64) value {
	switch {
	case ofDistance(s):
		left := xx.rows
		if left == "" {
			left = g.scalar(xx.all)
		}
		sum := g.add(g.sub(g.row(yy), g.mul(xy, g.scalar(2))), left)
		return g.falling(s, g.op("Max", []value{sum, g.scalar(0)}))
	case s.Name == "cosine":
		roots := make([]float64, len(yy))
		for j, v := range yy {
			roots[j] = math.Sqrt(max(0, v))
		}
		left := xx.rows
		if left == "" {
			left = g.scalar(math.Sqrt(xx.all))
		} else {
			left = g.op("Sqrt", []value{g.op("Max", []value{left, g.scalar(0)})})
		}
		both := g.op("Max", []value{g.mul(left, g.row(roots)), g.scalar(g.least())})
		ratio := g.op("Div", []value{xy, both})
		return g.op("Max", []value{g.op("Min", []value{ratio, g.scalar(1)}), g.scalar(-1)})
	}
	return g.ofProduct(s, xy)
}

// least returns a positive number below all lengths that are not 0.
func (g *graph) least() float64 {
	if g.single {
		return 0x1p-126
	}
	return 0x1p-1022
}

// ofProduct adds a map of inner products alone.
func (g *graph) ofProduct(s kernel.Step, xy value) value {
	inner := g.add(g.mul(xy, g.scalar(s.Scale)), g.scalar(s.Coef))
	if s.Name == "sigmoid" {
		return g.op("Tanh", []value{inner})
	}
	return g.op("Pow", []value{inner, g.scalar(float64(s.Degree))})
}

// falling adds exp(-decay d^2) for rbf and exp(-decay d) for exp.
func (g *graph) falling(s kernel.Step, squared value) value {
	if s.Name == "exp" {
		squared = g.op("Sqrt", []value{squared})
	}
	return g.op("Exp", []value{g.mul(squared, g.scalar(-s.Decay))})
}

// distances adds squared distances that are as exact as a step needs.
func (g *graph) distances(s kernel.Step, support *points.Dense, x value) value {
	squared, _ := g.squaredDistances(support, x, cancels(s, radius(support)))
	return squared
}

// squaredDistances adds |x|^2 + |l|^2 - 2<x,l> and |x|^2 + |l|^2 between the rows x and the support
// points l, which the mean of the support points is subtracted from first. With exact, pairs for
// which that cancels are computed again from differences, as the engine does.
func (g *graph) squaredDistances(support *points.Dense, x value, exact bool) (squared, sum value) {
	center := g.means(support)
	centered := &points.Dense{N: support.N, D: support.D, Data: make([]float64, len(support.Data))}
	for i := range support.N {
		row := centered.Row(i)
		for j, v := range support.Row(i) {
			row[j] = v - center[j]
		}
	}
	left := g.sub(x, g.row(center))
	right := g.constant(centered.Data, centered.N, centered.D)
	xx, lengths := g.squares(left), g.row(squaredLengths(centered))
	squared = g.op("Max", []value{g.add(g.transposedProduct(-2, left, right, lengths), xx), g.scalar(0)})
	if !exact {
		return squared, ""
	}
	near := 1e-3 // as in engine/kernel, and for single precision
	if g.single {
		near = 1.0 / 64
	}
	sum = g.add(xx, lengths)
	pairs := g.op("NonZero", []value{g.op("Less", []value{squared, g.mul(sum, g.scalar(near))})}) // 2 x pairs
	side := func(k int) value { return g.op("Gather", []value{pairs, g.integer(k)}) }
	differences := g.sub(g.op("Gather", []value{left, side(0)}), g.op("Gather", []value{right, side(1)}))
	again := g.op("ReduceSumSquare", []value{differences}, attribute{"axes", []int64{1}}, attribute{"keepdims", int64(0)})
	return g.op("ScatterND", []value{squared, g.op("Transpose", []value{pairs}), again}), sum
}

// cancels reports whether errors of squared distances of some units in the last place of the
// largest squared length show in the step's values: always with the root of exp, which has no slope
// at 0, and with rbf where the points are many widths apart.
func cancels(s kernel.Step, largest float64) bool {
	const widths = 16
	return s.Name == "exp" || s.Decay*largest > widths
}

// means returns the means of the columns, as numbers of the graph.
func (g *graph) means(x *points.Dense) []float64 {
	mean := meansOf(x)
	for j, v := range mean {
		if g.single {
			mean[j] = float64(float32(v))
		}
	}
	return mean
}

// meansOf returns the means of the columns.
func meansOf(x *points.Dense) []float64 {
	mean := make([]float64, x.D)
	for i := range x.N {
		for j, v := range x.Row(i) {
			mean[j] += v / float64(x.N)
		}
	}
	return mean
}
