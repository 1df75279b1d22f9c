package points

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/engine/fault"
)

// tolerance is the maximum relative difference of two entries of a Gram matrix that should be
// equal. It allows for matrices written with about 12 digits.
const tolerance = 1e-10

// singleTolerance is that of entries in single precision, for sums in another order.
const singleTolerance = 1e-6

// NewGram returns n objects given by their inner products with m reference objects (see [Gram]).
// The slices are kept, not copied.
//
// For a square matrix a nil reference means 0..n-1 (the objects are the reference objects, and the
// matrix must then be symmetric to 1e-10 of its largest entry, and to 1e-6 if all of its entries
// are numbers of single precision); for a rectangular one it means that no object is a reference
// object. A nil diagonal is read from the matrix, which requires that
// every object is a reference object.
func NewGram(n, m int, data, diagonal []float64, reference []int) (*Gram, error) {
	if err := checkLength("entries of the Gram matrix", len(data), n, m); err != nil {
		return nil, err
	}
	if reference == nil {
		reference = defaultReference(n, m)
	}
	p := &Gram{N: n, M: m, Data: data, Diagonal: diagonal, Reference: reference}
	if diagonal == nil {
		if err := p.readDiagonal(); err != nil {
			return nil, err
		}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

func defaultReference(n, m int) []int {
	if n == m {
		return UpTo(n)
	}
	return slices.Repeat([]int{-1}, n)
}

// readDiagonal fills Diagonal from the matrix.
func (p *Gram) readDiagonal() error {
	if err := p.checkReference(); err != nil {
		return asData(err)
	}
	p.Diagonal = make([]float64, p.N)
	for i, r := range p.Reference {
		if r < 0 {
			return fault.Row(i, "the object is not one of the %d reference objects, so the matrix does not "+
				"contain its inner product with itself: want the diagonal given", p.M)
		}
		p.Diagonal[i] = p.Data[i*p.M+r]
	}
	return nil
}

// Len returns the number of objects.
func (p *Gram) Len() int { return p.N }

// Dim returns the number of reference objects.
func (p *Gram) Dim() int { return p.M }

// Training reports whether object i is reference object i, for all of them: the matrix of a fit.
func (p *Gram) Training() bool {
	if p.N != p.M {
		return false
	}
	for i, r := range p.Reference {
		if r != i {
			return false
		}
	}
	return true
}

// Row returns the inner products of object i with the reference objects, sharing memory.
func (p *Gram) Row(i int) []float64 { return p.Data[i*p.M : (i+1)*p.M : (i+1)*p.M] }

// Select returns the objects at rows, in that order. All columns are kept: the reference objects
// stay the same. Cost: O(len(rows) m).
func (p *Gram) Select(rows []int) Points {
	out := &Gram{N: len(rows), M: p.M, Data: selectRows(p.Data, p.N, p.M, rows), Semidefinite: p.Semidefinite,
		Noise: p.Noise}
	out.Diagonal, out.Reference = Pick(p.Diagonal, rows), Pick(p.Reference, rows)
	return out
}

// Validate reports lengths that do not fit the shape; then the first entry, by row and column, that
// is NaN or infinite; then a diagonal entry that is negative or differs from the matrix; then a
// matrix of distances; and, if the objects are the reference objects, a pair of entries that is not
// symmetric. All errors are *fault.DataError. Cost: O(nm).
func (p *Gram) Validate() error {
	if err := checkLength("entries of the Gram matrix", len(p.Data), p.N, p.M); err != nil {
		return asData(err)
	}
	if len(p.Diagonal) != p.N {
		return asData(fault.Shape("length of the diagonal", len(p.Diagonal), "%d, one for each object", p.N))
	}
	if err := p.checkReference(); err != nil {
		return asData(err)
	}
	if err := CheckFinite(p.Data, p.M, 0); err != nil {
		return err
	}
	slack := tolerance * maxAbs(p.Data)
	if err := p.checkDiagonal(slack); err != nil {
		return err
	}
	if p.distances() {
		return fault.Data("",
			"the Gram matrix looks like a matrix of distances, with a diagonal of 0 and no negative entry: "+
				"want inner products; those of n rows with Euclidean distances D are -1/2 J D^2 J, of the "+
				"squared distances D^2 "+
				"and J = I - 11'/n")
	}
	if SinglePrecision(p.Data) {
		slack *= singleTolerance / tolerance
	}
	return p.checkSymmetry(slack)
}

// distances reports whether the matrix has a diagonal of zeros, some positive entries and no
// negative ones. Inner products do not: those with a vector of length 0 are 0. The zeros of a
// training matrix may be rounded.
func (p *Gram) distances() bool {
	rounding, smallest, largest := 0.0, 0.0, 0.0
	if p.Training() {
		rounding = 1e-6
	}
	for _, v := range p.Data {
		smallest, largest = min(smallest, v), max(largest, v)
	}
	return largest > 0 && max(maxAbs(p.Diagonal), -smallest) <= rounding*largest
}

// The corrections of a Gram matrix that is not positive semidefinite, by name; see
// kernel.Correction.
const (
	Clip = "clip" // negative eigenvalues become 0
	Flip = "flip" // negative eigenvalues become positive
)

// Corrections returns the names of the corrections.
func Corrections() []string { return []string{Clip, Flip} }

// SinglePrecision reports whether all values are numbers of single precision. It ends at the first
// that is not.
func SinglePrecision(values []float64) bool {
	for _, v := range values {
		if float64(float32(v)) != v {
			return false
		}
	}
	return true
}

func (p *Gram) checkReference() error {
	if len(p.Reference) != p.N {
		return fault.Shape("number of references", len(p.Reference), "%d, one for each object", p.N)
	}
	for i, r := range p.Reference {
		if r < -1 || r >= p.M {
			return fault.Shape(fmt.Sprintf("reference of object %d", i), r,
				"a column from 0 to %d, or -1", p.M-1)
		}
	}
	return nil
}

func (p *Gram) checkDiagonal(slack float64) error {
	for i, v := range p.Diagonal {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < -slack {
			return fault.Cell(i, "diagonal",
				"inner product of the object with itself is %v: want a finite number >= 0", v)
		}
		if r := p.Reference[i]; r >= 0 && math.Abs(p.Data[i*p.M+r]-v) > slack {
			return fault.Cell(i, "diagonal", "inner product of the object with itself is %v, but %v in "+
				"column %d of the matrix: want them equal", v, p.Data[i*p.M+r], r)
		}
	}
	return nil
}

// checkSymmetry applies to square matrices whose objects are the reference objects in order.
func (p *Gram) checkSymmetry(slack float64) error {
	if !p.Training() {
		return nil
	}
	// Blocks are square, so that the transposed reads stay in cache.
	const block = 64
	for i0 := 0; i0 < p.N; i0 += block {
		for j0 := 0; j0 <= i0; j0 += block {
			if err := p.checkSymmetricBlock(i0, min(i0+block, p.N), j0, j0+block, slack); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSymmetricBlock compares rows [i0, i1) and columns [j0, j1) below the diagonal with
// their transposes.
func (p *Gram) checkSymmetricBlock(i0, i1, j0, j1 int, slack float64) error {
	for i := i0; i < i1; i++ {
		for j := j0; j < min(j1, i); j++ {
			a, b := p.Data[i*p.M+j], p.Data[j*p.M+i]
			if math.Abs(a-b) > slack {
				return fault.Cell(i, strconv.Itoa(j),
					"entry is %v, but %v at row %d, column %d: want a symmetric matrix", a, b, j, i)
			}
		}
	}
	return nil
}

func maxAbs(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}
