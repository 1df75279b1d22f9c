// Package formula (engine room: may change) describes maps from points to coordinates as data, for
// programs that compute coordinates elsewhere.
package formula

import (
	"iter"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Map is a map to coordinates: a [Linear], an [Expansion], a [Residual], a [Chain], a [Sum] or a
// [Lookup]. Maps share the memory of the model that they describe: do not change them.
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
func (m *Expansion) Dim() int { return m.V.Cols }

// Dim returns the number of coordinates.
func (m *Residual) Dim() int { return len(m.Center) }

// Dim returns the number of coordinates.
func (m *Chain) Dim() int { return m.Then.Dim() }

// Dim returns the number of coordinates.
func (m *Sum) Dim() int { return m.Terms[0].Dim() }

// Dim returns the number of coordinates.
func (m *Lookup) Dim() int { return m.Coordinates.Cols }
