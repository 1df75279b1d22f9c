package shard

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"unicode"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// textElements divides a file of CSV text by passing over it. A compressed one is a single element,
// which is read from its beginning on.
func textElements(ctx context.Context, file string, maxRows int) ([]Element, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fault.Data(file, "cannot read: %w", err)
	}
	defer f.Close()
	if !compressed(file) {
		return newRecords(f).divide(ctx, file, maxRows)
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, fault.Data(file, "cannot read: %w", err)
	}
	elements, err := newRecords(z).divide(ctx, file, math.MaxInt)
	for i := range elements {
		elements[i] = Element{File: file, Rows: elements[i].Rows}
	}
	return elements, err
}

// divide returns the elements of a text.
func (r *records) divide(ctx context.Context, file string, maxRows int) ([]Element, error) {
	if _, err := r.next(); err != nil {
		return nil, r.explain(file, err)
	}
	header, headerLines := r.offset, r.line
	var elements []Element
	e := Element{File: file, Header: header, Offset: header}
	for {
		rows, err := r.next()
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil && err != io.EOF {
			return nil, r.explain(file, err)
		}
		e.Rows += int64(rows)
		if e.Rows >= int64(maxRows) || err == io.EOF && e.Rows > 0 {
			e.Bytes = r.offset - e.Offset
			elements = append(elements, e)
			e = Element{File: file, Header: header, Offset: r.offset, First: e.First + e.Rows, Line: r.line - headerLines}
		}
		if err == io.EOF {
			return elements, nil
		}
	}
}

// records passes over the records of CSV text: lines, or several where a quoted field has line ends
// in it. It counts as the readers of package dataset do, but does not look at what is in the
// fields.
type records struct {
	r      *bufio.Reader
	long   []byte // a line that is longer than the buffer
	offset int64  // bytes passed
	line   int64  // lines passed
}

func newRecords(r io.Reader) *records { return &records{r: bufio.NewReaderSize(r, 1<<18)} }

var errLongLine = errors.New("a line is longer than the limit")

// next passes over one record with the blank lines in front of it, which together are a row by
// themselves, a wrong one. It returns the number of rows, 1 or 2. At the end the error is io.EOF;
// blank lines there are no row.
func (r *records) next() (rows int, err error) {
	text, err := r.readLine()
	for rows = 1; err == nil && len(text) == 0; text, err = r.readLine() {
		rows = 2
	}
	if err != nil {
		return 0, err
	}
	for open := opensQuote(text, false); open; open = opensQuote(text, true) {
		if text, err = r.readLine(); err == io.EOF {
			return rows, nil // the quote is never closed: whoever reads the record says so
		}
		if err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// readLine returns the next line without its end and without byte order marks in front, valid until
// the next call.
func (r *records) readLine() ([]byte, error) {
	text, err := r.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = append(r.long[:0], text...)
		for err == bufio.ErrBufferFull {
			text, err = r.r.ReadSlice('\n')
			if r.long = append(r.long, text...); len(r.long) > dataset.DefaultMaxLine+2 {
				return nil, errLongLine
			}
		}
		text = r.long
	}
	if err != nil && (err != io.EOF || len(text) == 0) {
		return nil, err
	}
	r.offset, r.line = r.offset+int64(len(text)), r.line+1
	return bytes.TrimLeft(bytes.TrimRight(text, "\r\n"), "\ufeff"), nil
}

// opensQuote says whether a record goes on after the line: a quoted field is open at its end.
// inside says that one is at its beginning. A record that is wrong ends with the line where that
// shows.
func opensQuote(text []byte, inside bool) bool {
	if !inside && bytes.IndexByte(text, '"') < 0 || !utf8.Valid(text) {
		return false
	}
	for {
		if !inside {
			text = bytes.TrimLeftFunc(text, unicode.IsSpace)
			if len(text) == 0 || text[0] != '"' {
				field, rest, more := bytes.Cut(text, []byte(","))
				if !more || bytes.IndexByte(field, '"') >= 0 {
					return false
				}
				text = rest
				continue
			}
			text = text[1:]
		}
		end := bytes.IndexByte(text, '"')
		if end < 0 {
			return true
		}
		inside = bytes.HasPrefix(text[end+1:], []byte(`"`)) // two quotes stand for one
		text = text[end+1:]
		if inside {
			text = text[1:]
		} else if !bytes.HasPrefix(text, []byte(",")) {
			return false
		} else {
			text = text[1:]
		}
	}
}

// explain words an error of a file.
func (r *records) explain(file string, err error) error {
	switch {
	case err == io.EOF:
		return fault.Data(file, "the file is blank: want a header and data rows")
	case err == errLongLine:
		e := fault.Data(file, "the line is longer than the limit of %s", fault.FormatBytes(dataset.DefaultMaxLine))
		e.Line = int(r.line) + 1
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fault.Data(file, "cannot read: %w", err)
}
