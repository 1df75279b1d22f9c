package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// LabelStream is a file of labels that is read a block at a time, where its format is CSV; those of other formats are read at
// once. It is not safe for concurrent use.
type LabelStream struct {
	in    io.Closer // nil for a reader that belongs to the caller
	name  string
	rep   *report
	lines *records // nil for labels that are held
	label *names
	rest  []string // labels that are held
	done  int
	err   error
}

// OpenLabels begins to read the labels of a file, as [ReadLabels] does and with its errors. Ids are not compared with one another.
// limit is for formats whose labels are all held.
func OpenLabels(path string, limit int64) (*LabelStream, error) {
	switch FormatOf(path) {
	case "svm", "idx", "fasta":
		labels, err := ReadLabels(path, limit)
		if err != nil {
			return nil, err
		}
		return &LabelStream{name: path, rest: labels}, nil
	}
	in, size, err := open(path)
	if err != nil {
		return nil, err
	}
	s, err := newLabelStream(newSource(path, in, size, isGzip(path)))
	if err != nil {
		in.Close()
		return nil, err
	}
	s.in = in
	return s, nil
}

// DecodeLabelStream is [OpenLabels] for a stream of CSV that messages call name. gz says that it is compressed.
// Errors are the same.
func DecodeLabelStream(r io.Reader, name string, gz bool) (*LabelStream, error) {
	return newLabelStream(newSource(name, r, -1, gz))
}

func newLabelStream(src *source) (*LabelStream, error) {
	s := &LabelStream{name: src.name, rep: &report{file: src.name, max: 1}}
	var err error
	if s.lines, err = openRecords(src, ReadOptions{}.maxLine(), s.rep); err == nil {
		s.label, err = labelsOf(s.lines)
	}
	if err != nil {
		return nil, s.rep.outcome(err)
	}
	s.label.seen = nil // there may be as many as there are rows
	return s, nil
}

// labelsOf returns the column of labels.
func labelsOf(r *records) (*names, error) {
	label := labelNames(r.column(labelColumn))
	if label.at < 0 {
		return nil, r.rep.fatal("name the column of labels label", "the header is %s: want a column %s",
			quote(strings.Join(r.columns, ",")), labelColumn)
	}
	return label, nil
}

// Done returns the number of labels read so far.
func (s *LabelStream) Done() int { return s.done }

// Next returns the next labels, 1 to limit of them. After the last one the error is io.EOF; it and any other error come back
// from every call that follows.
func (s *LabelStream) Next(limit int) ([]string, error) {
	if limit < 1 {
		return nil, &fault.ParamError{Param: "limit", Value: limit, Want: "a number of labels >= 1"}
	}
	if s.err != nil {
		return nil, s.err
	}
	labels, err := s.read(limit)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			err = s.rep.outcome(err)
		}
		s.err = err
		return nil, err
	}
	s.done += len(labels)
	return labels, nil
}

func (s *LabelStream) read(limit int) ([]string, error) {
	if s.lines == nil {
		n := min(limit, len(s.rest))
		labels := s.rest[:n]
		s.rest = s.rest[n:]
		if n == 0 {
			return nil, io.EOF
		}
		return labels, nil
	}
	for len(s.label.values) < limit {
		fields, line, err := s.lines.next()
		if err == io.EOF && len(s.label.values) > 0 {
			break
		}
		if err == io.EOF && s.done == 0 {
			return nil, s.lines.none()
		}
		if err == nil {
			err = s.label.add(s.lines, fields, line)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.label.take(), nil
}

// Close closes the file that [OpenLabels] opened.
func (s *LabelStream) Close() error {
	if s.in == nil {
		return nil
	}
	if err := s.in.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", s.name, err)
	}
	return nil
}
