package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// PairStream is a file of pairs that is read a block at a time. It is not safe for concurrent use.
type PairStream struct {
	in    io.Closer // nil for a reader that belongs to the caller
	name  string
	rep   *report
	lines *records
	at    [2]int // the columns i and j
	find  finder
	done  int
	err   error
}

// OpenPairs begins to read a file of pairs, as [ReadPairs] does and with its errors.
func OpenPairs(path string, c LinkContext) (*PairStream, error) {
	in, size, err := open(path)
	if err != nil {
		return nil, err
	}
	s, err := newPairStream(newSource(path, in, size, isGzip(path)), c)
	if err != nil {
		in.Close()
		return nil, err
	}
	s.in = in
	return s, nil
}

// DecodePairStream is [OpenPairs] for a stream that messages call name. gz says that it is compressed.
// Errors are the same.
func DecodePairStream(r io.Reader, name string, gz bool, c LinkContext) (*PairStream, error) {
	return newPairStream(newSource(name, r, -1, gz), c)
}

func newPairStream(src *source, c LinkContext) (*PairStream, error) {
	s := &PairStream{name: src.name, rep: &report{file: src.name, max: 1}}
	var err error
	if s.find, err = c.finder(); err != nil {
		return nil, err
	}
	if s.lines, err = openRecords(src, ReadOptions{MaxLine: c.MaxLine}.maxLine(), s.rep); err == nil {
		s.lines.pairs = true
		err = s.columns()
	}
	if err != nil {
		return nil, s.rep.outcome(err)
	}
	return s, nil
}

// columns finds the columns i and j.
func (s *PairStream) columns() error {
	names := []string{"i", "j"}
	for k, name := range names {
		if s.at[k] = s.lines.column(name); s.at[k] < 0 {
			return s.rep.fatal("correct the header", "the header is %s: want the columns %s", quote(strings.Join(s.lines.columns, ",")), strings.Join(names, ", "))
		}
	}
	return nil
}

// Next returns the rows of the next pairs, 1 to limit of them. After the last one the error is io.EOF; it and any other error
// come back from every call that follows.
func (s *PairStream) Next(limit int) ([][2]int, error) {
	return nextPairs(s, limit, func(name string, column, line int) (int, error) {
		i, what, mend := s.find(name)
		if what == "" {
			return i, nil
		}
		return 0, s.lines.problem(line, s.lines.columns[column], mend, "%s", what)
	})
}

// Names is Next for the rows' names as they are written, which need not be those of any row.
func (s *PairStream) Names(limit int) ([][2]string, error) {
	return nextPairs(s, limit, func(name string, _, _ int) (string, error) { return strings.Clone(name), nil })
}

// nextPairs returns what is made of the next pairs of names.
func nextPairs[T any](s *PairStream, limit int, take func(name string, column, line int) (T, error)) ([][2]T, error) {
	if limit < 1 {
		return nil, &fault.ParamError{Param: "limit", Value: limit, Want: "a number of pairs >= 1"}
	}
	if s.err != nil {
		return nil, s.err
	}
	var pairs [][2]T
	err := func() error {
		for len(pairs) < limit {
			fields, line, err := s.lines.next()
			if err == io.EOF && len(pairs) > 0 {
				return nil
			}
			if err == io.EOF && s.done == 0 {
				return s.lines.none()
			}
			var pair [2]T
			for k, column := range s.at {
				if err == nil {
					pair[k], err = take(fields[column], column, line)
				}
			}
			if err != nil {
				return err
			}
			pairs = append(pairs, pair)
		}
		return nil
	}()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			err = s.rep.outcome(err)
		}
		s.err = err
		return nil, err
	}
	s.done += len(pairs)
	return pairs, nil
}

// Close closes the file that [OpenPairs] opened.
func (s *PairStream) Close() error {
	if s.in == nil {
		return nil
	}
	if err := s.in.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", s.name, err)
	}
	return nil
}
