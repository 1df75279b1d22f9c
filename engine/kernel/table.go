package kernel

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/engine/fault"
)

// kind numbers the kernels.
type kind uint8

const (
	linear kind = iota
	rbf
	exponential
	cauchy
	poly
	cosine
	sigmoid
	spectrum
	numKinds
	distance // squared distance: internal, never parsed
)

// argument is what a map is a function of.
type argument uint8

const (
	ofProduct  argument = iota // the inner product <x,y>
	ofDistance                 // the squared distance |x-y|^2: the map is shift-invariant
	ofCosine                   // the inner product divided by the lengths: the map is the cosine
)

// entry is all that is known of a kernel: its text, its help, its parameters, its formula. The rest
// of the package, and other packages, ask the entry and know no kernel by its name.
type entry struct {
	name       string
	help       []form
	parameters []string // in canonical order
	width      bool     // the first parameter is a bandwidth, which may be a rule
	lacking    string   // what is wanted of a text without its bandwidth
	// read reads the parameters of text, but a bandwidth, and write writes them; nil for none.
	read  func(p params, text string, s *stage) error
	write func(s stage) string

	argument argument
	decay    func(s stage) float64            // the factor of the distance or its square, nil for none
	value    func(s stage, v float64) float64 // of one argument; nil for the argument itself
	// row applies the map to the arguments src. dst may be src, and is for maps of distances. It is
	// nil for a loop over value.
	row func(s stage, t *asm.Table, dst, src []float64)
	// single is row for squared distances in single precision, nil where that is not available.
	single func(s stage, t *asm.Single, row []float32)
	// gaussian says that the vector kernel Gaussian evaluates whole tiles.
	gaussian bool

	grows      bool // values may exceed inner products of moderate points by any factor
	indefinite bool // matrices need not be positive semidefinite
	sequences  bool // the kernel takes sequences, so it is the innermost one
}

// form is a way to write a kernel, and what it means.
type form struct{ text, meaning string }

// table has the kernels in the order of their numbers. A new kernel is a number and an entry.
var table = [distance + 1]entry{
	linear: {
		name: "linear",
		help: []form{{"linear", "<x,y>"}},
	},
	rbf: {
		name: "rbf",
		help: []form{
			{"rbf:sigma=S", "exp(-|x-y|^2 / (2 S^2))"},
			{"rbf:gamma=G", "exp(-G |x-y|^2)"},
		},
		parameters: []string{"sigma", "gamma"},
		width:      true,
		lacking:    "a bandwidth: rbf:sigma=NUMBER, rbf:gamma=NUMBER or a rule such as rbf:sigma=median",
		argument:   ofDistance,
		decay:      rbfDecay,
		value:      func(s stage, d2 float64) float64 { return math.Exp(-rbfDecay(s) * d2) },
		row: func(s stage, t *asm.Table, dst, _ []float64) {
			t.Scale(-rbfDecay(s), dst)
			t.Exp(dst, dst)
		},
		single:   func(s stage, t *asm.Single, row []float32) { t.Exp(row, row, float32(-rbfDecay(s))) },
		gaussian: true,
	},
	exponential: {
		name:       "exp",
		help:       []form{{"exp:width=W", "exp(-|x-y| / W): longer tails, for winding shapes and outliers"}},
		parameters: []string{"width"},
		width:      true,
		lacking:    "a bandwidth: exp:width=NUMBER or a rule such as exp:width=lle",
		argument:   ofDistance,
		decay:      expDecay,
		value:      func(s stage, d2 float64) float64 { return math.Exp(-expDecay(s) * math.Sqrt(d2)) },
		row: func(s stage, t *asm.Table, dst, src []float64) {
			t.Sqrt(dst, src)
			t.Scale(-expDecay(s), dst)
			t.Exp(dst, dst)
		},
		single: func(s stage, t *asm.Single, row []float32) {
			t.Sqrt(row, row)
			t.Exp(row, row, float32(-expDecay(s)))
		},
	},
	cauchy: {
		name: "cauchy",
		help: []form{{"cauchy:width=W",
			"1 / (1 + |x-y|^2 / W^2): the longest tails, for groups of\ndifferent sizes"}},
		parameters: []string{"width"},
		width:      true,
		lacking:    "a bandwidth: cauchy:width=NUMBER or a rule such as cauchy:width=median",
		argument:   ofDistance,
		decay:      cauchyDecay,
		value:      func(s stage, d2 float64) float64 { return 1 / (1 + cauchyDecay(s)*d2) },
		row: func(s stage, _ *asm.Table, dst, src []float64) {
			decay := cauchyDecay(s)
			for j, d2 := range src {
				dst[j] = 1 / (1 + decay*d2)
			}
		},
		single: func(s stage, _ *asm.Single, row []float32) {
			decay := float32(cauchyDecay(s))
			for j, d2 := range row {
				row[j] = 1 / (1 + decay*d2)
			}
		},
	},
	poly: {
		name:       "poly",
		help:       []form{{"poly:degree=2,coef=1,scale=1", "(scale <x,y> + coef)^degree"}},
		parameters: []string{"degree", "coef", "scale"},
		read: func(p params, _ string, s *stage) error {
			s.degree, s.coef, s.scale = 2, 1, 1
			return cmp.Or(p.integer("degree", &s.degree),
				p.number("coef", &s.coef, "a number >= 0", nonNegative),
				p.number("scale", &s.scale, "a number > 0", positive))
		},
		write: func(s stage) string {
			return "degree=" + strconv.Itoa(s.degree) + ",coef=" + formatNumber(s.coef) + ",scale=" +
				formatNumber(s.scale)
		},
		value: func(s stage, xy float64) float64 { return power(s.scale*xy+s.coef, s.degree) },
		row: func(s stage, t *asm.Table, dst, src []float64) {
			for j, xy := range src {
				dst[j] = s.scale*xy + s.coef
			}
			t.Power(dst, dst, s.degree)
		},
		grows: true,
	},
	cosine: {
		name:     "cosine",
		help:     []form{{"cosine", "<x,y> / (|x| |y|): for counts and words"}},
		argument: ofCosine,
	},
	sigmoid: {
		name: "sigmoid",
		help: []form{{"sigmoid:scale=1,coef=0",
			"tanh(scale <x,y> + coef): refused on points where it is not\npositive semidefinite"}},
		parameters: []string{"scale", "coef"},
		read: func(p params, _ string, s *stage) error {
			s.scale = 1
			return cmp.Or(p.number("scale", &s.scale, "a number > 0", positive),
				p.number("coef", &s.coef, "a number", finite))
		},
		write: func(s stage) string {
			return "scale=" + formatNumber(s.scale) + ",coef=" + formatNumber(s.coef)
		},
		value:      func(s stage, xy float64) float64 { return math.Tanh(s.scale*xy + s.coef) },
		indefinite: true,
	},
	spectrum: {
		name:       "spectrum",
		help:       []form{{"spectrum:k=K", "for sequences: shared words of K letters, 3 for proteins"}},
		parameters: []string{"k"},
		read: func(p params, text string, s *stage) error {
			if _, ok := p["k"]; !ok {
				return fault.Param("kernel", text, "spectrum:k=LENGTH, such as spectrum:k=3")
			}
			return p.integer("k", &s.degree)
		},
		write:     func(s stage) string { return "k=" + strconv.Itoa(s.degree) },
		argument:  ofCosine,
		sequences: true,
	},
	distance: {name: "distance", argument: ofDistance},
}

