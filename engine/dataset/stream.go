package dataset

import (
	"context"
	"errors"
	"io"

	"github.com/mustlink/mustlink/engine/fault"
)

// Stream reads a data file a block of rows at a time: the number of rows is bounded by the disk, or
// by the writer of a pipe, and not by memory. It is not safe for concurrent use.
type Stream struct {
	reading
	o    ReadOptions
	rows rowReader
}

// reading is the state of a file that is read a block at a time.
type reading struct {
	*source
	rep  *report
	done int   // values read
	err  error // which every later call returns
}

// ready returns the error that prevents reading a next block of up to limit values.
func (r *reading) ready(limit int, values string) error {
	if limit < 1 {
		return &fault.ParamError{Param: "limit", Value: limit, Want: "a number of " + values + " >= 1"}
	}
	return r.err
}

// end keeps the error that ends the reading.
func (r *reading) end(err error) error {
	if !errors.Is(err, io.EOF) {
		err = r.rep.outcome(err)
	}
	r.err = err
	return err
}

// recordStream reads the records of a CSV file whose rows are not points.
type recordStream struct {
	reading
	lines *records
}

func newRecordStream(src *source) recordStream {
	return recordStream{reading: reading{source: src, rep: &report{file: src.name, max: 1}}}
}

// nextRecords returns the values of take for the next records, 1 to limit of them. After the last
// one the error is io.EOF.
func nextRecords[T any](s *recordStream, limit int, values string,
	take func(fields []string, line int) (T, error)) ([]T, error) {
	if err := s.ready(limit, values); err != nil {
		return nil, err
	}
	var list []T
	for len(list) < limit {
		fields, line, err := s.lines.next()
		if err == io.EOF && len(list) > 0 {
			break
		}
		var value T
		switch {
		case err == nil:
			value, err = take(fields, line)
		case err == io.EOF && s.done == 0:
			err = s.lines.none()
		}
		if err != nil {
			return nil, s.end(err)
		}
		list = append(list, value)
	}
	s.done += len(list)
	return list, nil
}

// rowReader reads the rows of one format.
type rowReader interface {
	// next returns the next rows, 1 to limit of them; after the last one the error is io.EOF.
	next(limit int) (*table, error)
	// skip skips n rows without parsing them; if there are fewer, the error is io.EOF.
	skip(n int) error
	// count returns the total number of rows, -1 if it is not known before the end.
	count() int
}

// Streams reports whether a file of this name, or of this format, can be read as a [Stream]: .csv,
// .npy and extensions, also with .gz.
func Streams(path, format string, extra ...Extension) bool {
	f, _, err := ReadOptions{Extensions: extra}.input(path, format)
	return err == nil && f.rows != nil
}

// NamesColumns reports whether the columns of a file of this name, or of this format, have names:
// .csv and extensions.
func NamesColumns(path, format string, extra ...Extension) bool {
	f, _, err := ReadOptions{Extensions: extra}.input(path, format)
	return err == nil && f.named
}

// OpenStream begins to read the data file at path, as [Read] does, and with its errors. Gram
// matrices, labels from another file and .npy arrays that are stored column by column are refused.
// Ids are not checked for duplicates, as that would keep them all in memory.
func OpenStream(path string, o ReadOptions) (*Stream, error) {
	return openStream(Input{Name: path}, "", o)
}

// DecodeStream is [OpenStream] for a reader, with the name and format of [Decode].
// Errors are those of OpenStream.
func DecodeStream(r io.Reader, name, format string, o ReadOptions) (*Stream, error) {
	return openStream(Input{Name: name, Stream: r}, format, o)
}

func openStream(in Input, format string, o ReadOptions) (*Stream, error) {
	f, gz, err := o.input(in.Name, format)
	if err != nil {
		return nil, err
	}
	in.Gzip = gz
	return openInput(in, func(src *source) (*Stream, error) { return newStream(src, f, o) })
}

func newStream(src *source, f format, o ReadOptions) (s *Stream, err error) {
	switch {
	case f.rows == nil:
		return nil, fault.Param("format", f.name, "a format that is read row by row, such as csv or npy")
	case o.Gram || o.Labels != "":
		return nil, fault.Param("stream", src.name, "points only, without a Gram matrix or a file of labels")
	}
	if err = o.needColumns(src.name, f); err != nil {
		return nil, err
	}
	if o, err = o.forPictures(src); err != nil {
		return nil, err
	}
	s = &Stream{reading: reading{source: src,
		rep: &report{file: src.name, max: 1, badRow: o.BadRow, bad: map[int]bool{}}}, o: o}
	src.tabs = src.tabs || f.name == tsvName
	if s.rows, err = f.rows(src, o, s.rep); err != nil {
		return nil, s.rep.outcome(err)
	}
	return s, nil
}

// Rows returns the total number of rows, -1 if it is not known before the end.
func (s *Stream) Rows() int { return s.rows.count() }

// Done returns the number of rows read so far, without bad rows that were skipped.
func (s *Stream) Done() int { return s.done }

// Next returns the next rows, 1 to limit of them, in new memory. After the last row the error is
// io.EOF; every later call returns this error, or any other, again. Row numbers in messages are
// those of the file.
func (s *Stream) Next(limit int) (*Data, error) {
	if err := s.ready(limit, "rows"); err != nil {
		return nil, err
	}
	t, err := s.rows.next(limit)
	for err == nil && t.rows == 0 { // all of them were bad
		t, err = s.rows.next(limit)
	}
	if err == io.EOF && s.done == 0 && s.o.BadRow == nil {
		err = s.rep.fatal("add rows", "it has no rows: want at least one")
	}
	var d *Data
	if err == nil {
		d, err = t.complete(s.source, s.o, s.rep)
	}
	if err != nil {
		return nil, s.end(err)
	}
	s.done += t.rows
	return d, nil
}

// Skip skips n rows without parsing them; they count as read. Rows of an uncompressed .npy file and
// whole row groups of Parquet are not even read. If there are fewer rows, the error is io.EOF,
// which, like any other, every later call returns again.
func (s *Stream) Skip(n int) error {
	if n < 0 {
		return fault.Param("n", n, "a number of rows >= 0")
	}
	if s.err != nil {
		return s.err
	}
	if err := s.rows.skip(n); err != nil {
		return s.end(err)
	}
	s.done += n
	return nil
}

// Prefetch runs next in a goroutine, one call ahead of the caller; ahead returns the results of
// next in order. With one Prefetch between any two steps, reading, computing and writing overlap.
// After an error of next, io.EOF among them, or after the end of ctx, every further call returns
// that error. The caller must call stop, which cancels the context of a running call of next and
// waits for it.
func Prefetch[T any](ctx context.Context,
	next func(context.Context) (T, error)) (ahead func() (T, error), stop func()) {
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancelCause(ctx)
	results, done := make(chan outcome), make(chan struct{})
	go func() {
		defer close(done)
		for {
			value, err := next(ctx)
			select {
			case results <- outcome{value, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var last error
	ahead = func() (T, error) {
		var none T
		if last != nil {
			return none, last
		}
		select {
		case r := <-results:
			last = r.err
			return r.value, r.err
		case <-ctx.Done():
			last = context.Cause(ctx)
			return none, last
		}
	}
	return ahead, func() { cancel(context.Canceled); <-done }
}
