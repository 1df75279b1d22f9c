// Package formula (internal: may change) describes maps from points to coordinates as data, for
// programs that compute coordinates elsewhere.
package formula

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Map is a map to coordinates: a [Linear], a [Unit], an [Expansion], a [Residual], a [Chain], a
// [Sum] or a [Lookup]. Maps share the memory of the model that they describe: do not change them.
type Map interface {
	// Dim returns the number of coordinates.
	Dim() int
}

// All yields the maps that a map is made of, and then the map itself.
func All(m Map) iter.Seq[Map] {
	return func(yield func(Map) bool) { all(m, yield) }
}

func all(m Map, yield func(Map) bool) bool {
	var parts []Map
	switch m := m.(type) {
	case *Chain:
		parts = []Map{m.First, m.Then}
	case *Sum:
		parts = m.Terms
	case *Lookup:
		parts = []Map{m.Rest}
	}
	for _, part := range parts {
		if !all(part, yield) {
			return false
		}
	}
	return yield(m)
}

// Linear is the map y = W (x - Mean).
type Linear struct {
	W    blas.Matrix // Dim x d
	Mean []float64   // length d
}

// Unit is the map y = (x - Center) / max(|x - Center|, Least): vectors at unit length, but for
// those that are shorter than Least.
type Unit struct {
	Size   int       // the number of features, and of coordinates
	Center []float64 // Size values, nil for zeros
	Least  float64   // > 0
}

// Expansion is the map y = V' k(x) - Center, where k(x) has the kernel values of x with the support
// points.
type Expansion struct {
	Kernel  kernel.Kernel
	Support points.Points
	V       blas.Matrix // |Support| x Dim
	Center  []float64   // Dim values, nil for zeros
}

// Residual is the map y = Directions' c + Weights' r - Center. With k(x) as in an [Expansion],
// c = Projection' k(x), and r has the residuals k(x, l) - c' References_l of some support points l.
// A residual of at most Negligible times sqrt(k(x,x) k(l,l)) counts as 0.
type Residual struct {
	Kernel     kernel.Kernel
	Support    points.Points
	Projection blas.Matrix // |Support| x q
	Directions blas.Matrix // q x Dim
	Center     []float64   // Dim values

	Rows       []int       // the support points l; none if all residuals are 0
	References blas.Matrix // |Rows| x q
	Weights    blas.Matrix // |Rows| x Dim
	Negligible float64
}

// Chain is the map Then of the coordinates that First gives.
type Chain struct{ First, Then Map }

// Sum is the sum of maps to the same number of coordinates.
type Sum struct{ Terms []Map }

// Lookup gives a point that equals one of the Rows its Coordinates, or their mean if it equals
// several, and other points those of Rest.
type Lookup struct {
	Rows        points.Points
	Coordinates blas.Matrix // |Rows| x Dim
	Rest        Map
}

// Dim returns the number of coordinates.
func (m *Linear) Dim() int { return m.W.Rows }

// Dim returns the number of coordinates.
func (m *Unit) Dim() int { return m.Size }

// Dim returns the number of coordinates.
func (m *Expansion) Dim() int { return m.V.Cols }

// Dim returns the number of coordinates.
func (m *Residual) Dim() int { return len(m.Center) }

// Dim returns the number of coordinates.
func (m *Chain) Dim() int { return m.Then.Dim() }

// Dim returns the number of coordinates.
func (m *Sum) Dim() int { return m.Terms[0].Dim() }

// Dim returns the number of coordinates.
func (m *Lookup) Dim() int { return m.Coordinates.Cols }

// Evaluate returns the coordinates of one vector, and for each of them the sum of the absolute
// values of its terms: its rounding error is that sum times some units in the last place. Support
// points must be vectors. It is slow; models embed.
func Evaluate(m Map, x []float64) (y, terms []float64) { return evaluate(m, x, x) }

// evaluate is [Evaluate] of a vector whose own terms are known; maps by kernels take it as exact.
func evaluate(m Map, x, own []float64) (y, terms []float64) {
	switch m := m.(type) {
	case *Linear:
		return m.evaluate(x, own)
	case *Unit:
		return m.evaluate(x, own)
	case *Expansion:
		y, terms = product(values(m.Kernel, m.Support, x), nil, m.V)
		center(y, terms, m.Center)
	case *Residual:
		y, terms = m.evaluate(x)
	case *Chain:
		first, own := evaluate(m.First, x, own)
		return evaluate(m.Then, first, own)
	case *Sum:
		y, terms = make([]float64, m.Dim()), make([]float64, m.Dim())
		for _, part := range m.Terms {
			more, size := evaluate(part, x, own)
			for c := range y {
				y[c], terms[c] = y[c]+more[c], terms[c]+size[c]
			}
		}
	case *Lookup:
		if y = m.find(x); y == nil {
			return Evaluate(m.Rest, x)
		}
		return y, make([]float64, len(y))
	default:
		panic(fmt.Sprintf("formula: map of type %T", m))
	}
	return y, terms
}

