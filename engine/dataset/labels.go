package dataset

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// ReadLabels reads the labels of a labels file, or of data with labels, and the ids of the rows, if
// it has some: the column label of a CSV file, of JSON Lines, or of a format of Extensions, the
// first words of an svmlight file, the second words of the headers of a FASTA file, the whole
// numbers of an IDX vector. A file with an unknown ending, and a stream, is read as CSV. Other
// columns are ignored. An empty label is that of a row without one; a file without a place for
// labels is a *fault.DataError. Of the options it takes MaxLine, MemoryLimit and Extensions, and
// for formats with columns Label, ID and Header.
func ReadLabels(in Input, o ReadOptions) (LabelRows, error) {
	decode := decodeLabels
	if f := formatNamed(in.Name, o.Extensions); in.Stream == nil {
		if f.hidesLabels() {
			return tableLabels(in.Name, o)
		}
		if f.labels != nil {
			decode = f.labels
			if err := o.needColumns(in.Name, f); err != nil {
				return LabelRows{}, err
			}
		}
	}
	return readInput(in, func(src *source, rep *report) (LabelRows, error) {
		src.limit = o.MemoryLimit
		return decode(src, o, rep)
	})
}

// hidesLabels reports whether labels are read with the rows of the format.
func (f format) hidesLabels() bool { return f.labels == nil && f.named }

// tableLabels is ReadLabels for a table of another format than CSV, a block of rows at a time.
func tableLabels(path string, o ReadOptions) (all LabelRows, err error) {
	const rows = 1 << 12
	o.Mixed = true
	s, err := OpenStream(path, o)
	if err != nil {
		return all, err
	}
	defer s.Close()
	for {
		d, err := s.Next(rows)
		if err == io.EOF {
			return all, nil
		}
		if err == nil && d.Labels == nil {
			err = fault.Data(path, "it has no column %s: want one", cmp.Or(o.Label, labelColumn))
		}
		if err == nil {
			all.Labels, all.IDs = append(all.Labels, d.Labels...), append(all.IDs, d.IDs...)
			err = checkBytes(o, path, labelBytes*int64(len(all.Labels)))
		}
		if err != nil {
			return LabelRows{}, err
		}
	}
}

// decodeLabels reads CSV text.
func decodeLabels(src *source, o ReadOptions, rep *report) (LabelRows, error) {
	r, label, id, err := openLabels(src, o, rep)
	if err != nil {
		return LabelRows{}, err
	}
	err = r.eachWithin(src.limit, labelBytes, func(fields []string, line int) error {
		if err := label.add(r, fields, line); err != nil {
			return err
		}
		return id.add(r, fields, line)
	})
	return LabelRows{label.values, id.values}, err
}

// labelsFor reads the labels of a data file of n rows from a separate file. If both files have ids,
// these must agree row by row.
func labelsFor(path, data string, n int, dataIDs []string, o ReadOptions) ([]string, error) {
	rows, err := ReadLabels(Input{Name: path}, ReadOptions{MaxLine: o.MaxLine, MemoryLimit: o.MemoryLimit,
		Extensions: o.Extensions})
	if err != nil {
		return nil, err
	}
	if len(rows.Labels) != n {
		return nil, fault.Data(path, "it has %s: want %d, one for each row of %s",
			fault.Count(len(rows.Labels), "label"), n, data)
	}
	if rows.IDs == nil || dataIDs == nil {
		return rows.Labels, nil
	}
	for i, id := range rows.IDs {
		if id != dataIDs[i] {
			return nil, errorAt(path, 0, i, idColumn, "the id is %s, but %s in %s: want the same order",
				quote(id), quote(dataIDs[i]), data)
		}
	}
	return rows.Labels, nil
}

// LabelStream reads a file of labels a block at a time if its format is CSV; files of other formats
// are read at once. It is not safe for concurrent use.
type LabelStream struct {
	recordStream
	label, id *names    // nil if all labels are in memory
	rest      LabelRows // what remains of these
}

// OpenLabels begins to read labels, as [ReadLabels] does and with its errors. Ids are not compared
// with one another. The memory limit applies to formats whose labels are read at once.
func OpenLabels(in Input, o ReadOptions) (*LabelStream, error) {
	f := formatNamed(in.Name, o.Extensions)
	if in.Stream == nil && (f.hidesLabels() || slices.Contains([]string{"svm", "idx", "fasta"}, f.name)) {
		rows, err := ReadLabels(in, o)
		if err != nil {
			return nil, err
		}
		return &LabelStream{rest: rows}, nil
	}
	return openInput(in, func(src *source) (s *LabelStream, err error) {
		src.limit = o.MemoryLimit
		s = &LabelStream{recordStream: newRecordStream(src)}
		if s.lines, s.label, s.id, err = openLabels(src, o, s.rep); err != nil {
			return nil, s.rep.outcome(err)
		}
		s.label.seen, s.id.seen, s.id.lines = nil, nil, nil // there may be as many as rows
		return s, nil
	})
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

// Next returns the next labels, 1 to limit of them, and the ids of the rows, if the file has some.
// After the last one the error is io.EOF; every later call returns this error, or any other, again.
func (s *LabelStream) Next(limit int) (LabelRows, error) {
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

// held is Next for labels in memory.
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
	return WriteTable(path, header, func(yield func([]string, error) bool) {
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
	}, o)
}

// check refuses ids whose number differs from that of the labels, or that some blocks have and
// others lack.
func (b LabelRows) check(named bool) error {
	if (b.IDs != nil) != named || named && len(b.IDs) != len(b.Labels) {
		return fault.Shape("number of ids", len(b.IDs), "%d, one for each label, or none in all blocks",
			len(b.Labels))
	}
	return nil
}

// targetColumn is the name of the column of targets.
const targetColumn = "target"

// ReadTargets reads targets from CSV: a finite number for each row of the data, in their order, in
// the column target. Other columns are ignored. Errors are *fault.DataError with file, line and
// column; numbers that take more than limit bytes, 0 for no limit, are a *fault.MemoryError.
func (d *Data) ReadTargets(in Input, limit int64) ([]float64, error) {
	list, err := readInput(in, func(src *source, rep *report) ([]float64, error) {
		return targetsOf(src, limit, rep)
	})
	if n := d.Points.Len(); err == nil && len(list) != n {
		return nil, fault.Data(in.Name, "it has %s: want %d, one for each row of %s",
			fault.Count(len(list), targetColumn), n, d.Name)
	}
	return list, err
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
