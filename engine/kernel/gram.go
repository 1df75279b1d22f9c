package kernel

import (
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// gramBase reads inner products from precomputed Gram matrices over one set of reference
// objects.
type gramBase struct {
	x, y *points.Gram
	// self marks x == y: then <x_i, x_j> may also be read from row j, and must be the same element
	// for either order of i and j.
	self bool
}

func newGramCross(x, y *points.Gram) (*gramBase, error) {
	for j, r := range y.Reference {
		if r < 0 {
			return nil, &fault.DataError{Row: j, Err: fmt.Errorf("the object is not one of the %d reference objects of the Gram matrix, so inner products with it are unknown: want an object of the training matrix", y.M)}
		}
	}
	return &gramBase{x: x, y: y}, nil
}

// newGramSelf requires that all objects but one are reference objects: of any two objects, one must
// be a column.
func newGramSelf(x *points.Gram) (*gramBase, error) {
	unknown := -1
	for i, r := range x.Reference {
		if r >= 0 {
			continue
		}
		if unknown >= 0 {
			return nil, unknownPair(x, i, unknown)
		}
		unknown = i
	}
	return &gramBase{x: x, y: x, self: true}, nil
}

func unknownPair(x *points.Gram, i, j int) error {
	return &fault.DataError{Row: i, Err: fmt.Errorf("neither this object nor object %d is one of the %d reference objects of the Gram matrix, so their inner product is unknown: want one of them in the training matrix", j, x.M)}
}

func (b *gramBase) norms() (x, y []float64) { return b.x.Diagonal, b.y.Diagonal }
func (b *gramBase) load(lo, hi int) rows    { return rows{lo: lo, hi: hi} }
func (b *gramBase) unload(rows)             {}
func (b *gramBase) release()                {}

func (b *gramBase) fill(dst blas.Matrix, r rows, j0, cols int) {
	for i := r.lo; i < r.hi; i++ {
		row := dst.Row(i - r.lo)[:cols]
		for c := range row {
			if b.self {
				row[c] = gramEntry(b.x, i, j0+c)
			} else {
				row[c] = b.x.Data[i*b.x.M+b.y.Reference[j0+c]]
			}
		}
	}
}

func (b *gramBase) vectors() bool          { return false }
func (b *gramBase) terms() int             { return 0 }
func (b *gramBase) tiling() tiling         { return denseTiling }
func (b *gramBase) exact(int, int) float64 { panic("kernel: precomputed products have no differences") }

// gramEntry returns <x_i, x_j>, the same value for either order. One of the two objects
// must be a reference object, or i == j.
func gramEntry(x *points.Gram, i, j int) float64 {
	if i == j {
		return x.Diagonal[i]
	}
	i, j = max(i, j), min(i, j)
	if r := x.Reference[j]; r >= 0 {
		return x.Data[i*x.M+r]
	}
	return x.Data[j*x.M+x.Reference[i]]
}
