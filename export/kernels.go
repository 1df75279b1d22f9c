package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/prepare"
)

// Limits bounds what an export takes. The zero value has no limits but those of the format.
type Limits struct {
	Memory int64 // bytes, 0 for none
}

// check returns a *fault.MemoryError for more than the limit.
func (l Limits) check(what string, need, format float64) error {
	limit := format
	if l.Memory > 0 {
		limit = min(limit, float64(l.Memory))
	}
	if need <= limit {
		return nil
	}
	return &fault.MemoryError{What: what, Need: int64(min(need, 1<<62)), Limit: int64(limit),
		Hint: "fit with fewer landmarks, or raise the memory limit"}
}

// source is a model to export.
type source struct {
	*catalog.Fitted
	formula   formula.Map
	condition float64       // of the formula
	rules     prepare.Rules // of the columns that the model takes
}

// mostCondition is the [formula.Condition] up to which double precision leaves 1e-5 of the largest
// coordinate: the error was at most twice the condition in units of 2^-52, in Embed too.
const mostCondition = 1e10

// newSource returns the parts of a model that exports need. A model without a formula for new rows,
// or with a preparation that cannot be exported, is a *fault.ParamError; one whose coordinates are
// rounding errors is a *fault.DataError.
func newSource(m *mustlink.Model) (*source, error) {
	f := m.Record()
	if f == nil || f.Model == nil {
		return nil, fault.Param("model", nil, "a model made by Fit or Load")
	}
	s := &source{Fitted: f}
	with, is := f.Model.(algorithms.Formulas)
	if !is {
		return nil, fault.Param("method of the model", f.Model.Method(), "one with a formula for new rows")
	}
	if a, is := f.Model.(interface{ Alphabet() string }); is && a.Alphabet() != "" {
		return nil, noVectors("sequences")
	}
	var err error
	if s.formula, err = with.Formula(); err != nil {
		return nil, err
	}
	if err := checkVectors(s.formula); err != nil {
		return nil, err
	}
	if s.condition = formula.Condition(s.formula); s.condition > mostCondition &&
		!math.IsInf(s.condition, 1) {
		return nil, fault.Data("",
			"the terms of the model exceed its coordinates %.0e times, so that rounding errors exceed 1e-5 "+
				"of the coordinates: want a fit on scaled features", s.condition)
	}
	return s, s.prepared()
}

func noVectors(got string) error {
	return fault.Param("points of the model", got, "vectors: fit a model to the features of the rows")
}

// nodes is how graphs evaluate a kernel.
type nodes struct {
	kernel string
	// add adds the map of inner products, or of squared distances; nil for the cosine.
	add func(g *graph, s kernel.Step, v value) value
	// How many widths apart the support points are, of which the largest squared distance from
	// their mean is given, or the largest squared length in the feature space of the kernel before;
	// nil where rounding errors do not grow with it.
	first, after func(s kernel.Step, largest float64) float64
	root         bool // the map has no slope at distance 0
}

// kernels are those that graphs have nodes for, besides the linear one.
var kernels = []nodes{
	{
		kernel: "rbf",
		add: func(g *graph, s kernel.Step, squared value) value {
			return g.op("Exp", []value{g.mul(squared, g.scalar(-s.Decay))})
		},
		first: func(s kernel.Step, radius float64) float64 { return math.Sqrt(s.Decay * radius) },
		after: func(s kernel.Step, length float64) float64 { return s.Decay * length },
	},
	{
		kernel: "exp",
		add: func(g *graph, s kernel.Step, squared value) value {
			return g.op("Exp", []value{g.mul(g.op("Sqrt", []value{squared}), g.scalar(-s.Decay))})
		},
		first: func(s kernel.Step, radius float64) float64 { return s.Decay * math.Sqrt(radius) },
		after: func(kernel.Step, float64) float64 { return math.Inf(1) },
		root:  true,
	},
	{
		kernel: "cauchy",
		add: func(g *graph, s kernel.Step, squared value) value {
			one := g.scalar(1)
			return g.op("Div", []value{one, g.add(g.mul(squared, g.scalar(s.Decay)), one)})
		},
		first: func(s kernel.Step, radius float64) float64 { return math.Sqrt(s.Decay * radius) },
		after: func(s kernel.Step, length float64) float64 { return s.Decay * length },
	},
	{
		kernel: "poly",
		add: func(g *graph, s kernel.Step, xy value) value {
			return g.op("Pow", []value{g.affineOf(s, xy), g.scalar(float64(s.Degree))})
		},
	},
	{kernel: "cosine"},
	{
		kernel: "sigmoid",
		add: func(g *graph, s kernel.Step, xy value) value {
			return g.op("Tanh", []value{g.affineOf(s, xy)})
		},
		after: func(s kernel.Step, length float64) float64 { return s.Scale * length },
	},
}

// nodesOf returns the nodes of a step.
func nodesOf(s kernel.Step) nodes {
	for _, n := range kernels {
		if n.kernel == s.Name {
			return n
		}
	}
	return nodes{}
}

// exported returns the names of the kernels that graphs have nodes for.
func exported() string {
	names := []string{"linear"}
	for _, n := range kernels {
		names = append(names, n.kernel)
	}
	return strings.Join(names, ", ")
}