func rbfDecay(s stage) float64 {
	if s.gamma {
		return s.value
	}
	return 1 / (2 * s.value * s.value)
}

func expDecay(s stage) float64 { return 1 / s.value }

func cauchyDecay(s stage) float64 { return 1 / (s.value * s.value) }

// entry returns what is known of the kernel.
func (s *stage) entry() *entry { return &table[s.kind] }

// Names returns the names of the kernels:
//
//	linear                        <x,y>
//	rbf:sigma=S                   exp(-|x-y|^2 / (2 S^2))
//	rbf:gamma=G                   exp(-G |x-y|^2)
//	exp:width=W                   exp(-|x-y| / W)
//	cauchy:width=W                1 / (1 + |x-y|^2 / W^2)
//	poly:degree=2,coef=1,scale=1  (scale <x,y> + coef)^degree
//	cosine                        <x,y> / (|x| |y|), 0 when either is zero
//	sigmoid:scale=1,coef=0        tanh(scale <x,y> + coef); not positive semidefinite
//	spectrum:k=K                  for sequences; not available for vectors
func Names() []string {
	names := make([]string, numKinds)
	for k := range names {
		names[k] = table[k].name
	}
	return names
}

// Help describes the ways to write the kernels, one a line, with the meanings in one column.
func Help() string {
	const indent, column = "  ", 33
	var out strings.Builder
	for _, e := range table[:numKinds] {
		for _, f := range e.help {
			meaning := strings.ReplaceAll(f.meaning, "\n", "\n"+strings.Repeat(" ", column))
			out.WriteString(indent + f.text + strings.Repeat(" ", column-len(indent)-len(f.text)) + meaning +
				"\n")
		}
	}
	return out.String()
}

// refineBelow is a fraction of |x|^2 + |y|^2: a squared distance below it has lost about three
// digits to cancellation and is computed from differences instead. At 1/1000 the expansion keeps 13
// digits, and among spread-out points such pairs are rare.
const refineBelow = 1e-3

// squaredDistance returns |x|^2 + |y|^2 - 2<x,y>, clamped at 0 as rounding may make it negative. No
// other function clamps it.
func squaredDistance(xx, yy, xy float64) float64 { return max(0, xx+yy-2*xy) }

// decay returns the factor of the squared distance (rbf, cauchy) or distance (exp).
func (s stage) decay() float64 { return table[s.kind].decay(s) }

// of applies the map to its argument.
func (s stage) of(v float64) float64 {
	if f := table[s.kind].value; f != nil {
		return f(s, v)
	}
	return v
}

