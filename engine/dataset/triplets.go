package dataset

import (
	"io"

	"github.com/mustlink/mustlink/engine/links"
)

// ReadTriplets reads a file with the columns i, j and k, in any order; others are passed over. Row i is nearer to row j
// than to row k, and the three are different. Errors are *fault.DataError as for [ReadLinks].
func ReadTriplets(path string, c LinkContext) (list []links.Triplet, err error) {
	err = withText(path, func(src *source) error {
		list, err = decodeTriplets(src, c)
		return err
	})
	return list, err
}

// DecodeTriplets is [ReadTriplets] for a stream that messages call name. gz says that it is compressed.
// Errors are the same.
func DecodeTriplets(r io.Reader, name string, gz bool, c LinkContext) ([]links.Triplet, error) {
	return decodeTriplets(newSource(name, r, -1, gz), c)
}

func decodeTriplets(src *source, c LinkContext) ([]links.Triplet, error) {
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
