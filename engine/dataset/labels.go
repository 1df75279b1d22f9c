package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// ReadLabels reads the labels of a labels file, or of data with labels: the column label of a CSV
// file, of JSON Lines, or of a format of Extensions, the first words of an svmlight file, the
// second words of the headers of a FASTA file, the whole numbers of an IDX vector. A file with an
// unknown ending is read as CSV. Other columns are ignored. An empty label is that of a row without
// one; a file without a place for labels is a *fault.DataError. Of the options it takes MaxLine,
// MemoryLimit and Extensions, and for formats with columns Label, ID and Header.
func ReadLabels(path string, o ReadOptions) ([]string, error) {
	rows, err := ReadLabelRows(path, o)
	return rows.Labels, err
}

// ReadLabelRows is [ReadLabels] that also returns the ids of the rows, if the file has some.
func ReadLabelRows(path string, o ReadOptions) (LabelRows, error) {
	labels, ids, err := readLabels(path, o)
	return LabelRows{labels, ids}, err
}

// DecodeLabelRows is [ReadLabelRows] for a stream of CSV. Messages refer to it as name; gz means
// that it is compressed. Errors are the same.
func DecodeLabelRows(r io.Reader, name string, gz bool, o ReadOptions) (LabelRows, error) {
	src := newSource(name, r, -1, gz)
	src.limit = o.MemoryLimit
	labels, ids, err := decodeLabels(src, o)
	return LabelRows{labels, ids}, err
}

func readLabels(path string, o ReadOptions) (labels, ids []string, err error) {
	f := formatNamed(path, o.Extensions)
	decode := decodeLabels
	if f.hidesLabels() {
		return tableLabels(path, o)
	}
	if f.labels != nil {
		decode = f.labels
		if !f.named {
			if err := o.needColumns(path, f.name); err != nil {
				return nil, nil, err
			}
		}
	}
	src, err := open(path, isGzip(path))
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	src.limit = o.MemoryLimit
	return decode(src, o)
}

// hidesLabels reports whether labels are read with the rows of the format.
func (f format) hidesLabels() bool { return f.labels == nil && f.named }

