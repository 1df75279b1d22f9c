package dataset

import "io"

// LabelStream is a file of labels that is read a block at a time, where its format is CSV; those of other formats are read at
// once. It is not safe for concurrent use.
type LabelStream struct {
	recordStream
	label *names   // nil for labels that are held
	rest  []string // labels that are held
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
		return &LabelStream{rest: labels}, nil
	}
	src, err := open(path, isGzip(path))
	if err != nil {
		return nil, err
	}
	return newLabelStream(src)
}

// DecodeLabelStream is [OpenLabels] for a stream of CSV that messages call name. gz says that it is compressed.
// Errors are the same.
func DecodeLabelStream(r io.Reader, name string, gz bool) (*LabelStream, error) {
	return newLabelStream(newSource(name, r, -1, gz))
}

// newLabelStream closes src when it returns an error.
func newLabelStream(src *source) (*LabelStream, error) {
	s := &LabelStream{recordStream: newRecordStream(src)}
	var err error
	if s.lines, err = openRecords(src, 0, s.rep); err == nil {
		s.label, err = labelsOf(s.lines)
	}
	if err != nil {
		src.Close()
		return nil, s.rep.outcome(err)
	}
	s.label.seen = nil // there may be as many as there are rows
	return s, nil
}

// labelsOf returns the column of labels.
func labelsOf(r *records) (*names, error) {
	label := labelNames(r.column(labelColumn))
	if label.at < 0 {
		return nil, r.rep.fatal("name the column of labels label", "the header is %s: want a column %s", r.header(), labelColumn)
	}
	return label, nil
}

// Done returns the number of labels read so far.
func (s *LabelStream) Done() int { return s.done }

// Next returns the next labels, 1 to limit of them. After the last one the error is io.EOF; it and any other error come back
// from every call that follows.
func (s *LabelStream) Next(limit int) ([]string, error) {
	if s.label == nil {
		return s.held(limit)
	}
	return nextRecords(&s.recordStream, limit, "labels", func(fields []string, line int) (string, error) {
		if err := s.label.add(s.lines, fields, line); err != nil {
			return "", err
		}
		label := s.label.values[0]
		s.label.values = s.label.values[:0]
		return label, nil
	})
}

// held is Next for labels that are held.
func (s *LabelStream) held(limit int) ([]string, error) {
	if err := s.ready(limit, "labels"); err != nil {
		return nil, err
	}
	n := min(limit, len(s.rest))
	labels := s.rest[:n]
	s.rest = s.rest[n:]
	if n == 0 {
		return nil, io.EOF
	}
	s.done += n
	return labels, nil
}
