package dataset

import (
	"io"

	"github.com/mustlink/mustlink/engine/links"
)

// ReadTriplets reads a file with the columns i, j and k, in any order; others are passed over. Row i is nearer to row j
// than to row k, and the three are different. Errors are *fault.DataError as for [ReadLinks].
func ReadTriplets(path string, c LinkContext) ([]links.Triplet, error) {
	return fromFile(path, c.triplets)
}

// DecodeTriplets is [ReadTriplets] for a stream that messages call name. gz says that it is compressed.
// Errors are the same.
func DecodeTriplets(r io.Reader, name string, gz bool, c LinkContext) ([]links.Triplet, error) {
	return c.triplets(newSource(name, r, -1, gz))
}

func (c LinkContext) triplets(src *source) ([]links.Triplet, error) {
	var list []links.Triplet
	err := decodeRows(src, c, []string{"i", "j", "k"}, func(rows []int, line int) {
		list = append(list, links.Triplet{I: rows[0], J: rows[1], K: rows[2], Line: line})
	})
	if err == nil {
		err = inFile(links.CheckTriplets(c.N, list), src.name)
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}
