package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/mustlink/mustlink/engine/fault"
)

const byteOrderMark = "\ufeff"

// textKind describes a text format for messages.
type textKind struct {
	name string // of the format: "csv"
	what string // "CSV text"
	want string // what a file must contain: "a header and data rows"
}

// lineReader splits a source into lines. It limits their length and detects binary data.
type lineReader struct {
	src  *source
	max  int
	kind textKind
	line int    // lines read so far
	long []byte // a line longer than the source's buffer
}

// recordError reports a line or record that cannot be parsed. After one that is not fatal, the next
// line is the one after the record.
type recordError struct {
	err   *fault.DataError
	fix   string
	fatal bool
}

func (e *recordError) Error() string { return e.err.Error() }

func (r *lineReader) bad(line int, fatal bool, fix, format string, args ...any) *recordError {
	return &recordError{errorAt(r.src.name, line, -1, "", format, args...), fix, fatal}
}

// newLineReader checks the beginning of the source. A line has at most maxLine bytes, 0 for
// DefaultMaxLine.
func newLineReader(src *source, maxLine int, kind textKind) (lineReader, error) {
	r := lineReader{src: src, max: maxLine, kind: kind}
	if maxLine <= 0 {
		r.max = DefaultMaxLine
	}
	src.asUTF8()
	head, err := src.r.Peek(512)
	if err != nil && err != io.EOF {
		return r, src.readError(err)
	}
	if len(head) == 0 {
		return r, r.bad(0, true, "check that it was written to the end", "the file is empty: want %s",
			kind.want)
	}
	if what, fix := sniff(head, kind.name); what != "" {
		return r, r.bad(0, true, fix, "the content is %s: want %s", what, kind.what)
	}
	return r, nil
}

// textRows reads a format whose rows differ in length.
type textRows struct {
	lineReader
	rep   *report
	start []int // starts of the rows so far, the current one last
	blank int   // the first of the preceding blank lines, 0 for none
}

// begin checks the beginning of the source.
func (t *textRows) begin(src *source, maxLine int, kind textKind) (err error) {
	if t.lineReader, err = newLineReader(src, maxLine, kind); err != nil {
		return noteRecord(t.rep, err, -1)
	}
	return nil
}

// each calls take for every line that can be read.
func (t *textRows) each(take func(text []byte) error) error {
	for {
		text, err := t.readLine()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = take(text)
		} else {
			err = noteRecord(t.rep, err, len(t.start)-1)
		}
		if err != nil {
			return err
		}
	}
}

// problem reports a problem of the current row.
func (t *textRows) problem(line int, fix, format string, args ...any) error {
	return t.rep.add(errorAt(t.src.name, line, len(t.start)-1, "", format, args...), fix)
}

// readLine returns the next line without its end, which may be LF, CRLF or the end of the file, and
// without leading byte order marks, which concatenated files have on any line. It is valid until
// the next call. The error is io.EOF, a *recordError, or that of the source.
func (r *lineReader) readLine() ([]byte, error) {
	text, err := r.readInside()
	return bytes.TrimLeft(text, byteOrderMark), err
}

// readInside is like readLine, but inside a record, where a byte order mark is part of the text.
func (r *lineReader) readInside() ([]byte, error) {
	r.line++
	text, err := r.src.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		text, err = r.readLong(text)
	}
	switch {
	case err == io.EOF && len(text) == 0:
		r.line--
		return nil, io.EOF
	case err != nil && err != io.EOF:
		err = r.src.readError(err)
		if de, ok := errors.AsType[*fault.DataError](err); ok && de.Line == 0 {
			de.Line = r.line
		}
		return nil, err
	}
	// Text that was converted to CRLF twice ends in CR CR LF.
	text = bytes.TrimRight(bytes.TrimSuffix(text, []byte("\n")), "\r")
	if len(text) > r.max {
		return nil, r.tooLong()
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, r.bad(r.line, true, "check that this is the right file",
			"byte %d of the line is 0: want %s", i, r.kind.what)
	}
	if !utf8.Valid(text) {
		return nil, r.bad(r.line, false, "save the file as UTF-8",
			"byte %d of the line is not UTF-8: want UTF-8 text", invalidAt(text))
	}
	return text, nil
}

// readLong collects a line that begins with head, up to the limit. Parts that do not fit the memory
// of the previous long line are collected in pieces until the end of the line, so a line that is
// too long never takes more memory than the limit.
func (r *lineReader) readLong(head []byte) ([]byte, error) {
	r.long = append(r.long[:0], head...)
	var more [][]byte
	total := len(r.long)
	for {
		part, err := r.src.r.ReadSlice('\n')
		if total += len(part); total > r.max+2 { // the line's end does not count
			return nil, r.tooLong()
		}
		if more == nil && total <= cap(r.long) {
			r.long = append(r.long, part...)
		} else {
			more = append(more, bytes.Clone(part))
		}
		if err != bufio.ErrBufferFull {
			if more != nil {
				r.long = bytes.Join(append([][]byte{r.long}, more...), nil)
			}
			return r.long, err
		}
	}
}

func (r *lineReader) tooLong() error {
	return r.bad(r.line, true, "check that this is "+r.kind.what+" with line ends",
		"the line is longer than the limit of %s", fault.FormatBytes(int64(r.max)))
}

// invalidAt returns the index of the first byte that is not part of UTF-8 text.
func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}
