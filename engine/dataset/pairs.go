package dataset

import (
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// ReadPairs reads pairs (columns i and j). Other columns are ignored, so a file of links is
// accepted. Unlike a link, a pair may join a row with itself and may occur twice. Errors are
// *fault.DataError as for [ReadLinks].
func ReadPairs(in Input, c LinkContext) ([][2]int, error) {
	return readRows(in, c, []string{"i", "j"}, func(r []int, _ int) [2]int { return [2]int(r) },
		func(int, [][2]int) error { return nil })
}

// readRows reads a file whose given columns name rows, of which of makes what the list has of a
// line; it uses the slice again for the next line. Other columns are ignored.
func readRows[T any](in Input, c LinkContext, columns []string, of func(rows []int, line int) T,
	check func(n int, list []T) error) ([]T, error) {
	return readInput(in, func(src *source, rep *report) (list []T, err error) {
		r, find, err := c.begin(src, rep)
		if err != nil {
			return nil, err
		}
		at, err := r.rowColumns(columns)
		if err != nil {
			return nil, err
		}
		rows := make([]int, len(columns))
		err = r.eachWithin(c.MemoryLimit, 2*8*(len(columns)+1), func(fields []string, line int) error {
			for k, column := range at {
				var err error
				if rows[k], err = r.rowNamed(find, fields[column], column, line); err != nil {
					return err
				}
			}
			list = append(list, of(rows, line))
			return nil
		})
		if err != nil {
			return nil, err
		}
		return list, fault.InFile(check(c.N, list), src.name)
	})
}

// PairStream reads a file of pairs a block at a time. It is not safe for concurrent use.
type PairStream struct {
	recordStream
	at   []int // indices of the columns i and j
	find finder
}

// OpenPairs begins to read pairs, as [ReadPairs] does and with its errors.
func OpenPairs(in Input, c LinkContext) (*PairStream, error) {
	return openInput(in, func(src *source) (s *PairStream, err error) {
		s = &PairStream{recordStream: newRecordStream(src)}
		if s.lines, s.find, err = c.begin(src, s.rep); err == nil {
			s.at, err = s.lines.rowColumns([]string{"i", "j"})
		}
		return s, s.rep.outcome(err)
	})
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

// ReadTriplets reads triplets (columns i, j and k, in any order; others are ignored). Row i is
// nearer to row j than to row k, and the three are different. Errors are *fault.DataError as for
// [ReadLinks].
func ReadTriplets(in Input, c LinkContext) ([]links.Triplet, error) {
	return readRows(in, c, []string{"i", "j", "k"}, func(r []int, line int) links.Triplet {
		return links.Triplet{I: r[0], J: r[1], K: r[2], Line: line}
	}, links.CheckTriplets)
}

// ReadQuadruplets reads quadruplets (columns i, j, k and l, in any order; others are ignored).
// Rows i and j, two different ones, are nearer to each other than rows k and l, another pair.
// Errors are *fault.DataError as for [ReadLinks].
func ReadQuadruplets(in Input, c LinkContext) ([]links.Quadruplet, error) {
	return readRows(in, c, []string{"i", "j", "k", "l"}, func(r []int, line int) links.Quadruplet {
		return links.Quadruplet{I: r[0], J: r[1], K: r[2], L: r[3], Line: line}
	}, links.CheckQuadruplets)
}
