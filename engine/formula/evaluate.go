package formula

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Evaluate returns the coordinates of one vector, and for each of them the sum of the absolute
// values of its terms: its rounding error is that sum times some units in the last place. Support
// points must be vectors. It is slow; models embed.
func Evaluate(m Map, x []float64) (y, terms []float64) {
	switch m := m.(type) {
	case *Linear:
		return m.evaluate(x, x)
	case *Expansion:
		y, terms = product(values(m.Kernel, m.Support, x), nil, m.V)
		center(y, terms, m.Center)
	case *Residual:
		y, terms = m.evaluate(x)
	case *Chain:
		first, own := Evaluate(m.First, x)
		if then, is := m.Then.(*Linear); is {
			return then.evaluate(first, own)
		}
		return Evaluate(m.Then, first)
	case *Sum:
		y, terms = make([]float64, m.Dim()), make([]float64, m.Dim())
		for _, part := range m.Terms {
			more, own := Evaluate(part, x)
			for c := range y {
				y[c], terms[c] = y[c]+more[c], terms[c]+own[c]
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
		if i == 0 && (s.Name == "rbf" || s.Name == "exp") {
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