// evaluate maps x, whose terms are known.
func (m *Linear) evaluate(x, own []float64) (y, terms []float64) {
	y, terms = make([]float64, m.W.Rows), make([]float64, m.W.Rows)
	for c := range y {
		for j, w := range m.W.Row(c) {
			y[c] += w * (x[j] - m.Mean[j])
			terms[c] += math.Abs(w) * (math.Abs(own[j]) + math.Abs(m.Mean[j]))
		}
	}
	return y, terms
}

// evaluate scales x, whose terms are known. The length has an error, too, at most that of all
// features.
func (m *Unit) evaluate(x, own []float64) (y, terms []float64) {
	y, terms = slices.Clone(x), make([]float64, m.Size)
	for j, v := range own {
		terms[j] = math.Abs(v)
	}
	center(y, terms, m.Center)
	squared, errors := 0.0, 0.0
	for j, v := range y {
		squared, errors = squared+v*v, errors+terms[j]*terms[j]
	}
	length := max(math.Sqrt(squared), m.Least)
	for j := range y {
		y[j] /= length
		terms[j] = (terms[j] + math.Abs(y[j])*math.Sqrt(errors)) / length
	}
	return y, terms
}

func (m *Residual) evaluate(x []float64) (y, terms []float64) {
	k := values(m.Kernel, m.Support, x)
	c, own := product(k, nil, m.Projection)
	y, terms = product(c, own, m.Directions)
	steps := m.Kernel.Steps()
	kxx := ofSteps(steps, x, x)
	rho, rhoTerms := make([]float64, len(m.Rows)), make([]float64, len(m.Rows))
	for i, at := range m.Rows {
		rho[i], rhoTerms[i] = k[at], math.Abs(k[at])
		for r, v := range m.References.Row(i) {
			rho[i] -= c[r] * v
			rhoTerms[i] += own[r] * math.Abs(v)
		}
		l := Vector(m.Support, at)
		if math.Abs(rho[i]) <= m.Negligible*math.Sqrt(kxx*ofSteps(steps, l, l)) {
			rho[i], rhoTerms[i] = 0, 0
		}
	}
	if len(m.Rows) > 0 {
		more, own := product(rho, rhoTerms, m.Weights)
		for c := range y {
			y[c], terms[c] = y[c]+more[c], terms[c]+own[c]
		}
	}
	center(y, terms, m.Center)
	return y, terms
}

// find returns the mean of the coordinates of the rows that equal x, nil if none do.
func (m *Lookup) find(x []float64) (y []float64) {
	count := 0.0
	for i := range m.Rows.Len() {
		if !slices.Equal(Vector(m.Rows, i), x) {
			continue
		}
		if y == nil {
			y = make([]float64, m.Dim())
		}
		count++
		for c, v := range m.Coordinates.Row(i) {
			y[c] += v
		}
	}
	for c := range y {
		y[c] /= count
	}
	return y
}

// product returns a'v with the sums of the absolute values of its terms. Those of a are own, or a
// itself if own is nil.
func product(a, own []float64, v blas.Matrix) (y, terms []float64) {
	if own == nil {
		own = a
	}
	y, terms = make([]float64, v.Cols), make([]float64, v.Cols)
	for l := range v.Rows {
		for c, w := range v.Row(l) {
			y[c] += a[l] * w
			terms[c] += math.Abs(own[l] * w)
		}
	}
	return y, terms
}

func center(y, terms, center []float64) {
	for c, v := range center {
		y[c] -= v
		terms[c] += math.Abs(v)
	}
}

// values returns the kernel values of x with the support points.
func values(k kernel.Kernel, support points.Points, x []float64) []float64 {
	steps, out := k.Steps(), make([]float64, support.Len())
	for l := range out {
		out[l] = ofSteps(steps, x, Vector(support, l))
	}
	return out
}

// Vector returns a point that is a vector.
func Vector(x points.Points, i int) []float64 {
	switch x := x.(type) {
	case *points.Dense:
		return x.Row(i)
	case *points.CSR:
		out := make([]float64, x.D)
		col, val := x.Row(i)
		for k, c := range col {
			out[c] = val[k]
		}
		return out
	}
	panic(fmt.Sprintf("formula: points of type %T are no vectors", x))
}

