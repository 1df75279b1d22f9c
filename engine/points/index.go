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
