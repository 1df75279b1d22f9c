package points

import (
	"bytes"
	"math"
	"slices"
)

// Index finds points among others by their values. Vectors are equal if all their values are equal,
// sequences if all their letters are; rows of a Gram matrix are equal if they are the same
// reference object.
type Index struct {
	points Points
	rows   map[uint64][]int // by digest, ascending
}

// NewIndex returns an index of y. Cost: it reads y once, on one core because it fills one map, and
// takes about 40 bytes per point.
func NewIndex(y Points) *Index {
	ix := &Index{y, make(map[uint64][]int, y.Len())}
	for j := range y.Len() {
		h := rowDigest(y, j)
		ix.rows[h] = append(ix.rows[h], j)
	}
	return ix
}

// Find returns the rows of the indexed points that equal point i of x, ascending. Points of another
// kind, or with another number of features, have no equal.
func (ix *Index) Find(x Points, i int) []int {
	if x.Dim() != ix.points.Dim() {
		return nil
	}
	var found []int
	for _, j := range ix.rows[rowDigest(x, i)] {
		if equal(x, i, ix.points, j) {
			found = append(found, j)
		}
	}
	return found
}

// Run returns the first row of the only run of indexed points that equals all of x in order, and
// whether there is exactly one.
func (ix *Index) Run(x Points) (first int, unique bool) {
	if x.Len() == 0 {
		return 0, false
	}
	count := 0
	for _, j := range ix.Find(x, 0) {
		if ix.continues(x, j) {
			first = j
			count++
		}
	}
	return first, count == 1
}

// continues says whether the indexed points from first on equal all of x. Other points differ in
// the first rows. Training points take one pass on one core, which the speed of memory bounds.
func (ix *Index) continues(x Points, first int) bool {
	if first+x.Len() > ix.points.Len() {
		return false
	}
	for i := range x.Len() {
		if !equal(x, i, ix.points, first+i) {
			return false
		}
	}
	return true
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
