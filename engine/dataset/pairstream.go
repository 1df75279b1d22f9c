package dataset

import (
	"io"
	"strings"
)

// PairStream is a file of pairs that is read a block at a time. It is not safe for concurrent use.
type PairStream struct {
	recordStream
	at   []int // the columns i and j
	find finder
}

// OpenPairs begins to read a file of pairs, as [ReadPairs] does and with its errors.
func OpenPairs(path string, c LinkContext) (*PairStream, error) {
	src, err := open(path, isGzip(path))
	if err != nil {
		return nil, err
	}
	return newPairStream(src, c)
}

// DecodePairStream is [OpenPairs] for a stream that messages call name. gz says that it is compressed.
// Errors are the same.
func DecodePairStream(r io.Reader, name string, gz bool, c LinkContext) (*PairStream, error) {
	return newPairStream(newSource(name, r, -1, gz), c)
}

// newPairStream closes src when it returns an error.
func newPairStream(src *source, c LinkContext) (*PairStream, error) {
	s := &PairStream{recordStream: newRecordStream(src)}
	var err error
	if s.lines, s.find, err = c.begin(src, s.rep); err == nil {
		s.at, err = s.lines.rowColumns([]string{"i", "j"})
	}
	if err != nil {
		src.Close()
		return nil, s.rep.outcome(err)
	}
	return s, nil
}

// Next returns the rows of the next pairs, 1 to limit of them. After the last one the error is io.EOF; it and any other error
// come back from every call that follows.
func (s *PairStream) Next(limit int) ([][2]int, error) {
	return nextRecords(&s.recordStream, limit, "pairs", func(fields []string, line int) (pair [2]int, err error) {
		for k, column := range s.at {
			if pair[k], err = s.lines.rowNamed(s.find, fields[column], column, line); err != nil {
				return pair, err
			}
		}
		return pair, nil
	})
}

// Names is Next for the rows' names as they are written, which need not be those of any row.
func (s *PairStream) Names(limit int) ([][2]string, error) {
	return nextRecords(&s.recordStream, limit, "pairs", func(fields []string, _ int) ([2]string, error) {
		return [2]string{strings.Clone(fields[s.at[0]]), strings.Clone(fields[s.at[1]])}, nil
	})
}
