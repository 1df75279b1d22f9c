package dataset

import (
	"io"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// ReadPairs reads a file with the columns i and j. Other columns are ignored, so a file of links is
// accepted. Unlike a link, a pair may join a row with itself and may occur twice. Errors are
// *fault.DataError as for [ReadLinks].
func ReadPairs(path string, c LinkContext) ([][2]int, error) { return fromFile(path, c.pairs) }

// DecodePairs is [ReadPairs] for a stream. Messages refer to it as name; gz means that it is
// compressed. Errors are the same.
func DecodePairs(r io.Reader, name string, gz bool, c LinkContext) ([][2]int, error) {
	return c.pairs(newSource(name, r, -1, gz))
}

func (c LinkContext) pairs(src *source) ([][2]int, error) {
	var pairs [][2]int
	err := decodeRows(src, c, []string{"i", "j"}, func(rows []int, _ int) {
		pairs = append(pairs, [2]int(rows))
	})
	if err != nil {
		return nil, err
	}
	return pairs, nil
}

// decodeRows reads a file whose given columns name rows, and calls take with the rows of every
// line; it uses the slice again for the next line. Other columns are ignored.
func decodeRows(src *source, c LinkContext, columns []string, take func(rows []int, line int)) error {
	rep := &report{max: 1}
	r, find, err := c.begin(src, rep)
	var at []int
	if err == nil {
		at, err = r.rowColumns(columns)
	}
	if err != nil {
		return rep.outcome(err)
	}
	rows := make([]int, len(columns))
	err = r.eachWithin(c.MemoryLimit, 2*8*(len(columns)+1), func(fields []string, line int) error {
		for k, column := range at {
			var err error
			if rows[k], err = r.rowNamed(find, fields[column], column, line); err != nil {
				return err
			}
		}
		take(rows, line)
		return nil
	})
	return rep.outcome(err)
}

// PairStream reads a file of pairs a block at a time. It is not safe for concurrent use.
type PairStream struct {
	recordStream
	at   []int // indices of the columns i and j
	find finder
}

// OpenPairs begins to read a file of pairs, as [ReadPairs] does and with its errors.
func OpenPairs(path string, c LinkContext) (*PairStream, error) {
	return opened(path, isGzip(path), func(src *source) (*PairStream, error) { return newPairStream(src, c) })
}

// DecodePairStream is [OpenPairs] for a stream. Messages refer to it as name; gz means that it is
// compressed. Errors are the same.
func DecodePairStream(r io.Reader, name string, gz bool, c LinkContext) (*PairStream, error) {
	return newPairStream(newSource(name, r, -1, gz), c)
}

func newPairStream(src *source, c LinkContext) (*PairStream, error) {
	s := &PairStream{recordStream: newRecordStream(src)}
	var err error
	if s.lines, s.find, err = c.begin(src, s.rep); err == nil {
		s.at, err = s.lines.rowColumns([]string{"i", "j"})
	}
	if err != nil {
		return nil, s.rep.outcome(err)
	}
	return s, nil
}

// Next returns the rows of the next pairs, 1 to limit of them. After the last one the error is
// io.EOF; every later call returns this error, or any other, again.
func (s *PairStream) Next(limit int) ([][2]int, error) {
	return nextRecords(&s.recordStream, limit, "pairs",
		func(fields []string, line int) (pair [2]int, err error) {
			for k, column := range s.at {
				if pair[k], err = s.lines.rowNamed(s.find, fields[column], column, line); err != nil {
					return pair, err
				}
			}
			return pair, nil
		})
}

// Names is like Next, but returns the names as they are written; rows with these names need not
// exist.
func (s *PairStream) Names(limit int) ([][2]string, error) {
	return nextRecords(&s.recordStream, limit, "pairs", func(fields []string, _ int) ([2]string, error) {
		return [2]string{strings.Clone(fields[s.at[0]]), strings.Clone(fields[s.at[1]])}, nil
	})
}

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
	return comparisons[links.Quadruplet]{[]string{"i", "j", "k", "l"},
		func(r []int, line int) links.Quadruplet {
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
		err := decodeRows(src, c, k.columns, func(rows []int, line int) {
			list = append(list, k.of(rows, line))
		})
		if err == nil {
			err = fault.InFile(k.check(c.N, list), src.name)
		}
		if err != nil {
			return nil, err
		}
		return list, nil
	}
}
