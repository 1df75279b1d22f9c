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

// textElements finds the records of a CSV file and divides them into elements. A compressed file is
// a single element.
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
			e = Element{File: file, Header: header, Offset: r.offset, First: e.First + e.Rows,
				Line: r.line - headerLines}
		}
		if err == io.EOF {
			return elements, nil
		}
	}
}

// records finds the ends of CSV records. A record is a line, or several when a quoted field
// contains line breaks. It counts rows as the readers of package dataset do, but does not parse
// fields.
type records struct {
	r      *bufio.Reader
	long   []byte // holds a line that is longer than the buffer
	offset int64  // bytes read
	line   int64  // lines read
}

func newRecords(r io.Reader) *records { return &records{r: bufio.NewReaderSize(r, 1<<18)} }

var errLongLine = errors.New("a line is longer than the limit")

// next skips one record and any blank lines before it, which count together as one bad row. It
// returns the number of rows, 1 or 2. At the end the error is io.EOF; blank lines there are no row.
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
			return rows, nil // the quote is never closed: reading the record reports it
		}
		if err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// readLine returns the next line without its end and without leading byte order marks. It is valid
// until the next call.
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

// opensQuote reports whether a quoted field is open at the end of a line, so that the record
// continues. inside is true when one is open at its beginning. A malformed record ends with the
// line of the first error.
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
		inside = bytes.HasPrefix(text[end+1:], []byte(`"`)) // two quotes mean one
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

// explain returns the error for a user, with the name of the file.
func (r *records) explain(file string, err error) error {
	switch {
	case err == io.EOF:
		return fault.Data(file, "the file is blank: want a header and data rows")
	case err == errLongLine:
		e := fault.Data(file, "the line is longer than the limit of %s",
			fault.FormatBytes(dataset.DefaultMaxLine))
		e.Line = int(r.line) + 1
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return fault.Data(file, "cannot read: %w", err)
}