// checkVectors refuses support points that are not vectors, and kernels of others.
func checkVectors(m formula.Map) error {
	for part := range formula.All(m) {
		var support points.Points
		var k kernel.Kernel
		switch part := part.(type) {
		case *formula.Expansion:
			support, k = part.Support, part.Kernel
		case *formula.Residual:
			support, k = part.Support, part.Kernel
		case *formula.Lookup:
			support = part.Rows
		}
		switch support.(type) {
		case *points.Gram:
			return noVectors("rows of a Gram matrix")
		case *points.Sequences:
			return noVectors("sequences")
		}
		for _, s := range k.Steps() {
			if nodesOf(s).kernel == "" {
				return fault.Param("kernel of the model", k.String(), "one of %s, or a composition of them",
					exported())
			}
		}
	}
	return nil
}

// prepared sets the rules of the preparation.
func (s *source) prepared() error {
	if s.Scaling == nil {
		s.rules = prepare.PlainRules(s.inputs(s.InputDim()))
		return nil
	}
	as, is := s.Scaling.(interface {
		Rules(names []string) prepare.Rules
	})
	if !is {
		return fault.Param("preparation of the model", fmt.Sprintf("%T", s.Scaling),
			"one of numbers, booleans or categories")
	}
	s.rules = as.Rules(s.inputs(s.Scaling.Features()))
	for _, r := range s.rules.Columns {
		if slices.Contains([]prepare.Kind{prepare.Date, prepare.Text, prepare.Censored}, r.Kind) {
			return fault.Param(fmt.Sprintf("column %q", r.Name), string(r.Kind), "numbers, booleans or "+
				"categories: make numbers of it before the fit, or leave it out with --type %s=drop", r.Name)
		}
	}
	return nil
}

// inputs returns the names of the columns that the model takes, their numbers if they have none.
func (s *source) inputs(n int) []string {
	if s.Features != nil {
		return s.Features
	}
	names := make([]string, n)
	for j := range names {
		names[j] = fmt.Sprint(j)
	}
	return names
}

// dense returns support points as dense vectors.
func dense(x points.Points) *points.Dense {
	if x, is := x.(*points.Dense); is {
		return x
	}
	sparse := x.(*points.CSR)
	out := &points.Dense{N: sparse.N, D: sparse.D, Data: make([]float64, sparse.N*sparse.D)}
	for i := range sparse.N {
		copy(out.Row(i), formula.Vector(sparse, i))
	}
	return out
}

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
	if len(steps) > 0 && steps[0].OfDistance {
		// Distances are as exact as the step needs.
		squared, _ := g.squaredDistances(support, x, cancels(steps[0], radius(support)))
		xy = nodesOf(steps[0]).add(g, steps[0], squared)
		xx.all, own = 1, self(steps[0], own)
		steps = steps[1:]
	} else {
		xy = g.transposedProduct(1, x, g.constant(support.Data, support.N, support.D), "")
		if slices.ContainsFunc(steps, func(s kernel.Step) bool { return s.OfDistance || s.OfCosine }) {
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
	case xx.rows == "" || s.OfDistance:
		return lengths{all: s.Self(xx.all)}
	case s.OfCosine:
		return lengths{rows: g.number(g.op("Greater", []value{xx.rows, g.scalar(0)}))}
	}
	return lengths{rows: nodesOf(s).add(g, s, xx.rows)}
}

// step adds one map of kernel values xy, given the squared lengths of both sides.
func (g *graph) step(s kernel.Step, xy value, xx lengths, yy []float64) value {
	switch {
	case s.OfDistance:
		left := xx.rows
		if left == "" {
			left = g.scalar(xx.all)
		}
		sum := g.add(g.sub(g.row(yy), g.mul(xy, g.scalar(2))), left)
		return nodesOf(s).add(g, s, g.op("Max", []value{sum, g.scalar(0)}))
	case s.OfCosine:
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
	return nodesOf(s).add(g, s, xy)
}

// least returns the smallest normal number: runtimes may take smaller ones for 0.
func (g *graph) least() float64 {
	if g.single {
		return 0x1p-126
	}
	return 0x1p-1022
}

// affineOf adds scale <x,y> + coef.
func (g *graph) affineOf(s kernel.Step, xy value) value {
	return g.add(g.mul(xy, g.scalar(s.Scale)), g.scalar(s.Coef))
}

// squaredDistances adds |x|^2 + |l|^2 - 2<x,l> and |x|^2 + |l|^2 between the rows x and the support
// points l, which the mean of the support points is subtracted from first. With exact, pairs for
// which that cancels are computed again from differences, as the engine does.
func (g *graph) squaredDistances(support *points.Dense, x value, exact bool) (squared, sum value) {
	center := meansOf(support)
	for j, v := range center {
		if g.single { // as numbers of the graph
			center[j] = float64(float32(v))
		}
	}
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
	near := 1e-3 // as in engine/kernel
	if g.single {
		near = 1.0 / 32 // as there, and an octave more: with 1/64, narrow kernels lost 1e-5
	}
	sum = g.add(xx, lengths)
	pairs := g.op("NonZero", []value{g.op("Less", []value{squared, g.mul(sum, g.scalar(near))})}) // 2 x pairs
	side := func(k int) value { return g.op("Gather", []value{pairs, g.integer(k)}) }
	differences := g.sub(g.op("Gather", []value{left, side(0)}), g.op("Gather", []value{right, side(1)}))
	again := g.op("ReduceSumSquare", []value{differences}, attribute{"axes", []int64{1}},
		attribute{"keepdims", int64(0)})
	return g.op("ScatterND", []value{squared, g.op("Transpose", []value{pairs}), again}), sum
}

// cancels reports whether errors of squared distances of some units in the last place of the
// largest squared length show in the step's values: always with the root of exp, which has no slope
// at 0, and with rbf where the points are many widths apart.
func cancels(s kernel.Step, largest float64) bool {
	const widths = 16
	return nodesOf(s).root || s.Decay*largest > widths
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
