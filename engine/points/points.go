// Package points (internal: may change) stores the objects of a data set: dense vectors, sparse
// vectors, sequences of letters, rows of a precomputed Gram matrix, or mixed columns of a table.
//
// It only stores and validates; package engine/kernel evaluates kernels.
package points

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"slices"
)

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
	// Semidefinite says that the matrix was found to be positive semidefinite, so that nobody
	// computes it again; see kernel.Sound.
	Semidefinite bool
	// Noise is the eigenvalue up to which the matrix may be the rounding of entries that were
	// written with few digits or in single precision; 0 for entries of double precision, or if it
	// is unknown.
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

// Index finds points among others by their values. Vectors are equal if all their values are equal,
// sequences if all their letters are; rows of a Gram matrix are equal if they are the same
// reference object.
type Index struct {
	points Points
	first  map[uint64][]int // by digest: the first of each set of equal points
}

// NewIndex returns an index of y. Cost: it reads y once, and repeated points twice, on one core
// because it fills one map, and takes about 40 bytes per distinct point.
func NewIndex(y Points) *Index {
	ix := &Index{y, make(map[uint64][]int, y.Len())}
	for j := range y.Len() {
		if h := rowDigest(y, j); ix.among(h, y, j) < 0 {
			ix.first[h] = append(ix.first[h], j)
		}
	}
	return ix
}

// Find returns the first of the indexed points that equal point i of x, and -1 if there are none.
// Points of another kind, or with another number of features, have no equal.
func (ix *Index) Find(x Points, i int) int {
	if x.Dim() != ix.points.Dim() {
		return -1
	}
	return ix.among(rowDigest(x, i), x, i)
}

func (ix *Index) among(digest uint64, x Points, i int) int {
	for _, j := range ix.first[digest] {
		if equal(x, i, ix.points, j) {
			return j
		}
	}
	return -1
}

// Digests returns a number for each point, which equal points share, and others by an accident in
// 2^64. Cost: it reads x once, on one core because what uses the points costs far more.
func Digests(x Points) []int64 {
	out := make([]int64, x.Len())
	for i := range out {
		out[i] = int64(rowDigest(x, i))
	}
	return out
}

// rowDigest returns a number that equal points share.
func rowDigest(x Points, i int) uint64 {
	h := uint64(14695981039346656037)
	mix := func(v uint64) {
		h = (h ^ v) * 1099511628211
		h ^= h >> 32
	}
	switch x := x.(type) {
	case *Dense:
		for _, v := range x.Row(i) {
			mix(math.Float64bits(v + 0)) // 0 for -0
		}
	case *CSR:
		col, val := x.Row(i)
		for k, c := range col {
			if val[k] != 0 {
				mix(uint64(c))
				mix(math.Float64bits(val[k]))
			}
		}
	case *Sequences:
		for _, letter := range x.Row(i) {
			mix(uint64(letter))
		}
	case *Gram:
		mix(uint64(x.Reference[i]))
	}
	return h
}

// equal says whether point i of x is point j of y.
func equal(x Points, i int, y Points, j int) bool {
	switch x := x.(type) {
	case *Dense:
		y, is := y.(*Dense)
		return is && slices.Equal(x.Row(i), y.Row(j))
	case *CSR:
		y, is := y.(*CSR)
		return is && equalSparse(x, i, y, j)
	case *Sequences:
		y, is := y.(*Sequences)
		return is && x.Alphabet == y.Alphabet && bytes.Equal(x.Row(i), y.Row(j))
	case *Gram:
		y, is := y.(*Gram)
		return is && x.Reference[i] >= 0 && x.Reference[i] == y.Reference[j]
	}
	return false
}

// equalSparse compares the elements that are not 0.
func equalSparse(x *CSR, i int, y *CSR, j int) bool {
	a, u := x.Row(i)
	b, v := y.Row(j)
	for {
		for len(u) > 0 && u[0] == 0 {
			a, u = a[1:], u[1:]
		}
		for len(v) > 0 && v[0] == 0 {
			b, v = b[1:], v[1:]
		}
		if len(u) == 0 || len(v) == 0 {
			return len(u) == len(v)
		}
		if a[0] != b[0] || u[0] != v[0] {
			return false
		}
		a, u, b, v = a[1:], u[1:], b[1:], v[1:]
	}
}

// Digest returns the SHA-256 of the kind, the shape and the bits of p. It does not depend on the
// machine. Cost: one pass, about 2 GB/s with SHA instructions, on one core because each block needs
// the sum of those before.
func Digest(p Points) [sha256.Size]byte {
	h := digest{sum: sha256.New()}
	switch x := p.(type) {
	case *Dense:
		h.head("dense", x.N, x.D)
		h.floats(x.Data)
	case *CSR:
		h.head("csr", x.N, x.D, len(x.Val))
		for _, v := range x.Start {
			h.word(uint64(v))
		}
		for _, v := range x.Col {
			h.word(uint64(v))
		}
		h.floats(x.Val)
	case *Sequences:
		h.head("sequences "+x.Alphabet, x.Len(), len(x.Letters))
		for _, v := range x.Start {
			h.word(uint64(v))
		}
		h.flush()
		h.sum.Write(x.Letters)
	case *Gram:
		h.head("gram", x.N, x.M)
		h.floats(x.Data)
		h.floats(x.Diagonal)
		for _, v := range x.Reference {
			h.word(uint64(v))
		}
	case *Mixed:
		h.head("mixed", x.N, len(x.Columns))
		for j := range x.Columns {
			h.column(&x.Columns[j])
		}
	default:
		panic(fmt.Sprintf("points: points of type %T", p))
	}
	h.flush()
	return [sha256.Size]byte(h.sum.Sum(nil))
}

// digest hashes 64-bit words, little-endian, through a buffer.
type digest struct {
	sum  hash.Hash
	used int
	buf  [8192]byte
}

func (d *digest) head(kind string, sizes ...int) {
	fmt.Fprintln(d.sum, kind, sizes)
}

func (d *digest) word(v uint64) {
	binary.LittleEndian.PutUint64(d.buf[d.used:], v)
	if d.used += 8; d.used == len(d.buf) {
		d.flush()
	}
}

func (d *digest) floats(x []float64) {
	for _, v := range x {
		d.word(math.Float64bits(v))
	}
}

// column hashes the name and the cells of a column; texts count, not their codes.
func (d *digest) column(c *Column) {
	d.text(c.Name)
	d.floats(c.Numbers)
	for _, code := range c.Codes {
		if code < 0 {
			d.word(math.MaxUint64)
		} else {
			d.text(c.Levels[code])
		}
	}
}

// text hashes the length of a text and its bytes.
func (d *digest) text(s string) {
	d.word(uint64(len(s)))
	d.flush()
	d.sum.Write([]byte(s))
}

func (d *digest) flush() {
	d.sum.Write(d.buf[:d.used])
	d.used = 0
}
