// Package points (engine room: may change) stores the objects of a data set: dense vectors, sparse
// vectors, sequences of letters, rows of a precomputed Gram matrix, or mixed columns of a table.
//
// It only stores and validates; package engine/kernel evaluates kernels.
package points

import "fmt"

// Points is a set of n objects. The implementations are *[Dense], *[CSR], *[Sequences] and *[Gram],
// on which code that evaluates kernels switches, and *[Mixed], which must be prepared first.
type Points interface {
	// Len returns the number of objects.
	Len() int
	// Dim returns the number of features, of letters in the alphabet for sequences, of reference
	// objects for a Gram matrix, or of columns of a table.
	Dim() int
	// Select returns the objects at the given rows, in that order, without sharing memory that the
	// caller may write. It panics if a row is out of range.
	Select(rows []int) Points
	// Validate reports the first problem as a *fault.DataError with row and column: a value that is
	// NaN or infinite, or an inconsistent index structure.
	Validate() error
}

// Dense is n vectors of d features, row-major and compact: Data[i*D+j].
type Dense struct {
	N, D int
	Data []float64 // length N*D
}

// CSR is n sparse vectors of d features in compressed sparse rows: row i has the columns
// Col[Start[i]:Start[i+1]], strictly ascending, and the values Val[Start[i]:Start[i+1]].
type CSR struct {
	N, D  int
	Start []int // length N+1, Start[0] = 0
	Col   []int32
	Val   []float64
}

// Gram is n objects given only by their inner products with m reference objects: Data[i*M+j] =
// k(object i, reference j).
type Gram struct {
	N, M int
	Data []float64 // length N*M
	// Diagonal[i] is k(object i, object i). Length N.
	Diagonal []float64
	// Reference[i] is the column of object i if it is a reference object, otherwise -1. Length N.
	// For a square training matrix it is 0..N-1.
	Reference []int
	// Semidefinite says that the matrix was found to be positive semidefinite, so that nobody computes
	// it again; see kernel.Sound.
	Semidefinite bool
	// Noise is the eigenvalue up to which the matrix may be the rounding of entries that were written
	// with few digits or in single precision; 0 for entries of double precision, or if it is unknown.
	Noise float64
}

var (
	_ Points = (*Dense)(nil)
	_ Points = (*CSR)(nil)
	_ Points = (*Gram)(nil)
)

// Slice returns the objects [lo, hi) of x; dense vectors and mixed columns share its memory.
func Slice(x Points, lo, hi int) Points {
	if lo == 0 && hi == x.Len() {
		return x
	}
	if p, ok := x.(*Dense); ok {
		return &Dense{N: hi - lo, D: p.D, Data: p.Data[lo*p.D : hi*p.D]}
	}
	if p, ok := x.(*Mixed); ok {
		return p.slice(lo, hi)
	}
	rows := make([]int, 0, hi-lo)
	for i := lo; i < hi; i++ {
		rows = append(rows, i)
	}
	return x.Select(rows)
}

// Bytes returns the memory of the values of x: what [Points.Select] of all rows allocates.
func Bytes(x Points) int64 {
	const word = 8
	switch p := x.(type) {
	case *Dense:
		return word * int64(len(p.Data))
	case *CSR:
		return word*int64(len(p.Start)+len(p.Val)) + word/2*int64(len(p.Col))
	case *Sequences:
		return word*int64(len(p.Start)) + int64(len(p.Letters))
	case *Gram:
		return word * int64(len(p.Data)+len(p.Diagonal)+len(p.Reference))
	case *Mixed:
		total := int64(0)
		for _, c := range p.Columns {
			total += word*int64(len(c.Numbers)) + word/2*int64(len(c.Codes))
		}
		return total
	}
	panic(fmt.Sprintf("points: points of type %T", x))
}
