package dataset

import (
	"io"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// comparisons is a kind of comparisons of rows and its file format.
type comparisons[T any] struct {
	columns []string
	of      func(rows []int, line int) T
	check   func(n int, list []T) error
}

func triplets() comparisons[links.Triplet] {
	return comparisons[links.Triplet]{[]string{"i", "j", "k"}, func(r []int, line int) links.Triplet {
		return links.Triplet{I: r[0], J: r[1], K: r[2], Line: line}
	}, links.CheckTriplets}
}

func quadruplets() comparisons[links.Quadruplet] {
	return comparisons[links.Quadruplet]{[]string{"i", "j", "k", "l"}, func(r []int, line int) links.Quadruplet {
		return links.Quadruplet{I: r[0], J: r[1], K: r[2], L: r[3], Line: line}
	}, links.CheckQuadruplets}
}

// ReadTriplets reads a file with the columns i, j and k, in any order; others are ignored. Row i is
// nearer to row j than to row k, and the three are different. Errors are *fault.DataError as for
// [ReadLinks].
func ReadTriplets(path string, c LinkContext) ([]links.Triplet, error) {
	return fromFile(path, triplets().in(c))
}

// DecodeTriplets is [ReadTriplets] for a stream. Messages refer to it as name; gz means that it is
// compressed. Errors are the same.
func DecodeTriplets(r io.Reader, name string, gz bool, c LinkContext) ([]links.Triplet, error) {
	return triplets().in(c)(newSource(name, r, -1, gz))
}

// ReadQuadruplets reads a file with the columns i, j, k and l, in any order; others are ignored.
// Rows i and j, two different ones, are nearer to each other than rows k and l, another pair.
// Errors are *fault.DataError as for [ReadLinks].
func ReadQuadruplets(path string, c LinkContext) ([]links.Quadruplet, error) {
	return fromFile(path, quadruplets().in(c))
}

// DecodeQuadruplets is [ReadQuadruplets] for a stream. Messages refer to it as name; gz means that
// it is compressed. Errors are the same.
func DecodeQuadruplets(r io.Reader, name string, gz bool, c LinkContext) ([]links.Quadruplet, error) {
	return quadruplets().in(c)(newSource(name, r, -1, gz))
}

// in returns a function that reads comparisons of the rows of c.
func (k comparisons[T]) in(c LinkContext) func(src *source) ([]T, error) {
	return func(src *source) ([]T, error) {
		var list []T
		err := decodeRows(src, c, k.columns, func(rows []int, line int) { list = append(list, k.of(rows, line)) })
		if err == nil {
			err = fault.InFile(k.check(c.N, list), src.name)
		}
		if err != nil {
			return nil, err
		}
		return list, nil
	}
}