// tableLabels is readLabels for a table of another format than CSV, a block of rows at a time.
func tableLabels(path string, o ReadOptions) (labels, ids []string, err error) {
	const rows = 1 << 12
	o.Mixed = true
	s, err := OpenStream(path, o)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	for {
		d, err := s.Next(rows)
		if err == io.EOF {
			return labels, ids, nil
		}
		if err == nil && d.Labels == nil {
			err = fault.Data(path, "it has no column %s: want one", cmp.Or(o.Label, labelColumn))
		}
		if err == nil {
			labels, ids = append(labels, d.Labels...), append(ids, d.IDs...)
			err = checkBytes(o, path, labelBytes*int64(len(labels)))
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// decodeLabels also returns the ids, nil when there are none.
func decodeLabels(src *source, o ReadOptions) (labels, ids []string, err error) {
	rep := &report{file: src.name, max: 1}
	err = func() error {
		r, label, id, err := openLabels(src, o, rep)
		if err != nil {
			return err
		}
		err = r.eachWithin(src.limit, labelBytes, func(fields []string, line int) error {
			if err := label.add(r, fields, line); err != nil {
				return err
			}
			return id.add(r, fields, line)
		})
		labels, ids = label.values, id.values
		return err
	}()
	if err := rep.outcome(err); err != nil {
		return nil, nil, err
	}
	return labels, ids, nil
}

// labelsFor reads the labels of a data file of n rows from a separate file. If both files have ids,
// these must agree row by row.
func labelsFor(path, data string, n int, dataIDs []string, o ReadOptions) ([]string, error) {
	labels, ids, err := readLabels(path, ReadOptions{MaxLine: o.MaxLine, MemoryLimit: o.MemoryLimit,
		Extensions: o.Extensions})
	if err != nil {
		return nil, err
	}
	if len(labels) != n {
		return nil, fault.Data(path, "it has %s: want %d, one for each row of %s",
			fault.Count(len(labels), "label"), n, data)
	}
	if ids == nil || dataIDs == nil {
		return labels, nil
	}
	for i, id := range ids {
		if id != dataIDs[i] {
			e := fault.Data(path, "the id is %s, but %s in %s: want the same order", quote(id),
				quote(dataIDs[i]), data)
			e.Row, e.Column = i, idColumn
			return nil, e
		}
	}
	return labels, nil
}

// LabelStream reads a file of labels a block at a time if its format is CSV; files of other formats
// are read at once. It is not safe for concurrent use.
type LabelStream struct {
	recordStream
	label, id *names    // nil if all labels are in memory
	rest      LabelRows // what remains of these
}

// OpenLabels begins to read the labels of a file, as [ReadLabels] does and with its errors. Ids are
// not compared with one another. The memory limit applies to formats whose labels are read at once.
func OpenLabels(path string, o ReadOptions) (*LabelStream, error) {
	switch f := formatNamed(path, o.Extensions); {
	case f.hidesLabels(), slices.Contains([]string{"svm", "idx", "fasta"}, f.name):
		labels, ids, err := readLabels(path, o)
		if err != nil {
			return nil, err
		}
		return &LabelStream{rest: LabelRows{labels, ids}}, nil
	}
	return opened(path, isGzip(path), func(src *source) (*LabelStream, error) {
		src.limit = o.MemoryLimit
		return newLabelStream(src, o)
	})
}

// DecodeLabelStream is [OpenLabels] for a stream of CSV. Messages refer to it as name; gz means
// that it is compressed. Errors are the same.
func DecodeLabelStream(r io.Reader, name string, gz bool, o ReadOptions) (*LabelStream, error) {
	return newLabelStream(newSource(name, r, -1, gz), o)
}

func newLabelStream(src *source, o ReadOptions) (*LabelStream, error) {
	s := &LabelStream{recordStream: newRecordStream(src)}
	var err error
	if s.lines, s.label, s.id, err = openLabels(src, o, s.rep); err != nil {
		return nil, s.rep.outcome(err)
	}
	s.label.seen, s.id.seen, s.id.lines = nil, nil, nil // there may be as many as rows
	return s, nil
}

// openLabels reads a header, and returns the columns of labels and of ids; the second need not be
// there.
func openLabels(src *source, o ReadOptions, rep *report) (r *records, label, id *names, err error) {
	if err = o.head(src); err != nil {
		return nil, nil, nil, err
	}
	if r, err = openRecords(src, o.MaxLine, rep); err != nil {
		return nil, nil, nil, err
	}
	roles, err := ReadOptions{Label: o.Label, ID: o.ID}.Roles(r.columns)
	if err != nil {
		return nil, nil, nil, r.badOption(err)
	}
	if label, id = labelNames(roles.Label), idNames(roles.ID); label.at < 0 {
		return nil, nil, nil, rep.fatal("call the column of labels label",
			"the header is %s: want a column %s", r.header(), labelColumn)
	}
	return r, label, id, nil
}

// Done returns the number of labels read so far.
func (s *LabelStream) Done() int { return s.done }

// Next returns the next labels, 1 to limit of them. After the last one the error is io.EOF; every
// later call returns this error, or any other, again.
func (s *LabelStream) Next(limit int) ([]string, error) {
	rows, err := s.NextRows(limit)
	return rows.Labels, err
}

// NextRows is [LabelStream.Next] that also returns the ids of the rows, if the file has some.
func (s *LabelStream) NextRows(limit int) (LabelRows, error) {
	if s.label == nil {
		return s.held(limit)
	}
	take := func(fields []string, line int) (string, error) {
		if err := s.id.add(s.lines, fields, line); err != nil {
			return "", err
		}
		if err := s.label.add(s.lines, fields, line); err != nil {
			return "", err
		}
		label := s.label.values[0]
		s.label.values = s.label.values[:0]
		return label, nil
	}
	labels, err := nextRecords(&s.recordStream, limit, "labels", take)
	return LabelRows{labels, s.id.take()}, err
}

// held is NextRows for labels in memory.
func (s *LabelStream) held(limit int) (LabelRows, error) {
	if err := s.ready(limit, "labels"); err != nil {
		return LabelRows{}, err
	}
	n := min(limit, len(s.rest.Labels))
	if n == 0 {
		return LabelRows{}, io.EOF
	}
	rows := LabelRows{Labels: s.rest.Labels[:n]}
	if s.rest.IDs != nil {
		rows.IDs, s.rest.IDs = s.rest.IDs[:n], s.rest.IDs[n:]
	}
	s.rest.Labels = s.rest.Labels[n:]
	s.done += n
	return rows, nil
}

// LabelRows are the labels of some rows.
type LabelRows struct {
	Labels []string
	IDs    []string // one a row, or nil
}

// WriteLabelRows is [WriteLabels] for labels in blocks: next returns the next labels, one or more,
// and io.EOF after the last ones. It is called again after they are written, and may use the same
// memory. The first call comes before the file is created. Any other error of next, such as that of
// a canceled context, ends the writing and leaves no file at path.
func WriteLabelRows(path string, next func() (LabelRows, error), o WriteOptions) error {
	block, err := next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	named := block.IDs != nil
	header := []string{labelColumn}
	if named {
		header = []string{idColumn, labelColumn}
	}
	return o.table(path, header, func(yield func([]string, error) bool) {
		for ; err == nil; block, err = next() {
			if err = block.check(named); err != nil {
				break
			}
			for i, label := range block.Labels {
				record := [2]string{label}
				fields := record[:1]
				if named {
					record = [2]string{block.IDs[i], label}
					fields = record[:]
				}
				if !yield(fields, nil) {
					return
				}
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	})
}

// check refuses ids whose number differs from that of the labels, or that some blocks have and
// others lack.
func (b LabelRows) check(named bool) error {
	if (b.IDs != nil) != named || named && len(b.IDs) != len(b.Labels) {
		return &fault.ShapeError{What: "number of ids", Got: len(b.IDs),
			Want: fmt.Sprintf("%d, one for each label, or none in all blocks", len(b.Labels))}
	}
	return nil
}

// targetColumn is the name of the column of targets.
const targetColumn = "target"

// ReadTargets reads the column target of a CSV file: a finite number for each row of the data, in
// their order. Other columns are ignored. Errors are *fault.DataError with file, line and column;
// numbers that take more than limit bytes, 0 for no limit, are a *fault.MemoryError.
func (d *Data) ReadTargets(path string, limit int64) ([]float64, error) {
	return fromFile(path, func(src *source) ([]float64, error) { return d.decodeTargets(src, limit) })
}

// DecodeTargets is [Data.ReadTargets] for a stream. Messages refer to it as name; gz means that it
// is compressed. Errors are the same.
func (d *Data) DecodeTargets(r io.Reader, name string, gz bool, limit int64) ([]float64, error) {
	return d.decodeTargets(newSource(name, r, -1, gz), limit)
}

func (d *Data) decodeTargets(src *source, limit int64) ([]float64, error) {
	rep := &report{file: src.name, max: 1}
	list, err := targetsOf(src, limit, rep)
	if err := rep.outcome(err); err != nil {
		return nil, err
	}
	if n := d.Points.Len(); len(list) != n {
		return nil, fault.Data(src.name, "it has %s: want %d, one for each row of %s",
			fault.Count(len(list), targetColumn), n, d.Name)
	}
	return list, nil
}

// targetsOf reads the column.
func targetsOf(src *source, limit int64, rep *report) (list []float64, err error) {
	src.limit = limit
	r, err := openRecords(src, 0, rep)
	if err != nil {
		return nil, err
	}
	at := r.column(targetColumn)
	if at < 0 {
		return nil, rep.fatal("call the column of targets target", "the header is %s: want a column %s",
			r.header(), targetColumn)
	}
	r.findNumerals(false)
	err = r.eachWithin(limit, 2*8, func(fields []string, line int) error { // factor 2: the list grows
		v, what, fix := r.marks.parse(fields[at])
		if list = append(list, v); what != "" {
			return r.problem(line, targetColumn, fix, "%s", what)
		}
		return nil
	})
	return list, err
}

// LabelTargets returns the labels as numbers. If there are no labels, or one is not a finite
// number, the error is a *fault.DataError.
func (d *Data) LabelTargets() ([]float64, error) {
	if d.Labels == nil {
		return nil, fault.Data(d.Name, "the rows have no labels: want a column %s of numbers", labelColumn)
	}
	targets := make([]float64, len(d.Labels))
	for i, text := range d.Labels {
		v, what, _ := parseNumber(text)
		if what != "" {
			return nil, &fault.DataError{File: d.Name, Row: i, Column: labelColumn, Err: errors.New(what)}
		}
		targets[i] = v
	}
	return targets, nil
}