// self returns f(<x,x>, <x,x>, <x,x>).
func (s stage) self(xx float64) float64 {
	switch s.entry().argument {
	case ofDistance:
		return s.of(0)
	case ofCosine:
		if xx <= 0 {
			return 0
		}
		return 1
	default:
		return s.of(xx)
	}
}

// apply returns f(<x,y>, <x,x>, <y,y>).
func (s stage) apply(xy, xx, yy float64) float64 {
	switch s.entry().argument {
	case ofDistance:
		return s.of(squaredDistance(xx, yy, xy))
	case ofCosine:
		return cosineOf(xy, xx, yy)
	default:
		return s.of(xy)
	}
}

// terms returns the values that the map needs for points with these norms (self products): the
// norms, or their square roots.
func (s stage) terms(t *asm.Table, norms []float64) []float64 {
	if s.entry().argument != ofCosine {
		return norms
	}
	roots := make([]float64, len(norms))
	for i, v := range norms {
		roots[i] = max(0, v)
	}
	t.Sqrt(roots, roots)
	return roots
}

// row writes f(dot[j], x, y[j]), given the terms of x and of all y_j, and reports whether some
// squared distance is below refineBelow. dst may be dot.
func (s stage) row(t *asm.Table, dst, dot []float64, xx float64, yy []float64) (near bool) {
	switch s.entry().argument {
	case ofDistance:
		near = t.SquaredDistances(dst, dot, xx, yy, refineBelow)
		s.arguments(t, dst, dst)
	case ofCosine:
		for j, xy := range dot {
			dst[j] = ratio(xy, xx*yy[j])
		}
	default:
		s.arguments(t, dst, dot)
	}
	return near
}

// arguments applies the map to a row of its arguments. dst may be src.
func (s stage) arguments(t *asm.Table, dst, src []float64) {
	switch e := s.entry(); {
	case e.row != nil:
		e.row(s, t, dst, src)
	case e.value != nil:
		for j, v := range src {
			dst[j] = e.value(s, v)
		}
	case e.argument == ofProduct:
		copy(dst, src)
	}
}

// cosineOf returns xy/(|x||y|), within [-1, 1], and 0 if a squared length is 0 (or, in an inexact
// Gram matrix, negative).
func cosineOf(xy, xx, yy float64) float64 {
	// This is the product of the square roots, because the product of the squared lengths could
	// overflow.
	return ratio(xy, math.Sqrt(max(0, xx))*math.Sqrt(max(0, yy)))
}

// ratio returns xy/lengths within [-1, 1], and 0 if lengths is 0.
func ratio(xy, lengths float64) float64 {
	if lengths <= 0 {
		return 0
	}
	return max(-1, min(1, xy/lengths))
}

// power returns v^n by repeated squaring, n >= 1.
func power(v float64, n int) float64 {
	p := 1.0
	for ; n > 1; n >>= 1 {
		if n&1 == 1 {
			p *= v
		}
		v *= v
	}
	return p * v
}

// Step is one scalar map of a kernel, as data, for programs that evaluate a kernel elsewhere. It
// maps an inner product <x,y> and the squared lengths <x,x> and <y,y>.
type Step struct {
	// Name is "rbf", exp(-Decay |x-y|^2); "exp", exp(-Decay |x-y|); "poly", (Scale <x,y> +
	// Coef)^Degree; "sigmoid", tanh(Scale <x,y> + Coef); "cosine" or "spectrum", <x,y> / (|x| |y|),
	// within [-1, 1], and 0 if a length is 0.
	Name        string
	Decay       float64
	Degree      int
	Coef, Scale float64

	OfDistance bool // the map depends on |x-y| alone
	OfCosine   bool // the map is the cosine
	Grows      bool // values may exceed 1

	stage stage
}

// Steps returns the maps of the kernel in the order of evaluation, each in the feature space of the
// one before; none for the linear kernel.
func (k Kernel) Steps() []Step {
	var list []Step
	for _, s := range k.stages {
		e := s.entry()
		step := Step{Name: e.name, Degree: s.degree, Coef: s.coef, Scale: s.scale, stage: s,
			OfDistance: e.argument == ofDistance, OfCosine: e.argument == ofCosine, Grows: e.grows}
		if e.decay != nil {
			step.Decay = s.decay()
		}
		list = append(list, step)
	}
	return list
}

// Self returns the step's value for a point with itself, whose squared length is xx.
func (s Step) Self(xx float64) float64 { return s.stage.self(xx) }

// Value returns the step's value for an inner product xy and the squared lengths xx and yy.
func (s Step) Value(xy, xx, yy float64) float64 { return s.stage.apply(xy, xx, yy) }

// Grows reports whether the outermost kernel is one whose values on moderate points may be of any
// size.
func (k Kernel) Grows() bool { return k.spec.n > 0 && k.spec.stages[0].entry().grows }

// UnitDiagonal reports whether k(x,x) = 1 for all points because the outermost kernel depends on
// distances alone.
func (k Kernel) UnitDiagonal() bool {
	return k.spec.n > 0 && k.spec.stages[0].entry().argument == ofDistance
}