// ofSteps returns the kernel value of two vectors.
func ofSteps(steps []kernel.Step, x, y []float64) float64 {
	xx, yy, xy, d2 := 0.0, 0.0, 0.0, 0.0
	for j, v := range x {
		w := y[j]
		xx, yy, xy, d2 = xx+v*v, yy+w*w, xy+v*w, d2+(v-w)*(v-w)
	}
	for i, s := range steps {
		if i == 0 && s.OfDistance {
			xy = s.Value(-d2/2, 0, 0) // the distance without cancellation
		} else {
			xy = s.Value(xy, xx, yy)
		}
		xx, yy = s.Self(xx), s.Self(yy)
	}
	return xy
}

// samples is the number of support points that [Condition] evaluates a map at, work the number of
// features of support points that it reads for that.
const (
	samples = 32
	work    = 1 << 28
)

// Condition returns by how much the terms of the coordinates exceed the coordinates, both at their
// largest, at some of the support points: rounding errors relative to the largest coordinate are
// about as many units in the last place. It is infinite for a map without support points, as
// nothing is known of its rows: those of a data set may cancel in any direction. Support points
// must be vectors. Cost: that of [Evaluate] for 4 to 32 points.
func Condition(m Map) float64 {
	if l, is := m.(*Lookup); is {
		m = l.Rest
	}
	support := supportOf(m)
	if support == nil || support.Len() == 0 {
		return math.Inf(1)
	}
	largest, sum := 0.0, 0.0
	count := max(4, min(samples, work/max(1, support.Len()*support.Dim())))
	count = min(count, support.Len())
	for i := range count {
		y, terms := Evaluate(m, Vector(support, i*support.Len()/count))
		for c := range y {
			largest, sum = max(largest, math.Abs(y[c])), max(sum, terms[c])
		}
	}
	if !(largest > 0) {
		return 1
	}
	return max(1, sum/largest)
}

// supportOf returns the support points of the first map that has some, nil for none.
func supportOf(m Map) points.Points {
	switch m := m.(type) {
	case *Expansion:
		return m.Support
	case *Residual:
		return m.Support
	case *Chain:
		return supportOf(m.First)
	case *Sum:
		for _, part := range m.Terms {
			if x := supportOf(part); x != nil {
				return x
			}
		}
	}
	return nil
}

// mostFeatures bounds the identity matrix of features that a centered [Residual] begins with.
const mostFeatures = 8192

// Centered returns a map whose kernel is linear around a center as maps that subtract the center
// first, and other maps, and those of Gram matrices, as they are. An Expansion becomes a Linear. A
// Residual of more than 8192 features is a *fault.ParamError. Cost: |Support| d Dim flops for d
// features.
func Centered(m Map) (Map, error) {
	switch m := m.(type) {
	case *Expansion:
		if mean := centerOf(m.Kernel, m.Support); mean != nil {
			return m.linear(mean), nil
		}
	case *Residual:
		mean := centerOf(m.Kernel, m.Support)
		if mean == nil {
			return m, nil
		}
		d := len(mean)
		if d > mostFeatures {
			return nil, fault.Param("features of the model", d, "at most 8192 for this kernel far from the "+
				"origin: center the columns, or fit with form=cholesky")
		}
		moved, less := &points.Dense{N: m.Support.Len(), D: d}, *m
		for l := range moved.N {
			moved.Data = append(moved.Data, difference(m.Support, l, mean)...)
		}
		less.Kernel, less.Support = m.Kernel.At(nil), moved
		return &Chain{First: &Linear{W: blas.Identity(d), Mean: mean}, Then: &less}, nil
	}
	return m, nil
}

// centerOf returns the center of a kernel of vectors, nil for the origin.
func centerOf(k kernel.Kernel, support points.Points) []float64 {
	if _, isGram := support.(*points.Gram); isGram || k.Origin() == nil {
		return nil
	}
	return k.Origin().Vector(support.Dim())
}

// linear returns V'(L - mean)(x - mean) - Center.
func (m *Expansion) linear(mean []float64) Map {
	w := blas.NewMatrix(m.V.Cols, len(mean))
	for l := range m.V.Rows {
		x := difference(m.Support, l, mean)
		for c, v := range m.V.Row(l) {
			row := w.Row(c)
			for j, y := range x {
				row[j] += v * y
			}
		}
	}
	if m.Center == nil {
		return &Linear{W: w, Mean: mean}
	}
	return &Chain{First: &Linear{W: w, Mean: mean}, Then: &Linear{W: blas.Identity(w.Rows), Mean: m.Center}}
}

// difference returns point l less the mean.
func difference(x points.Points, l int, mean []float64) []float64 {
	out := make([]float64, len(mean))
	for j, v := range Vector(x, l) {
		out[j] = v - mean[j]
	}
	return out
}
